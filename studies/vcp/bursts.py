"""The item ``bursts``: the same share of bad bits in longer bursts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.points import Point, Points, draw
from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import item_of
from airpath.reproduction.session import Session
from airpath_papers.vcp.measures import error_rate
from airpath_papers.vcp.quantities import DELIVERED, SIMULATED
from airpath_papers.vcp.scenarios import BAD_SHARE, RATE_MBPS

from .checks import DIRECTORY, SWEEPS, law_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ITEM", "doppler_hz"]


def doppler_hz(bits: int) -> float:
    """Return the Doppler shift whose fades last so long and take this share of time.

    Rayleigh, one branch: a fade below the threshold ρ² of the mean power has the share
    1 - exp(-ρ²) and lasts (exp(ρ²) - 1)/(√(2π) f ρ) on the mean.
    """
    power = -math.log(1 - BAD_SHARE)
    lasts_s = bits / (RATE_MBPS * 1e6)
    return math.expm1(power) / (math.sqrt(2 * math.pi * power) * lasts_s)


def _found(session: Session, title: str) -> tuple[list[Row], list[Table]]:
    rows, lines = [], []
    for cell in SWEEPS.cells("bursts"):
        axes = cell.axes
        rate, bits = axes["code_rate"], axes["burst_bits"]
        place = {name: axes[name] for name in ("antennas", "code_rate", "snr_db", "burst_bits")}
        extra: dict[str, Any] = {"doppler_hz": doppler_hz(bits)}
        text, law = "not simulated", law_of(rate, bits)
        found = error_rate(session, cell)
        if found is not None:
            share, low, high, failed, sent = found
            extra |= {"simulated": share, "failed": failed, "sent": sent}
            text = f"{share:.3g} ({low:.3g} to {high:.3g})"
        rows.append(Row(place, "per", "1", None, law, extra=extra))
        rows.append(DELIVERED.row(session, cell, place))
        doppler, delivered = f"{doppler_hz(bits):.3g}", DELIVERED.text(session, cell)
        lines.append([f"{rate:g}", f"{bits:,}", doppler, f"{law:.3g}", text, delivered])
    columns = [("", "r"), ("", "burst, bits"), ("", "Doppler shift, Hz"), ("PER", "law")]
    columns += [("PER", "simulated"), ("", "delivered")]
    notes = [
        f"2x2, 10 dB, share of bad bits {BAD_SHARE:.4f}. The simulated share of few long "
        "bursts has a wider interval than that of independent packets, which is shown."
    ]
    return rows, [Table(title, columns, lines, notes)]


def _draw(session: Session) -> Figure:
    figure = plotting.new_figure(7.6, 4.8)
    axes = figure.subplots()
    for rate, colour in ((1.0, "orange"), (0.93, "blue")):
        cells = {c.axes["burst_bits"]: c for c in SWEEPS.cells("bursts", code_rate=rate)}
        look: Any = {"color": plotting.COLOURS[colour]}
        label = "no FEC" if rate == 1 else f"r = {rate:g}"
        axes.plot([*cells], [law_of(rate, bits) for bits in cells], lw=1.4, label=label, **look)
        found = {bits: SIMULATED.estimate(session, cell) for bits, cell in cells.items()}
        points = [
            Point(bits, of.mean, 0.0, of.mean - of.low, of.high - of.mean)
            for bits, of in found.items()
            if of is not None and of.mean > 0
        ]
        draw(axes, Points("", points, {"marker": "o", "markersize": 3.5, **look}))
    grey: Any = {"color": plotting.COLOURS["grey"], "linestyle": ":"}
    axes.axhline(BAD_SHARE, label="share of bad bits", **grey)
    limits: dict[str, Any] = {"xscale": "log", "yscale": "log", "ylim": (1e-8, 1.5)}
    axes.set(xlabel="mean burst, bits", ylabel="packet error rate", **limits)
    axes.legend()
    return figure


ITEM: Final = item_of(
    DIRECTORY,
    "bursts",
    SWEEPS.cells("bursts"),
    _found,
    _draw,
    "Lines: the law; points: simulation, 99 % as if packets were independent. ",
)
"""The item's cells, and what makes its result."""
