"""Summaries of the agreement of Tables 3 to 6 with the published tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airpath.reproduction.base import ItemResult, Row, Summary
from airpath.reproduction.scoring import largest_difference, others
from airpath_papers.qawla.data import MEASURES, TABLE_OF
from airpath_papers.qawla.error_rates import CHANNELS
from airpath_papers.qawla.quantities import ANALYSIS, BEST, CELL_LIMIT, NEAR, ROUGH

__all__ = ["MEAN_LIMIT", "summarise"]

MEAN_LIMIT: Final = 0.006
"""Largest tolerated mean absolute relative difference over all 54 cells, with ``--full``."""


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return the summaries of Tables 3 to 5, simulated and analytic, and of Table 6."""
    rows = [row for each in results if each.item in TABLE_OF.values() for row in each.rows]
    made = [
        (_simulation_summary, [row for row in rows if row.quantity not in ANALYSIS]),
        (_analysis_summary, [row for row in rows if row.quantity in ANALYSIS]),
        (_policy_summary, [row for each in results if each.item == "table6" for row in each.rows]),
    ]
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


def _policy_summary(rows: Sequence[Row]) -> Summary:
    entries = [row for row in rows if row.quantity in MEASURES]
    best = {str(row.row["policy"]): row for row in rows if row.quantity == BEST.name}
    outside = [
        f"{MEASURES[row.quantity]} of {row.row['policy']}, "
        f"{CHANNELS[str(row.row['channel'])].name} ({row.extra['difference']:+.3f})"
        for row in entries
        if not row.within
    ]
    near = len(entries) - len(outside)
    thresholds = (f"{of} {row.computed:.2g} (paper {row.published:g})" for of, row in best.items())
    lines = [
        f"{near} of {len(entries)} entries within {NEAR:g} ({ROUGH:g} for MaxPHYThru)"
        + others(outside),
        f"best thresholds: {', '.join(thresholds)}",
    ]
    values = {
        "entries": len(entries),
        "within": near,
        "outside": outside,
        "best_thresholds": {policy: row.computed for policy, row in best.items()},
    }
    return Summary("policies", "Our Table 6 against the paper's", lines, values)
