"""Figures 2 and 3, and the error rates of Table 2, from the tables that come with Airpath.

`airpath phy per` made these tables by decoding. In a resample of a session the errors of every
point are drawn again, which shows how much a claim depends on the counts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath import phy
from airpath.phy.figure import draw_rates
from airpath.present import style
from airpath.reproduction.base import Row, Table
from airpath.reproduction.compare import ColumnSet, Key, comparison, percent
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance
from airpath.units import Size
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import PACKET_BYTES, inputs, mcs_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AWGN",
    "CHANNELS",
    "COMMON_ERRORS",
    "COMMON_LIMIT",
    "ITU_A",
    "LOWEST",
    "PUBLISHED_BLOCKS",
    "RARE_LEVEL",
    "Channel",
    "binomial",
    "curve_item",
    "draw_curves",
    "error_rates",
    "error_rates_table",
    "poisson_test",
    "rates_of",
    "resampled",
    "small",
]

# --- channels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Channel:
    """A channel of §4 with the distribution of its mean SNR (§6).

    Parameters
    ----------
    key, name : str
        In rows and in texts.
    shipped : str
        Name of its error-rate table among those that come with Airpath.
    grid_db : tuple of float
        Lowest and highest SNR of the curves, and their distance, dB.
    support_db : tuple of float
        Lowest and highest SNR that is averaged over, dB.
    snr_db : NormalDist
        Distribution of the SNR, dB.
    """

    key: str
    name: str
    shipped: str
    grid_db: tuple[float, float, float]
    support_db: tuple[float, float]
    snr_db: NormalDist

    def table(self) -> phy.PerTable:
        """Return the error rates that come with Airpath."""
        return _shipped(self.shipped)

    @property
    def command(self) -> str:
        """The command that made them."""
        return str(self.table().document["provenance"]["command"])

    def grid(self) -> list[float]:
        """Return the SNRs of the curves, dB."""
        return self._steps(*self.grid_db[:2])

    def snrs_db(self) -> list[float]:
        """Return the SNRs that are averaged over, dB."""
        return self._steps(*self.support_db)

    def _steps(self, low: float, high: float) -> list[float]:
        step = self.grid_db[2]
        return [low + step * place for place in range(round((high - low) / step) + 1)]

    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each of them: the probability of its cell, over their sum."""
        half, below = self.grid_db[2] / 2, self.snr_db.cdf
        cells = [below(snr + half) - below(snr - half) for snr in self.snrs_db()]
        return np.array(cells) / sum(cells)


@cache
def _shipped(name: str) -> phy.PerTable:
    return phy.load(f"airpath:{name}")


AWGN: Final = Channel(
    "awgn", "AWGN", "802.16-ctc-awgn", (0, 22, 0.5), (2, 22), NormalDist(12.0, 8.0)
)
ITU_A: Final = Channel(
    "itu-a", "ITU-A", "802.16-ctc-vehicular-a", (0, 40, 2), (14, 40), NormalDist(26.0, 8.0)
)

CHANNELS: Final = {channel.key: channel for channel in (AWGN, ITU_A)}
"""By the key that Table 6 uses."""

# --- counting noise ----------------------------------------------------------------------------


def rates_of(session: Session) -> Mapping[str, phy.PerTable]:
    """Return the error rates of both channels; in a resample of the session counted again."""

    def make() -> Mapping[str, phy.PerTable]:
        counted = {key: channel.table() for key, channel in CHANNELS.items()}
        if session.resample is None:
            return counted
        # Only random(), whose sequence Python promises to keep.
        uniform = random.Random(f"error rates {session.resample}").random
        return {key: resampled(rates, uniform) for key, rates in counted.items()}

    return session.shared("error rates", make)


def resampled(rates: phy.PerTable, uniform: Callable[[], float]) -> phy.PerTable:
    """Return error rates of which every point is counted again (parametric bootstrap).

    Its errors are drawn from the binomial distribution with the counted share; a point without an
    error stays so. `uniform` returns the next random number in [0, 1).
    """
    document = json.loads(json.dumps(rates.document))
    for curve in document["curves"]:
        for point in curve["points"]:
            blocks = point["blocks"]
            point["errors"] = binomial(uniform(), blocks, point["errors"] / blocks)
    return phy.PerTable(document, rates.name)


def binomial(uniform: float, trials: int, probability: float) -> int:
    """Return the quantile of a binomial distribution at `uniform`, in [0, 1)."""
    if probability in (0, 1):
        return round(trials * probability)
    mean = trials * probability
    # What is further out than this has a probability below 1e-15.
    reach = 10 + 10 * sqrt(mean * (1 - probability))
    counts = np.arange(max(0, int(mean - reach)), min(trials, int(mean + reach)) + 1)
    # ln of P(k + 1) / P(k).
    steps = np.log((trials - counts[:-1]) / counts[1:]) + log(probability / (1 - probability))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    below = np.cumsum(np.exp(logs - logs.max()))
    return int(counts[np.searchsorted(below, uniform * below[-1], side="right")])


# --- the error rates of Table 2 ----------------------------------------------------------------

PUBLISHED_BLOCKS: Final = 10**7
"""FEC blocks that the paper decoded at each point (§4: at least; Table 2 shows that many)."""

COMMON_ERRORS: Final = 200
"""Published errors from which on error rates are compared by their ratio."""

COMMON_LIMIT: Final = 0.15
"""Largest relative difference there."""

RARE_LEVEL: Final = 0.01
"""Level of the test of rarer ones."""


@cache
def error_rates() -> Mapping[tuple[int, int], Row]:
    """Return every PER of Table 2 and the measured one, by SNR, dB, and MCS."""
    printed = {
        (case.snr_db, mcs): per
        for case in inputs().values()
        for mcs, per in zip(case.mcs, case.per, strict=True)
    }
    return {place: _error_rate(*place, per) for place, per in sorted(printed.items())}


def _error_rate(snr_db: int, mcs: int, published: float) -> Row:
    # Where the curve has no point, the last one below.
    points = ITU_A.table().points(PACKET_BYTES, confidence=0.99)
    here = points[(points["mcs"] == f"mcs{mcs}") & (points["snr_db"] <= snr_db)].iloc[-1].to_dict()
    blocks = mcs_table()[mcs].blocks(PACKET_BYTES)
    errors = round((1 - (1 - published) ** (1 / blocks)) * PUBLISHED_BLOCKS)
    p_value, tolerance = None, Tolerance(f"{100 * COMMON_LIMIT:g} % (README)", COMMON_LIMIT)
    if errors < COMMON_ERRORS:
        p_value = poisson_test((errors, PUBLISHED_BLOCKS), (here["errors"], here["blocks"]))
        test = f"exact test of two Poisson counts at {100 * RARE_LEVEL:g} %"
        tolerance = Tolerance(test, passed=p_value >= RARE_LEVEL)
    extra = {
        "channel": ITU_A.key,
        "published_errors": errors,
        "errors": here["errors"],
        "blocks": here["blocks"],
        "p_value": p_value,
    }
    rates = (published, here["per"], None, here["per_low"], here["per_high"])
    return Row({"mcs": mcs, "snr_db": snr_db}, "per", "1", *rates, tolerance, extra)


def poisson_test(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the p-value of the exact test that two Poisson counts have one rate.

    Given their sum, the first is binomial. Twice the smaller tail, at most 1. A count is its events
    and out of how many.
    """
    events, share = first[0] + second[0], first[1] / (first[1] + second[1])

    def probability(count: int) -> float:
        ways = lgamma(events + 1) - lgamma(count + 1) - lgamma(events - count + 1)
        return exp(ways + count * log(share) + (events - count) * log1p(-share))

    lower = sum(probability(count) for count in range(first[0] + 1))
    upper = sum(probability(count) for count in range(first[0], events + 1))
    return min(1.0, 2 * min(lower, upper))


def small(probability: float | None) -> str:
    """Return a probability with three digits: ``7.19e-4``; 0 as it is."""
    digits, _, exponent = f"{probability or 0.0:.2e}".partition("e")
    return f"{digits}e{int(exponent)}" if probability else "0"


def error_rates_table() -> Table:
    """Compare the error rates of Table 2 with the measured ones, and list what both rest on."""

    def p_value(row: Row) -> str:
        return "" if row.extra["p_value"] is None else f"{row.extra['p_value']:.3f}"

    def counted(name: str) -> Callable[[Row], str]:
        return lambda row: f"{row.extra[name]:.7g}"

    return comparison(
        "Table 2: its packet error rates and ours",
        list(error_rates().values()),
        [Key("snr_db", "SNR, dB"), Key("mcs", "MCS", "mcs{}".format)],
        [
            ColumnSet(
                "per",
                "PER",
                lambda row: small(row.published),
                lambda row: small(row.ours),
                percent(1),
                ("paper", "ours", "diff %", "within"),
            ),
            ColumnSet("per", "errors", counted("published_errors"), counted("errors")),
            ColumnSet("per", "", counted("blocks"), p_value, names=("blocks", "p")),
        ],
        [
            "Ours: the tables that Airpath comes with, see fig3. Errors of the paper: of 1e7 "
            "blocks.",
            f"within: at most {100 * COMMON_LIMIT:g} % where the paper has {COMMON_ERRORS} errors "
            f"or more; else the same rate is not rejected at {100 * RARE_LEVEL:g} % (p of the "
            "exact test of two Poisson counts).",
        ],
    )


# --- Figures 2 and 3 ---------------------------------------------------------------------------

LOWEST: Final = 1e-6
"""Lowest error rate of the figures."""


def curve_item(key: str) -> tuple[Cells, Evaluate]:
    """Return Fig. 2 or 3 as an item."""
    channel = {"fig2": AWGN, "fig3": ITU_A}[key]
    legend = (
        f"{PACKET_BYTES}-byte packets; bars: 99 % Wilson intervals; ▼: upper end of the interval "
        f"where no block failed. {channel.command}."
    )
    title = f"packet error rate over the SNR, {channel.name} channel"
    figure = lambda _session: draw_curves(channel)  # noqa: E731
    return item_of(QAWLA, key, (), partial(_found, channel), figure, legend, title=title)


def _found(channel: Channel, _session: Session, title: str) -> Found:
    points = channel.table().points(PACKET_BYTES, confidence=0.99)
    rows = [
        Row(
            {"channel": channel.key, "mcs": int(at["mcs"][3:]), "snr_db": at["snr_db"]},
            "per",
            "1",
            None,
            at["per"],
            low=at["per_low"],
            high=at["per_high"],
            extra={"errors": at["errors"], "blocks": at["blocks"]},
        )
        for at in points.to_dict("records")
    ]
    pers = points.pivot(index="snr_db", columns="mcs", values="per").reindex(channel.grid())
    lines = [
        [f"{snr_db:g}", *("" if np.isnan(per) else small(per) for per in line)]
        for snr_db, line in zip(pers.index, pers.to_numpy(), strict=True)
    ]
    notes = [
        f"PER of {PACKET_BYTES}-byte packets, Eq. 23 with the counted share of FEC blocks; a "
        "curve ends with its first point without an error.",
        f"Error rates: {channel.command}",
    ]
    columns = [("SNR", "dB"), *(("", mcs) for mcs in pers.columns)]
    return rows, [Table(title, columns, lines, notes)]


def draw_curves(channel: Channel) -> Figure:
    """Return the figure of the packet error rates of a channel, those of Table 2 as circles."""
    figure = style.new_figure(8.6, 5.6)
    panel, rates = figure.subplots(), channel.table()
    packet = Size(PACKET_BYTES)
    colours = [draw_rates(panel, rates, m, "per", packet, 0.99) for m in mcs_table()]
    circle: dict[str, Any] = {"marker": "o", "ls": "none", "ms": 9, "fillstyle": "none"}
    for row in error_rates().values() if channel is ITU_A else ():
        if row.published:
            at, colour = row.row["snr_db"], colours[int(row.row["mcs"])]
            panel.plot([at], [row.published], gid="published", color=colour, **circle)
    panel.set(yscale="log", ylim=(LOWEST, 1.3), xlim=channel.grid_db[:2])
    panel.set(xlabel="mean SNR, dB", ylabel="packet error rate (PER)")
    if channel is ITU_A:
        panel.plot([], [], color="black", label="paper, Table 2", **circle)
    figure.legend(loc="outside lower center", ncols=4)
    return figure
