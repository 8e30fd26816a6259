"""Tables 2 to 5: the published numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from airpath.papers.kit.base import Cell, ItemResult, Row, Summary, Table
from airpath.papers.kit.engine import Solved
from airpath.papers.kit.session import Estimate, Session
from airpath.papers.kit.tolerance import Tolerance, marked
from airpath.papers.qawla.curves import (
    COMMON_ERRORS,
    COMMON_LIMIT,
    RARE_LEVEL,
    ErrorRate,
    error_rate,
    error_rates,
    small,
)
from airpath.papers.qawla.data import (
    TABLE_OF,
    Published,
    inputs,
    link_rate_bps,
    mcs_table,
    published,
    published_table,
)
from airpath.papers.qawla.measures import domain, throughput
from airpath.papers.qawla.radio import ITU_A

__all__ = [
    "ANALYSIS",
    "CELL_LIMIT",
    "MEAN_LIMIT",
    "cells_of_table",
    "evaluate_table2",
    "results_table",
    "summarise",
]

CELL_LIMIT = 0.025
"""Largest relative difference of one simulated cell, unless the intervals allow more."""

MEAN_LIMIT = 0.006
"""Largest mean of the absolute relative differences over all 54 cells, with ``--full``."""

SIMULATED = Tolerance(
    f"{100 * CELL_LIMIT:g} % (README), or the published interval and ours combined if wider",
    relative=CELL_LIMIT,
    intervals=True,
)
"""Of the simulated cells of Tables 3 to 5."""

_THREE_DIGITS = "the three printed digits of Table 2's error rates and of alpha*"
ANALYSIS = {
    "throughput_analysis": Tolerance(f"0.1 %: {_THREE_DIGITS}", relative=1e-3),
    # Half of the last printed digit where x* is printed as 0.0000.
    "queue_analysis": Tolerance(f"0.3 %: {_THREE_DIGITS}", relative=3e-3, absolute=5e-5),
    "alpha_analysis": Tolerance(f"0.6 %: {_THREE_DIGITS}", relative=6e-3),
}
"""Of the fixed points: a second, independent solution is off by 0.033, 0.23 and 0.53 % at most."""

LINK_RATE = Tolerance("half of the last printed digit", absolute=5e-4)
"""Of Table 2's rates."""

GROUPS = ("domain", "x*", "alpha*")
"""What the analysis gives beside T."""


def cells_of_table(boundary: int) -> list[Cell]:
    """Return the 18 cells of the table for B = `boundary`."""
    return [(idx, boundary) for idx in published_table(boundary)]


# --- Table 2 -----------------------------------------------------------------------------------


def evaluate_table2(_session: Session, _out: Path | None) -> ItemResult:
    """Return Table 2: rates computed from Table 1 and our own error rates beside the printed."""
    rows, lines = [], []
    for case in inputs().values():
        line = [str(case.idx), case.traffic, str(case.snr_db)]
        for number, (mcs, rate, per) in enumerate(
            zip(case.mcs, case.rate_mbps, case.per, strict=True), start=1
        ):
            ours = link_rate_bps(mcs_table()[mcs]) / 1e6
            key = {"idx": case.idx, "regime": number, "mcs": mcs, "snr_db": case.snr_db}
            computed = Row(key, "link_rate", "Mbit/s", rate, ours, tolerance=LINK_RATE)
            rows += [computed, _error_row(key, per)]
            shown = marked(f"{ours:.6g}", computed.within)
            line += [str(mcs), f"{rate:g}", shown, small(per)]
        lines.append(line)
    columns = [("", "idx"), ("", "traffic"), ("SNR", "dB")]
    for regime in ("1", "2"):
        columns += [(f"m{regime}", ""), *_columns(f"r{regime}", ("paper", "ours"))]
        columns.append((f"PER{regime}", "paper"))
    table = Table(
        "Table 2: the 18 scenarios (ITU-A channel), rates r in Mbit/s",
        columns,
        lines,
        [
            "m: MCS index; r ours: g_m from Table 1 and c = 5.376e6 sub-carriers/s (§4).",
            "Tables 3 to 5 take the packet error rates as printed.",
        ],
    )
    return ItemResult("table2", "The 18 validation scenarios", rows, [table, _errors_table()])


def _error_row(key: Mapping[str, int | float | str], per: float) -> Row:
    found = error_rate(int(key["mcs"]), int(key["snr_db"]), per)
    return Row(
        key,
        "per",
        "1",
        per,
        found.ours,
        low=found.low,
        high=found.high,
        extra={
            "channel": ITU_A.key,
            "published_errors": found.published_errors,
            "errors": found.errors,
            "blocks": found.blocks,
            "p_value": found.p_value,
        },
        tolerance=_error_tolerance(found),
    )


def _error_tolerance(found: ErrorRate) -> Tolerance:
    if found.common:
        return Tolerance(f"{100 * COMMON_LIMIT:g} % (README)", relative=COMMON_LIMIT)
    source = f"exact test of two Poisson counts at {100 * RARE_LEVEL:g} %"
    return Tolerance(source, passed=found.within)


def _errors_table() -> Table:
    lines = [
        [
            str(found.snr_db),
            f"mcs{found.mcs}",
            small(found.published),
            small(found.ours),
            marked(_percent(found.ours, found.published, digits=1), found.within)
            if found.published
            else "",
            str(found.published_errors),
            str(found.errors),
            f"{found.blocks:.3g}",
            "" if found.p_value is None else f"{found.p_value:.3f}",
            "yes" if found.within else "NO",
        ]
        for found in error_rates()
    ]
    columns = [
        ("SNR", "dB"),
        ("", "MCS"),
        *_columns("PER", ("paper", "ours", "diff %")),
        ("errors", "paper"),
        ("errors", "ours"),
        ("of", "blocks"),
        ("", "p"),
        ("", "within"),
    ]
    notes = [
        "Ours: the tables that Airpath comes with, see fig3. Errors of the paper: of 1e7 blocks.",
        f"within: at most {100 * COMMON_LIMIT:g} % where the paper has {COMMON_ERRORS} errors or "
        f"more; else the same rate is not rejected at {100 * RARE_LEVEL:g} % (p of the exact test "
        "of two Poisson counts).",
    ]
    return Table("Table 2: its packet error rates and ours", columns, lines, notes)


# --- Tables 3, 4 and 5 -------------------------------------------------------------------------


def results_table(boundary: int) -> Callable[[Session, Path | None], ItemResult]:
    """Return what evaluates the table for B = `boundary`: 10, 20 or 30 packets."""

    def evaluate(session: Session, _out: Path | None) -> ItemResult:
        return _evaluate(boundary, session)

    return evaluate


def _evaluate(boundary: int, session: Session) -> ItemResult:
    cells = cells_of_table(boundary)
    rows: list[Row] = []
    simulation_lines, analysis_lines = [], []
    for cell in cells:
        theirs = published(*cell)
        solved = session.solution(cell)
        simulated = throughput(session, cell)
        analysed = _analysis_rows(theirs, solved)
        rows += analysed
        row = None if simulated is None else _simulation_row(theirs, simulated)
        rows += [] if row is None else [row]
        simulation_lines.append(_simulation_line(theirs, simulated, row))
        analysis_lines.append(_analysis_line(theirs, solved, analysed))
    key = TABLE_OF[boundary]
    heading = f"Table {key[-1]}, B = {boundary}"
    simulation = Table(
        f"{heading}: aggregate TCP throughput T simulated, Mbit/s",
        _columns("", ("idx", "ns-3", "ours", "diff %", "within")),
        simulation_lines,
        [
            f"ours: {session.effort.describe()}; ± are 99 % intervals.",
            f"within: at most {100 * CELL_LIMIT:g} % or the two intervals combined, "
            "sqrt(a² + b²), whichever is wider.",
        ],
    )
    analysis = Table(
        f"{heading}: the fixed point; T in Mbit/s, x* in packets",
        [
            ("", "idx"),
            *_columns("T", ("paper", "ours", "diff %")),
            *(column for group in GROUPS for column in _columns(group, ("paper", "ours"))),
        ],
        analysis_lines,
    )
    return ItemResult(
        key,
        f"Aggregate TCP throughput for B = {boundary}",
        rows,
        [simulation, analysis],
        complete=all(session.finished(cell) for cell in cells),
    )


def _columns(group: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return [(group, name) for name in names]


def _analysis_rows(theirs: Published, solved: Solved) -> list[Row]:
    key = {"idx": theirs.idx, "B": theirs.boundary}
    where = {"domain_published": theirs.domain, "domain_ours": domain(solved)}
    rows = [
        Row(
            key,
            "throughput_analysis",
            "Mbit/s",
            theirs.analysis_mbps,
            solved.throughput_bps / 1e6,
            tolerance=ANALYSIS["throughput_analysis"],
            extra=where,
        ),
        Row(
            key,
            "queue_analysis",
            "packets",
            theirs.queue_packets,
            solved.queue_packets,
            tolerance=ANALYSIS["queue_analysis"],
            extra=where,
        ),
    ]
    if theirs.alpha is not None:
        rows.append(
            Row(
                key,
                "alpha_analysis",
                "1",
                theirs.alpha,
                solved.alpha,
                tolerance=ANALYSIS["alpha_analysis"],
                extra=where,
            )
        )
    return rows


def _simulation_row(theirs: Published, simulated: Estimate) -> Row:
    return Row(
        {"idx": theirs.idx, "B": theirs.boundary},
        "throughput_simulation",
        "Mbit/s",
        theirs.ns3_mbps,
        simulated.mean,
        published_ci=theirs.ns3_half_width_mbps,
        low=simulated.low,
        high=simulated.high,
        tolerance=SIMULATED,
        extra={"replications": simulated.replications},
    )


def _simulation_line(theirs: Published, simulated: Estimate | None, row: Row | None) -> list[str]:
    ns3 = f"{theirs.ns3_mbps:.4f} ± {theirs.ns3_half_width_mbps:.4f}"
    if simulated is None or row is None:
        return [str(theirs.idx), ns3, "not simulated", "", ""]
    interval = f" ± {simulated.half_width:.4f}" if simulated.replications > 1 else ""
    return [
        str(theirs.idx),
        ns3,
        f"{simulated.mean:.4f}{interval}",
        marked(_percent(simulated.mean, theirs.ns3_mbps), row.within),
        "yes" if row.within else "NO",
    ]


def _analysis_line(theirs: Published, solved: Solved, rows: Sequence[Row]) -> list[str]:
    analysed_mbps = solved.throughput_bps / 1e6
    within = {row.quantity: row.within for row in rows}
    return [
        str(theirs.idx),
        f"{theirs.analysis_mbps:.4f}",
        f"{analysed_mbps:.4f}",
        marked(
            _percent(analysed_mbps, theirs.analysis_mbps, digits=3),
            within["throughput_analysis"],
        ),
        theirs.domain,
        domain(solved),
        f"{theirs.queue_packets:.4f}",
        marked(f"{solved.queue_packets:.4f}", within["queue_analysis"]),
        _alpha(theirs.alpha),
        marked(_alpha(solved.alpha), within.get("alpha_analysis")),
    ]


def _percent(ours: float, theirs: float, digits: int = 2) -> str:
    return f"{100 * (ours - theirs) / theirs:+.{digits}f}"


def _alpha(alpha: float | None) -> str:
    return "N/A" if alpha is None else small(alpha)


# --- over the tables ---------------------------------------------------------------------------


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return what the simulated and the analytic rows of Tables 3 to 5 say together."""
    tables = [result for result in results if result.item in TABLE_OF.values()]
    simulated = [
        row for table in tables for row in table.rows if row.quantity == "throughput_simulation"
    ]
    analysed = [row for table in tables for row in table.rows if row.quantity.endswith("_analysis")]
    summaries = []
    if simulated:
        summaries.append(_simulation_summary(simulated))
    if analysed:
        summaries.append(_analysis_summary(analysed))
    return summaries


def _simulation_summary(rows: Sequence[Row]) -> Summary:
    differences = {_label(row): row.relative_difference or 0.0 for row in rows}
    largest = max(differences, key=lambda label: abs(differences[label]))
    count = len(differences)
    mean = sum(differences.values()) / count
    mean_absolute = sum(map(abs, differences.values())) / count
    outside = [_label(row) for row in rows if not row.within]
    met = "met" if mean_absolute <= MEAN_LIMIT else "NOT met"
    lines = [
        f"mean |difference| {_share(mean_absolute)} (goal for --full: at most "
        f"{100 * MEAN_LIMIT:g} %, {met}), mean difference {100 * mean:+.2f} %",
        f"largest difference {100 * differences[largest]:+.2f} % at {largest}",
        f"{count - len(outside)} of {count} cells within {100 * CELL_LIMIT:g} % or the combined "
        "intervals" + (f"; outside: {'; '.join(outside)}" if outside else ""),
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
    largest = {
        quantity: max(
            (abs(row.relative_difference or 0.0) for row in rows if row.quantity == quantity),
            default=0.0,
        )
        for quantity in ("throughput_analysis", "queue_analysis", "alpha_analysis")
    }
    other = sorted(
        {_label(row) for row in rows if row.extra["domain_ours"] != row.extra["domain_published"]}
    )
    cells = len({_label(row) for row in rows})
    lines = [
        "largest |difference|: "
        + ", ".join(
            f"{name} {_share(value, digits=3)}"
            for name, value in zip(("T", "x*", "alpha*"), largest.values(), strict=True)
        ),
        f"{cells - len(other)} of {cells} in the published domain"
        + (f"; others: {'; '.join(other)}" if other else ""),
    ]
    values = {
        "cells": cells,
        "largest_difference": largest,
        "same_domain": cells - len(other),
        "other_domain": other,
    }
    return Summary("analysis", "Our solution against the paper's analysis", lines, values)


def _share(value: float, digits: int = 2) -> str:
    return f"{100 * value:.{digits}f} %"


def _label(row: Row) -> str:
    return f"idx={row.row['idx']}, B={row.row['B']}"
