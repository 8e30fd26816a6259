"""Figures of counted error rates over the SNR, a curve for each MCS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airpath.papers.kit.error_rates import Channel, ErrorRates, PrintedRate
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "LOWEST", "draw_curves"]

COLOURS: Final = ("black", "blue", "sky", "green", "orange", "red", "purple", "grey")
MARKERS: Final = "osD<>PXp"
"""Without the triangles up and down, which mean something of their own in all figures."""

LOWEST: Final = 1e-6
"""Of the drawn error rates."""

NOTHING_THROUGH: Final = 0.999


def draw_curves(
    figure: Figure,
    channel: Channel,
    rates: ErrorRates,
    names: Mapping[int, str],
    printed: Sequence[PrintedRate] = (),
) -> None:
    """Draw the packet error rate of each MCS with its intervals, and the paper's as circles.

    Parameters
    ----------
    figure : Figure
        Empty.
    channel : Channel
        Its SNRs are the horizontal axis.
    rates : ErrorRates
        What was counted. A ▼ is a point without an error, at its interval's upper end.
    names : mapping of int to str
        What the legend says of each MCS, at most eight.
    printed : sequence of PrintedRate
        Open circles, each in the colour of its MCS; those of 0 are left out. Default: none.
    """
    panel = figure.subplots()
    for mcs, colour, marker in zip(names, COLOURS, MARKERS, strict=False):
        counts = rates.counts(mcs)
        # Of the points where nothing gets through, the last.
        begin = sum(count.per > NOTHING_THROUGH for count in counts)
        seen = [count for count in counts[max(begin - 1, 0) :] if count.errors]
        colour = plotting.COLOURS[colour]
        below = [count.per - count.low for count in seen]
        above = [count.high - count.per for count in seen]
        panel.errorbar(
            [count.snr_db for count in seen],
            [count.per for count in seen],
            yerr=[below, above],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.3,
            elinewidth=0.9,
            label=names[mcs],
        )
        for count in counts:
            if not count.errors and count.high > LOWEST:
                panel.plot([count.snr_db], [count.high], "v", color=colour, markersize=5)
    colours = dict(zip(names, COLOURS, strict=False))
    for rate in printed:
        if rate.published:
            colour = plotting.COLOURS[colours[rate.mcs]]
            look: dict[str, Any] = {"color": colour, "markersize": 9, "fillstyle": "none"}
            panel.plot([rate.snr_db], [rate.published], "o", gid="published", **look)
    panel.set_yscale("log")
    panel.set_ylim(LOWEST, 1.3)
    panel.set_xlim(channel.grid_db[0], channel.grid_db[1])
    panel.set(xlabel="SNR, dB", ylabel="packet error rate")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=4)
