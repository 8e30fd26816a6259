"""What was measured between the events of ``[[control]]``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airpath.results.quantities import together

__all__ = ["PHASE_QUANTITIES", "phase_rows"]

PHASE_QUANTITIES = (
    "goodput_bps",
    "mean_delay_s",
    "mean_rtt_s",
    "delivered_bytes",
    "delivered_packets",
    "retransmissions",
    "timeouts",
    "mean_packets",
    "mean_sojourn_s",
    "arrived",
    "drops",
    "marks",
    "utilisation",
)
"""Of every phase: all flows together, the bottleneck's queue, its link."""

_OF_FLOWS = PHASE_QUANTITIES[:7]
_OF_QUEUE = PHASE_QUANTITIES[7:12]


def phase_rows(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the phases of one replication; none when nothing happened after the warm-up."""
    names = [queue["name"] for queue in run["queues"]]
    place = names.index("bottleneck") if "bottleneck" in names else 0
    return [
        {
            "phase": number,
            "from_s": phase["from_s"],
            "until_s": phase["until_s"],
            **{name: together(phase["flows"], name, {}) for name in _OF_FLOWS},
            **{name: phase["queues"][place][name] for name in _OF_QUEUE},
            "utilisation": phase["links"][place]["utilisation"],
        }
        for number, phase in enumerate(run.get("phases", ()))
    ]
