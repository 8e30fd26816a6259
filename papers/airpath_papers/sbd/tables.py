"""Table 6: drop-tail and the improvements over it. `paper.toml` declares Tables 2 to 5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from airpath.reproduction.base import Cell, ItemResult, Row, Summary
from airpath.reproduction.compare import ColumnSet, Key, comparison, unknown
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.quantities import MeasuredQuantity, PrintedQuantity, improvement
from airpath.reproduction.scoring import by_place, largest_difference, others, within_by_batch
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import SweepPoint
from airpath.reproduction.tolerance import Tolerance
from airpath_papers.paths import SBD
from airpath_papers.sbd.claims import SWEEPS
from airpath_papers.sbd.data import (
    DROP_TAIL,
    PROPOSED,
    improvements,
    printed,
    published_table,
    setting_at,
)
from airpath_papers.sbd.measures import delay_s, goodput_kbps

__all__ = [
    "DELAY",
    "GOODPUT",
    "ITEM",
    "MEASURED",
    "NAMING",
    "QUANTITIES",
    "TABLE6",
    "keys",
    "rows_of",
    "summarise",
]

PUBLISHED_RUNS = 20
"""Runs of each setting in the paper."""

GOODPUT: Final = MeasuredQuantity(
    "goodput", "kbit/s", goodput_kbps, 1, Tolerance("5 % (README)", relative=0.05), PUBLISHED_RUNS
)
DELAY: Final = MeasuredQuantity(
    "delay", "s", delay_s, 2, Tolerance("15 % (README)", relative=0.15), PUBLISHED_RUNS
)
IMPROVED_BY: Final = Tolerance("8 percentage points (README)", absolute=8.0)
MEASURED: Final = {quantity.name: quantity for quantity in (GOODPUT, DELAY)}
"""Measured quantities of the tables. README.md explains the tolerances."""


class _Both(MeasuredQuantity):
    """Goodput and delay in one text."""

    def text(self, session: Session, cell: Cell) -> str:
        means = [each.estimate(session, cell) for each in (GOODPUT, DELAY)]
        pairs = zip(means, (0, 2), strict=True)
        return "/".join(f"{mean.mean:.{d}f}" for mean, d in pairs if mean)


def _printed(axes: Mapping[str, Any], quantity: str) -> PublishedMean:
    """Return the printed values of a point, without ± if derived from Table 6's improvements."""
    found = printed(axes, quantity)
    follows = axes["flows"] > 1 and setting_at(axes) != DROP_TAIL
    return found._replace(half_width=math.nan) if follows else found


QUANTITIES: Final = {
    **MEASURED,
    "both": _Both("both", "", goodput_kbps, 0),
    "printed_goodput": PrintedQuantity(
        "printed_goodput", "kbit/s", lambda at: _printed(at, "goodput")
    ),
    "printed_delay": PrintedQuantity("printed_delay", "s", lambda at: _printed(at, "delay")),
}
"""Quantities that declared items name."""


def keys(point: SweepPoint) -> dict[str, int | float | str]:
    """Return the name of a row: bearer, flows, discipline and setting."""
    axes, setting = point.axes, setting_at(point.axes)
    named = {"bearer": axes["bearer"], "flows": axes["flows"]}
    if setting == DROP_TAIL:
        return {**named, "aqm": "droptail"}
    strength = {"maxp": setting.strength}
    if setting.kind == "SBD":
        strength = {"T_r_ms": int(setting.strength)}
    return {**named, "aqm": setting.kind.lower(), **strength, "minth": setting.min_th}


_WORDS: Final = {"flows": lambda n: f"{n} flow{'s' if n > 1 else ''}"}
NAMING: Final = Naming(_WORDS, lambda point: keys(point.cell))
"""Names of values and points in figures."""


def rows_of(session: Session, point: SweepPoint, *, compared: bool = False) -> list[Row]:
    """Return rows with goodput and delay of a point; if `compared`, with the printed numbers."""
    return [
        each.row(session, point, keys(point), printed(point.axes, name) if compared else None)
        for name, each in MEASURED.items()
    ]


# --- Table 6 -----------------------------------------------------------------------------------

TABLE6: Final[Mapping[tuple[int, int, str], SweepPoint]] = {
    (place["bearer"], place["flows"], place["aqm"]): point
    for place, point in SWEEPS.points("table6")
}
"""Points of Table 6 by bearer, flows and discipline."""


def _improvement_row(session: Session, bearer: int, flows: int, aqm: str, quantity: str) -> Row:
    """Return the row of one of the 32 improvements of Table 6."""
    managed, plain = TABLE6[bearer, flows, aqm], TABLE6[bearer, flows, "drop-tail"]
    published = improvements()[bearer, flows, aqm, quantity]
    place: dict[str, int | float | str] = {"bearer": bearer, "flows": flows, "aqm": aqm.lower()}
    about = (place, f"{quantity}_improvement", "%", published)
    computed = improvement(session, managed, plain, MEASURED[quantity])
    if computed is None:
        return Row(*about, None, tolerance=IMPROVED_BY)
    row = Row(*about, computed.per_cent, None, *computed.interval, IMPROVED_BY)
    extra = {
        "significant": computed.significant,
        "same_sign": computed.per_cent * published > 0,
        "within_8_points": row.within,
        "of_20_runs": computed.per_cent_of_batches,
    }
    return replace(row, extra=extra)


def _improved(quantity: str, aqm: str) -> ColumnSet:
    return ColumnSet(
        f"{quantity}_improvement {aqm.lower()}",
        f"{quantity}, {aqm}, %",
        lambda row: f"{row.published:+.0f}",
        unknown(lambda row: f"{row.computed:+.1f}{'*' if row.extra['significant'] else ''}"),
    )


def _found(session: Session, _title: str) -> Found:
    """Return Table 6: drop-tail, and the improvements by SBD and RED."""
    rows: list[Row] = []
    plain: list[Row] = []
    improved: list[Row] = []
    changes = [(quantity, aqm) for quantity in MEASURED for aqm in PROPOSED]
    for place in published_table(6):
        points = [TABLE6[(*place, aqm)] for aqm in ("drop-tail", *PROPOSED)]
        found = rows_of(session, points[0], compared=True)
        gains = [_improvement_row(session, *place, aqm, what) for what, aqm in changes]
        managed = [row for point in points[1:] for row in rows_of(session, point)]
        rows += [*found, *managed, *gains]
        plain += found
        # In this table, the name of the quantity includes the discipline.
        improved += [replace(row, quantity=f"{row.quantity} {row.row['aqm']}") for row in gains]
    named = [Key("bearer", "bearer"), Key("flows", "flows")]
    measured = [quantity.shown() for quantity in MEASURED.values()]
    runs = session.effort_of(TABLE6[384, 1, "drop-tail"]).describe()
    intervals = f"{100 * session.paper.confidence:g} % interval"
    about = f"Airpath: {runs}; ± are {intervals}s."
    tables = [
        comparison("Table 6: drop-tail", plain, named, measured, [about]),
        comparison(
            "Table 6: improvements over drop-tail by the settings of Tables 3 and 5",
            improved,
            named,
            [_improved(*change) for change in changes],
            [
                "Of the means. *: the mean of the differences run by run (equal runs share "
                f"their channels) has a {intervals} without 0.",
            ],
        ),
    ]
    return rows, tables


ITEM: Final = item_of(SBD, "table6", [*TABLE6.values()], _found)
"""Cells and evaluation of the item."""


# --- summaries ---------------------------------------------------------------------------------


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return the summaries of the simulated part of Table 6."""
    rows = [row for result in results if result.item == "table6" for row in result.rows]
    plain = [row for row in rows if row.quantity in MEASURED and row.published is not None]
    changes = [row for row in rows if row.quantity not in MEASURED]
    return [_plain_summary(plain), _improvement_summary(changes)] if rows else []


def _plain_summary(rows: Sequence[Row]) -> Summary:
    places = by_place(rows, ("bearer", "flows")).values()
    near = [all(row.within for row in found) for found in places]
    largest = {quantity: largest_difference(rows, quantity) for quantity in MEASURED}
    lines = [
        f"{sum(near)} of {len(near)} rows within 5 % of the goodput and 15 % of the delay; largest "
        "differences: goodput "
        f"{100 * largest['goodput']:+.1f} %, delay {100 * largest['delay']:+.1f} %"
    ]
    batches = within_by_batch(places, "means_of_20_runs")
    lines += _over_batches(batches, " rows")
    values = {
        "rows": len(near),
        "near": sum(near),
        "largest_difference": largest,
        "near_over_20_runs": batches,
    }
    return Summary("droptail", "Drop-tail against Table 6", lines, values)


def _improvement_summary(rows: Sequence[Row]) -> Summary:
    significant = [row for row in rows if row.extra["significant"]]
    wrong = [_place(row) for row in significant if not row.extra["same_sign"]]
    far = [_place(row) for row in rows if not row.within]
    agree = f"{len(significant) - len(wrong)} of these have the published sign"
    lines = [
        f"{len(significant)} of {len(rows)} are significant; {agree}"
        + (f", not {'; '.join(wrong)}" if wrong else ""),
        f"{len(rows) - len(far)} of {len(rows)} within {IMPROVED_BY.absolute:g} percentage points"
        + others(far),
    ]
    batches = within_by_batch([[row] for row in rows], "of_20_runs")
    lines += _over_batches(batches)
    values = {
        "improvements": len(rows),
        "within_8_points_over_20_runs": batches,
        "significant": len(significant),
        "wrong_sign": wrong,
        "within_8_points": len(rows) - len(far),
        "far": far,
    }
    return Summary("improvements", "Improvements by SBD and RED against Table 6", lines, values)


def _over_batches(batches: Sequence[int], unit: str = "") -> list[str]:
    """Return the line with the counts for batches of runs, if there are batches."""
    many = f"over {PUBLISHED_RUNS} runs each, as many as the paper has"
    return [f"{many}: {', '.join(map(str, batches))}{unit}"] if batches else []


def _place(row: Row) -> str:
    quantity = row.quantity.removesuffix("_improvement")
    return f"{quantity} by {row.row['aqm']}, {row.row['bearer']} kbit/s, {row.row['flows']} flows"
