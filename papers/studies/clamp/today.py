"""A present-day cell: 20 users at 3 to 30 km/h, slots of 1 ms over 20 MHz, MCSs from a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import airpath as ap
from airpath.reproduction.quantities import MeasuredQuantity, ip_throughput_mbps
from airpath.results.fairness import jain_of
from airpath_papers.clamp.measures import queueing_delay_s

__all__ = ["MEASURES", "QUEUES", "today"]

USERS: Final = 20
QUEUES: Final[Mapping[str, ap.aqm.QueueDisc]] = {
    "drop-tail": ap.aqm.DropTail(limit="250 kB"),
    "CoDel": ap.aqm.CoDel(),
    "CLAMP": ap.aqm.Clamp(a="20 kB", inner=ap.aqm.DropTail(limit="6 MB")),
    "CLAMP, target 50 ms": ap.aqm.Clamp(target_delay="50 ms", inner=ap.aqm.DropTail(limit="6 MB")),
}


def today(cc: str, queue: str) -> ap.Scenario:
    """Return a scenario of the cell; with CLAMP's queues, the receivers use CLAMP's window.

    Chosen values: mean SNR of 15 dB, 2 GHz, AWGN error rates of IEEE 802.16's codec, four attempts
    with incremental redundancy, base RTT of 40 ms.

    Parameters
    ----------
    cc : str
        ``newreno`` or ``cubic``.
    queue : str
        A key of `QUEUES`.
    """
    speeds = [f"{3 + 27 * user / (USERS - 1):.2f} km/h" for user in range(USERS)]
    fading = [ap.snr.Rayleigh(mean="15 dB", speed=speed, carrier="2 GHz") for speed in speeds]
    same: dict[str, Any] = {"cc": cc, "base_rtt": "40 ms", "tcp": {"receive_window": "6 MB"}}
    if queue.startswith("CLAMP"):
        same["window"] = ap.window.Clamp()
    link = ap.link.Cell(
        slot="1 ms",
        delay="1 ms",
        rate=ap.link.McsRate(table="airpath:802.16-ctc-awgn", bandwidth="20 MHz"),
        margin=ap.link.AdaptiveMargin(target_loss=1e-3),
        attempts=4,
        harq="incremental",
        scheduler=ap.scheduler.ProportionalFair(time_constant="100 ms"),
        snr=fading[0],
        users=[ap.link.CellUser(user=user, snr=each) for user, each in enumerate(fading)],
    )
    return ap.Scenario(
        name="clamp today",
        duration="1 s",
        bottleneck=ap.Bottleneck(aqm=QUEUES[queue], link=link),
        flows=[ap.traffic.Tcp(user=user, **same) for user in range(USERS)],
    )


def _jain(replication: Mapping[str, Any]) -> float:
    return jain_of(flow["ip_throughput_bps"] for flow in replication["flows"])


def _slowest(replication: Mapping[str, Any]) -> float:
    return min(float(flow["ip_throughput_bps"]) for flow in replication["flows"]) / 1e6


def _errors(replication: Mapping[str, Any]) -> float:
    users = replication["users"]
    return float(sum(user["slot_error_rate"] for user in users) / len(users))


MEASURES: Final = (
    MeasuredQuantity("queueing_delay", "s", queueing_delay_s, 3),
    MeasuredQuantity("total_throughput", "Mbit/s", ip_throughput_mbps, 2),
    MeasuredQuantity("jain", "1", _jain, 3),
    MeasuredQuantity("slowest", "Mbit/s", _slowest, 2),
    MeasuredQuantity("slot_errors", "1", _errors, 3),
)
