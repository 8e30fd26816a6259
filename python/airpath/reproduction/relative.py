"""Published numbers that are relative to ours, in a panel of a declared figure.

```toml
bands = [{of = "goodput", place = {curve = "UNI"}, between = [1.23, 1.40], label = "paper: ..."}]
stars = [{of = "goodput", place = {delay_ms = 10.0}, times = 0.68, at = 60.0, label = "paper: ..."}]
```

A band is between two multiples of a quantity at the points of a place. A star is at `at`, `times`
as high as the quantity at the one point of a place, or higher by `plus`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airpath.present import style
from airpath.present.panels import Band
from airpath.present.points import STAR, Points
from airpath.present.points import Point as Drawn
from airpath.reproduction.formulas import Point
from airpath.reproduction.session import Session
from airpath.reproduction.spread import at_axis, values_of
from airpath.reproduction.values import is_at

__all__ = ["bands_of", "stars_of"]


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
        Has the simulations.
    spec : mapping
        Of the panel: `x` and `bands`.
    points : sequence of Point
        Of the panel.
    quantities : mapping
        By name.
    """
    found = []
    for band in spec.get("bands", []):
        places = [
            (float(at_axis(point, spec["x"])[1]), mean)
            for point, mean in _means(session, band, points, quantities)
        ]
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
    """Return the stars of a panel; `colours` are those of curves by label, for `like`."""
    found = []
    for star in spec.get("stars", []):
        [(_, mean)] = _means(session, star, points, quantities)
        height = mean * star.get("times", 1.0) + star.get("plus", 0.0)
        colour = colours.get(star.get("like", ""), style.COLOURS["black"])
        at = Drawn(float(star["at"]), height)
        found.append(Points(star.get("label", ""), [at], {"color": colour, **STAR}))
    return found


def _means(
    session: Session,
    spec: Mapping[str, Any],
    points: Sequence[Point],
    quantities: Mapping[str, Any],
) -> list[tuple[Point, float]]:
    """Return the chosen points with the mean of the quantity at each."""
    chosen = [point for point in points if is_at(values_of(point), spec.get("place", {}))]
    quantity = quantities[spec["of"]]
    return [(point, quantity.estimate(session, point.cell).mean) for point in chosen]
