"""Traffic sources in the engine: arrivals, random sizes, bursts, slow readers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.scenario import FAMILIES, loads
from conformance import Law

POISSON = Law(
    area="Traffic",
    source="A Poisson process of 100/s: exponential gaps",
    allows="five standard errors of 3000 gaps",
)
READER = Law(
    area="Traffic",
    source="A slow reader gets what it reads",
    allows="0.5 %: where the run of 60 s begins and ends",
)


def scenario(*groups: list[ap.traffic.Source], **keys: Any) -> ap.Scenario:
    given: dict[str, Any] = {
        "flows": [flow for group in groups for flow in group],
        "bottleneck": ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="100 Mbit/s")),
        "duration": "60 s",
    }
    return ap.Scenario(**(given | keys))


def transfers(count: int = 200, rate: str = "10 /s", **keys: Any) -> list[ap.traffic.Source]:
    given: dict[str, Any] = {"size": "20 kB", "base_rtt": "20 ms"}
    return ap.flows(count, arrivals={"poisson": rate}, **(given | keys))


# --- arrivals ----------------------------------------------------------------------------------


def test_arrivals_are_a_poisson_process_of_their_rate() -> None:
    run = ap.simulate(scenario(transfers(3000, "100 /s"), duration="40 s"), reps=1).table("flows")
    gaps = np.diff(run["start_s"], prepend=0)
    assert (gaps > 0).all()
    # Exponential: mean and deviation 10 ms; five standard errors.
    POISSON.close("mean gap", "s", gaps.mean(), 0.01, 5 * 0.01 / math.sqrt(3000))
    # The variance of the squared deviation of an exponential variable is 8 times mean⁴.
    POISSON.close("variance of gaps", "s²", gaps.var(), 1e-4, 5 * 1e-4 * math.sqrt(8 / 3000))


def test_arrivals_begin_at_the_start_of_the_group() -> None:
    run = ap.simulate(scenario(transfers(5, start="30 s")), reps=1).table("flows")
    assert (run["start_s"] > 30).all()


def test_arrivals_differ_between_replications_and_groups_and_are_reproducible() -> None:
    two = scenario(transfers(20), transfers(20))
    starts = ap.simulate(two, reps=2).table("flows").groupby("replication")["start_s"].apply(list)
    assert starts[0] != starts[1]
    assert starts[0][:20] != starts[0][20:]
    assert ap.simulate(two, reps=2, threads=1).table("flows")["start_s"].tolist() == [
        *starts[0],
        *starts[1],
    ]


def test_another_flow_or_group_does_not_change_arrivals_and_sizes() -> None:
    random_sizes = transfers(20, size={"exponential": "20 kB"})
    more = transfers(21, size={"exponential": "20 kB"})
    columns = ["start_s", "transfer_bytes"]
    alone = ap.simulate(scenario(random_sizes), reps=1).table("flows")[columns]
    longer = ap.simulate(scenario(more, ap.flows(base_rtt="20 ms")), reps=1).table("flows")[columns]
    assert alone.to_numpy().tolist() == longer[:20].to_numpy().tolist()


def test_arrival_after_the_stop_never_starts() -> None:
    run = ap.simulate(scenario(transfers(100, "1 /s", stop="20 s")), reps=1)
    flows = run.table("flows")
    begun = flows["start_s"].notna()
    assert 5 < begun.sum() < 45
    assert (flows["start_s"][begun] < 20).all()
    assert (flows["sent_packets"][~begun] == 0).all()
    assert run.table("transfers")["started"].tolist() == [begun.sum()]


def test_arrivals_end_at_until_and_started_flows_continue() -> None:
    arrivals = {"poisson": "1 /s", "until": "20 s"}
    # Each transfer takes longer than the remaining arrival time.
    group = ap.flows(100, arrivals=arrivals, base_rtt="20 ms", size="400 MB", cc="newreno")
    flows = ap.simulate(scenario(group, duration="60 s"), reps=1).table("flows")
    begun = flows["start_s"].notna()
    assert 5 < begun.sum() < 45
    assert (flows["start_s"][begun] < 20).all()
    assert (flows["sent_packets"][~begun] == 0).all()
    delivered = ap.simulate(scenario(group, duration="20 s"), reps=1).table("flows")[
        "delivered_bytes"
    ]
    assert flows["delivered_bytes"].sum() > 1.5 * delivered.sum()
    # The random numbers are the same as without an end of arrivals.
    endless = ap.flows(100, arrivals={"poisson": "1 /s"}, base_rtt="20 ms", size="400 MB")
    starts = ap.simulate(scenario(endless, duration="60 s"), reps=1).table("flows")["start_s"]
    assert starts[starts < 20].tolist() == flows["start_s"][begun].tolist()


def test_datagram_sources_may_have_arrivals() -> None:
    group = ap.flows(50, source="cbr", rate="100 kbit/s", arrivals={"poisson": "10 /s"}, stop="5 s")
    run = ap.simulate(scenario(group), reps=1).table("flows")
    assert run["delivered_packets"].iloc[0] > run["delivered_packets"].iloc[-1]


# --- wires with a limit ---------------------------------------------------------------------------


def test_bottleneck_elsewhere_drops_overflow_and_nothing_waits_at_the_link() -> None:
    def queue_of(access: dict[str, str]) -> Any:
        slow = ap.flows(base_rtt="20 ms", cc="newreno", access=access)
        return ap.simulate(scenario(slow, duration="60 s"), reps=1)

    run = queue_of({"rate": "1 Mbit/s", "limit": "20 packets"})
    flow = run.table("flows").iloc[0]
    assert flow["retransmissions"] > 10
    assert run.table("queues")["max_packets"].iloc[0] <= 1
    assert flow["ip_throughput_bps"] == pytest.approx(1e6, rel=0.03)
    # In front of a packet that is not dropped, at most 20 packets wait and one is in transmission.
    longest = 0.01 + 22 * 0.012 + 0.0012
    assert 0.9 * longest < flow["p99_delay_s"] < longest
    without = queue_of({"rate": "1 Mbit/s"}).table("flows").iloc[0]
    assert without["retransmissions"] == 0
    assert without["mean_rtt_s"] > 0.4


def test_unreached_limit_changes_nothing() -> None:
    def flows_of(limit: dict[str, str]) -> Any:
        wires = {"rate": "8 Mbit/s", "delay": "3 ms", **limit}
        two = ap.flows(2, cc="cubic", access=wires, egress=wires, return_wire=wires)
        path = scenario(two, duration="20 s", backhaul={"rate": "9 Mbit/s", **limit})
        return ap.simulate(path, reps=1).table("flows")

    columns = ["delivered_bytes", "mean_rtt_s", "sent_packets"]
    limited = flows_of({"limit": "1 GB"})[columns]
    assert limited.to_numpy().tolist() == flows_of({})[columns].to_numpy().tolist()


# --- sizes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "smallest", "largest"),
    [
        ({"exponential": "20 kB"}, 1, math.inf),
        ({"pareto": {"shape": 1.3, "smallest": "4 kB", "largest": "1 MB"}}, 4000, 1_000_000),
        ({"pareto": {"shape": 2.5, "smallest": "10 kB"}}, 10_000, math.inf),
    ],
)
def test_transfer_delivers_its_random_size(
    size: dict[str, Any], smallest: float, largest: float
) -> None:
    run = ap.simulate(scenario(transfers(size=size)), reps=2).table("flows")
    done = run[run["completed_at_s"].notna()]
    assert len(done) > 390
    assert (done["delivered_bytes"] == done["transfer_bytes"]).all()
    assert done["transfer_bytes"].between(smallest, largest).all()
    assert run.groupby("flow")["transfer_bytes"].nunique().max() == 2


def test_constant_size_needs_no_column() -> None:
    assert "transfer_bytes" not in ap.simulate(scenario(transfers(3)), reps=1).table("flows")


# --- bursts ------------------------------------------------------------------------------------


def test_bursts_alternate_with_pauses() -> None:
    # 3 kB: one handshake, then 20 ms per burst and a pause of 1 s.
    on_off, at_once = {"burst": "3 kB", "off": "1 s"}, {"delayed_ack_segments": 1}
    group = ap.flows(on_off=on_off, base_rtt="20 ms", tcp=at_once)
    run = ap.simulate(scenario(group, duration="100 s"), reps=1).table("flows")
    bursts = run["delivered_bytes"].iloc[0] / 3000
    assert bursts == math.floor((100 - 0.02) / 1.0204) + 1


def test_bursts_by_time_use_their_share() -> None:
    group = ap.flows(
        on_off={"on": {"exponential": "1 s"}, "off": {"exponential": "1 s"}},
        base_rtt="2 ms",
        tcp={"idle_restart": "restart"},
    )
    link = ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="1 Mbit/s"))
    result = ap.simulate(scenario(group, bottleneck=link, duration="400 s"), reps=8)
    used = result.table("links")["utilisation"].mean()
    # Alternating renewals: the deviation of the share over T is √(T/4)/T, and there are 8 sources.
    # After each burst, the queue of 65 kB takes half a second of the pause to empty.
    assert 0.5 - 5 * 0.5 / math.sqrt(8 * 400) < used < 0.85


def test_window_of_an_application_limited_flow_does_not_grow() -> None:
    def last_window(**keys: Any) -> float:
        group = ap.flows(on_off={"burst": "2 kB", "off": "100 ms"}, base_rtt="20 ms", **keys)
        record = {"series": ["cwnd"]}
        return float(
            ap.simulate(scenario(group, record=record), reps=1).series("cwnd")["value"].iloc[-1]
        )

    assert last_window() == 4380
    assert last_window(profile="linux") == 14480
    assert last_window(tcp={"grow_unused": True}) > 100_000


def test_slow_reader_receives_at_its_reading_rate() -> None:
    group = ap.flows(window={"kind": "drain", "rate": "2 Mbit/s"}, base_rtt="20 ms")
    run = ap.simulate(scenario(group, warmup="10 s"), reps=1).table("flows")
    READER.close("goodput", "bit/s", run["goodput_bps"].iloc[0], 2e6, 0.005 * 2e6)


# --- the link stops ----------------------------------------------------------------------------


def test_flows_survive_a_link_that_stops_and_resumes() -> None:
    control = [{"at": "10 s", "rate": "0 bit/s"}, {"at": "130 s", "rate": "100 Mbit/s"}]
    run = ap.simulate(
        scenario(ap.flows(base_rtt="20 ms"), control=control, duration="300 s"), reps=1
    ).table("flows")
    # Timeouts follow after 1, 2, 4, … s. The seventh, 127 s after the stop, occurs after the
    # restart.
    assert run["timeouts"].iloc[0] in (6, 7)
    # The goodput of a window of 65 kB per 20 ms for at most 170 s minus a minute.
    assert run["delivered_bytes"].iloc[0] > 26e6 / 8 * 110


# --- accepted syntax ---------------------------------------------------------------------------

FILE = """
duration = "60 s"
[bottleneck]
aqm = "droptail"
link = {kind = "fixed", rate = "5 Mbit/s"}
[[flows]]
base_rtt = "40 ms"
count = 2
"""


@pytest.mark.parametrize(
    "lines",
    [
        'arrivals = {poisson = "10 /s"}\nsize = "20 kB"',
        'arrivals = {poisson = "0.5 /s"}\nstart = "5 s"',
        'arrivals = {poisson = "0.26 /s", until = "100 s"}\nstart = "5 s"',
        'size = {triangular = {smallest = "1460 B", mode = "3 MB", largest = "5840 kB", '
        'step = "1460 B"}}',
        'on_off = {burst = {triangular = {smallest = "1 kB", mode = "1 kB", largest = "9 kB"}}, '
        'off = "1 s"}',
        'access = {rate = "2 Mbit/s", limit = "50 packets"}',
        'return = {rate = "2 Mbit/s", limit = "9 kB"}',
        'size = {exponential = "20 kB"}',
        'size = {pareto = {shape = 1.2, smallest = "4 kB", largest = "10 MB"}}',
        'size = {pareto = {shape = 2.5, smallest = "4 kB"}}',
        'on_off = {burst = "20 kB", off = "1 s"}',
        'on_off = {burst = {pareto = {shape = 1.5, smallest = "1 kB"}}, off = "0 s"}',
        'on_off = {on = "2 s", off = {exponential = "1 s"}}',
        'on_off = {on = {exponential = "2 s"}, off = "1 s"}',
        'window = {kind = "drain", rate = "1 Mbit/s", start = "3 s"}',
        'window = "fixed"',
        'profile = "linux"\ncc = "cubic"\ntcp = {quick_acks = 0, idle_restart = "restart"}',
    ],
)
def test_traffic_in_a_file_resolves_and_is_written_unchanged(lines: str) -> None:
    first = loads(FILE + lines)
    ap.check(first)
    assert loads(first.to_toml()).resolve() == first.resolve()


def resolved(lines: str) -> dict[str, Any]:
    import json

    flow: dict[str, Any] = json.loads(loads(FILE + lines).resolve()[0])["flows"][0]
    return flow


def test_arrivals_and_sizes_are_resolved() -> None:
    flow = resolved(
        'arrivals = {poisson = "8 /s"}\nstart = "5 s"\n'
        'size = {pareto = {shape = 1.2, smallest = "4 kB"}}'
    )
    assert flow["group"] == 0
    assert flow["start"] == {"kind": "poisson", "from_ns": 5 * 10**9, "gap_ns": 125_000_000}
    assert flow["source"]["transfer_bytes"] is None
    assert flow["source"]["transfer"] == {
        "kind": "pareto",
        "shape": 1.2,
        "smallest_bytes": 4000,
        "largest_bytes": None,
    }


def test_triangular_size_end_of_arrivals_and_limit_are_resolved() -> None:
    flow = resolved(
        'arrivals = {poisson = "8 /s", until = "100 s"}\naccess = {rate = "1 Mbit/s", '
        'limit = "50 packets"}\nsize = {triangular = {smallest = "1460 B", mode = "3 kB", '
        'largest = "14.6 kB", step = "1460 B"}}'
    )
    start = {"kind": "poisson", "from_ns": 0, "gap_ns": 125_000_000, "until_ns": 100 * 10**9}
    assert flow["start"] == start
    assert flow["access"] == {"rate_bps": 10**6, "delay_ns": 0, "limit": {"packets": 50}}
    assert flow["source"]["transfer"] == {
        "kind": "triangular",
        "smallest_bytes": 1460,
        "mode_bytes": 3000,
        "largest_bytes": 14_600,
        "step_bytes": 1460,
    }


def test_bursts_are_resolved() -> None:
    flow = resolved('on_off = {burst = {exponential = "20 kB"}, off = "1 s"}')
    assert flow["source"]["application"] == {
        "on": {"size": {"kind": "exponential", "mean_bytes": 20_000}},
        "off": {"kind": "fixed", "time_ns": 10**9},
    }
    assert flow["source"]["options"]["grow_unused"] is False
    flow = resolved('on_off = {on = "2 s", off = {exponential = "1 s"}}')
    assert flow["source"]["application"] == {
        "on": {"time": {"kind": "fixed", "time_ns": 2 * 10**9}},
        "off": {"kind": "exponential", "mean_ns": 10**9},
    }


def test_bulk_flows_have_no_new_keys() -> None:
    flow = resolved("")
    wires = {"access", "egress", "return_wire"}
    assert set(flow) == {"group", "count", "direction", "source", "start", "stop_ns"} | wires
    assert set(flow["source"]) == {"kind", "congestion", "options", "transfer_bytes"}


ARRIVALS = 'Use a number with /s or /ms, for example "10 /s".'


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            'arrivals = {poisson = "10"}',
            f'flows.0.arrivals.poisson = "10": no unit. {ARRIVALS}',
        ),
        (
            'arrivals = {poisson = "0 /s"}',
            'flows.0.arrivals.poisson = "0 /s": not above 0. Use a rate of arrivals above 0, '
            'for example "10 /s".',
        ),
        (
            'arrivals = {poisson = "1 /s"}\nstart = {uniform = ["0 s", "1 s"]}',
            'flows.0.arrivals = {poisson = "1 /s"}: given together with a random start. '
            'Set start = "0 s" or leave it out.',
        ),
        (
            "size = {}",
            "flows.0.size.triangular: no distribution. "
            "Use one of exponential, pareto and triangular, "
            'for example {exponential = "100 kB"}.',
        ),
        (
            'size = {exponential = "1 kB", pareto = {shape = 1, smallest = "1 kB"}}',
            'flows.0.size.pareto = {shape = 1, smallest = "1 kB"}: given together with '
            "exponential. Use one of exponential, pareto and triangular, "
            'for example {exponential = "100 kB"}.',
        ),
        (
            'size = {triangular = {smallest = "2 kB", mode = "1 kB", largest = "4 kB"}}',
            'flows.0.size.triangular.mode = "1 kB": below smallest. Use a size from "2 kB" on.',
        ),
        (
            'size = {triangular = {smallest = "1 kB", mode = "5 kB", largest = "4 kB"}}',
            'flows.0.size.triangular.largest = "4 kB": below mode. Use a size from "5 kB" on.',
        ),
        (
            'size = {triangular = {smallest = "1 kB", mode = "2 kB", largest = "3001 B", '
            'step = "1 kB"}}',
            'flows.0.size.triangular.largest = "3001 B": not a multiple of step. '
            "Use a multiple of it.",
        ),
        (
            'arrivals = {poisson = "1 /s", until = "5 s"}\nstart = "5 s"',
            'flows.0.arrivals.until = "5 s": not after the start. Use a duration above "5 s".',
        ),
        (
            'access = {limit = "5 packets"}',
            'flows.0.access.limit = "5 packets": nothing waits for a wire without a rate. '
            "Set a rate for the wire.",
        ),
        (
            'size = {pareto = {shape = 1, smallest = "2 kB", largest = "1 kB"}}',
            'flows.0.size.pareto.largest = "1 kB": below smallest. Use a size from "2 kB" on.',
        ),
        (
            'size = "0 B"',
            'flows.0.size = "0 B": not above 0. Use a size above 0, for example "1500 B".',
        ),
        (
            'on_off = {off = "1 s"}',
            "flows.0.on_off.on: neither burst nor on is given. Use one of burst and on, "
            'for example {burst = "100 kB", off = "1 s"}.',
        ),
        (
            'on_off = {burst = "1 kB", off = "1 s"}\nsize = "1 kB"',
            'flows.0.on_off = {burst = "1 kB", off = "1 s"}: given together with size. '
            "Use one of the two.",
        ),
        (
            'window = "auto"',
            'flows.0.window = "auto": not a receive-window policy. '
            f"Expected one of: {', '.join(FAMILIES['window'].registry)}.",
        ),
        (
            'window = "drain"',
            'flows.0.window.rate: missing. Set rate = "1 Mbit/s".',
        ),
        (
            "tcp = {quick_acks = -1}",
            "flows.0.tcp.quick_acks = -1: below 0. Use an integer from 0.",
        ),
    ],
)
def test_invalid_values_are_reported(lines: str, problem: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(FILE + lines)
    assert str(caught.value) == f"scenario: {problem}"


@pytest.mark.parametrize(
    "keys",
    [
        {"size": {"exponential": "1 MB"}},
        {"on_off": {"burst": "1 MB", "off": "1 s"}},
        {"window": {"kind": "drain", "rate": "1 Mbit/s"}},
        {"tcp": {"rto_floor": "variance"}},
    ],
)
def test_solve_rejects_unsupported_traffic(keys: dict[str, Any]) -> None:
    with pytest.raises(ap.errors.AirpathError, match="no analytic model covers it"):
        ap.solve(scenario(ap.flows(base_rtt="20 ms", **keys)))
