"""Table 6: the link adaptation policies beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from airpath.reproduction.base import ItemResult, Row, Summary, Table
from airpath.reproduction.compare import ColumnSet, Key, absolute, comparison, number, printed
from airpath.reproduction.scoring import others
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance, marked
from airpath_papers.qawla.adaptation import POLICIES, Adaptations, adaptations, measured
from airpath_papers.qawla.curves import CHANNELS
from airpath_papers.qawla.data import MEASURES, published_entry, published_table6
from airpath_papers.qawla.error_rates import ErrorRates
from airpath_papers.qawla.link_adaptation import Policy, Sweep, tagla, tfer
from airpath_papers.qawla.thresholds import TH_FER, TH_PER

__all__ = [
    "BEST",
    "BEST_FACTOR",
    "SYMBOLS",
    "Best",
    "evaluate_table6",
    "limit",
    "summarise",
]

NEAR, ROUGH = 0.02, 0.05
"""Largest differences from Table 6: with thresholds, and of MaxPHYThru."""

BEST_FACTOR: Final = 2.0
"""Largest factor between our best thresholds and the paper's."""

SYMBOLS: Final = dict(zip(MEASURES, ("T_M", "T_W"), strict=True))


def limit(policy: Policy) -> float:
    """Return the largest difference from Table 6 that is asked for."""
    return ROUGH if policy.kind == "max-phy-throughput" else NEAR


# --- the best thresholds -----------------------------------------------------------------------


class Best(NamedTuple):
    """A policy whose threshold the paper fixes where the average of T_M is largest."""

    policy: str
    symbol: str
    sweep: Sweep
    published: float


BEST: Final = (
    Best("TAGLA", "th_PER", Sweep(tagla, TH_PER), 0.0032),
    Best("TFER", "th_FER", Sweep(tfer, TH_FER), 0.00013),
)


# --- the item ----------------------------------------------------------------------------------

KEYS: Final = [
    Key("policy", "policy"),
    Key("channel", "channel", lambda channel: CHANNELS[channel].name),
]

ENTRIES: Final = [
    ColumnSet(
        measure,
        symbol,
        printed(2),
        number(3),
        absolute(3),
        ("paper", "ours", "diff", "within"),
    )
    for measure, symbol in SYMBOLS.items()
]
"""How the entries of Table 6 are shown."""


def evaluate_table6(session: Session, _out: Path | None) -> ItemResult:
    """Return Table 6 and the best thresholds."""
    title = "Table 6: normalised aggregate TCP throughput of the policies"
    found = adaptations(session)
    if found is None:
        return ItemResult("table6", title, [], complete=False)
    rows = [
        _row(policy, channel.key, measure, measured(found, policy, channel.key, measure))
        for policy in POLICIES
        for channel in CHANNELS.values()
        for measure in MEASURES
    ]
    thresholds, threshold_rows = _best_table(found)
    notes = [
        f"within: {NEAR:g}; {ROUGH:g} for MaxPHYThru. By the fixed point, 72 traffic scenarios.",
        *(
            f"Error rates, {channel.name}: {ErrorRates.of(channel).command}"
            for channel in CHANNELS.values()
        ),
    ]
    return ItemResult(
        "table6",
        "Normalised aggregate TCP throughput of the policies",
        [*rows, *threshold_rows],
        [comparison(title, rows, KEYS, ENTRIES, notes), thresholds],
    )


def _row(policy: Policy, channel: str, measure: str, ours: float) -> Row:
    theirs = published_table6()[policy.name, channel, measure]
    tolerance = Tolerance(f"{limit(policy):g} (README)", absolute=limit(policy))
    extra = {
        "difference": ours - published_entry(policy.name, channel, measure),
        "limit": limit(policy),
    }
    return replace(theirs, ours=ours, tolerance=tolerance, extra=extra)


def _best_table(found: Adaptations) -> tuple[Table, list[Row]]:
    rows, lines, channels = [], [], list(found.values())
    for best in BEST:
        threshold, average = best.sweep.best(channels)
        row = Row(
            {"policy": best.policy, "channel": "both"},
            "best_threshold",
            "1",
            best.published,
            threshold,
            tolerance=Tolerance(f"a factor {BEST_FACTOR:g} (README)", factor=BEST_FACTOR),
        )
        rows.append(row)
        thresholds = (f"{best.published:g}", marked(f"{threshold:.2g}", row.within))
        averages = (f"{best.sweep.over(channels, best.published):.4f}", f"{average:.4f}")
        within = "yes" if row.within else "NO"
        lines.append([f"{best.policy}, {best.symbol}", *thresholds, *averages, within])
    columns = [("", "policy"), ("best threshold", "paper"), ("best threshold", "ours")]
    columns += [("average T_M", "at the paper's"), ("average T_M", "at ours"), ("", "within")]
    notes = [f"Average of T_M over both channels; within: a factor {BEST_FACTOR:g}."]
    return Table("The best thresholds", columns, lines, notes), rows


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return how many entries of Table 6 are as near as asked for."""
    rows = [row for result in results if result.item == "table6" for row in result.rows]
    entries = [row for row in rows if row.quantity in MEASURES]
    if not entries:
        return []
    outside = [
        f"{SYMBOLS[row.quantity]} of {row.row['policy']}, {CHANNELS[str(row.row['channel'])].name} "
        f"({row.extra['difference']:+.3f})"
        for row in entries
        if not row.within
    ]
    best = {str(row.row["policy"]): row for row in rows if row.quantity == "best_threshold"}
    lines = [
        f"{len(entries) - len(outside)} of {len(entries)} entries within {NEAR:g} "
        f"({ROUGH:g} for MaxPHYThru)" + others(outside),
        "best thresholds: "
        + ", ".join(
            f"{name} {row.ours:.2g} (paper {row.published:g})" for name, row in best.items()
        ),
    ]
    values = {
        "entries": len(entries),
        "within": len(entries) - len(outside),
        "outside": outside,
        "best_thresholds": {name: row.ours for name, row in best.items()},
    }
    return [Summary("policies", "Our Table 6 against the paper's", lines, values)]
