"""Figures of several rows of panels over a parameter, a curve for each policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.axes import label_decades
from airpath.reproduction.parameter_plot import ParameterPlot
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.wimax.data import COLOURS, NAMES
from airpath_papers.wimax.measures import time_s, timeouts

from .scenarios import SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TIMEOUTS", "TOTAL", "completion_ms", "figure_of", "plot_of", "total_mbps"]


def completion_ms(replication: Mapping[str, Any]) -> float:
    """Time of the downloads from their start to their completion, ms, the mean."""
    flows = replication["flows"]
    return 1e3 * sum(time_s(flow, replication) for flow in flows) / len(flows)


def total_mbps(replication: Mapping[str, Any]) -> float:
    """Goodput of all downloads, Mbit/s: a station's first flow is one, its second an upload."""
    flows = replication["flows"][: len(replication["stations"])]
    return float(sum(flow["goodput_bps"] for flow in flows)) / 1e6


TOTAL: Final = Measured("goodput", "Mbit/s", total_mbps, 3)
TIMEOUTS: Final = Measured("timeouts", "1", timeouts, 1)


def plot_of(
    sweep: str, axis: str, name: str, quantities: Mapping[str, Measured], **place: Any
) -> ParameterPlot:
    """Return the plot of a sweep over an axis, a group for each policy.

    Parameters
    ----------
    sweep, axis : str
        Of the points.
    name : str
        Of the axis, with its unit.
    quantities : mapping of str to Measured
        What is shown, by the titles of panels.
    **place
        Values of other axes.
    """
    groups: dict[str, list[Any]] = {}
    for _place, point in SWEEPS.points(sweep, **place):
        groups.setdefault(point.axes["policy"], []).append(point)
    values = [point.axes[axis] for point in next(iter(groups.values()))]
    looks = [(COLOURS[policy], "o") for policy in groups]
    cells = {NAMES[policy]: points for policy, points in groups.items()}
    return ParameterPlot(name, "", values, cells, quantities, looks)


def figure_of(session: Session, plots: Mapping[str, ParameterPlot]) -> Figure:
    """Return the figure: a row of panels for each plot, by its name."""
    most = max(len(plot.quantities) for plot in plots.values())
    figure = plotting.new_figure(3.4 * most, 2.6 * len(plots))
    panels: Any = figure.subplots(len(plots), most, squeeze=False)
    for row, (name, plot) in zip(panels, plots.items(), strict=True):
        for panel, (title, quantity) in zip(row, plot.quantities.items(), strict=False):
            plot.draw(panel, quantity, session)
            panel.set(xlabel=plot.parameter, title=f"{name}: {title}", xscale="log")
            panel.set_xlim(0.9 * plot.values[0], 1.1 * plot.values[-1])
            label_decades(panel.xaxis)
            panel.set_ylim(bottom=0)
        for panel in row[len(plot.quantities) :]:
            panel.set_visible(False)
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
