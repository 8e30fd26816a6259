"""Figures declared in a paper's ``paper.toml``: rows, tables and panels.

```toml
[figures.fig5]
points = ["fig5", {sweep = "fig5-between", protocol = "vcp"}] # sweeps, or subsets of them
order = ["panel", "line|protocol", "snr_db"]    # sort keys. Default: order of the sweeps
rows = ["delivered_packets", "queue_drops"]     # quantities; each point has a row for each
row = {antennas = "antennas", variant = "change"} # entries that name a row. Default: see Naming
table.by = "panel"                              # a table for each value. Default: one table
table.lines = {snr_db = "SNR_G, dB"}            # axes that name a line, with headings
table.across = "line|protocol"                  # axis across a line. Default: a line per point
table.columns = [["law", "fails", "data"], ["delivered_packets", "delivered", "{}"]]
table.notes = ["..."]
x = "snr_db"                                    # an axis or a quantity
y = ["delivered_packets"]                       # quantities; computed quantities are lines
curves = ["line|protocol"]                      # a curve for each value of these axes and each y
x_name = "SNR_G, dB"
y_name = "delivered packets"
panels = [{by = "panel"}, {place = {speed = "fast"}, title = "10 m/s", limits = {ylim = [0, 1]}}]
below = {over = true, y_name = "over {last}"}
```

An axis is a name in a point's place or a parameter of its scenario. ``a|b`` means axis `a` if the
point has it, else axis `b`. An entry of `table.columns` is a list: a quantity, the common heading
of a group of columns, and the heading of the column. In these headings, ``{}`` stands for the value
of `across`; a column with ``{}`` is repeated for each value. ``{first}`` means the first value.

A panel accepts all keys of the figure from `x` on, and these keys:

* `place`: axis values; the panel shows the points with these values.
* `by`: an axis; the panel is repeated for each of its values.
* `limits`: keyword arguments of ``Axes.set``.
* `marks`: vertical lines at computed quantities or numbers, each with its text in the legend.
* `levels`: horizontal lines.
* `bands`, `stars`: published numbers that are relative to computed numbers, see `relative`.
* `label`: format of the entries in the legend, for example ``"r = {}"``.
* `over = true`: each curve is divided by the last curve. ``{last}`` in `y_name` is the label of the
  last curve.
* `also`: a list of tables with `points`, `label`, `marker` and overridden keys. It adds points that
  have no rows. With `published = true`, their markers are open.

A figure accepts these keys:

* `title`, `legend` (text below the title), `size_in`, `heights`, `own_legends`.
* `citation`: source that the line below the title ends with. Default: the citation of the paper;
  empty for figures without published numbers.
* `wide`: number of panels in a row. Default: all.
* `least_runs`: points with fewer runs have no confidence intervals.
* `below`: a second row with the same panels and these overridden keys; `limits` are merged. Not
  together with `wide`.
* `whole = true`: there are no rows until all points are simulated; rows without a number are kept.
* `enlarged = true`: the figure has one panel, which is shown twice: with axes from 0, and enlarged.
  Points are in the order of the sweep.

A table contains the points with the axis values in its `place`. `title` is its heading; default:
the title of the item. With `by`, ``{}`` in the heading is the value of the axis. A column without
``{}`` and ``{first}`` shows the first point of the line. The rows and tables of an item may be
divided into `parts`, each with `points`, `order`, `rows`, `row` and `table`; the defaults are the
entries of the figure. Without a table, or with ``table = {}`` in a part, the item has only rows.

If `x` is a quantity, `y` may be an axis: the display names of its values are then listed on the
vertical axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.present import style
from airpath.present.panels import Panel, draw_panels
from airpath.present.points import OPEN, Points, enlarged
from airpath.present.points import Point as Drawn
from airpath.reproduction.base import Cell
from airpath.reproduction.chosen import chosen_points, listed, points_at
from airpath.reproduction.entries import TABLES, reads_as_number, refuse_wrong
from airpath.reproduction.figure_entries import PANEL, PANEL_ROWS, PART, FigureEntries
from airpath.reproduction.files import MANIFEST
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import Cells, Evaluate, Found, grouped, item_of
from airpath.reproduction.quantities import ComputedQuantity, PointQuantity
from airpath.reproduction.relative import bands_of, stars_of
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming, at_axis, spread_table, values_of
from airpath.reproduction.sweeps import Sweeps
from airpath.results.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DeclaredFigure", "figure_item"]

_SMOOTH: Final = 80
"""Number of x-values at which a computed curve is evaluated."""


class DeclaredFigure:
    """Figure declared in ``paper.toml``.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    key : str
        Key of the item.
    spec : mapping
        Table of the item in the file.
    sweeps : Sweeps
        Sweeps of the paper.
    quantities : mapping
        Quantities by name.
    naming : Naming
        Display names of axis values.
    parts : bool
        True if the rows and tables are divided into `parts`; the figure itself then needs no rows
        and tables. Default False.

    Raises
    ------
    BadValueError
        If a key, the name of a quantity or an axis is not accepted, or no point has the values of a
        `place`.
    """

    def __init__(
        self,
        directory: Path,
        key: str,
        spec: Mapping[str, Any],
        sweeps: Sweeps,
        quantities: Mapping[str, Any],
        naming: Naming,
        *,
        parts: bool = False,
    ) -> None:
        self._spec, self._sweeps = spec, sweeps
        self._quantities, self._naming = quantities, naming
        self._place = f"{directory.name}/{MANIFEST}: figures.{key}"
        self._check(parts=parts)

    def _check(self, *, parts: bool) -> None:
        """Reject wrong entries before the simulation."""
        about = (self._spec, self._sweeps, self._quantities, self._naming)
        entries = FigureEntries(self._place, *about)
        entries.refuse_keys()
        if parts and "panels" not in self._spec:
            return
        points = entries.points()
        if not parts:
            entries.refuse_rows(self._ordered(points))
        if "panels" in self._spec:
            entries.refuse_panels(self._panel_specs, points)
            entries.refuse_drawn(self._panels(self._ordered(points)), self._labels)

    # --- points --------------------------------------------------------------------------------

    def points(self, session: Session) -> list[Point]:
        """Return the points in the order of the rows."""
        return self._ordered(chosen_points(self._spec["points"], self._sweeps, session.effort))

    def _ordered(self, found: Sequence[Point]) -> list[Point]:
        ranks = [_ranks(found, axis) for axis in self._spec.get("order", [])]
        return [found[n] for n in sorted(range(len(found)), key=lambda n: [of[n] for of in ranks])]

    def cells(self, session: Session) -> list[Cell]:
        """Return the simulated cells."""
        points = self.points(session)
        for panel in self._panel_specs:
            for also in panel.get("also", []):
                points += chosen_points(also["points"], self._sweeps, session.effort)
        return list(dict.fromkeys(point.cell for point in points if point.cell.scenario))

    # --- rows and tables -----------------------------------------------------------------------

    def found(self, session: Session, title: str) -> Found:
        """Return the rows and the tables; `title` is the default title of a table."""
        points = self.points(session)
        rows = [
            self._quantities[name].row(session, point.cell, self._name(point))
            for point in points
            for name in self._spec["rows"]
        ]
        if not self._spec.get("table"):
            return rows, []
        table = {"columns": self._spec["rows"], **self._spec["table"]}
        by = table.get("by")
        how = (table, self._quantities, self._naming)
        points = points_at(points, table.get("place", {}))
        form, groups = table.get("title"), {title: points}
        if by is not None:
            groups = self._grouped(points, by)
        named = ((name if form is None else form.format(name), of) for name, of in groups.items())
        return rows, [spread_table(session, name, of, *how) for name, of in named]

    def _grouped(self, points: Sequence[Point], *axes: str) -> dict[str, list[Point]]:
        return grouped(points, lambda point: self._naming.label(point, axes))

    def _name(self, point: Point) -> Mapping[str, Any]:
        named = self._spec.get("row")
        if named is None:
            return self._naming.place_of(point)
        values = values_of(point)
        return {name: values[axis] for name, axis in named.items()}

    # --- panels --------------------------------------------------------------------------------

    @cached_property
    def _panel_specs(self) -> list[dict[str, Any]]:
        shared = {key: value for key, value in self._spec.items() if key in PANEL}
        shared.pop("title", None)
        return [{**shared, **each} for each in self._spec.get("panels", [])]

    def _panels(self, points: Sequence[Point]) -> list[tuple[dict[str, Any], list[Point]]]:
        """Return the panels with their points, one for each value of `by`."""
        panels = []
        for each in self._panel_specs:
            chosen = points_at(points, each.get("place", {}))
            by = each.get("by")
            if by is None:
                panels.append((each, chosen))
                continue
            named = self._grouped(chosen, by).items()
            panels += [({"title": name, **each}, of) for name, of in named]
        return panels

    def _labels(self, spec: Mapping[str, Any], points: Sequence[Point]) -> list[str]:
        return [label for label, *_ in self._curves(spec, points)]

    def drawn(self, session: Session) -> Figure:
        """Return the figure without its heading."""
        spec, panels = self._spec, self._panels(self.points(session))
        below = spec.get("below", {})
        merged = [
            ({**each, "title": "", **below, **_limits(each, below)}, of)
            for each, of in (panels if below else [])
        ]
        named = (label for each in (*panels, *merged) for label in self._labels(*each))
        labels = list(dict.fromkeys(named))
        made = [self._panel(session, each, of, labels) for each, of in panels]
        if spec.get("enlarged"):
            [panel] = made
            return enlarged(panel.curves, (panel.x_name, panel.y_name))
        wide = spec.get("wide", len(made))
        rows = [made[first : first + wide] for first in range(0, len(made), wide)]
        if merged:
            rows.append([self._panel(session, each, of, labels) for each, of in merged])
        about = (spec.get("size_in", ()), spec.get("heights", ()))
        own, share_x = spec.get("own_legends", False), bool(merged) and "x" not in below
        return draw_panels(rows, *about, own_legends=own, share_x=share_x)

    def _curves(
        self, spec: Mapping[str, Any], points: Sequence[Point]
    ) -> list[tuple[str, Any, list[Point]]]:
        """Return a tuple for each curve: label, quantity, points."""
        axes, form, found = listed(spec.get("curves", [])), spec.get("label", "{}"), []
        groups = self._grouped(points, *axes)
        named = self._naming.words
        for label, of in groups.items():
            for name in listed(spec["y"]):
                quantity = self._quantities.get(name)
                words = [label, "" if quantity is None else named.get(name, "")]
                found.append((form.format(", ".join(filter(None, words))), quantity, of))
        return found

    def _panel(
        self,
        session: Session,
        spec: Mapping[str, Any],
        points: Sequence[Point],
        labels: Sequence[str],
    ) -> Panel:
        spec = {**spec, "words": self._words(spec, points)}
        curves = self._curves(spec, points)
        if self._spec.get("own_legends"):
            labels = list(dict.fromkeys(label for label, *_ in curves))
        shown = [
            self._shown(session, spec, curve, labels.index(curve[0]), curves) for curve in curves
        ]
        shown += self._others(session, spec, labels)
        colours = {label: style.colour_of(number) for number, label in enumerate(labels)}
        shown += stars_of(session, spec, points, self._quantities, colours)
        bands = bands_of(session, spec, points, self._quantities)
        marks = {
            float(name)
            if reads_as_number(name)
            else self._quantities[name].compute(points[0].cell.axes): label
            for name, label in spec.get("marks", {}).items()
        }
        levels = {float(at): label for at, label in spec.get("levels", {}).items()}
        y_name = spec["y_name"].format(last=curves[-1][0])
        named = (spec.get("title", ""), spec["x_name"], y_name)
        limits, words = spec.get("limits", {}), spec["words"]
        return Panel(*named, shown, limits, marks, levels, bands, words)

    def _words(self, spec: Mapping[str, Any], points: Sequence[Point]) -> list[str]:
        """Return the display names of the values of `y` if it is an axis; else an empty list."""
        axis = spec["y"]
        if not isinstance(axis, str) or axis in self._quantities:
            return []
        return list(self._grouped(points, axis))

    def _shown(
        self,
        session: Session,
        spec: Mapping[str, Any],
        curve: tuple[str, Any, Sequence[Point]],
        number: int,
        curves: Sequence[Any],
    ) -> Points:
        label, quantity, points = curve
        colour = style.colour_of(number)
        if self._is_computed_curve(spec, quantity):
            look = {"color": colour, "lw": 1.4}
            if isinstance(quantity, PointQuantity):
                return Points(label, self._measured(session, spec, quantity, points), look)
            return Points(label, _smooth(quantity, points, spec["x"]), look)
        found = self._measured(session, spec, quantity, points)
        if spec.get("over"):
            last, _, others = curves[-1]
            below = {at.x: at.y for at in self._measured(session, spec, quantity, others)}
            # Omit ratios with a denominator of 0.
            found = [
                Drawn(at.x, at.y / below[at.x], 0, at.y_half / below[at.x])
                for at in found
                if label != last and below.get(at.x, 0) > 0
            ]
            label = ""
        marker = style.MARKERS[number % len(style.MARKERS)]
        look = {"color": colour, "marker": marker, "markersize": 3.5}
        has_computed = any(self._is_computed_curve(spec, each) for _, each, _ in curves)
        line = None if has_computed or spec["words"] else {"lw": 0.9, "alpha": 0.4}
        begins, bars = self._spec.get("enlarged", False), {"elinewidth": 0.8, "capsize": 1.5}
        return Points(label, found, look, line, begins, bars)

    def _is_computed_curve(self, spec: Mapping[str, Any], quantity: Any) -> bool:
        """Return whether a quantity is a computed function of the x-axis."""
        return isinstance(quantity, ComputedQuantity) and spec["x"] not in self._quantities

    def _measured(
        self, session: Session, spec: Mapping[str, Any], quantity: Any, points: Sequence[Point]
    ) -> list[Drawn]:
        """Return the simulated points to plot: mean and interval, in ascending order of x."""
        over, least = self._quantities.get(spec["x"]), self._spec.get("least_runs", 1)
        _, *end = spec.get("limits", {}).get("xlim", [0.0])
        found = []
        for point in points:
            x: Any = over and over.estimate(session, point.cell)
            if over is not None and x is None:
                continue
            if quantity is None:
                rank = spec["words"].index(self._naming.label(point, [spec["y"]]))
                below, above = _bars(x)
                found.append(Drawn(x.mean, rank, below, x_above=above))
                continue
            y = quantity.estimate(session, point.cell)
            if y is None:
                continue
            place = float(at_axis(point, spec["x"])[1]) if x is None else x.mean
            if place > min(end, default=np.inf):
                continue
            if session.effort_of(point.cell).replications < least:
                found.append(Drawn(place, y.mean))
                continue
            (left, right), (below, above) = _bars(x), _bars(y)
            found.append(Drawn(place, y.mean, left, below, above, right))
        return found if self._spec.get("enlarged") else sorted(found)

    def _others(
        self, session: Session, spec: Mapping[str, Any], labels: Sequence[str]
    ) -> list[Points]:
        """Return the additional points that the key `also` defines."""
        found = []
        for number, also in enumerate(spec.get("also", [])):
            points = chosen_points(also["points"], self._sweeps, session.effort)
            whole = {"curves": [], **{k: v for k, v in spec.items() if k != "curves"}, **also}
            for label, quantity, of in self._curves({**whole, "label": "{}"}, points):
                colour = style.COLOURS["grey" if also.get("published") else "black"]
                if label and label in labels:
                    colour = style.colour_of(labels.index(label))
                marker = also.get("marker", style.MARKERS[number])
                look = {"color": colour, "marker": marker, "markersize": 7}
                if also.get("published"):
                    look |= OPEN
                if self._is_computed_curve(whole, quantity):
                    look = {"color": colour, "lw": 1.4, "linestyle": ":"}
                drawn = self._measured(session, whole, quantity, of)
                found.append(Points(also["label"].format(label), drawn, {**look, "zorder": 4}))
        return found


def _bars(over: Interval | None) -> tuple[float, float]:
    """Return the lengths of the lower and of the upper part of an error bar; 0 if unknown."""
    if over is None or np.isnan(over.half_width):
        return 0.0, 0.0
    return over.mean - over.low, over.high - over.mean


def _limits(*specs: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the `limits` of panels; later panels override earlier panels."""
    return {"limits": {k: v for each in specs for k, v in each.get("limits", {}).items()}}


def _joined(whole: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a part, completed with those of the figure; ``{}`` stays empty."""
    own = part.get("table")
    table = own if own == {} else {**whole.get("table", {}), **(own or {})}
    return {**whole, **part, "table": table}


def _ranks(points: Sequence[Point], axis: str) -> list[float]:
    """Return the rank of each point on an axis: numbers ascending, texts by first appearance."""
    values = [at_axis(point, axis)[1] for point in points]
    if not any(isinstance(value, str) for value in values):
        return values
    order = list(dict.fromkeys(values))
    return [order.index(value) for value in values]


def _smooth(quantity: ComputedQuantity, points: Sequence[Point], axis: str) -> list[Drawn]:
    """Return a computed curve between the smallest and the largest x-value of the points."""
    name = at_axis(points[0], axis)[0]
    ends = [float(values_of(point)[name]) for point in points]
    axes = points[0].cell.axes
    places = np.linspace(min(ends), max(ends), _SMOOTH).tolist()
    return [Drawn(x, float(quantity.compute({**axes, name: x}))) for x in places]


def figure_item(
    directory: Path,
    key: str,
    spec: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Any],
    naming: Naming,
    more: Callable[[Session, str], Found] = lambda _session, _title: ([], []),
) -> tuple[Cells, Evaluate]:
    """Return the cells of a figure, and the function that evaluates the figure.

    The parameters are the same as in `DeclaredFigure`. `more` is a function of the session and the
    title; it returns further rows and tables. Default: none.
    """
    whole = {name: entry for name, entry in spec.items() if name != "parts"}
    about = (sweeps, quantities, naming)
    figure = DeclaredFigure(directory, key, whole, *about, parts="parts" in spec)
    parts = [figure]
    if "parts" in spec:
        place = f"{directory.name}/{MANIFEST}: figures.{key}"
        refuse_wrong(place, {"parts": spec["parts"]}, {"parts": TABLES})
        for part in spec["parts"]:
            refuse_wrong(f"{place}.parts", part, PART)
        rest = {name: entry for name, entry in whole.items() if name not in PANEL_ROWS}
        joined = (_joined(rest, part) for part in spec["parts"])
        parts = [DeclaredFigure(directory, key, each, *about) for each in joined]

    def found(session: Session, title: str) -> Found:
        each = [*(part.found(session, title) for part in parts), more(session, title)]
        return [row for rows, _ in each for row in rows], [one for _, of in each for one in of]

    drawn = [figure] if "panels" in spec else []

    def cells(session: Session) -> list[Cell]:
        needed = (cell for each in (*parts, *drawn) for cell in each.cells(session))
        return list(dict.fromkeys(needed))

    return item_of(
        directory,
        key,
        cells,
        found,
        figure.drawn if drawn else None,
        spec.get("legend", ""),
        citation=spec.get("citation"),
        title=spec.get("title", ""),
        whole=spec.get("whole", False),
    )
