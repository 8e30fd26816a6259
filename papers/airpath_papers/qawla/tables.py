"""Tables 2 to 5: the published numbers beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from airpath.reproduction.base import Cell, ItemResult, Row, Summary
from airpath.reproduction.compare import (
    ColumnSet,
    Key,
    NoteColumns,
    comparison,
    number,
    percent,
    printed,
)
from airpath.reproduction.items import Evaluate
from airpath.reproduction.published import PublishedQuantity, published_rows
from airpath.reproduction.quantities import ip_throughput_mbps
from airpath.reproduction.scoring import largest_difference, others
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance
from airpath.solutions import FixedPoint
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import TABLE_OF, inputs, link_rate_bps, mcs_table
from airpath_papers.qawla.error_rates import error_rates, error_rates_table, small
from airpath_papers.qawla.scenarios import SWEEPS, solution

__all__ = [
    "ANALYSIS",
    "CELL_LIMIT",
    "MEAN_LIMIT",
    "domain",
    "evaluate_table2",
    "results_table",
    "summarise",
]

CELL_LIMIT: Final = 0.025
"""Largest relative difference of one simulated cell, unless the intervals allow more."""

MEAN_LIMIT: Final = 0.006
"""Largest mean of the absolute relative differences over all 54 cells, with ``--full``."""

_THREE_DIGITS: Final = "the three printed digits of Table 2's error rates and of alpha*"

ANALYSIS: Final = {
    "throughput_analysis": Tolerance(f"0.1 %: {_THREE_DIGITS}", relative=1e-3),
    # Half of the last printed digit where x* is printed as 0.0000.
    "queue_analysis": Tolerance(f"0.3 %: {_THREE_DIGITS}", relative=3e-3, absolute=5e-5),
    "alpha_analysis": Tolerance(f"0.6 %: {_THREE_DIGITS}", relative=6e-3),
}
"""The tolerances of the fixed points: a second, independent solution is off by 0.033, 0.23 and
0.53 % at most."""

SIMULATED: Final = Tolerance(
    f"{100 * CELL_LIMIT:g} % (README), or the published interval and ours combined if wider",
    relative=CELL_LIMIT,
    intervals=True,
)
"""The tolerance of the simulated cells."""


def domain(solved: FixedPoint) -> str:
    """Return the domain of a solution, in the paper's names: R1, B or R2.

    The paper has one boundary, and counts an empty queue (x* = 0) as R1.
    """
    return {"B1": "B", "empty": "R1"}.get(solved.domain, solved.domain)


# --- Table 2 -----------------------------------------------------------------------------------

LINK_RATE: Final = Tolerance("half of the last printed digit", absolute=5e-4)


def evaluate_table2(_session: Session, _out: Path | None) -> ItemResult:
    """Return Table 2: rates computed from Table 1 and our own error rates beside the printed."""
    rows = []
    for case in inputs().values():
        for regime, (mcs, rate) in enumerate(zip(case.mcs, case.rate_mbps, strict=True), start=1):
            place = {"idx": case.idx, "regime": regime, "mcs": mcs, "snr_db": case.snr_db}
            ours = link_rate_bps(mcs_table()[mcs]) / 1e6
            rows.append(Row(place, "link_rate", "Mbit/s", rate, ours, tolerance=LINK_RATE))
            rows.append(replace(error_rates()[case.snr_db, mcs], row=place))
    rates = comparison(
        "Table 2: the 18 scenarios (ITU-A channel), rates r in Mbit/s",
        rows,
        [
            Key("idx", "idx"),
            Key("idx", "traffic", lambda idx: inputs()[idx].traffic.name),
            Key("snr_db", "SNR, dB"),
            Key("regime", "regime"),
            Key("mcs", "MCS", "mcs{}".format),
        ],
        [
            ColumnSet("link_rate", "r", printed(3), number(3)),
            ColumnSet("per", "PER", lambda row: small(row.published), str, names=("paper",)),
        ],
        [
            "r ours: g_m from Table 1 and c = 5.376e6 sub-carriers/s (§4).",
            "Tables 3 to 5 take the packet error rates as printed.",
        ],
    )
    return ItemResult("table2", "The 18 validation scenarios", rows, [rates, error_rates_table()])


# --- Tables 3, 4 and 5 -------------------------------------------------------------------------

QUANTITIES: Final = [
    PublishedQuantity(name, unit, column, {**ANALYSIS, "throughput_simulation": SIMULATED}[name])
    for name, unit, column in (
        ("throughput_analysis", "Mbit/s", "analysis_mbps"),
        ("queue_analysis", "packets", "queue_packets"),
        ("alpha_analysis", "1", "alpha"),
        ("throughput_simulation", "Mbit/s", "ns3_mbps"),
    )
]

SIMULATED_COLUMNS: Final = ColumnSet(
    "throughput_simulation",
    "",
    printed(4),
    number(4),
    percent(2),
    ("ns-3", "ours", "diff %", "within"),
)


def _alpha(alpha: float | None) -> str:
    return "N/A" if alpha is None else small(alpha)


ANALYSIS_COLUMNS: Final[list[ColumnSet | NoteColumns]] = [
    ColumnSet(
        "throughput_analysis", "T", printed(4), number(4), percent(3), ("paper", "ours", "diff %")
    ),
    NoteColumns("domain", ("domain_published", "domain_ours")),
    ColumnSet("queue_analysis", "x*", printed(4), number(4)),
    ColumnSet(
        "alpha_analysis",
        "alpha*",
        lambda row: _alpha(row.published),
        lambda row: _alpha(row.ours),
    ),
]


def results_table(boundary: int) -> Evaluate:
    """Return what evaluates the table for B = `boundary`: 10, 20 or 30 packets."""
    key = TABLE_OF[boundary]
    heading = f"Table {key[-1]}, B = {boundary}"

    def evaluate(session: Session, _out: Path | None) -> ItemResult:
        where = {"domain": "domain_published"}
        places = published_rows(QAWLA, f"{key}.csv", ("idx", "B"), QUANTITIES, where)
        cells = {(at.place["idx"], at.place["B"]): at.cell for at in SWEEPS.points(key)}
        found = [_filled(row, cells[row.row["idx"], row.row["B"]], session) for row in places]
        simulated = comparison(
            f"{heading}: aggregate TCP throughput T simulated, Mbit/s",
            [row for row in found if row.quantity not in ANALYSIS],
            [Key("idx", "idx")],
            [SIMULATED_COLUMNS],
            [
                f"ours: {session.effort.describe()}; ± are 99 % intervals.",
                f"within: at most {100 * CELL_LIMIT:g} % or the two intervals combined, "
                "sqrt(a² + b²), whichever is wider.",
            ],
        )
        analysed = comparison(
            f"{heading}: the fixed point; T in Mbit/s, x* in packets",
            [row for row in found if row.quantity in ANALYSIS],
            [Key("idx", "idx")],
            ANALYSIS_COLUMNS,
        )
        # Results: not where the paper has no alpha*, nor before a simulation.
        known = [
            r for r in found if (r.published if r.quantity in ANALYSIS else r.ours) is not None
        ]
        title, complete = f"Aggregate TCP throughput for B = {boundary}", [*cells.values()]
        tables = [simulated, analysed]
        return ItemResult(key, title, known, tables, complete=session.complete(complete))

    return evaluate


def _filled(row: Row, cell: Cell, session: Session) -> Row:
    """Return a published row with our number, if there is one."""
    if row.quantity not in ANALYSIS:
        estimate = session.estimate(cell, ip_throughput_mbps)
        if estimate is None:
            return row
        return row.with_ours(estimate, extra={"replications": estimate.reps})
    solved = solution(cell)
    numbers = (solved.throughput_bps / 1e6, solved.queue_packets, solved.alpha)
    ours = dict(zip(ANALYSIS, numbers, strict=True))[row.quantity]
    return replace(row, ours=ours, extra={**row.extra, "domain_ours": domain(solved)})


# --- over the tables ---------------------------------------------------------------------------


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return how near the simulated and the analytic rows of Tables 3 to 5 are."""
    tables = [result for result in results if result.item in TABLE_OF.values()]
    rows = [row for table in tables for row in table.rows]
    analysed = [row for row in rows if row.quantity in ANALYSIS]
    simulated = [row for row in rows if row.quantity not in ANALYSIS]
    made = [(_simulation_summary, simulated), (_analysis_summary, analysed)]
    return [make(found) for make, found in made if found]


def _simulation_summary(rows: Sequence[Row]) -> Summary:
    differences = {_label(row): row.relative_difference or 0.0 for row in rows}
    largest = max(differences, key=lambda label: abs(differences[label]))
    count = len(differences)
    mean = sum(differences.values()) / count
    mean_absolute = sum(map(abs, differences.values())) / count
    outside = [_label(row) for row in rows if not row.within]
    met = "met" if mean_absolute <= MEAN_LIMIT else "NOT met"
    lines = [
        f"mean |difference| {100 * mean_absolute:.2f} % (goal for --full: at most "
        f"{100 * MEAN_LIMIT:g} %, {met}), mean difference {100 * mean:+.2f} %",
        f"largest difference {100 * differences[largest]:+.2f} % at {largest}",
        f"{count - len(outside)} of {count} cells within {100 * CELL_LIMIT:g} % or the combined "
        "intervals" + others(outside, "outside"),
    ]
    values = {
        "cells": count,
        "mean_absolute_difference": mean_absolute,
        "mean_difference": mean,
        "largest_difference": differences[largest],
        "largest_difference_at": largest,
        "within": count - len(outside),
        "outside": outside,
    }
    return Summary("simulation", "Our simulation against the paper's ns-3", lines, values)


def _analysis_summary(rows: Sequence[Row]) -> Summary:
    largest = {quantity: abs(largest_difference(rows, quantity)) for quantity in ANALYSIS}
    elsewhere = (row for row in rows if row.extra["domain_ours"] != row.extra["domain_published"])
    other = sorted({_label(row) for row in elsewhere})
    cells = len({_label(row) for row in rows})
    named = zip(("T", "x*", "alpha*"), largest.values(), strict=True)
    lines = [
        f"largest |difference|: {', '.join(f'{n} {100 * value:.3f} %' for n, value in named)}",
        f"{cells - len(other)} of {cells} in the published domain" + others(other),
    ]
    values = {
        "cells": cells,
        "largest_difference": largest,
        "same_domain": cells - len(other),
        "other_domain": other,
    }
    return Summary("analysis", "Our solution against the paper's analysis", lines, values)


def _label(row: Row) -> str:
    return f"idx={row.row['idx']}, B={row.row['B']}"
