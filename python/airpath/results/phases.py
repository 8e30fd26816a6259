"""Measurements of the phases between the events of ``[[control]]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airpath.results.quantities import together
from airpath.results.users import queues_at

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
"""Quantities of a phase: totals of all flows, and quantities of the bottleneck."""

_OF_FLOWS = PHASE_QUANTITIES[:7]
_ADD_UP = ("mean_packets", "arrived", "drops", "marks")
"""Quantities that are summed over the queues of a cell's users."""


def phase_rows(run: Mapping[str, Any], bottleneck: str) -> list[dict[str, Any]]:
    """Return the phases of one replication; empty if there was no event after the warm-up.

    `bottleneck` is the name in results of the link whose quantities the phases contain.
    """
    names = [queue["name"] for queue in run["queues"]]
    places = [names.index(name) for name in queues_at(names, bottleneck)]
    link = [each["name"] for each in run["links"]].index(bottleneck)
    return [
        {
            "phase": number,
            "from_s": phase["from_s"],
            "until_s": phase["until_s"],
            **{name: together(phase["flows"], name, {}) for name in _OF_FLOWS},
            **_queue_quantities([phase["queues"][place] for place in places]),
            "utilisation": phase["links"][link]["utilisation"],
        }
        for number, phase in enumerate(run.get("phases", ()))
    ]


def _queue_quantities(queues: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the quantities of one queue, or the totals of the queues of all users."""
    departed = sum(queue["departed"] for queue in queues)
    waits = (queue["departed"] * (queue["mean_sojourn_s"] or 0.0) for queue in queues)
    return {
        **{name: sum(queue[name] for queue in queues) for name in _ADD_UP},
        "mean_sojourn_s": sum(waits) / departed if departed else None,
    }
