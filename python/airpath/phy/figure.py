"""Figures of block, packet and symbol error rates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from airpath.phy.tables import CONFIDENCE, OutsideTableWarning, rates
from airpath.present import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.phy.tables import PerTable
    from airpath.scenario.units import Size

__all__ = ["draw_rates", "per_figure", "ser_figure"]

_MARKS = ("o", "s", "D", "P", "X", "p", "<", ">")
"""Markers of curves. ▲ and ▼ are excluded, because they have a special meaning in figures."""

_FINE = 20


def per_figure(table: PerTable, packet: Size) -> Figure:
    """Plot FER and PER of a table over the signal-to-noise ratio.

    Error bars are 95 % confidence intervals. A point without errors is shown as ▼ at the upper end
    of its interval. Lines show the interpolation between the points of the table.

    Parameters
    ----------
    table : PerTable
        Table to plot.
    packet : Size
        Packet size for the packet error rate.
    """
    with style.style():
        figure = style.new_figure(10.5, 5.0)
        panels: Any = figure.subplots(1, 2, sharex=True, sharey=True)
        fer, per = panels
        for place in range(len(table.mcss)):
            draw_rates(fer, table, place, "fer", packet)
            draw_rates(per, table, place, "per", packet)
        fer.set(title="blocks", xlabel="Es/N0, dB", ylabel="error rate", yscale="log")
        per.set(title=f"packets of {int(packet)} bytes", xlabel="Es/N0, dB", yscale="log")
        fer.set_ylim(top=1.5)
        for panel in panels:
            panel.grid(visible=True, axis="both")
        handles, labels = fer.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center")
        style.heading(
            figure,
            f"Error rates on {table.channel}",
            f"{_setup(table)}bars: 95 % intervals; ▼: no error in all blocks, the interval's upper "
            "end; lines: interpolation between points",
        )
    return figure


def ser_figure(document: Mapping[str, Any], title: str) -> Figure:
    """Plot symbol error rates over the signal-to-noise ratio.

    Parameters
    ----------
    document : mapping
        Output of ``airpath phy ser --json``.
    title : str
        Subtitle that describes the parameters.
    """
    with style.style():
        figure = style.new_figure(6.5, 4.5)
        panel: Any = figure.subplots()
        snrs_db = [point["snr_db"] for point in document["points"]]
        rates = np.array([point["ser"] for point in document["points"]])
        panel.plot(snrs_db, np.where(rates > 0, rates, np.nan), "o-", ms=3, lw=1.2)
        panel.set(xlabel="mean SNR of a receiving antenna, dB", ylabel="symbol error rate")
        panel.set(yscale="log")
        panel.grid(visible=True, axis="both")
        style.heading(figure, "Symbol error rate", title)
    return figure


def _setup(table: PerTable) -> str:
    """Describe the decoder with which a table was measured; empty if unknown."""
    settings = table.document.get("settings")
    if not isinstance(settings, dict) or not {"algorithm", "iterations"} <= settings.keys():
        return ""
    return f"{settings['algorithm']}, {settings['iterations']} iterations; "


def draw_rates(
    panel: Axes,
    table: PerTable,
    place: int,
    quantity: Literal["fer", "per"],
    packet: Size,
    confidence: float = CONFIDENCE,
) -> str:
    """Plot the error rates of an MCS with their confidence intervals; return the colour.

    Parameters
    ----------
    panel : Axes
        Axes to plot into.
    table : PerTable
        The table.
    place : int
        Index of the MCS in the table, from 0, which determines colour and marker.
    quantity : {"fer", "per"}
        Error rate of blocks or of packets.
    packet : Size
        Packet size for the packet error rate.
    confidence : float
        Confidence level of the intervals, in (0, 1). Default 0.95.
    """
    mcs, points = table.document["curves"][place]["mcs"], table.document["curves"][place]["points"]
    colour = list(style.COLOURS.values())[place % len(style.COLOURS)]
    snrs_db = np.array([point["snr_db"] for point in points])
    found = np.array([rates(mcs, point, packet, confidence)[quantity] for point in points])
    mean, low, high = found.T
    some = mean > 0
    panel.errorbar(
        snrs_db[some],
        mean[some],
        yerr=np.maximum(0, [(mean - low)[some], (high - mean)[some]]),
        ls="none",
        marker=_MARKS[place % len(_MARKS)],
        ms=4,
        lw=1,
        capsize=2,
        color=colour,
        label=style.literal(f"{mcs['name']} {mcs.get('label', '')}".strip()),
    )
    panel.plot(snrs_db[~some], high[~some], "v", ls="none", ms=5, color=colour)
    if some.any():
        last = snrs_db[some][-1]
        parts = max(2, int(_FINE * (last - snrs_db[0])) + 1)
        fine = np.linspace(snrs_db[0], last, parts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideTableWarning)
            line = table.fer(place, fine) if quantity == "fer" else table.per(place, fine, packet)
        panel.plot(fine, line, color=colour, lw=1.2)
    return colour
