"""Tables 2 to 5: the published numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan
from typing import Final

from airpath.reproduction.base import Cell, ItemResult, Row, Summary
from airpath.reproduction.compare import (
    ColumnSet,
    Key,
    comparison,
    number,
    percent,
    printed,
)
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.quantities import ComputedAtPoint, Measured, ip_throughput_mbps
from airpath.reproduction.scoring import largest_difference, others
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance
from airpath.solutions import FixedPoint
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import TABLE_OF, inputs, link_rate_bps, mcs_table
from airpath_papers.qawla.error_rates import error_rates, error_rates_table, small
from airpath_papers.qawla.scenarios import published, solution

__all__ = [
    "ANALYSIS",
    "CELL_LIMIT",
    "MEAN_LIMIT",
    "QUANTITIES",
    "TABLE2",
    "domain",
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


def _found2(_session: Session, title: str) -> Found:
    """Return rates computed from Table 1 and our error rates with the printed ones."""
    rows = []
    for case in inputs().values():
        for regime, (mcs, rate) in enumerate(zip(case.mcs, case.rate_mbps, strict=True), start=1):
            place = {"idx": case.idx, "regime": regime, "mcs": mcs, "snr_db": case.snr_db}
            ours = link_rate_bps(mcs_table()[mcs]) / 1e6
            rows.append(Row(place, "link_rate", "Mbit/s", rate, ours, tolerance=LINK_RATE))
            rows.append(replace(error_rates()[case.snr_db, mcs], row=place))
    rates = comparison(
        title,
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
    return rows, [rates, error_rates_table()]


TABLE2: Final = item_of(
    QAWLA,
    "table2",
    (),
    _found2,
    title="the 18 scenarios (ITU-A channel), rates r in Mbit/s",
    name="The 18 validation scenarios",
)
"""The item's cells, of which it has none, and its evaluation."""


# --- Tables 3, 4 and 5 -------------------------------------------------------------------------


def _domains(_session: Session, cell: Cell) -> dict[str, str]:
    ours = domain(solution(cell))
    return {"domain_published": published(cell).domain, "domain_ours": ours}


def _solved(
    name: str, unit: str, value: Callable[[FixedPoint], float], columns: ColumnSet
) -> ComputedAtPoint:
    """Return a quantity of the fixed point."""
    compute = lambda _session, cell: value(solution(cell))  # noqa: E731
    return ComputedAtPoint(name, unit, compute, ".4f", _domains, ANALYSIS[name], columns)


def _alpha(alpha: float | None) -> str:
    return "N/A" if alpha is None else small(alpha)


T_NAMES: Final = ("paper", "ours", "diff %")
T_SIMULATED: Final = ("ns-3", "ours", "diff %", "within")

_QUANTITIES: Final = (
    _solved(
        "throughput_analysis",
        "Mbit/s",
        lambda found: found.throughput_bps / 1e6,
        ColumnSet("throughput_analysis", "T", printed(4), number(4), percent(3), T_NAMES),
    ),
    _solved(
        "queue_analysis",
        "packets",
        lambda found: found.queue_packets,
        ColumnSet("queue_analysis", "x*", printed(4), number(4)),
    ),
    _solved(
        "alpha_analysis",
        "1",
        lambda found: nan if found.alpha is None else found.alpha,
        ColumnSet(
            "alpha_analysis", "alpha*", lambda r: _alpha(r.published), lambda r: _alpha(r.ours)
        ),
    ),
    Measured(
        "throughput_simulation",
        "Mbit/s",
        ip_throughput_mbps,
        4,
        SIMULATED,
        columns=ColumnSet(
            "throughput_simulation", "", printed(4), number(4), percent(2), T_SIMULATED
        ),
    ),
)

QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Those that ``paper.toml`` names."""

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
