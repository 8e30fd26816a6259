"""The item ``bursts``: the same share of bad bits in longer bursts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import titles
from airpath.reproduction.session import Session
from airpath_papers.vcp.common import about
from airpath_papers.vcp.measures import DELIVERED, share_interval, simulated_per

from .burst_failures import BURST_CELLS, CODE_RATES, SNR_DB, doppler_hz, law_of
from .variants import BAD_SHARE, BURST_BITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["ITEM"]

DIRECTORY: Final = Path(__file__).parent

_CELLS: Final[list[Cell]] = list(BURST_CELLS.values())


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(DIRECTORY)["bursts"]
    rows, lines = [], []
    for (rate, bits), case in BURST_CELLS.items():
        place: dict[str, int | float | str] = {
            "antennas": "2x2",
            "code_rate": rate,
            "snr_db": SNR_DB,
            "burst_bits": bits,
        }
        extra: dict[str, Any] = {"doppler_hz": doppler_hz(bits)}
        text = "not simulated"
        found = simulated_per(session, case)
        if found is not None:
            share, failed, sent = found
            low, high = _interval(session, found)
            extra |= {"simulated": share, "failed": failed, "sent": sent}
            text = f"{share:.3g} ({low:.3g} to {high:.3g})"
        law = law_of(rate, bits)
        rows.append(Row(place, "per", "1", None, law, extra=extra))
        rows.append(DELIVERED.row(session, case, place))
        doppler = f"{doppler_hz(bits):.3g}"
        delivered = DELIVERED.text(session, case)
        lines.append([f"{rate:g}", f"{bits:,}", doppler, f"{law:.3g}", text, delivered])
    columns = [("", "r"), ("", "burst, bits"), ("", "Doppler shift, Hz"), ("PER", "law")]
    columns += [("PER", "simulated"), ("", "delivered")]
    notes = [
        f"2x2, {SNR_DB:g} dB, share of bad bits {BAD_SHARE:.4f}. The simulated share of few long "
        "bursts has a wider interval than that of independent packets, which is shown."
    ]
    table = Table(title, columns, lines, notes)
    complete, figures = session.complete(_CELLS), []
    if out is not None and complete:
        figures = session.draw(
            lambda: _draw(session, title), out, "vcp-bursts", title, session.about
        )
    rows = [row for row in rows if row.ours is not None]
    return ItemResult("bursts", title, rows, [table], figures, complete=complete)


def _interval(session: Session, found: tuple[float, int, int]) -> tuple[float, float]:
    return share_interval(found[1], found[2], session.paper.confidence)


def _draw(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(7.6, 4.8)
    axes = figure.subplots()
    for rate, colour in zip(CODE_RATES, ("orange", "blue"), strict=True):
        look: Any = {"color": plotting.COLOURS[colour]}
        label = "no FEC" if rate == 1 else f"r = {rate:g}"
        axes.plot(
            BURST_BITS, [law_of(rate, bits) for bits in BURST_BITS], lw=1.4, label=label, **look
        )
        found = [simulated_per(session, BURST_CELLS[rate, bits]) for bits in BURST_BITS]
        points = [
            (bits, share, share - low, high - share)
            for bits, each in zip(BURST_BITS, found, strict=True)
            if each is not None and each[1]
            for share, (low, high) in [(each[0], _interval(session, each))]
        ]
        if points:
            at, shares, below, above = zip(*points, strict=True)
            axes.errorbar(at, shares, yerr=(below, above), fmt="o", capsize=2, **look)
    grey: Any = {"color": plotting.COLOURS["grey"], "linestyle": ":"}
    axes.axhline(BAD_SHARE, label="share of bad bits", **grey)
    axes.set(
        xscale="log",
        yscale="log",
        ylim=(1e-8, 1.5),
        xlabel="mean burst, bits",
        ylabel="packet error rate",
    )
    axes.legend()
    legend = "Lines: the law; points: simulation, 99 % as if packets were independent. "
    plotting.heading(figure, title, legend + about(session, "bursts", _CELLS))
    return figure


ITEM: Final = (_CELLS, _evaluate)
"""The item's cells, and what makes its result."""
