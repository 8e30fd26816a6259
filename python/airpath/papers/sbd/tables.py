"""Tables 2 to 6: the published numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from airpath.papers.kit.base import Cell, ItemResult, Row, Summary
from airpath.papers.kit.compare import (
    NOT_SIMULATED,
    Key,
    Shown,
    comparison,
    percent,
    printed,
    unknown,
)
from airpath.papers.kit.compare import number as our_number
from airpath.papers.kit.compare import spread as with_half_width
from airpath.papers.kit.session import Estimate, Session
from airpath.papers.kit.tolerance import Tolerance
from airpath.papers.sbd.data import (
    BEARERS,
    Aqm,
    DropTail,
    Published,
    Red,
    Sbd,
    drop_tail,
    improvements,
    published_table,
)
from airpath.papers.sbd.measures import compared, delay, delay_s, goodput, goodput_kbps
from airpath.papers.sbd.scenarios import Case

__all__ = [
    "DELAY_LIMIT",
    "GOODPUT_LIMIT",
    "IMPROVEMENT_LIMIT",
    "TABLE6_CELLS",
    "TITLES",
    "Improvement",
    "averages",
    "cells_of_table",
    "evaluate_table6",
    "improvement",
    "keys",
    "rows_of",
    "setting_table",
    "spread",
    "summarise",
]

GOODPUT_LIMIT, DELAY_LIMIT = 0.05, 0.15
"""Relative differences from the published drop-tail rows within which a row counts as near."""

IMPROVEMENT_LIMIT = 8.0
"""Percentage points within which an improvement counts as near."""

TOLERANCES = {
    "goodput": Tolerance(f"{100 * GOODPUT_LIMIT:g} % (README)", relative=GOODPUT_LIMIT),
    "delay": Tolerance(f"{100 * DELAY_LIMIT:g} % (README)", relative=DELAY_LIMIT),
    "improvement": Tolerance(
        f"{IMPROVEMENT_LIMIT:g} percentage points (README)", absolute=IMPROVEMENT_LIMIT
    ),
}
"""Of the rows; README.md says where they come from."""

UNITS = {"goodput": "kbit/s", "delay": "s"}
"""Of the measured quantities."""

PUBLISHED_RUNS = 20
"""Runs of each setting in the paper."""

TITLES = {
    2: "SBD, the setting with the paper's largest goodput, one flow",
    3: "SBD, the proposed setting, one flow",
    4: "RED, the setting with the paper's largest goodput, one flow",
    5: "RED, the proposed setting, one flow",
}


def keys(case: Case) -> dict[str, int | float | str]:
    """Return what names a row: the bearer, the flows, the discipline and its setting."""
    named: dict[str, int | float | str] = {"bearer": case.bearer, "flows": case.flows}
    match case.aqm:
        case DropTail():
            return {**named, "aqm": "droptail"}
        case Sbd():
            return {**named, "aqm": "sbd", "T_r_ms": case.aqm.t_r_ms, "minth": case.aqm.min_th}
        case Red():
            return {**named, "aqm": "red", "maxp": case.aqm.max_p, "minth": case.aqm.min_th}
        case _:
            return {**named, "aqm": case.aqm.of}


def published_rows(case: Case, row: Published) -> list[Row]:
    """Return goodput and delay of a case as printed, without numbers of ours."""
    return [
        Row(
            keys(case),
            quantity,
            unit,
            theirs.mean,
            None,
            published_ci=theirs.half_width,
            tolerance=TOLERANCES[quantity],
        )
        for (quantity, unit), theirs in zip(
            UNITS.items(), (row.goodput_kbps, row.delay_s), strict=True
        )
    ]


def rows_of(session: Session, case: Case, theirs: Published | None, **more: Any) -> list[Row]:
    """Return goodput and delay of a case as rows; none when it was not simulated."""
    if theirs is None:
        places = [Row(keys(case), name, unit, None, None) for name, unit in UNITS.items()]
    else:
        places = published_rows(case, theirs)
    rows = []
    for place, estimate, measure in zip(
        places, (goodput(session, case), delay(session, case)), (goodput_kbps, delay_s), strict=True
    ):
        if estimate is not None:
            found = {
                "replications": estimate.replications,
                "means_of_20_runs": _of_batches(session.values(case, measure)),
            }
            rows.append(place.with_ours(estimate, row={**place.row, **more}, extra=found))
    return rows


def _of_batches(values: Sequence[float]) -> list[float]:
    """Return the means of as many runs each as the paper has, one batch after the other."""
    ends = range(PUBLISHED_RUNS, len(values) + 1, PUBLISHED_RUNS)
    return [sum(values[end - PUBLISHED_RUNS : end]) / PUBLISHED_RUNS for end in ends]


def spread(estimate: Estimate | None, digits: int) -> str:
    """Return a mean with its ±, or that there is none."""
    if estimate is None:
        return NOT_SIMULATED
    return with_half_width(estimate.mean, estimate.low, estimate.high, digits)


# --- Tables 2 to 5 -----------------------------------------------------------------------------


def cells_of_table(number: int) -> list[Cell]:
    """Return the four cases of Table 2, 3, 4 or 5."""
    rows = published_table(number).values()
    return [Case(row.bearer, row.flows, row.aqm) for row in rows]


def setting_table(number: int) -> Callable[[Session, Path | None], ItemResult]:
    """Return what evaluates Table 2, 3, 4 or 5."""
    strength = Key("T_r_ms", "T_r, ms") if number < 4 else Key("maxp", "maxp", "{:g}".format)
    named = [Key("bearer", "bearer"), strength, Key("minth", "minth")]

    def evaluate(session: Session, _out: Path | None) -> ItemResult:
        rows: list[Row] = []
        places: list[Row] = []
        for theirs in published_table(number).values():
            case = Case(theirs.bearer, theirs.flows, theirs.aqm)
            rows += rows_of(session, case, theirs)
            places += published_rows(case, theirs)
        title = f"Table {number}: {TITLES[number]}"
        return ItemResult(
            f"table{number}",
            TITLES[number],
            rows,
            [comparison(title, [*places, *rows], named, MEASURED, [_about(session)])],
            complete=session.complete(cells_of_table(number)),
        )

    return evaluate


MEASURED = tuple(
    Shown(
        quantity,
        f"{quantity}, {unit}",
        printed(decimals),
        our_number(decimals),
        percent(1),
        ("paper", "ours", "diff %"),
    )
    for quantity, unit, decimals in (("goodput", "kbit/s", 1), ("delay", "s", 2))
)
"""How goodput and delay are shown."""


def _about(session: Session) -> str:
    confidence = 100 * session.paper.confidence
    runs = session.effort_of(TABLE6_CELLS[0]).describe()
    return f"ours: {runs}; ± are {confidence:g} % intervals."


# --- Table 6 -----------------------------------------------------------------------------------


def _proposed(aqm: str, bearer: int) -> Aqm:
    return published_table(3 if aqm == "sbd" else 5)[bearer].aqm


TABLE6_CELLS: list[Cell] = [
    Case(bearer, flows, aqm)
    for bearer, flows in drop_tail()
    for aqm in (DropTail(), _proposed("sbd", bearer), _proposed("red", bearer))
]


class Improvement(NamedTuple):
    """What SBD or RED changes against drop-tail."""

    per_cent: float
    """Of the means."""
    significant: bool
    """Whether the interval of the differences, run by run, excludes 0."""
    per_cent_of_batches: list[float]
    """Of the means of 20 runs each."""
    interval: tuple[float, float]
    """Of the mean difference run by run, per cent of drop-tail's mean."""


def improvement(
    session: Session, bearer: int, flows: int, aqm: str, quantity: str
) -> Improvement | None:
    """Return one of the 32 improvements of Table 6; None when it was not simulated."""
    measure = goodput_kbps if quantity == "goodput" else delay_s
    managed = session.values(Case(bearer, flows, _proposed(aqm, bearer)), measure)
    plain = session.values(Case(bearer, flows, DropTail()), measure)
    if not managed or not plain:
        return None
    difference = compared(managed, plain, session)
    ratio = (sum(managed) / len(managed)) / (sum(plain) / len(plain))
    significant = difference is not None and not difference.low <= 0 <= difference.high
    batches = zip(_of_batches(managed), _of_batches(plain), strict=False)
    base = sum(plain) / len(plain) / 100
    nan = float("nan")
    interval = (nan, nan) if difference is None else (difference.low / base, difference.high / base)
    return Improvement(
        100 * (ratio - 1),
        significant,
        [100 * (ours / theirs - 1) for ours, theirs in batches],
        interval,
    )


AQMS = ("sbd", "red")
IMPROVED = tuple(
    Shown(
        f"{quantity}_improvement {aqm}",
        f"{quantity}, {aqm.upper()}, %",
        lambda row: f"{row.published:+.0f}",
        unknown(lambda row: f"{row.ours:+.1f}{'*' if row.extra['significant'] else ''}"),
    )
    for quantity in UNITS
    for aqm in AQMS
)
"""How the improvements are shown, the discipline beside the quantity."""


def evaluate_table6(session: Session, _out: Path | None) -> ItemResult:
    """Return Table 6: drop-tail, and what SBD and RED improve."""
    rows: list[Row] = []
    plain: list[Row] = []
    improved: list[Row] = []
    for (bearer, flows), theirs in drop_tail().items():
        case = Case(bearer, flows, DropTail())
        found = rows_of(session, case, theirs)
        plain += [*published_rows(case, theirs), *found]
        rows += found
        for aqm in AQMS:
            rows += rows_of(session, Case(bearer, flows, _proposed(aqm, bearer)), None)
        each = [
            _improvement_row(session, bearer, flows, aqm, quantity)
            for quantity in UNITS
            for aqm in AQMS
        ]
        rows += [row for row in each if row.ours is not None]
        improved += [replace(row, quantity=f"{row.quantity} {row.row['aqm']}") for row in each]
    named = [Key("bearer", "bearer"), Key("flows", "flows")]
    tables = [
        comparison("Table 6: drop-tail", plain, named, MEASURED, [_about(session)]),
        comparison(
            "Table 6: improvements over drop-tail by the settings of Tables 3 and 5",
            improved,
            named,
            IMPROVED,
            [
                "Of the means. *: the mean of the differences run by run (equal runs share "
                f"their channels) has a {100 * session.paper.confidence:g} % interval without 0.",
            ],
        ),
    ]
    title = "drop-tail, and the improvements by SBD and RED"
    complete = session.complete(TABLE6_CELLS)
    return ItemResult("table6", title, rows, tables, complete=complete)


def _improvement_row(session: Session, bearer: int, flows: int, aqm: str, quantity: str) -> Row:
    published = improvements()[bearer, flows, aqm, quantity]
    place = Row(
        {"bearer": bearer, "flows": flows, "aqm": aqm},
        f"{quantity}_improvement",
        "%",
        published,
        None,
        tolerance=TOLERANCES["improvement"],
    )
    ours = improvement(session, bearer, flows, aqm, quantity)
    if ours is None:
        return place
    return replace(
        place,
        ours=ours.per_cent,
        low=ours.interval[0],
        high=ours.interval[1],
        extra={
            "significant": ours.significant,
            "same_sign": ours.per_cent * published > 0,
            "within_8_points": abs(ours.per_cent - published) <= IMPROVEMENT_LIMIT,
            "of_20_runs": ours.per_cent_of_batches,
        },
    )


# --- over all of them --------------------------------------------------------------------------


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return how near Table 6 is, as far as it was simulated."""
    rows = [row for result in results if result.item == "table6" for row in result.rows]
    return [_plain_summary(rows), _improvement_summary(rows)] if rows else []


def _plain_summary(rows: Sequence[Row]) -> Summary:
    places: dict[tuple[Any, Any], dict[str, float]] = {}
    for row in rows:
        if row.quantity in ("goodput", "delay") and row.published is not None:
            place = places.setdefault((row.row["bearer"], row.row["flows"]), {})
            place[row.quantity] = row.relative_difference or 0.0
    near = [
        abs(found["goodput"]) <= GOODPUT_LIMIT and abs(found["delay"]) <= DELAY_LIMIT
        for found in places.values()
    ]
    largest = {
        quantity: max((found[quantity] for found in places.values()), key=abs)
        for quantity in ("goodput", "delay")
    }
    lines = [
        f"{sum(near)} of {len(near)} rows within {100 * GOODPUT_LIMIT:g} % of the goodput and "
        f"{100 * DELAY_LIMIT:g} % of the delay; largest differences: goodput "
        f"{100 * largest['goodput']:+.1f} %, delay {100 * largest['delay']:+.1f} %"
    ]
    batches = _near_in_batches(rows)
    if batches:
        lines.append(f"over 20 runs each, as many as the paper has: {_listed(batches)} rows")
    values = {
        "rows": len(near),
        "near": sum(near),
        "largest_difference": largest,
        "near_over_20_runs": batches,
    }
    return Summary("droptail", "Drop-tail against Table 6", lines, values)


def _near_in_batches(rows: Sequence[Row]) -> list[int]:
    """Return how many rows of Table 6 are near in each batch of 20 runs."""
    limits = {"goodput": GOODPUT_LIMIT, "delay": DELAY_LIMIT}
    near: dict[tuple[Any, Any], list[bool]] = {}
    for row in rows:
        if row.quantity not in limits or not row.published:
            continue
        place = (row.row["bearer"], row.row["flows"])
        found = [
            abs(mean / row.published - 1) <= limits[row.quantity]
            for mean in row.extra["means_of_20_runs"]
        ]
        before = near.get(place, [True] * len(found))
        near[place] = [a and b for a, b in zip(before, found, strict=True)]
    return [sum(batch) for batch in zip(*near.values(), strict=True)]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _improvement_summary(rows: Sequence[Row]) -> Summary:
    changes = [row for row in rows if row.quantity.endswith("_improvement")]
    significant = [row for row in changes if row.extra["significant"]]
    wrong = [_place(row) for row in significant if not row.extra["same_sign"]]
    far = [_place(row) for row in changes if not row.extra["within_8_points"]]
    agree = len(significant) - len(wrong)
    lines = [
        f"{len(significant)} of {len(changes)} are significant; {agree} of these have the "
        "published sign" + (f", not {'; '.join(wrong)}" if wrong else ""),
        f"{len(changes) - len(far)} of {len(changes)} within {IMPROVEMENT_LIMIT:g} percentage "
        "points" + (f"; others: {'; '.join(far)}" if far else ""),
    ]
    batches = [
        sum(near)
        for near in zip(
            *(
                [
                    abs(per_cent - (row.published or 0.0)) <= IMPROVEMENT_LIMIT
                    for per_cent in row.extra["of_20_runs"]
                ]
                for row in changes
            ),
            strict=True,
        )
    ]
    if batches:
        lines.append(f"over 20 runs each, as many as the paper has: {_listed(batches)}")
    values = {
        "improvements": len(changes),
        "within_8_points_over_20_runs": batches,
        "significant": len(significant),
        "wrong_sign": wrong,
        "within_8_points": len(changes) - len(far),
        "far": far,
    }
    return Summary("improvements", "Improvements by SBD and RED against Table 6", lines, values)


def _place(row: Row) -> str:
    quantity = row.quantity.removesuffix("_improvement")
    return f"{quantity} by {row.row['aqm']}, {row.row['bearer']} kbit/s, {row.row['flows']} flows"


def averages(session: Session) -> dict[str, dict[str, float]] | None:
    """Return the improvements for one flow, averaged over the bearers; None if some are missing."""
    found: dict[str, dict[str, float]] = {}
    for aqm in ("sbd", "red"):
        for quantity in ("goodput", "delay"):
            each = [improvement(session, bearer, 1, aqm, quantity) for bearer in BEARERS]
            known = [one.per_cent for one in each if one is not None]
            if len(known) < len(BEARERS):
                return None
            found.setdefault(aqm, {})[quantity] = sum(known) / len(known)
    return found
