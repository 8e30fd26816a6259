"""REM, VCP's queue and the priority for ACKs in a scenario, with end-to-end simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from discipline_texts import problem, resolved, scenario

import airpath as ap
from airpath.scenario import loads
from conformance import Law

REM = Law(
    area="REM",
    source="Athuraliya et al. 2001: bulk TCP with ECN fills the link, its mean queue is b*",
    allows="a tenth of b*; two hundredths of the link",
)

CAPACITY = 'Use a rate above 0, for example "5 Mbit/s".'


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "rem", limit = 0}',
            ".limit = 0: below 1. Use an integer from 1 on, for example 100.",
        ),
        (
            '{kind = "rem", limit = "0 B"}',
            '.limit = "0 B": not above 0. Use a size above 0, for example "1500 B".',
        ),
        (
            '{kind = "rem", limit = "many"}',
            '.limit = "many": not an integer. Use an integer from 0 to 1000000000, for example 30.',
        ),
        (
            '{kind = "rem", limit = "5 kBit"}',
            '.limit = "5 kBit": not an integer. Use an '
            "integer from 0 to 1000000000, for example 30.",
        ),
        (
            '{kind = "rem", target = -1}',
            ".target = -1: below 0. Use an integer from 0 to 1000000000, for example 30.",
        ),
        (
            '{kind = "rem", gamma = 0}',
            ".gamma = 0: not above 0. Use a number above 0, for example 0.001.",
        ),
        (
            '{kind = "rem", alpha = -0.1}',
            ".alpha = -0.1: below 0. Use a number from 0 on, for example 0.1.",
        ),
        (
            '{kind = "rem", phi = 1}',
            ".phi = 1: not above 1. Use a number above 1, for example 1.001.",
        ),
        (
            '{kind = "rem", phi = "e"}',
            '.phi = "e": not a number. Use a number, for example 1.001.',
        ),
        (
            '{kind = "rem", phi = inf}',
            ".phi = inf: not a number that can be used. Use a number, for example 1.001.",
        ),
        (
            '{kind = "rem", update = "0 s"}',
            '.update = "0 s": not above 0. Use a duration above 0, for example "2 ms".',
        ),
        (
            '{kind = "rem", mode = "byte"}',
            '.mode = "byte": not one of the accepted words. The nearest is bytes; expected one of: '
            "bytes, packets.",
        ),
        (
            '{kind = "vcp", limit = 0}',
            ".limit = 0: below 1. Use an integer from 1 on, for example 100.",
        ),
        (
            '{kind = "vcp", interval = "205 ms"}',
            '.interval = "205 ms": not a multiple of sampling. Use "210 ms".',
        ),
        (
            '{kind = "vcp", sampling = "300 ms"}',
            '.interval = "200 ms": not a multiple of sampling. Use "300 ms".',
        ),
        (
            '{kind = "vcp", target = 1.1}',
            ".target = 1.1: above 1. Use a number above 0 and at most 1, for example 0.98.",
        ),
        (
            '{kind = "vcp", low = 1}',
            ".low = 1: not below 1. Use a number above 0 and below 1, for example 0.8.",
        ),
        (
            '{kind = "vcp", queue_weight = -1}',
            ".queue_weight = -1: below 0. Use a number from 0 on, for example 0.5.",
        ),
        (
            '{kind = "vcp", average = "mean"}',
            '.average = "mean": not one of the accepted words. Expected one of: ewma, public-code.',
        ),
        (
            '{kind = "vcp", capacity = "nominal"}',
            '.capacity = "nominal": not a capacity. Use a number with bit/s, kbit/s, Mbit/s or '
            'Gbit/s, "link" or "measured", for example "10 Mbit/s".',
        ),
        (
            '{kind = "vcp", capacity = 1e7}',
            ".capacity = 10000000.0: not a capacity. Use a "
            'number with bit/s, kbit/s, Mbit/s or Gbit/s, "link" '
            'or "measured", for example "10 Mbit/s".',
        ),
        (
            '{kind = "vcp", capacity = "0 bit/s"}',
            f'.capacity = "0 bit/s": not above 0. {CAPACITY}',
        ),
        (
            '{kind = "ack-priority", aqm = {kind = "ack-priority"}}',
            '.aqm.kind = "ack-priority": an ack-priority queue inside an ack-priority queue. '
            "Use another discipline inside.",
        ),
        (
            '{kind = "ack-priority", aqm = {kind = "clamp", a = "1 kB", inner = "ack-priority"}}',
            '.aqm.kind = "clamp": an ack-priority queue inside an ack-priority queue. Use '
            "another discipline inside.",
        ),
        (
            '{kind = "clamp", a = "1 kB", inner = {kind = "ack-priority", '
            'aqm = {kind = "clamp", a = "1 kB"}}}',
            '.inner.kind = "ack-priority": a clamp queue inside a clamp queue. Use another '
            "discipline inside.",
        ),
        (
            '{kind = "ack-priority", aqm = {kind = "vcp", limit = 0}}',
            ".aqm.limit = 0: below 1. Use an integer from 1 on, for example 100.",
        ),
    ],
)
def test_invalid_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


@pytest.mark.parametrize(
    ("aqm", "expected"),
    [
        (ap.aqm.Rem(limit="104 kB"), {"limit": {"bytes": 104_000}, "update_ns": 2_000_000}),
        (ap.aqm.Rem(limit="30 packets", mode="packets"), {"limit": {"packets": 30}}),
        (ap.aqm.Rem(), {"limit": {"packets": 100}, "target": 20, "mean_packet_bytes": 1040}),
        (ap.aqm.Vcp(), {"capacity": "link", "interval_ns": 200_000_000, "average": "ewma"}),
        (ap.aqm.Vcp(capacity="measured"), {"capacity": "measured"}),
        (ap.aqm.Vcp(capacity="9 Mbit/s"), {"capacity": {"fixed": 9_000_000}}),
        (ap.aqm.AckPriority(), {"aqm": {"kind": "droptail", "limit": {"packets": 100}}}),
        (
            ap.aqm.AckPriority(aqm=ap.aqm.DropTail(limit="9 packets")),
            {"aqm": {"kind": "droptail", "limit": {"packets": 9}}},
        ),
    ],
)
def test_values_are_resolved_and_survive_a_file(
    aqm: ap.aqm.QueueDisc, expected: dict[str, Any]
) -> None:
    found = resolved(aqm)
    assert {key: found[key] for key in expected} == expected
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm


def test_limit_is_kept_when_replacing_drop_tail_and_the_reverse() -> None:
    before = scenario(ap.aqm.DropTail(limit="30 packets"))
    rem = before.replace("bottleneck.aqm.kind", "rem")
    assert rem.bottleneck.aqm == ap.aqm.Rem(limit=30)
    assert rem.replace("bottleneck.aqm.kind", "droptail").bottleneck == before.bottleneck
    large = scenario(ap.aqm.DropTail(limit="64 kB")).replace("bottleneck.aqm.kind", "rem")
    assert large.bottleneck.aqm == ap.aqm.Rem(limit="64 kB")


def test_clamp_queue_below_ack_priority_writes_the_price_that_limits_windows() -> None:
    aqm = ap.aqm.AckPriority(aqm=ap.aqm.Clamp(a="5500 B"))
    flows = ap.flows(2, base_rtt="40 ms", window={"kind": "clamp", "tau": "500 B"})
    link = ap.link.Fixed(rate="10 Mbit/s")
    result = ap.simulate(
        ap.Scenario(flows=flows, bottleneck=ap.Bottleneck(aqm=aqm, link=link), duration="20 s"),
        reps=1,
        seed=1,
    )
    assert result.table("queues")["clamp_price_s"].iloc[0] > 0


def both_ways(aqm: ap.aqm.QueueDisc, *series: str) -> ap.Scenario:
    """Return ten ECN flows in each direction over 10 Mbit/s, data and ACKs in the same queues."""
    common: dict[str, Any] = {"cc": "reno", "base_rtt": "89.6 ms", "tcp": {"ecn": "on"}}
    return ap.Scenario(
        flows=[*ap.flows(10, **common), *ap.flows(10, direction="reverse", **common)],
        bottleneck=ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate="10 Mbit/s", delay="32 ms")),
        ack_path=ap.ack_path.Reverse(aqm=aqm),
        duration="20 s",
        warmup="10 s",
        record={"series": list(series)},
    )


def test_ecn_flows_are_marked_by_vcp_in_overload_only() -> None:
    """ECT(0) is unchanged until the load factor is 1, then becomes CE; nothing is dropped."""
    aqm = ap.aqm.AckPriority(aqm=ap.aqm.Vcp())
    result = ap.simulate(both_ways(aqm), reps=2, seed=1)
    queues = result.table("queues")
    assert (queues["marks"] > 0).all()
    assert (result.table("flows")["retransmissions"] == 0).all()
    assert queues["vcp_overload_share"].between(0.01, 0.9).all()
    shares = queues[["vcp_low_share", "vcp_high_share", "vcp_overload_share"]].sum(axis=1)
    assert (shares - 1).abs().max() < 1e-12
    idle = ap.simulate(both_ways(ap.aqm.AckPriority(aqm=ap.aqm.Vcp(capacity="1 Gbit/s"))), reps=1)
    assert (idle.table("queues")["marks"] == 0).all()
    assert (idle.table("queues")["vcp_low_share"] == 1).all()


def test_acks_with_priority_wait_for_one_transmission_at_most() -> None:
    """At 10 Mbit/s a transmission takes 1.2 ms. Without priority, ACKs wait for many packets."""
    waits = []
    for aqm in (ap.aqm.Rem(ecn=True), ap.aqm.AckPriority(aqm=ap.aqm.Rem(ecn=True))):
        flows = ap.simulate(both_ways(aqm), reps=2, seed=1).table("flows")
        waits.append(float(flows["p95_ack_delay_s"].max()))
    alone, first = waits
    assert first < 0.0448 + 0.0025 < alone, (alone, first)


def test_load_factor_and_price_are_recorded() -> None:
    names = ["load_factor", "price"]
    for aqm, name in ((ap.aqm.Vcp(), "load_factor"), (ap.aqm.Rem(ecn=True), "price")):
        result = ap.simulate(both_ways(aqm, *names), reps=1, seed=1)
        table = result.series(name)
        assert set(table["queue"]) == {"bottleneck", "reverse"}
        assert (table["value"] >= 0).all()
        assert table["value"].max() > 0.01
        (other,) = set(names) - {name}
        assert result.series(other).empty
    # An interval every 200 ms, recorded at the next packet.
    loads_of = result_times(ap.aqm.Vcp())
    assert abs(len(loads_of) - 99) <= 1
    assert all((time + 1e-9) % 0.2 < 0.02 for time in loads_of)


def result_times(aqm: ap.aqm.QueueDisc) -> list[float]:
    result = ap.simulate(both_ways(aqm, "load_factor"), reps=1, seed=1)
    table = result.series("load_factor")
    return [float(time) for time in table[table["queue"] == "bottleneck"]["time_s"]]


def test_rem_controls_its_backlog_and_fills_the_link() -> None:
    """Ten ECN flows in one direction over 10 Mbit/s, measured from 50 to 200 s. The target backlog
    b* is 20 packets of mean size.
    """
    wire = {"rate": "20 Mbit/s", "delay": "6.4 ms"}
    flows = ap.flows(
        10,
        cc="reno",
        profile="ns2",
        tcp={"ecn": "on"},
        access=wire,
        egress=wire,
        **{"return": {"rate": "20 Mbit/s", "delay": "44.8 ms"}},
        start={"uniform": ["1 ms", "300 ms"]},
    )
    link = ap.link.Fixed(rate="10 Mbit/s", delay="32 ms")
    result = ap.simulate(
        ap.Scenario(
            flows=flows,
            bottleneck=ap.Bottleneck(aqm=ap.aqm.Rem(ecn=True), link=link),
            duration="200 s",
            warmup="50 s",
        ),
        reps=4,
        seed=1,
    )
    queue = result.table("queues").query("queue == 'bottleneck'")["mean_packets"].mean()
    used = result.table("links").query("link == 'bottleneck'")["utilisation"].mean()
    REM.between("mean queue, 10 flows", "packets", float(queue), 18, 22)
    REM.between("use of the link, 10 flows", "", float(used), 0.98)


def test_measured_capacity_is_the_rate_of_the_link(tmp_path: Path) -> None:
    """Over a trace the measured capacity is slightly higher: a packet that arrives at an empty
    queue waits for half a period on average.
    """
    file = tmp_path / "even.trace"
    file.write_text("".join(f"{number * 125 // 56}\n" for number in range(1, 57)))
    even: list[ap.link.Link] = [
        ap.link.Fixed(rate="5.376 Mbit/s"),
        ap.link.Trace(file=str(file), frame_overhead="4 B"),
    ]
    found = []
    for link in even:
        aqm = ap.aqm.Vcp(capacity="measured")
        made = ap.Scenario(
            flows=ap.flows(4, base_rtt="60 ms", profile="rfc", tcp={"ecn": "on"}),
            bottleneck=ap.Bottleneck(aqm=aqm, link=link),
            duration="30 s",
            warmup="5 s",
        )
        table = ap.simulate(made, reps=2, seed=1).table("queues")
        found.append(float(table["vcp_capacity_bps"].mean()) / 5.376e6)
    fixed, trace = found
    assert fixed == pytest.approx(1, abs=1e-3)
    assert 1 < trace < 1.04
