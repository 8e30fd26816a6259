"""How long the transfers of a group of flows took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from airpath.engine.resolved import ResolvedScenario

__all__ = ["TRANSFER_QUANTITIES", "completions", "transfer_groups"]

TRANSFER_QUANTITIES = ("started", "completed", "unfinished", "mean_s", "median_s", "p95_s")
"""Of every group of transfers, in the order of the table."""


def transfer_groups(resolved: ResolvedScenario) -> dict[int, list[int]]:
    """Return the flows with a size by their group."""
    groups: dict[int, list[int]] = {}
    for numbers, entry in resolved.flows.ranges():
        if entry.source.is_transfer:
            groups.setdefault(entry.group, []).extend(numbers)
    return groups


def completions(
    resolved: ResolvedScenario, run: Mapping[str, Any], members: Iterable[int]
) -> dict[str, Any]:
    """Return the quantities of the flows `members` in one replication."""
    first, end = resolved.warmup_s, resolved.duration_s
    flows = [run["flows"][number] for number in members]
    flows = [f for f in flows if f["start_s"] is not None and first <= f["start_s"] < end]
    times = [f["completed_at_s"] - f["start_s"] for f in flows if f["completed_at_s"] is not None]
    median, p95 = np.quantile(times, [0.5, 0.95]).tolist() if times else (None, None)
    return {
        "started": len(flows),
        "completed": len(times),
        "unfinished": len(flows) - len(times),
        "mean_s": math.fsum(times) / len(times) if times else None,
        "median_s": median,
        "p95_s": p95,
    }
