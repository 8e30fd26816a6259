"""Figures over time that a paper's ``paper.toml`` declares: recorded series of single runs.

```toml
[timelines.fig6]
points = [{sweep = "traced", delay_ms = 50}]    # as `figures` has them
from_s = 2700.0                                 # what is drawn. Default: the whole run
to_s = 3000.0
legend = "..."                                  # below the title
events.50 = "128 kbit/s"                        # instants, s, with a text
[[timelines.fig6.panels]]
y_name = "window, kB"
curves = [{place = {protocol = "CLAMP"}, series = "cwnd", of = 0, factor = 1e-3, label = "CWND"}]
```

A curve is the recorded `series` of one flow or queue, `of` (default 0), of the first point with the
values of `place` (default: the first), times `factor`. `kind` is one of `present.timelines.KINDS`
(default ``steps``); `colour` is a name of `present.style`. In place of a series a curve may have
`times` and `values`. Further keys of a panel: `title`, which may name quantities of the run of its
first curve (``{empty:.0%}``), `ylim`, `levels` (horizontal lines with a text) and `scale` (panels
with equal ones end at the same height); of the figure: `size_in`, `heights`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.present import style
from airpath.present.axes import legend_below
from airpath.present.panels import legend_of, same_height
from airpath.present.timelines import KINDS, draw_series, draw_texts
from airpath.reproduction.figures import chosen_points
from airpath.reproduction.files import MANIFEST, refuse_unknown
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.session import Session
from airpath.reproduction.spread import values_of
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath.reproduction.values import is_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["timeline_item"]

_BIN_S: Final = 1.0
"""Length of the bins of rates and bands, s."""


_FIGURE: Final = frozenset(
    ("points", "title", "legend", "from_s", "to_s", "events", "panels", "size_in", "heights")
)
_PANEL: Final = frozenset(("title", "y_name", "ylim", "levels", "scale", "curves"))
_CURVE: Final = frozenset(
    ("place", "series", "of", "factor", "kind", "colour", "label", "times", "values")
)


class _Numbers(dict[str, Any]):
    """The quantities of the first run of a cell, by name."""

    def __init__(self, session: Session, cell: SweepPoint, known: Mapping[str, Any]) -> None:
        super().__init__()
        self._of = (session, cell, known)

    def __missing__(self, name: str) -> float:
        session, cell, known = self._of
        return float(known[name].values(session, cell)[0])


class _Timeline:
    """A figure over time; parameters as of `timeline_item`."""

    def __init__(
        self, place: str, spec: Mapping[str, Any], sweeps: Sweeps, quantities: Mapping[str, Any]
    ) -> None:
        self._spec, self._quantities = spec, quantities
        self.points = chosen_points(spec["points"], sweeps, None)
        self.cells = [point.cell for point in self.points]
        refuse_unknown(place, spec, _FIGURE)
        for panel in spec["panels"]:
            refuse_unknown(f"{place}.panels", panel, _PANEL)
            for curve in panel["curves"]:
                refuse_unknown(f"{place}.panels.curves", curve, _CURVE)
                kind = curve.get("kind", "steps")
                refuse_unknown(f"{place}.panels.curves.kind", [kind], KINDS, "unknown value")

    def drawn(self, session: Session) -> Figure:
        """Return the figure without its heading."""
        spec = self._spec
        panels = spec["panels"]
        end_s = spec.get("to_s", session.effort_of(self.cells[0]).duration_s)
        edges = np.arange(spec.get("from_s", 0.0), end_s + _BIN_S / 2, _BIN_S)
        figure = style.new_figure(*spec.get("size_in", (9.6, 1.2 + 2.0 * len(panels))))
        heights: Any = spec.get("heights", [1] * len(panels))
        grid: Any = figure.subplots(
            len(panels), 1, sharex=True, squeeze=False, height_ratios=heights
        )
        axes = grid[:, 0]
        scales: dict[str, list[Axes]] = {}
        events = {float(at): text for at, text in spec.get("events", {}).items()}
        for axis, panel in zip(axes, panels, strict=True):
            for curve in panel["curves"]:
                self._draw(session, axis, curve, edges)
            numbers = _Numbers(session, self._cell(panel["curves"][0]), self._quantities)
            axis.set_title(panel.get("title", "").format_map(numbers), loc="left")
            axis.set(ylabel=panel["y_name"], ylim=panel.get("ylim", (0, None)))
            levels = {float(at): text for at, text in panel.get("levels", {}).items()}
            draw_texts(axis, levels, events)
            events = dict.fromkeys(events, "")
            if "scale" in panel:
                scales.setdefault(panel["scale"], []).append(axis)
        same_height(scales.values())
        axes[-1].set(xlabel="time, s", xlim=(edges[0], end_s))
        figure.align_ylabels()
        if handles := legend_of(axes):
            legend_below(figure, handles, "")
        return figure

    def _cell(self, curve: Mapping[str, Any]) -> SweepPoint:
        """Return the cell of a curve."""
        place = curve.get("place", {})
        found: SweepPoint = next(p.cell for p in self.points if is_at(values_of(p), place))
        return found

    def _draw(self, session: Session, axis: Axes, curve: Mapping[str, Any], edges: Any) -> None:
        look = {"color": style.COLOURS[curve["colour"]], "label": curve["label"]}
        if "times" in curve:
            axis.stairs(curve["values"], curve["times"], baseline=None, zorder=5, **look)
            return
        series = session.series(self._cell(curve), curve["series"])
        times, values = series.of(curve.get("of", 0))
        values = values * curve.get("factor", 1.0)
        draw_series(axis, curve.get("kind", "steps"), times, values, edges, **look)


def timeline_item(
    directory: Path,
    key: str,
    spec: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Any],
    found: Callable[[Session, str], Found] = lambda _session, _title: ([], []),
) -> tuple[Cells, Evaluate]:
    """Return the cells and the evaluation of a figure over time.

    Parameters
    ----------
    directory : Path
        Of the paper.
    key : str
        Of the item.
    spec : mapping
        Its table in ``paper.toml``.
    sweeps : Sweeps
        Of the paper.
    quantities : mapping
        Those that titles name.
    found : callable, optional
        Makes its rows and tables, once all cells are simulated. Default: there are none.

    Raises
    ------
    BadValueError
        If a key or the kind of a curve is not known.
    """
    place = f"{directory.name}/{MANIFEST}: timelines.{key}"
    timeline = _Timeline(place, spec, sweeps, quantities)
    legend, title = spec.get("legend", ""), spec.get("title", "")
    about = (directory, key, timeline.cells, found, timeline.drawn, legend)
    return item_of(*about, title=title, whole=True)
