"""Every profile fills a dumbbell under every queue discipline, with few timeouts."""

from __future__ import annotations

import pytest

import airpath as ap
from airpath.scenario.aqm.queues import QueueDisc

QUEUES = [
    ap.aqm.DropTail(limit="100 packets"),
    ap.aqm.Red(),
    ap.aqm.Ared(),
    ap.aqm.CoDel(),
    ap.aqm.Pie(),
    ap.aqm.FqCoDel(),
]


@pytest.mark.parametrize("cc", ["newreno", "cubic"])
@pytest.mark.parametrize("profile", ["linux", "ns3"])
@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: type(queue).__name__)
def test_two_flows_with_large_windows_fill_the_link(
    queue: QueueDisc, profile: str, cc: str
) -> None:
    # 1 MB is six times the capacity of link and queue.
    scenario = ap.Scenario(
        name="profiles",
        duration="30 s",
        warmup="5 s",
        flows=ap.flows(2, cc=cc, profile=profile, base_rtt="40 ms", tcp={"receive_window": "1 MB"}),
        bottleneck=ap.Bottleneck(aqm=queue, link=ap.link.Fixed(rate="20 Mbit/s", delay="0 s")),
    )
    table = ap.simulate(scenario, reps=2, seed=1).table("flows")
    # RED's automatic thresholds limit two Reno flows to about 82 %.
    least = 0.75 if isinstance(queue, ap.aqm.Red) else 0.85
    sums = table.groupby("replication")["goodput_bps"].sum()
    assert sums.min() > least * 1448 / 1500 * 20e6
    assert table["timeouts"].max() <= 3
