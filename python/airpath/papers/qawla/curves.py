"""Figures 2 and 3: packet error rates over the SNR; and the error rates of Table 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, lgamma, log, log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.papers.kit.base import ItemResult, Row, Table
from airpath.papers.kit.session import Session
from airpath.papers.qawla.data import PACKET_BYTES, inputs, mcs_table
from airpath.papers.qawla.radio import AWGN, ITU_A, Channel, ErrorRates
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COMMON_ERRORS",
    "COMMON_LIMIT",
    "PUBLISHED_BLOCKS",
    "RARE_LEVEL",
    "ErrorRate",
    "curve_item",
    "error_rate",
    "error_rates",
    "poisson_test",
    "small",
]

COMMON_ERRORS: Final = 200
"""Published errors from which on error rates are compared by their ratio."""

COMMON_LIMIT: Final = 0.15
"""Largest relative difference there."""

RARE_LEVEL: Final = 0.01
"""Level of the test of rarer ones."""

PUBLISHED_BLOCKS: Final = 10**7
"""FEC blocks that the paper decoded at each point (§4: at least; Table 2 shows that many)."""


def curve_item(key: str) -> Callable[[Session, Path | None], ItemResult]:
    """Return what evaluates Fig. 2 or 3."""
    channel = {"fig2": AWGN, "fig3": ITU_A}[key]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: packet error rate over the SNR, {channel.name} channel"
        rates = ErrorRates.of(channel)
        rows = [
            Row(
                {"channel": channel.key, "mcs": mcs, "snr_db": count.snr_db},
                "per",
                "1",
                None,
                count.per,
                low=count.low,
                high=count.high,
                extra={"errors": count.errors, "blocks": count.blocks},
            )
            for mcs in mcs_table()
            for count in rates.counts(mcs)
        ]
        figures = [] if out is None else _draw(key, title, channel, rates, session, out)
        return ItemResult(key, title, rows, [_table(title, channel, rates)], figures)

    return evaluate


def _table(title: str, channel: Channel, rates: ErrorRates) -> Table:
    lines = []
    for snr_db in channel.grid():
        entries = [rates.count(mcs, snr_db) for mcs in mcs_table()]
        lines.append(
            [f"{snr_db:g}", *("" if count is None else small(count.per) for count in entries)]
        )
    columns = [("SNR", "dB"), *(("", f"mcs{mcs}") for mcs in mcs_table())]
    notes = [
        f"PER of {PACKET_BYTES}-byte packets, Eq. 23 with the counted share of FEC blocks; a curve "
        "ends with its first point without an error.",
        f"Error rates: {rates.command}",
    ]
    return Table(title, columns, lines, notes)


def small(probability: float) -> str:
    """Return a probability with the three digits that the paper prints."""
    digits, _, exponent = f"{probability:.2e}".partition("e")
    return f"{digits}e{int(exponent)}" if probability else "0"


# --- the error rates of Table 2 ----------------------------------------------------------------


@dataclass(frozen=True)
class ErrorRate:
    """One PER of Table 2 beside ours.

    Parameters
    ----------
    mcs : int
        m.
    snr_db : int
        Of the ITU-A channel, dB.
    published : float
        The printed PER.
    published_errors : int
        Of 1e7 FEC blocks, from the printed PER by Eq. 23.
    ours, low, high : float
        Our PER, and its interval.
    errors, blocks : int
        What it was counted from.
    """

    mcs: int
    snr_db: int
    published: float
    published_errors: int
    ours: float
    low: float
    high: float
    errors: int
    blocks: int

    @property
    def p_value(self) -> float | None:
        """Probability of counts that differ as much when both error rates are the same.

        None where they are compared by the ratio.
        """
        if self.common:
            return None
        return poisson_test((self.published_errors, PUBLISHED_BLOCKS), (self.errors, self.blocks))

    @property
    def common(self) -> bool:
        """Whether it is compared by the ratio."""
        return self.published_errors >= COMMON_ERRORS

    @property
    def within(self) -> bool:
        """Whether it meets the goal."""
        if self.p_value is None:
            return abs(self.ours / self.published - 1) <= COMMON_LIMIT
        return self.p_value >= RARE_LEVEL


def error_rate(mcs: int, snr_db: int, published: float) -> ErrorRate:
    """Return a PER of Table 2 beside ours."""
    fer = 1 - (1 - published) ** (1 / mcs_table()[mcs].blocks(PACKET_BYTES))
    count = ErrorRates.of(ITU_A).count_from(mcs, snr_db)
    return ErrorRate(
        mcs,
        snr_db,
        published,
        round(fer * PUBLISHED_BLOCKS),
        count.per,
        count.low,
        count.high,
        count.errors,
        count.blocks,
    )


@cache
def error_rates() -> tuple[ErrorRate, ...]:
    """Return every PER of Table 2 once, by SNR and MCS."""
    printed = {
        (case.snr_db, mcs): per
        for case in inputs().values()
        for mcs, per in zip(case.mcs, case.per, strict=True)
    }
    return tuple(error_rate(mcs, snr_db, per) for (snr_db, mcs), per in sorted(printed.items()))


def poisson_test(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the p-value of the exact test that two Poisson counts have one rate.

    Given their sum, the first is binomial. Twice the smaller tail, at most 1.

    Parameters
    ----------
    first, second : tuple of int
        Events, and out of how many.
    """
    events, share = first[0] + second[0], first[1] / (first[1] + second[1])

    def probability(count: int) -> float:
        ways = lgamma(events + 1) - lgamma(count + 1) - lgamma(events - count + 1)
        return exp(ways + count * log(share) + (events - count) * log1p(-share))

    lower = sum(probability(count) for count in range(first[0] + 1))
    upper = sum(probability(count) for count in range(first[0], events + 1))
    return min(1.0, 2 * min(lower, upper))


# --- drawing -----------------------------------------------------------------------------------

COLOURS: Final = ("black", "blue", "sky", "green", "orange", "red", "purple", "grey")
MARKERS: Final = "osD<>PXp"
"""Without the triangles up and down, which mean something of their own in all figures."""

LOWEST: Final = 1e-6
"""Of the drawn error rates."""

NOTHING_THROUGH: Final = 0.999


def _draw(
    key: str, title: str, channel: Channel, rates: ErrorRates, session: Session, out: Path
) -> list[Path]:
    with plotting.style():
        figure = plotting.new_figure(8.6, 5.6)
        _curves(figure, channel, rates)
        subtitle = (
            f"{PACKET_BYTES}-byte packets · bars: 99 % Wilson intervals · ▼: no error in all "
            "blocks, the interval's upper end"
        )
        if channel is ITU_A:
            subtitle += " · open circles: Table 2 of the paper"
        plotting.heading(figure, title, subtitle)
        about = f"After {session.paper.citation} {rates.command}"
        return session.write(figure, out, f"qawla-{key}", title, about)


def _curves(figure: Figure, channel: Channel, rates: ErrorRates) -> None:
    panel = figure.subplots()
    for mcs, colour, marker in zip(mcs_table(), COLOURS, MARKERS, strict=True):
        counts = rates.counts(mcs)
        # Of the points where nothing gets through, the last.
        begin = sum(count.per > NOTHING_THROUGH for count in counts)
        seen = [count for count in counts[max(begin - 1, 0) :] if count.errors]
        colour = plotting.COLOURS[colour]
        panel.errorbar(
            [count.snr_db for count in seen],
            [count.per for count in seen],
            yerr=[
                [count.per - count.low for count in seen],
                [count.high - count.per for count in seen],
            ],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.3,
            elinewidth=0.9,
            label=f"mcs{mcs}: {mcs_table()[mcs].name}",
        )
        for count in counts:
            if not count.errors and count.high > LOWEST:
                panel.plot([count.snr_db], [count.high], "v", color=colour, markersize=5)
    if channel is ITU_A:
        _draw_published(panel)
    panel.set_yscale("log")
    panel.set_ylim(LOWEST, 1.3)
    panel.set_xlim(channel.grid_db[0], channel.grid_db[1])
    panel.set(xlabel="SNR, dB", ylabel="packet error rate")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=4)


def _draw_published(panel: Axes) -> None:
    """Draw the error rates that Table 2 prints, each in the colour of its MCS."""
    colours = dict(zip(mcs_table(), COLOURS, strict=True))
    for rate in error_rates():
        if rate.published:
            colour = plotting.COLOURS[colours[rate.mcs]]
            look: dict[str, Any] = {"color": colour, "markersize": 9, "fillstyle": "none"}
            panel.plot([rate.snr_db], [rate.published], "o", gid="published", **look)
