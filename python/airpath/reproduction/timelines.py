"""Figures over time, declared in a paper's ``paper.toml``: recorded series of single runs.

```toml
[timelines.fig6]
points = [{sweep = "traced", delay_ms = 50}]    # as in `figures`
from_s = 2700.0                                 # plotted interval. Default: the entire run
to_s = 3000.0
legend = "..."                                  # below the title
events.50 = "128 kbit/s"                        # instants, s, with a text
[[timelines.fig6.panels]]
y_name = "window, kB"
curves = [{place = {protocol = "CLAMP"}, series = "cwnd", of = 0, factor = 1e-3, label = "CWND"}]
```

Keys of a curve:

* `place`: axis values; the curve shows the first point with these values. Default: the first point.
* `series`: the recorded series. Instead, a curve may have `times` and `values`.
* `of`: index of the flow or queue. Default 0.
* `factor`: the values of the series are multiplied by this factor.
* `kind`: one of `present.timelines.KINDS`. Default ``steps``.
* `colour`: a name from `present.style`.

Further keys of a panel: `title`, which may contain quantities of the run that the first curve shows
(``{empty:.0%}``); `ylim`; `levels` (horizontal lines with a text); `scale` (panels with equal
`scale` have the same upper limit). Further keys of the figure: `size_in`, `heights`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.present import style
from airpath.present.axes import legend_below
from airpath.present.panels import legend_of, same_height
from airpath.present.timelines import KINDS, draw_series, draw_texts
from airpath.reproduction.chosen import POINTS, points_at, refuse_points
from airpath.reproduction.entries import (
    NUMBER,
    NUMBERS,
    TABLE,
    TABLES,
    TEXT,
    WORDS,
    Kind,
    numbers,
    refuse_fields,
    refuse_numbers,
    refuse_value,
    refuse_wrong,
)
from airpath.reproduction.files import MANIFEST, refuse_unknown
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.session import Session
from airpath.reproduction.spread import values_of
from airpath.reproduction.sweeps import SweepPoint, Sweeps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["timeline_item"]

_BIN_S: Final = 1.0
"""Length of the bins of rates and bands, s."""


_FIGURE: Final[Mapping[str, Kind]] = {
    "points": POINTS,
    "title": TEXT,
    "legend": TEXT,
    "from_s": NUMBER,
    "to_s": NUMBER,
    "events": WORDS,
    "panels": TABLES,
    "size_in": numbers(2, 2),
    "heights": NUMBERS,
}
_PANEL: Final[Mapping[str, Kind]] = {
    "title": TEXT,
    "y_name": TEXT,
    "ylim": numbers(1, 2),
    "levels": WORDS,
    "scale": TEXT,
    "curves": TABLES,
}
_CURVE: Final[Mapping[str, Kind]] = {
    "place": TABLE,
    "colour": TEXT,
    "label": TEXT,
    "times": NUMBERS,
    "values": NUMBERS,
    "series": TEXT,
    "of": NUMBER,
    "factor": NUMBER,
    "kind": TEXT,
}
_RECORDED: Final = ("series", "of", "factor", "kind")
"""Keys of a curve that is a recorded series."""


class _Timeline:
    """Figure over time; parameters as in `timeline_item`."""

    def __init__(
        self, place: str, spec: Mapping[str, Any], sweeps: Sweeps, quantities: Mapping[str, Any]
    ) -> None:
        self._spec, self._quantities = spec, quantities
        refuse_wrong(place, spec, _FIGURE, ("points", "panels"))
        self.points = refuse_points(place, spec["points"], sweeps)
        self.cells = [point.cell for point in self.points]
        refuse_numbers(f"{place}.events", spec.get("events", {}))
        if len(spec.get("heights", spec["panels"])) != len(spec["panels"]):
            accepted = f"Use {len(spec['panels'])}, one for each panel"
            refuse_value(place, "heights", spec["heights"], "not one for each panel", accepted)
        for panel in spec["panels"]:
            self._check(f"{place}.panels", panel)

    def _check(self, place: str, panel: Mapping[str, Any]) -> None:
        """Reject wrong entries of a panel."""
        refuse_wrong(place, panel, _PANEL, ("y_name", "curves"))
        refuse_numbers(f"{place}.levels", panel.get("levels", {}))
        if not panel["curves"]:
            refuse_value(place, "curves", panel["curves"], "empty", "Use a curve")
        known = {name: 1.0 for name, each in self._quantities.items() if hasattr(each, "values")}
        refuse_fields(f"{place}.title", panel.get("title", ""), known)
        for curve in panel["curves"]:
            self._check_curve(f"{place}.curves", curve)

    def _check_curve(self, place: str, curve: Mapping[str, Any]) -> None:
        steps = "times" in curve or "values" in curve
        refuse_unknown(place, curve, set(_CURVE).difference(_RECORDED if steps else ()))
        own = ("times", "values") if steps else ("series",)
        refuse_wrong(place, curve, _CURVE, ("label", "colour", *own))
        refuse_unknown(f"{place}.colour", [curve["colour"]], style.COLOURS, "no colour")
        given = curve.get("place", {})
        known = dict.fromkeys(axis for point in self.points for axis in values_of(point))
        refuse_unknown(f"{place}.place", given, known, "no axis of its points")
        points = points_at(self.points, given)
        if not points:
            refuse_value(place, "place", given, "no such point", "Use values of points")
        if steps and len(curve["times"]) != len(curve["values"]) + 1:
            accepted = f"Use {len(curve['times']) - 1}, one between each two times"
            refuse_value(place, "values", curve["values"], "not one for each step", accepted)
        if not steps:
            refuse_unknown(f"{place}.kind", [curve.get("kind", "steps")], KINDS, "unknown value")
            recorded = points[0].cell.series
            refuse_unknown(f"{place}.series", [curve["series"]], recorded, "not recorded")

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
            title, cell = panel.get("title", ""), self._cell(panel["curves"][0])
            named = {name for _, name, _, _ in Formatter().parse(title) if name}
            numbers = {n: float(self._quantities[n].values(session, cell)[0]) for n in named}
            axis.set_title(title.format_map(numbers), loc="left")
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
        found: SweepPoint = points_at(self.points, curve.get("place", {}))[0].cell
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
    """Return the cells of a figure over time, and the function that evaluates the figure.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    key : str
        Key of the item.
    spec : mapping
        Table of the item in ``paper.toml``.
    sweeps : Sweeps
        Sweeps of the paper.
    quantities : mapping
        Quantities that titles may contain.
    found : callable, optional
        Function of the session and the title, called when all cells are simulated. Returns rows and
        tables. Default: no rows and tables.

    Raises
    ------
    BadValueError
        If a key or a name is not accepted, or no point has the values of a `place`.
    """
    place = f"{directory.name}/{MANIFEST}: timelines.{key}"
    timeline = _Timeline(place, spec, sweeps, quantities)
    legend, title = spec.get("legend", ""), spec.get("title", "")
    about = (directory, key, timeline.cells, found, timeline.drawn, legend)
    return item_of(*about, title=title, whole=True)
