"""Single changes of what the paper's README.md lists, and the cases that have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from airpath.reproduction.base import Cell, Effort
from airpath.scenario import Scenario
from airpath_papers.sbd import scenarios
from airpath_papers.sbd.scenarios import Case, Variant, build

__all__ = ["VARIANTS", "VARIANT_RUNS", "effort_of", "simulated"]

VARIANTS: Final[Mapping[str, Variant]] = {
    "immediate-ack": Variant("an ACK for each segment", tcp={"delayed_ack_segments": 1}),
    "byte-counting": Variant(
        "windows grow by the bytes acknowledged (RFC 3465)", tcp={"window_growth": "abc-1"}
    ),
    "window": Variant("a window of 64 000 bytes", tcp={"receive_window": "64 kB"}),
    "reno-guard": Variant(
        "Reno may retransmit fast again before the last loss is repaired",
        tcp={"fast_retransmit_guard": "off"},
    ),
    "min-rto": Variant("minimum RTO 0.2 s", tcp={"min_rto": "200 ms"}),
    "turnaround": Variant(
        "radio 25 ms each way: on the grid of TTIs a turnaround of 55 ms",
        link={"delay": "25 ms", "reverse_delay": "25 ms"},
    ),
    "nack-guard": Variant(
        "reports are believed about PDUs that were only just sent (TS 25.322)",
        link={"nack_guard": False},
    ),
    "poll-stop": Variant("any status report stops Timer_Poll", link={"poll_stop": "report"}),
    "window-polls": Variant("every PDU above the poll window polls", link={"window_poll": "every"}),
    "rlc-reset": Variant("RLC reset when MaxDAT is reached", link={"on_max_dat": "reset"}),
    "100-s": Variant("runs of 100 s", duration_s=100.0),
    "sbd-arrival": Variant("SBD: timers expire at arrivals", sbd={"expiry": "arrival"}),
    "sbd-pseudocode": Variant(
        "SBD: a new measurement right after a drop", sbd={"after_drop": "rearm"}
    ),
    "red-arrival": Variant("RED: drops the arriving packet", red={"drop": "arrival"}),
    "red-count": Variant("RED: with the count since the last drop", red={"count": True}),
}
"""By the name that a case has as its `variant`."""

VARIANT_RUNS: Final = 20
"""Runs of a case with one choice changed, in every mode."""


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a case is simulated, given the mode's effort."""
    case, found = Case(*cell), scenarios.effort_of(cell, effort)
    if not case.variant:
        return found
    changed_s = case.use.duration_s or VARIANTS[case.variant].duration_s
    return replace(
        found,
        replications=case.use.replications or VARIANT_RUNS,
        duration_s=changed_s or effort.duration_s,
    )


def simulated(cell: Cell, effort: Effort) -> Scenario:
    """Return the scenario of a case with what its variant changes."""
    case = Case(*cell)
    return build(case, effort, VARIANTS[case.variant]) if case.variant else build(case, effort)
