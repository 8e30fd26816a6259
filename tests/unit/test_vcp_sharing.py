"""VCP's share of a clean link behind a VCP router (vcp-2008 compared with Xia et al. 2005).

The paths are those of vcp-2008: 10 Mbit/s and 32 ms between routers, 89.6 ms of round trip in
total. As in the paper, the measurement starts after 10 s: multiplicative increase (MI) takes 5.6 s
from a window of two packets to a tenth of the link.
"""

from __future__ import annotations

from typing import Any

import pytest

import airpath as ap
from conformance import Law

SHARES = Law(
    "Congestion avoidance",
    "Xia et al. 2005 §4: VCP fills a link with a short queue, and shares do not depend on the RTT",
    "fluctuation between runs",
)
MI = Law(
    "Congestion avoidance",
    "Xia et al. 2005 §3.2: MI is scaled by the RTT to a factor of 1 + ξ in t_ρ",
    "parts of a packet, which no ACK counts",
)
LINK = {"kind": "fixed", "rate": "10 Mbit/s", "delay": "32 ms"}
ROUTER = {"kind": "ack-priority", "aqm": {"kind": "vcp", "limit": 100}}
REM = {"kind": "rem", "ecn": True, "limit": 100}
WIDE = {"ecn": "on", "receive_window": "4 MB", "initial_ssthresh": "unlimited"}


def flows(
    count: int = 1, cc: str = "vcp", back: str = "44.8 ms", **keys: Any
) -> list[ap.traffic.Source]:
    """Return flows over wires of 6.4 ms each way; ACKs take `back`."""
    wire = {"rate": "20 Mbit/s", "delay": "6.4 ms"}
    keys = {"access": wire, "egress": wire, "profile": "ns2"} | keys
    return ap.flows(count, cc=cc, return_wire={"rate": "20 Mbit/s", "delay": back}, **keys)


def run(
    group: list[ap.traffic.Source],
    until: int,
    since: int,
    aqm: Any = ROUTER,
    reps: int = 3,
    **link: Any,
) -> list[dict[str, Any]]:
    scenario = ap.Scenario(
        duration=f"{until} s",
        warmup=f"{since} s",
        flows=group,
        bottleneck={"aqm": aqm, "link": LINK | link},
    )
    return ap.simulate(scenario, reps=reps, seed=1).replications


def goodputs(found: dict[str, Any]) -> list[float]:
    return [flow["goodput_bps"] for flow in found["flows"]]


def jain(shares: list[float]) -> float:
    return sum(shares) ** 2 / len(shares) / sum(share**2 for share in shares)


def test_ten_flows_fill_a_clean_link_with_a_short_queue() -> None:
    for found in run(flows(10, start={"uniform": ["1 ms", "300 ms"]}), until=110, since=10):
        queue = found["queues"][0]
        SHARES.between("use of the link, 10 flows", "", found["links"][0]["utilisation"], 0.97, 1)
        SHARES.between("drops, 10 flows", "packets", sum(queue["drops"].values()), 0, 0)
        SHARES.between("mean queue of 100, 10 flows", "packets", queue["mean_packets"], 0, 10)
        SHARES.between("Jain's index, 10 flows", "", jain(goodputs(found)), 0.99, 1)


@pytest.mark.parametrize(("count", "use"), [(1, 0.909), (2, 0.942), (5, 0.967), (50, 0.983)])
def test_utilisation_of_1_to_50_flows_matches_the_page(count: int, use: float) -> None:
    """The values are those of the model's page. With fewer than ten flows, additive increase (AI)
    recovers too slowly from multiplicative decrease (MD).
    """
    group = flows(count, start={"uniform": ["1 ms", "300 ms"]})
    for found in run(group, until=110, since=10):
        what = f"use of the link, {count} flows"
        SHARES.close(what, "", found["links"][0]["utilisation"], use, 0.005)
        assert sum(found["queues"][0]["drops"].values()) == 0


def test_flow_started_20_s_later_has_half_within_5_percent_after_40_s() -> None:
    group = flows(start="0 s") + flows(start="20 s")
    for until in (70, 100):
        first, second = goodputs(run(group, until=until, since=60, reps=1)[0])
        what = f"share of the second flow, 60 to {until} s"
        SHARES.between(what, "", second / (first + second), 0.475, 0.525)


def test_vcp_flows_of_50_and_150_ms_share_within_20_percent_and_reno_flows_do_not() -> None:
    """No receive window limits the flows, with VCP or with Reno."""
    start = {"uniform": ["1 ms", "300 ms"]}

    def ratios(aqm: Any, **keys: Any) -> list[float]:
        near, far = (flows(back=back, start=start, **keys) for back in ("5.2 ms", "105.2 ms"))
        pairs = [goodputs(found) for found in run(near + far, until=120, since=20, aqm=aqm)]
        return [near / far for near, far in pairs]

    for ratio in ratios(ROUTER):
        SHARES.between("goodput at 50 ms over that at 150 ms, VCP", "", ratio, 0.8, 1.2)
    for ratio in ratios(REM, cc="reno", tcp=WIDE):
        SHARES.between("the same, Reno over REM", "", ratio, 2)


@pytest.mark.long
def test_thousand_flows_share_a_gigabit() -> None:
    group = ap.flows(
        1000, cc="vcp", profile="ns2", base_rtt="89.6 ms", start={"uniform": ["1 ms", "300 ms"]}
    )
    aqm = {"kind": "ack-priority", "aqm": {"kind": "vcp", "limit": 10_000}}
    (found,) = run(group, until=60, since=30, aqm=aqm, reps=1, rate="1 Gbit/s")
    SHARES.between("Jain's index, 1000 flows at 1 Gbit/s", "", jain(goodputs(found)), 0.9, 1)
    SHARES.between("use of the link, 1000 flows", "", found["links"][0]["utilisation"], 0.97, 1)


@pytest.mark.parametrize("granularity", ["10 ms", "0 s"])
@pytest.mark.parametrize("base_rtt", ["20 ms", "50 ms", "100 ms", "200 ms", "400 ms"])
def test_mi_increases_the_window_by_1_0625_in_200_ms_for_every_rtt(
    base_rtt: str, granularity: str
) -> None:
    """Measured over 2 s without a load code. ACKs acknowledge complete packets; windows have at
    least 500 packets.
    """
    scenario = ap.Scenario(
        duration="4 s",
        flows=ap.flows(
            cc={"kind": "vcp", "granularity": granularity},
            profile="ns2",
            base_rtt=base_rtt,
            tcp={"initial_window": "500 segments"},
        ),
        bottleneck={
            "aqm": {"kind": "droptail", "limit": "10000 packets"},
            "link": {"kind": "fixed", "rate": "10 Gbit/s"},
        },
        record={"series": ["cwnd"]},
    )
    cwnd = ap.simulate(scenario, reps=1).series("cwnd", replication=0)
    before, after = (cwnd[cwnd["time_s"] <= time]["value"].iloc[-1] for time in (1.5, 3.5))
    what = f"w after 200 ms over w, RTT {base_rtt}, ticks of {granularity}"
    MI.close(what, "", (after / before) ** (1 / 10), 1.0625, 1e-4)
