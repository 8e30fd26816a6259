"""The checks of ``claims.toml``: hypotheses, written before the first run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from airpath.reproduction.claims import Claims, points_of, same
from airpath.reproduction.formulas import Measure, of_replication
from airpath_papers.wimax import measures
from airpath_papers.wimax.crowds import COUNTS, SIZES_KB, Crowd
from airpath_papers.wimax.data import POLICIES

from .accesses import PERIODS_MS, Access

__all__ = ["CLAIMS"]

PAIR: Final = ("uni", "adapt-bi")

LONE: Final = [
    Access(preset, period, "uni", lone=True) for preset in ("lte", "nr") for period in PERIODS_MS
]

SETS: Final[Mapping[str, Sequence[Crowd | Access]]] = {
    "stations": [
        Crowd(policy, n, cc) for n in COUNTS for cc in ("newreno", "cubic") for policy in POLICIES
    ],
    "uploads": [Crowd(policy, upload=True) for policy in PAIR],
    "short": [Crowd(policy, size_kb=size) for size in SIZES_KB for policy in PAIR],
    "lone": LONE,
    "requests": [Access("lte", period, policy) for period in (5, 80) for policy in PAIR],
    "grants": [Access("wimax", 0, policy) for policy in ("blind-bi", "adapt-bi", "unsolicited")],
}


MEASURES: Final[Mapping[str, Measure]] = {
    "delay_ms": of_replication(measures.MAC_DELAY.measure),
    "efficiency": of_replication(measures.EFFICIENCY.measure),
    "total_mbps": of_replication(measures.total_mbps),
    "completion_ms": of_replication(measures.completion_ms),
    "collided": of_replication(measures.collided_share),
    "contention": of_replication(measures.contention_share),
}

CLAIMS: Final = Claims(
    Path(__file__).parent, {name: same(points_of(cells)) for name, cells in SETS.items()}, MEASURES
)
