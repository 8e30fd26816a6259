"""Tables of a sweep's report: differences between the values of each axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from airpath.errors import BadValueError
from airpath.present.tables import Cell, Table, Tone
from airpath.report.blocks import MOST_ROWS, Section, anchor, cut
from airpath.results.estimates import change

if TYPE_CHECKING:
    from airpath.sweeps.differences import PointDifference
    from airpath.sweeps.readings import Readings

__all__ = ["differences_along"]

_MOST_OPEN: Final = 12
"""Maximum number of rows of a table that is shown without a click."""


def differences_along(readings: Readings, metrics: Sequence[str]) -> Iterator[Section]:
    """Yield the section of differences along the axes, if points differ in only one axis.

    Parameters
    ----------
    readings : Readings
        The sweep.
    metrics : sequence of str
        Metrics that are compared.
    """
    plan = readings.plan
    if plan.replicated is None or not metrics:
        return
    parts = [part for axis in plan.axes for part in _along(readings, axis, metrics)]
    if parts:
        yield Section("differences", "Differences", (), parts)


def _along(readings: Readings, axis: str, metrics: Sequence[str]) -> Iterator[Section]:
    """Yield the differences between the first value of an axis and its other values."""
    from airpath.sweeps.differences import differences
    from airpath.sweeps.scales import metric_style

    plan = readings.plan
    base = next((point.labels.get(axis, "") for point in plan.points if axis in point.values), "")
    points = range(min(len(plan.points), MOST_ROWS))
    try:
        found = [differences(readings, axis, metric, base, points) for metric in metrics]
    except BadValueError:
        # No two points differ only in this axis.
        return
    if found:
        words = [metric_style(name, [], plan.metric_labels).name for name in metrics]
        tables = [
            _counts(readings, axis, words, found),
            _table(readings, axis, base, words, found),
        ]
        yield Section(anchor("along", axis), f"{plan.names[axis]}, less {base}", tables)


def _counts(
    readings: Readings,
    axis: str,
    metrics: Sequence[str],
    found: Sequence[Sequence[PointDifference]],
) -> Table:
    """Return counts of points with a higher and a lower metric than the base, by axis value."""
    columns = [("", readings.plan.names[axis]), *(("", name) for name in metrics)]
    labels = dict.fromkeys(each.point.labels.get(axis, "") for each in found[0])
    rows = []
    for label in labels:
        cells = [Cell(label)]
        for of_metric in found:
            own = [
                each.difference for each in of_metric if each.point.labels.get(axis, "") == label
            ]
            higher = sum(each.is_significant and each.absolute.low > 0 for each in own)
            lower = sum(each.is_significant and each.absolute.high < 0 for each in own)
            tone: Tone = "" if higher or lower else "quiet"
            text = f"higher at {higher}, lower at {lower} of {len(own)}"
            cells.append(Cell(text, higher - lower, tone))
        rows.append(cells)
    note = "Higher, lower: the interval of the difference is above 0, below 0."
    count = len(readings.plan.points)
    left = f"Of {count} points the first {MOST_ROWS} are compared; runs.csv has all of them."
    return Table("", columns, rows, [note, *([left] if count > MOST_ROWS else [])])


def _untested(found: Sequence[Sequence[PointDifference]]) -> list[str]:
    """Return the number of untested differences, by reason."""
    every = [each.difference for of_metric in found for each in of_metric]
    reasons = Counter(each.untested for each in every if each.untested)
    total = len(every)
    return [
        f"{count} of {total} differences are not tested, and grey: {reason}."
        for reason, count in reasons.items()
    ]


def _table(
    readings: Readings,
    axis: str,
    base: str,
    metrics: Sequence[str],
    found: Sequence[Sequence[PointDifference]],
) -> Table:
    plan = readings.plan
    others = [name for name in plan.axes if name != axis]
    heads = [*(plan.names[name] for name in (axis, *others)), "points"]
    columns = [*(("", name) for name in heads), *(("change of", name) for name in metrics)]
    rows = []
    for of_metrics in zip(*found, strict=True):
        point, before = of_metrics[0].point, of_metrics[0].base
        rows.append(
            [
                Cell(point.labels.get(axis, "")),
                *(Cell(point.labels.get(name, "")) for name in others),
                Cell(f"{point.number} − {before.number}"),
                *(change(each.difference) for each in of_metrics),
            ]
        )
    body, notes = cut(rows, "runs.csv")
    how = sorted({each.difference.method for each in found[0]})
    words = {
        "paired": "within pairs of replications",
        "Welch": "of independent replications (Welch)",
    }
    about = (
        f"Per cent of the mean at {base}, {100 * plan.confidence:g} % intervals "
        f"{' and '.join(words.get(each, each) for each in how)}; grey where 0 is inside. "
        "The difference in the metric's own unit is shown on hover, and in the table, without %, "
        "where one of the means is within three of its standard errors of 0."
    )
    notes = [*_untested(found), *notes]
    title = f"{len(rows)} differences, point by point"
    return Table(title, columns, body, [about, *notes], folded=len(rows) > _MOST_OPEN)
