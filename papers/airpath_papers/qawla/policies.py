"""Table 6: the link adaptation policies, and their best thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airpath.reproduction.base import ItemResult, Row, Summary, Table
from airpath.reproduction.compare import ColumnSet, Key, absolute, comparison, number, printed
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.scoring import others
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance, marked
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import MEASURES, published_entry
from airpath_papers.qawla.error_rates import CHANNELS
from airpath_papers.qawla.link_adaptation import POLICIES, Adaptations, Curve, adaptations

__all__ = ["BEST", "BEST_FACTOR", "TABLE6", "limit", "summarise"]

NEAR, ROUGH = 0.02, 0.05
"""Largest differences from Table 6: with thresholds, and of MaxPHYThru."""

BEST_FACTOR: Final = 2.0
"""Largest factor between our best thresholds and the paper's."""

BEST: Final = {
    Curve("TAGLA"): ("th_PER", 0.0032),
    Curve("TFER"): ("th_FER", 0.00013),
}
"""Threshold of a policy, fixed by the paper where the average of T_M is largest, and its value."""


def limit(policy: str) -> float:
    """Return the largest difference from Table 6 that is tolerated."""
    return ROUGH if policy.startswith("MaxPHYThru") else NEAR


KEYS: Final = [
    Key("policy", "policy"),
    Key("channel", "channel", lambda channel: CHANNELS[channel].name),
]

ENTRIES: Final = [
    ColumnSet(
        measure, symbol, printed(2), number(3), absolute(3), ("paper", "ours", "diff", "within")
    )
    for measure, symbol in MEASURES.items()
]


def _found(session: Session, title: str) -> Found:
    """Return the entries of Table 6 and the best thresholds."""
    found = adaptations(session)
    rows = [
        _entry(found, policy, channel, measure)
        for policy in POLICIES
        for channel in CHANNELS
        for measure in MEASURES
    ]
    thresholds, threshold_rows = _best_table(found)
    notes = [
        f"within: {NEAR:g}; {ROUGH:g} for MaxPHYThru. By the fixed point, 72 traffic scenarios.",
        *(f"Error rates, {channel.name}: {channel.command}" for channel in CHANNELS.values()),
    ]
    return [*rows, *threshold_rows], [comparison(title, rows, KEYS, ENTRIES, notes), thresholds]


def _entry(found: Adaptations, policy: str, channel: str, measure: str) -> Row:
    theirs, ours = published_entry(policy, channel, measure), found[channel].entry(policy, measure)
    largest = limit(policy)
    tolerance = Tolerance(f"{largest:g} (README)", absolute=largest)
    extra = {"difference": ours - theirs, "limit": largest}
    place = {"policy": policy, "channel": channel}
    return Row(place, measure, "1", theirs, ours, tolerance=tolerance, extra=extra)


_NAME: Final = "Normalised aggregate TCP throughput of the policies"

TABLE6: Final = item_of(QAWLA, "table6", (), _found, title=f"n{_NAME[1:]}", name=_NAME)
"""The item's cells, of which it has none, and its evaluation."""


def _best_table(found: Adaptations) -> tuple[Table, list[Row]]:
    rows, lines = [], []
    tolerance = Tolerance(f"a factor {BEST_FACTOR:g} (README)", factor=BEST_FACTOR)
    for curve, (symbol, published) in BEST.items():
        threshold, average = curve.best(found)
        place = {"policy": curve.policy, "channel": "both"}
        row = Row(place, "best_threshold", "1", published, threshold, tolerance=tolerance)
        rows.append(row)
        thresholds = (f"{published:g}", marked(f"{threshold:.2g}", row.within))
        averages = (f"{curve.over(found, published):.4f}", f"{average:.4f}")
        within = "yes" if row.within else "NO"
        lines.append([f"{curve.policy}, {symbol}", *thresholds, *averages, within])
    columns = [("", "policy"), ("best threshold", "paper"), ("best threshold", "ours")]
    columns += [("average T_M", "at the paper's"), ("average T_M", "at ours"), ("", "within")]
    notes = [f"Average of T_M over both channels; within: a factor {BEST_FACTOR:g}."]
    return Table("The best thresholds", columns, lines, notes), rows


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return how many entries of Table 6 are near enough, and the best thresholds."""
    rows = [row for result in results if result.item == "table6" for row in result.rows]
    entries = [row for row in rows if row.quantity in MEASURES]
    if not entries:
        return []
    outside = [
        f"{MEASURES[row.quantity]} of {row.row['policy']}, "
        f"{CHANNELS[str(row.row['channel'])].name} ({row.extra['difference']:+.3f})"
        for row in entries
        if not row.within
    ]
    best = [row for row in rows if row.quantity == "best_threshold"]
    near = len(entries) - len(outside)
    thresholds = (f"{r.row['policy']} {r.ours:.2g} (paper {r.published:g})" for r in best)
    lines = [
        f"{near} of {len(entries)} entries within {NEAR:g} ({ROUGH:g} for MaxPHYThru)"
        + others(outside),
        f"best thresholds: {', '.join(thresholds)}",
    ]
    values = {
        "entries": len(entries),
        "within": near,
        "outside": outside,
        "best_thresholds": {str(row.row["policy"]): row.ours for row in best},
    }
    return [Summary("policies", "Our Table 6 against the paper's", lines, values)]
