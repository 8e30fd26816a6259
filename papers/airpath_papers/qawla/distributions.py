"""Distributions of the queue length, as figures with an analytic model's point and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.files import write_file
from airpath.present import style as plotting
from airpath.reproduction.base import Cell
from airpath.reproduction.session import Session
from airpath_papers.qawla.queue_lengths import Distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Histogram", "draw_distributions", "write_distributions"]

LEFT_OUT: Final = 2e-4
"""Lengths that are rarer than this at the end of every distribution are not drawn."""


@dataclass(frozen=True)
class Histogram:
    """One distribution of a figure.

    Parameters
    ----------
    title : str
        Of its panel.
    u : Distribution
        What was simulated.
    boundary : int
        B, packets, from which on bars have another colour.
    analysis : float
        Length by the analytic model, packets.
    published : float
        The same in the paper, packets.
    """

    title: str
    u: Distribution
    boundary: int
    analysis: float
    published: float

    @property
    def height(self) -> float:
        """Of its panel."""
        u = self.u
        return 1.12 * max((*u.mean, *u.high) if u.replications > 1 else u.mean)

    @property
    def length(self) -> int:
        """How far it is drawn, packets."""
        common = [k for k, share in enumerate(self.u.mean) if share > LEFT_OUT]
        return max(max(common, default=0) + 2, self.boundary + 1)


def draw_distributions(shown: Sequence[Histogram], columns: int, title: str, about: str) -> Figure:
    """Return the figure of up to six distributions.

    Parameters
    ----------
    shown : sequence of Histogram
        In the order of the panels, line by line.
    columns : int
        Of panels, 1 or 2. In one column all have the same height.
    title, about : str
        Of the figure.
    """
    lines = -(-len(shown) // columns)
    figure = plotting.new_figure(7.2 if columns == 1 else 10.5, 1.2 + 2.35 * lines)
    panels: Any = figure.subplots(lines, columns, sharex=True, sharey=columns == 1, squeeze=False)
    for letter, panel, each in zip("abcdef", panels.flat, shown, strict=False):
        _bars(panel, each)
        _points(panel, each, max(s.height for s in shown) if columns == 1 else each.height)
        panel.set_title(f"({letter}) {each.title}")
    panels[0, 0].set_xlim(-1, max(each.length for each in shown))
    panels[0, 0].xaxis.get_major_locator().set_params(integer=True)
    for panel in panels[-1, :]:
        panel.set_xlabel("packets waiting, k")
    for panel in panels[:, 0]:
        panel.set_ylabel("fraction of time, $u_k$")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 * columns)
    plotting.heading(figure, title, about)
    return figure


def _bars(panel: Axes, shown: Histogram) -> None:
    u, boundary, colours = shown.u, shown.boundary, plotting.COLOURS
    for label, members, colour in (
        ("simulated, regime 1 (k < B)", range(boundary), colours["blue"]),
        ("simulated, regime 2 (k ≥ B)", range(boundary, len(u.mean)), colours["orange"]),
    ):
        drawn = [k for k in members if k < len(u.mean)]
        panel.bar(drawn, [u.mean[k] for k in drawn], width=0.86, color=colour, label=label)
    if u.replications > 1:
        # A share of time is never below 0, whatever the interval says.
        below = [min(mean, mean - low) for mean, low in zip(u.mean, u.low, strict=True)]
        above = [high - mean for mean, high in zip(u.mean, u.high, strict=True)]
        bars: dict[str, Any] = {"fmt": "none", "ecolor": colours["grey"], "elinewidth": 0.8}
        panel.errorbar(range(len(u.mean)), u.mean, yerr=[below, above], **bars)
    grey: dict[str, Any] = {"color": colours["grey"], "linestyle": (0, (4, 3))}
    panel.axvline(boundary - 0.5, label="boundary B", **grey)


def _points(panel: Axes, shown: Histogram, top: float) -> None:
    red = plotting.COLOURS["red"]
    panel.set_ylim(0, top)
    line: dict[str, Any] = {"color": red, "linewidth": 1.8, "label": "analysis, x*"}
    panel.plot([shown.analysis] * 2, [0, top], **line)
    open_: dict[str, Any] = {"color": red, "fillstyle": "none", "markeredgewidth": 1.4}
    label = "x* in the paper's table"
    panel.plot([shown.published], [0.5 * top], "D", markersize=6, label=label, **open_)


def write_distributions(
    path: Path, title: str, found: Mapping[Cell, Distribution], session: Session
) -> Path:
    """Write distributions as a CSV file; return it.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        What they show.
    found : mapping of Cell to Distribution
        By cell, whose entries are named by `Paper.cell_names`.
    session : Session
        What made them.
    """
    text, build = io.StringIO(), session.engine.build()
    text.write(
        f"# {session.paper.citation}\n# {title}\n"
        f"# Airpath {build['version']} ({build['commit']}), seed {session.seed}, "
        f"{session.effort.describe()}; {session.paper.key}.json beside this file has the "
        "scenarios.\n# probability: fraction of time with `packets` waiting at the bottleneck; "
        f"low, high: {100 * session.paper.confidence:g} % interval.\n"
    )
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*session.paper.cell_names, "packets", "probability", "low", "high"])
    for cell, u in found.items():
        for k, numbers in enumerate(zip(u.mean, u.low, u.high, strict=True)):
            writer.writerow([*cell, k, *(f"{number:.6g}" for number in numbers)])
    write_file(path, text.getvalue().encode())
    return path
