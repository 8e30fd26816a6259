"""Scenarios of the study: flows of one or two congestion controls over a bottleneck."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import airpath as ap
from airpath.reproduction.sweeps import Sweeps
from airpath.scenario.aqm.queues import QueueDisc

__all__ = ["DIRECTORY", "SWEEPS", "path", "ten", "versus"]

DIRECTORY: Final = Path(__file__).parent
PACKET_BYTES: Final = 1500
PROBE_RTT_S: Final = 5.0
"""Default interval of BBRv3's ProbeRTT, s."""
RTTS_MS: Final = (31, 33, 35, 37, 39)
"""RTTs of the five flows of a control."""
WITH_MARKS: Final = ("dctcp", "prague")
"""Controls that require a queue that marks, if the discipline can."""
REQUIRED: Final[Mapping[str, Mapping[str, Any]]] = {"clamp": {"a": "5500 B"}}
"""Parameters of disciplines without a default."""


def path(
    cc: str | dict[str, str],
    *,
    other: str = "",
    count: int = 1,
    others: int = 1,
    aqm: str = "droptail",
    rate_mbps: float = 10.0,
    rtt_ms: float = 40.0,
    bdp: float = 0.0,
) -> ap.Scenario:
    """Return `count` flows with `cc`, and `others` flows with `other`, over one bottleneck.

    `bdp` is the limit of the queue in bandwidth-delay products; 0 is the default of the discipline.
    A discipline marks packets if it can and `cc` requires marks.
    """
    packets = max(round(bdp * rate_mbps * 1e6 * rtt_ms * 1e-3 / (8 * PACKET_BYTES)), 1)
    queue: dict[str, Any] = {"kind": aqm, **REQUIRED.get(aqm, {})}
    if cc in WITH_MARKS and "ecn" in QueueDisc.registry[aqm].model_fields:
        queue["ecn"] = True
    if bdp:
        queue["limit"] = f"{packets} packets"
    mixes: list[tuple[Any, int]] = [(cc, count)] + [(other, others)] * bool(other)
    return _path(queue, rate_mbps, [_flows(name, n, f"{rtt_ms} ms") for name, n in mixes])


def versus(
    cc: str,
    count: int,
    bdp: float,
    *,
    ahead_s: float = 0.0,
    variant: str = "linux",
    probe_rtt_s: float = 5.0,
) -> ap.Scenario:
    """Return `count` flows with `cc` and one with CUBIC at 10 Mbit/s and 40 ms.

    The CUBIC flow starts `ahead_s` seconds before the others. BBRv3 has the rules `variant` and
    begins ProbeRTT after `probe_rtt_s` seconds without a lower RTT; the window of the minimum RTT
    is twice as long.
    """
    control = _of_testbed(cc, variant)
    if probe_rtt_s != PROBE_RTT_S:
        window = {
            "probe_rtt_interval": f"{probe_rtt_s} s",
            "min_rtt_window": f"{2 * probe_rtt_s} s",
        }
        control = {**control, **window}
    scenario = path(control, other="cubic", count=count, bdp=bdp)
    return scenario.replace({"flows.0.start": {"uniform": [f"{ahead_s} s", f"{ahead_s + 1} s"]}})


def ten(cc: str, other: str, units: int, *, bursts: bool = True) -> ap.Scenario:
    """Return five flows each of two controls at 100 Mbit/s, with RTTs of 30 to 40 ms.

    `units` is the limit of the queue in units of 125 kB, or 10 ms. Without `bursts`, paced flows
    send single segments.
    """
    queue = {"kind": "droptail", "limit": f"{round(units * 125e3 / PACKET_BYTES)} packets"}
    mixes = (_of_testbed(cc), _of_testbed(other))
    flows = [_flows(control, 1, f"{rtt} ms") for control in mixes for rtt in RTTS_MS]
    for flow in flows if not bursts else ():
        flow["tcp"]["tso"] = False
    return _path(queue, 100.0, flows)


def _of_testbed(cc: str, variant: str = "linux") -> dict[str, str]:
    """Return the keys of a control; BBRv3 of the testbed is that of Google's kernel."""
    return {"kind": cc, "variant": variant} if cc == "bbr" else {"kind": cc}


def _flows(cc: str | dict[str, str], count: int, rtt: str) -> dict[str, Any]:
    return {
        "count": count,
        "cc": cc,
        "profile": "linux",
        "base_rtt": rtt,
        "start": {"uniform": ["0 s", "1 s"]},
        "tcp": {"receive_window": "32 MB"},
    }


def _path(queue: dict[str, Any], rate_mbps: float, flows: list[dict[str, Any]]) -> ap.Scenario:
    return ap.Scenario(
        duration="240 s",
        bottleneck={"aqm": queue, "link": {"kind": "fixed", "rate": f"{rate_mbps} Mbit/s"}},
        flows=flows,
    )


SWEEPS: Final = Sweeps(DIRECTORY, path, versus, ten)
