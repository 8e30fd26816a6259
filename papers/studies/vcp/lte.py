"""Ten VCP flows over a recorded LTE link, whose rate is not its nominal one."""

from __future__ import annotations

from typing import Any, Final

import airpath as ap
from airpath.scenario.examples import shipped_examples
from airpath.scenario.traces import PREFIX, trace_path
from airpath_papers.vcp.scenarios import START

__all__ = ["TRACE", "recorded", "trace_file"]

TRACE: Final = f"{PREFIX}ATT-LTE-driving-2016.down"
_MADE: Final = shipped_examples() / "traces" / "vehicular.trace"
"""Where recorded traces are not available: one that Airpath made."""


def trace_file() -> str:
    """Return the recorded trace, or the one that Airpath made."""
    return TRACE if trace_path(TRACE, None).is_file() else str(_MADE)


def recorded(capacity: str) -> ap.Scenario:
    """Return the scenario; each run begins at another place of the trace.

    Parameters
    ----------
    capacity : str
        Capacity that the queue assumes: ``nominal``, the mean of the trace, or ``measured``.
    """
    more: dict[str, Any] = {"capacity": "measured"} if capacity == "measured" else {}
    base_rtt = "89.6 ms"  # the paper's
    flows = ap.traffic.Tcp(count=10, cc=ap.cc.Vcp(), profile="ns2", base_rtt=base_rtt, start=START)
    link = ap.link.Trace(file=trace_file(), offset="random")
    return ap.Scenario(
        name=f"vcp trace {capacity}",
        duration="60 s",
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Vcp(limit=400, **more), link=link),
        flows=[flows],
    )
