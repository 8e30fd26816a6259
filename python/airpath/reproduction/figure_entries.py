"""Checks the entries of declared figures when a paper is loaded (see `figures`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from airpath.present import style
from airpath.reproduction.chosen import (
    POINTS,
    listed,
    points_at,
    refuse_axes,
    refuse_missing,
    refuse_points,
)
from airpath.reproduction.entries import (
    COUNT,
    FLAG,
    NUMBERS,
    TABLE,
    TABLES,
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    WORDS,
    Kind,
    is_list,
    numbers,
    reads_as_number,
    refuse_fields,
    refuse_numbers,
    refuse_value,
    refuse_wrong,
)
from airpath.reproduction.files import refuse_unknown
from airpath.reproduction.formulas import Point
from airpath.reproduction.quantities import ComputedQuantity, PointQuantity
from airpath.reproduction.relative import refuse_relative
from airpath.reproduction.spread import Naming, lines_of
from airpath.reproduction.sweeps import Sweeps

__all__ = ["PANEL", "PANEL_ROWS", "PART", "FigureEntries"]

PANEL: Final[Mapping[str, Kind]] = {
    "title": TEXT,
    "place": TABLE,
    "by": TEXT,
    "label": TEXT,
    "over": FLAG,
    "x": TEXT,
    "x_name": TEXT,
    "y": TEXT_OR_TEXTS,
    "y_name": TEXT,
    "curves": TEXT_OR_TEXTS,
    "limits": TABLE,
    "marks": WORDS,
    "levels": WORDS,
    "bands": TABLES,
    "stars": TABLES,
    "also": TABLES,
}
"""Maps each key of a panel to the kind of its value."""

_FIGURE: Final[Mapping[str, Kind]] = {
    "points": POINTS,
    "order": TEXTS,
    "rows": TEXTS,
    "row": WORDS,
    "table": TABLE,
    "panels": TABLES,
    "below": TABLE,
    "legend": TEXT,
    "citation": TEXT,
    "wide": COUNT,
    "size_in": numbers(2, 2),
    "heights": NUMBERS,
    "own_legends": FLAG,
    "least_runs": COUNT,
    "enlarged": FLAG,
    "whole": FLAG,
    **PANEL,
}
PART: Final = {key: _FIGURE[key] for key in ("points", "order", "rows", "row", "table")}
"""Keys of an entry of `parts`, with their kinds."""

PANEL_ROWS: Final = ("panels", "below")
"""Keys of a figure that define its panels. Entries of `parts` do not have these keys."""

_COLUMNS: Final = Kind(
    "a list of quantities, or of lists of quantity, group and name",
    lambda value: is_list(
        value, lambda each: isinstance(each, str) or (TEXTS.accepts(each) and len(each) == 3)
    ),
    '[["goodput", "{}", "goodput"]]',
)
_TABLE: Final[Mapping[str, Kind]] = {
    "title": TEXT,
    "place": TABLE,
    "by": TEXT,
    "lines": WORDS,
    "across": TEXT,
    "columns": _COLUMNS,
    "notes": TEXTS,
}
_BELOW: Final = {key: kind for key, kind in PANEL.items() if key not in ("place", "by")}
_ALSO: Final[Mapping[str, Kind]] = {
    "points": POINTS,
    "label": TEXT,
    "marker": TEXT,
    "published": FLAG,
    "x": TEXT,
    "y": TEXT,
    "curves": TEXT_OR_TEXTS,
    "limits": TABLE,
}
_SCALE: Final = Kind('"linear" or "log"', lambda value: value in ("linear", "log"), '"log"')
_LIMITS: Final[Mapping[str, Kind]] = {
    "xlim": numbers(1, 2),
    "ylim": numbers(1, 2),
    "xscale": _SCALE,
    "yscale": _SCALE,
}


class FigureEntries:
    """Entries of a declared figure; each method raises `BadValueError` for wrong entries.

    Parameters
    ----------
    place : str
        File and table, for messages.
    spec : mapping
        Table of the figure in ``paper.toml``.
    sweeps : Sweeps
        Sweeps of the paper.
    quantities : mapping
        Quantities by name.
    naming : Naming
        Display names of axis values.
    """

    def __init__(
        self,
        place: str,
        spec: Mapping[str, Any],
        sweeps: Sweeps,
        quantities: Mapping[str, Any],
        naming: Naming,
    ) -> None:
        self._place, self._spec, self._sweeps = place, spec, sweeps
        self._quantities, self._naming = quantities, naming

    def refuse_keys(self) -> None:
        """Reject unknown keys, and values of the wrong kind."""
        refuse_wrong(self._place, self._spec, _FIGURE)
        for key, kinds in (("table", _TABLE), ("below", _BELOW)):
            refuse_wrong(f"{self._place}.{key}", self._spec.get(key, {}), kinds)
        for panel in self._spec.get("panels", []):
            refuse_wrong(f"{self._place}.panels", panel, PANEL)

    def points(self) -> list[Point]:
        """Return the points of the figure in all modes."""
        refuse_wrong(self._place, self._spec, _FIGURE, ["points"])
        points = refuse_points(self._place, self._spec["points"], self._sweeps)
        self._naming.refuse_values(f"{self._place}.points", points, self._naming.words)
        refuse_axes(f"{self._place}.order", self._spec.get("order", []), points)
        return points

    def refuse_rows(self, points: Sequence[Point]) -> None:
        """Reject wrong entries of the rows and tables; `points` are in the order of the rows."""
        place, spec = f"{self._place}.table", self._spec
        refuse_wrong(self._place, spec, _FIGURE, ["rows"])
        self._refuse_quantities(f"{self._place}.rows", spec["rows"], "row")
        for axis in spec.get("row", {}).values():
            known = set.intersection(*({*p.cell.axes, *p.place} for p in points))
            refuse_unknown(f"{self._place}.row", [axis], known, "no axis of its points")
        table = spec.get("table")
        if not table:
            return
        refuse_wrong(place, table, _TABLE, ["lines"])
        refuse_fields(f"{place}.title", table.get("title", ""), [""] if "by" in table else [])
        self._refuse_columns(f"{place}.columns", table.get("columns", spec["rows"]))
        points = self._at(place, table.get("place", {}), points)
        for key in ("by", "across"):
            refuse_axes(f"{place}.{key}", [table[key]] if key in table else [], points)
        refuse_axes(f"{place}.lines", list(table["lines"]), points)
        groups: dict[str, list[Point]] = {}
        for point in points:
            group = self._naming.label(point, [table["by"]]) if "by" in table else ""
            groups.setdefault(group, []).append(point)
        for of in groups.values():
            lines_of(place, of, table, self._naming)

    def _refuse_columns(self, place: str, columns: Sequence[Any]) -> None:
        for each in columns:
            name, *texts = listed(each)
            self._refuse_quantities(place, [name], "text")
            for text in texts:
                refuse_fields(place, text, ("", "first"))

    def _refuse_quantities(self, place: str, names: Sequence[str], method: str) -> None:
        known = [name for name, each in self._quantities.items() if hasattr(each, method)]
        refuse_unknown(place, names, known, "no quantity")

    def _at(self, place: str, given: Mapping[str, Any], points: Sequence[Point]) -> list[Point]:
        """Return the points with the axis values `given`; reject values that match no point."""
        refuse_axes(f"{place}.place", list(given), points)
        refuse_missing(f"{place}.place", given, points)
        found = points_at(points, given)
        if not found:
            refuse_value(place, "place", given, "no such point", "Use values of points")
        return found

    # --- panels --------------------------------------------------------------------------------

    def refuse_panels(self, panels: Sequence[Mapping[str, Any]], points: Sequence[Point]) -> None:
        """Reject wrong entries of panels. Panels inherit the keys of the figure."""
        for panel in panels:
            place = f"{self._place}.panels"
            of = self._at(place, panel.get("place", {}), points)
            refuse_axes(f"{place}.by", [panel["by"]] if "by" in panel else [], of)
            self._refuse_panel(place, panel, of)
            if below := self._spec.get("below"):
                self._refuse_panel(f"{self._place}.below", {**panel, **below}, of)

    def _refuse_panel(self, place: str, panel: Mapping[str, Any], points: Sequence[Point]) -> None:
        refuse_wrong(place, panel, PANEL, ("x", "x_name", "y", "y_name"))
        self._refuse_curves(place, panel, points)
        refuse_fields(f"{place}.y_name", panel["y_name"], ["last"])
        refuse_fields(f"{place}.label", panel.get("label", "{}"), [""])
        if not listed(panel["y"]):
            refuse_value(place, "y", panel["y"], "empty", "Use a quantity")
        refuse_numbers(f"{place}.levels", panel.get("levels", {}))
        models = [
            name
            for name, each in self._quantities.items()
            if isinstance(each, ComputedQuantity) and not isinstance(each, PointQuantity)
        ]
        marks = [name for name in panel.get("marks", {}) if not reads_as_number(name)]
        refuse_unknown(f"{place}.marks", marks, models, "no quantity that is computed")
        for number, also in enumerate(panel.get("also", [])):
            self._refuse_also(f"{place}.also", panel, also, number)

    def _refuse_curves(self, place: str, panel: Mapping[str, Any], points: Sequence[Point]) -> None:
        """Reject wrong `x`, `y`, `curves` and `limits`."""
        over = [name for name, each in self._quantities.items() if hasattr(each, "estimate")]
        refuse_axes(f"{place}.x", [panel["x"]], points, over)
        if isinstance(panel["y"], str) and panel["x"] in over and panel["y"] not in over:
            refuse_axes(f"{place}.y", [panel["y"]], points, over)
        else:
            self._refuse_quantities(f"{place}.y", listed(panel["y"]), "estimate")
        refuse_axes(f"{place}.curves", listed(panel.get("curves", [])), points)
        refuse_wrong(f"{place}.limits", panel.get("limits", {}), _LIMITS)

    def _refuse_also(
        self, place: str, panel: Mapping[str, Any], also: Mapping[str, Any], number: int
    ) -> None:
        refuse_wrong(place, also, _ALSO, ("points", "label"))
        points = refuse_points(place, also["points"], self._sweeps)
        whole = {**panel, "curves": [], **also}
        if not isinstance(whole["y"], str):
            refuse_value(place, "y", whole["y"], "several quantities", "Use one of them")
        self._refuse_curves(place, whole, points)
        refuse_fields(f"{place}.label", also["label"], [""])
        if "marker" in also:
            known = (*style.MARKERS, "v")
            refuse_unknown(f"{place}.marker", [also["marker"]], known, "no marker")
        elif number >= len(style.MARKERS):
            refuse_value(place, "marker", also["label"], "has no marker", "Use a marker")

    def refuse_drawn(
        self,
        panels: Sequence[tuple[Mapping[str, Any], Sequence[Point]]],
        labels: Callable[[Mapping[str, Any], Sequence[Point]], Sequence[str]],
    ) -> None:
        """Reject entries that conflict with the number of panels, after `by` is expanded."""
        spec, place, count = self._spec, self._place, len(panels)
        every = [label for panel, of in panels for label in labels(panel, of)]
        for panel, of in panels:
            own = labels(panel, of) if spec.get("own_legends") else every
            refuse_relative(f"{place}.panels", panel, of, self._quantities, own)
            if below := spec.get("below"):
                refuse_relative(f"{place}.below", {**panel, **below}, of, self._quantities, own)
        if spec.get("enlarged") and count != 1:
            refuse_value(place, "enlarged", True, f"has {count} panels", "Use one panel")
        wide = spec.get("wide", count)
        if "below" in spec and wide < count:
            accepted = "Leave out wide, all panels are in one row"
            refuse_value(place, "wide", wide, "not accepted together with below", accepted)
        rows = -(-count // wide) + ("below" in spec) if count else 0
        if len(spec.get("heights", [])) not in (0, rows):
            accepted = f"Use {rows}, one for each row"
            refuse_value(place, "heights", spec["heights"], "not one for each row", accepted)
