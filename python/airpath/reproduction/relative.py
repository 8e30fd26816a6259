"""Bands and stars in declared figures: published numbers that are relative to computed numbers.

```toml
bands = [{of = "goodput", place = {curve = "UNI"}, between = [1.23, 1.40], label = "paper: ..."}]
stars = [{of = "goodput", place = {delay_ms = 10.0}, times = 0.68, at = 60.0, label = "paper: ..."}]
```

Both refer to the points with the axis values `place`. A band is the area between two multiples of
the quantity `of` at these points. A star has x = `at`; its y-value is the quantity at the only
matching point, multiplied by `times` or increased by `plus`. The star has the colour of the curve
with the label `like`. Bands and stars are not plotted if the mode omits their points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from airpath.present import style
from airpath.present.panels import Band
from airpath.present.points import STAR, Points
from airpath.present.points import Point as Drawn
from airpath.reproduction.chosen import points_at, refuse_axes
from airpath.reproduction.entries import (
    NUMBER,
    TABLE,
    TEXT,
    Kind,
    numbers,
    refuse_value,
    refuse_wrong,
)
from airpath.reproduction.files import refuse_unknown
from airpath.reproduction.formulas import Point
from airpath.reproduction.session import Session
from airpath.reproduction.spread import at_axis

__all__ = ["bands_of", "refuse_relative", "stars_of"]

_BAND: Final[Mapping[str, Kind]] = {
    "of": TEXT,
    "place": TABLE,
    "between": numbers(2, 2),
    "label": TEXT,
}
_STAR: Final[Mapping[str, Kind]] = {
    "of": TEXT,
    "place": TABLE,
    "label": TEXT,
    "like": TEXT,
    "times": NUMBER,
    "plus": NUMBER,
    "at": NUMBER,
}


def refuse_relative(
    place: str,
    spec: Mapping[str, Any],
    points: Sequence[Point],
    quantities: Mapping[str, Any],
    labels: Sequence[str],
) -> None:
    """Reject wrong bands and stars of a panel.

    Parameters
    ----------
    place : str
        File and table of the panel.
    spec : mapping
        Entries of the panel.
    points : sequence of Point
        Points of the panel.
    quantities : mapping
        Quantities by name.
    labels : sequence of str
        Labels of the curves.

    Raises
    ------
    BadValueError
        If a key, a quantity or a label is unknown, a band matches no point, or a star matches no
        point or several points.
    """
    for kind, kinds, required in (
        ("bands", _BAND, ("of", "between", "label")),
        ("stars", _STAR, ("of", "at")),
    ):
        at = f"{place}.{kind}"
        for each in spec.get(kind, []):
            refuse_wrong(at, each, kinds, required)
            refuse_unknown(f"{at}.of", [each["of"]], quantities, "no quantity")
            given = each.get("place", {})
            refuse_axes(f"{at}.place", list(given), points)
            count = len(points_at(points, given))
            if count == 0 or (kind == "stars" and count > 1):
                wanted = "one point" if kind == "stars" else "points"
                accepted = f"Use values of {wanted} of the panel"
                refuse_value(at, "place", given, f"{count} points of the panel match", accepted)
            if "like" in each:
                refuse_unknown(f"{at}.like", [each["like"]], labels, "no label of a curve")
        if kind == "bands" and spec.get(kind):
            refuse_axes(f"{place}.x", [spec["x"]], points)


def bands_of(
    session: Session,
    spec: Mapping[str, Any],
    points: Sequence[Point],
    quantities: Mapping[str, Any],
) -> list[Band]:
    """Return the bands of a panel.

    Parameters
    ----------
    session : Session
        Session with the simulations.
    spec : mapping
        Entries of the panel: `x` and `bands`.
    points : sequence of Point
        Points of the panel.
    quantities : mapping
        Quantities by name.
    """
    found = []
    for band in spec.get("bands", []):
        places = [
            (float(at_axis(point, spec["x"])[1]), mean)
            for point, mean in _means(session, band, points, quantities)
        ]
        if not places:
            continue
        x, y = zip(*sorted(places), strict=True)
        low, high = ([factor * each for each in y] for factor in band["between"])
        found.append(Band(band["label"], x, low, high))
    return found


def stars_of(
    session: Session,
    spec: Mapping[str, Any],
    points: Sequence[Point],
    quantities: Mapping[str, Any],
    colours: Mapping[str, str],
) -> list[Points]:
    """Return the stars of a panel; `colours` maps the label of each curve to its colour."""
    found = []
    for star in spec.get("stars", []):
        colour = colours.get(star.get("like", ""), style.COLOURS["black"])
        for _, mean in _means(session, star, points, quantities):
            height = mean * star.get("times", 1.0) + star.get("plus", 0.0)
            at = Drawn(float(star["at"]), height)
            found.append(Points(star.get("label", ""), [at], {"color": colour, **STAR}))
    return found


def _means(
    session: Session,
    spec: Mapping[str, Any],
    points: Sequence[Point],
    quantities: Mapping[str, Any],
) -> list[tuple[Point, float]]:
    """Return the selected points, each with the mean of the quantity."""
    chosen = points_at(points, spec.get("place", {}))
    quantity = quantities[spec["of"]]
    return [(point, quantity.estimate(session, point.cell).mean) for point in chosen]
