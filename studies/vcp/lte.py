"""Ten VCP flows over a recorded LTE link, whose rate is not its nominal one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath.scenario.examples import shipped_examples
from airpath.scenario.traces import PREFIX, trace_path
from airpath_papers.vcp.scenarios import START

__all__ = [
    "DURATION_S",
    "RECORDED",
    "TRACE",
    "Recorded",
    "build_recorded",
    "effort_of_recorded",
    "trace_file",
]

TRACE: Final = f"{PREFIX}ATT-LTE-driving-2016.down"
OURS: Final = shipped_examples() / "traces" / "vehicular.trace"
"""Where there are no recorded traces: one that Airpath made (`recorded_traces`)."""

DURATION_S: Final = 60.0
WARMUP_S: Final = 10.0
RUNS: Final = 10
BASE_RTT: Final = "89.6 ms"
"""The paper's."""


class Recorded(NamedTuple):
    """Ten VCP flows over a recorded link.

    Parameters
    ----------
    capacity : str
        What the queue compares arrivals with: ``nominal``, the mean of the trace, or
        ``measured``.
    record : tuple of str
        Series to record.
    """

    capacity: str
    record: tuple[str, ...] = ()


RECORDED: Final[Mapping[str, Recorded]] = {
    capacity: Recorded(capacity, ("queue",)) for capacity in ("nominal", "measured")
}


def effort_of_recorded(effort: Effort) -> Effort:
    """Return how long and how often a case is simulated, given the mode's effort."""
    return Effort(min(RUNS, effort.replications), DURATION_S, WARMUP_S)


def trace_file() -> str:
    """Return the recorded trace, or ours where there is none."""
    return TRACE if trace_path(TRACE, None).is_file() else str(OURS)


def build_recorded(case: Recorded, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case; each run begins at another place of the trace."""
    more: dict[str, Any] = {"capacity": "measured"} if case.capacity == "measured" else {}
    flows = ap.traffic.Tcp(count=10, cc=ap.cc.Vcp(), profile="ns2", base_rtt=BASE_RTT, start=START)
    link = ap.link.Trace(file=trace_file(), offset="random")
    return ap.Scenario(
        name=f"vcp trace {case.capacity}",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Vcp(limit=400, **more), link=link),
        flows=[flows],
        record=ap.Record(series=list(case.record)),
    )
