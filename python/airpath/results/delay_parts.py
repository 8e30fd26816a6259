"""Parts of the delays of packets, by hop: where on the path packets spent their time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airpath.results.intervals import POSITIVE, SHARE, mean_interval

__all__ = ["DELAYS", "PARTS", "delay_part_intervals", "delay_part_rows"]

DELAYS = {"data": "data", "ack": "ACKs", "round_trip": "round trip"}
"""Maps each kind of delay to its readable name."""

PARTS = {
    "propagation": "propagation",
    "queueing": "queueing",
    "service": "service",
    "retransmission": "retransmission",
    "resequencing": "resequencing",
    "ack_wait": "wait for the ACK",
}
"""Maps each part of a delay to its readable name, in the order of figures."""

_QUANTITIES = {"mean_s": POSITIVE, "share": SHARE}
"""Maps the quantities of a part to their possible range."""

Runs = Sequence[Mapping[str, Any]]
Key = tuple[int, str, str, str, str]


def delay_part_rows(runs: Runs) -> list[dict[str, Any]]:
    """Return one row per replication, flow, kind of delay, hop, direction and part.

    Parts that are zero in all replications are omitted.

    Parameters
    ----------
    runs : sequence of mapping
        Statistics of each replication, as reported by the engine.
    """
    by_run = [_parts(run, "flow") for run in runs]
    return [
        {"replication": run["replication"], **_names("flow", key), **parts[key]}
        for run, parts in zip(runs, by_run, strict=True)
        for key in _nonzero(by_run)
        if key in parts
    ]


def delay_part_intervals(runs: Runs, of: str, confidence: float) -> list[dict[str, Any]]:
    """Return the parts of the delays with intervals over the replications.

    Parameters
    ----------
    runs : sequence of mapping
        Statistics of each replication, as reported by the engine.
    of : {"flow", "group"}
        ``flow``: parts of each flow. ``group``: parts over all packets of the flows of a group.
    confidence : float
        Confidence of the intervals, in (0, 1).

    Returns
    -------
    parts : list of dict
        For each part that is not zero in all replications: the flow or group, `delay`, `hop`,
        `direction`, `part`, and the `Interval` of `mean_s` and `share`.
    """
    missing: Mapping[str, float | None] = dict.fromkeys(_QUANTITIES)
    by_run = [_parts(run, of) for run in runs]
    return [
        {
            **_names(of, key),
            **{
                name: mean_interval(
                    (parts.get(key, missing)[name] for parts in by_run), confidence, bounds
                )
                for name, bounds in _QUANTITIES.items()
            },
        }
        for key in _nonzero(by_run)
    ]


def _names(of: str, key: Key) -> dict[str, Any]:
    return dict(zip((of, "delay", "hop", "direction", "part"), key, strict=True))


def _parts(run: Mapping[str, Any], of: str) -> dict[Key, dict[str, Any]]:
    """Map each part of one replication to its mean and share."""
    counts: dict[tuple[int, str], list[int]] = {}
    sums: dict[Key, int] = {}
    for entry in run.get("delay_parts", ()):
        total = counts.setdefault((entry[of], entry["delay"]), [0, 0])
        total[0] += entry["count"]
        total[1] += entry["total_ns"]
        columns = (entry[name] for name in ("hop", "direction", "part", "sum_ns"))
        for hop, direction, part, sum_ns in zip(*columns, strict=True):
            key = (entry[of], entry["delay"], hop, direction, part)
            sums[key] = sums.get(key, 0) + sum_ns
    return {
        key: {
            "count": counts[key[:2]][0],
            "mean_s": sum_ns / counts[key[:2]][0] / 1e9,
            "share": sum_ns / (counts[key[:2]][1] or 1),
        }
        for key, sum_ns in sums.items()
    }


def _nonzero(by_run: Sequence[Mapping[Key, Mapping[str, Any]]]) -> list[Key]:
    """Return the parts that are above zero in a replication, in the order of the path."""
    keys = dict.fromkeys(key for parts in by_run for key in parts)
    return [
        key for key in keys if any(parts[key]["mean_s"] > 0 for parts in by_run if key in parts)
    ]
