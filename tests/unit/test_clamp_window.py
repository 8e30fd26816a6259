"""CLAMP end to end: the deterministic link of clamp-2008 §5.1, and rejected values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.scenario import loads
from airpath.scenario.examples import shipped_examples

EXAMPLES = shipped_examples()
NEWRENO = {
    "receive_window": "6 MB",
    "initial_window": "1 segment",
    "delayed_ack_segments": 1,
    "limited_transmit": False,
    "min_rto": "1 s",
    "initial_rto": "3 s",
}


def deterministic(flows: Any, limit: str = "6 MB", **keys: Any) -> ap.Scenario:
    """Return flows over the link of Fig. 2."""
    aqm = ap.aqm.Clamp(a="5500 B", inner={"kind": "droptail", "limit": limit})
    bottleneck = ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate="10 Mbit/s"))
    return ap.Scenario(bottleneck=bottleneck, flows=flows, **keys)


def clamped(count: int = 1, **keys: Any) -> Any:
    window = {"kind": "clamp", "tau": "500 B"}
    return ap.flows(count, base_rtt="50 ms", cc="newreno", tcp=NEWRENO, window=window, **keys)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_eq_11_queue_settles_at_a_plus_tau_per_flow(count: int) -> None:
    """Issue 13 §5: mean of q within 3 % of 6000, 6500 and 7000 bytes, shares within 2 %."""
    scenario = deterministic(clamped(count), duration="150 s", warmup="50 s")
    run = ap.simulate(scenario, reps=1).replications[0]
    assert run["queues"][0]["measured"]["clamp_queue_bytes"] == pytest.approx(
        5500 + 500 * count, rel=0.03
    )
    rates = [flow["goodput_bps"] for flow in run["flows"]]
    assert rates == pytest.approx([sum(rates) / count] * count, rel=0.02)
    assert run["links"][0]["utilisation"] > 0.99
    assert sum(run["queues"][0]["drops"].values()) == 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_s6_sender_variant_reaches_the_same_queue_as_the_receiver_variant(count: int) -> None:
    """Issue 13 §7: the same equilibrium within 1 %. Averages over 1000 delayed ACKs cover 2000
    packets.
    """
    delayed = {**NEWRENO, "delayed_ack_segments": 2}
    for options, bound in ((NEWRENO, 0.01), (delayed, 0.03)):
        flows = ap.flows(count, base_rtt="50 ms", cc="clamp", tcp=options)
        scenario = deterministic(flows, duration="150 s", warmup="50 s")
        run = ap.simulate(scenario, reps=1).replications[0]
        found = run["queues"][0]["measured"]["clamp_queue_bytes"]
        assert found == pytest.approx(5500 + 500 * count, rel=bound)
        rates = [flow["goodput_bps"] for flow in run["flows"]]
        assert rates == pytest.approx([sum(rates) / count] * count, rel=0.02)


@pytest.mark.parametrize(
    ("cc", "window", "limit", "by_receiver", "by_congestion"),
    [
        ("newreno", "clamp", "6 MB", (0.95, 1.0), (0.0, 0.05)),
        ("clamp", "fixed", "6 MB", (0.0, 0.0), (0.99, 1.0)),
        ("newreno", "fixed", "19500 B", (0.0, 0.05), (0.95, 1.0)),
    ],
)
def test_limiting_window_of_the_sender_is_reported(
    cc: str,
    window: str,
    limit: str,
    by_receiver: tuple[float, float],
    by_congestion: tuple[float, float],
) -> None:
    flows = ap.flows(2, base_rtt="50 ms", cc=cc, tcp=NEWRENO, window=window)
    scenario = deterministic(flows, limit, duration="30 s", warmup="10 s")
    result = ap.simulate(scenario, reps=1)
    found = result.table("flows")[["rwnd_limited_share", "cwnd_limited_share"]]
    for name, (low, high) in (("rwnd", by_receiver), ("cwnd", by_congestion)):
        assert found[f"{name}_limited_share"].between(low, high).all(), found
    assert (found.sum(axis=1) <= 1 + 1e-12).all()


@pytest.mark.parametrize(("cc", "window"), [("newreno", "clamp"), ("clamp", "fixed")])
def test_flow_with_another_bottleneck_does_not_harm_the_others(cc: str, window: str) -> None:
    """The access wire of one flow drops packets above 1 Mbit/s. The other two flows share the rest
    of the 10 Mbit/s.
    """
    access = {"rate": "1 Mbit/s", "limit": "30 kB"}
    keys: dict[str, Any] = {"base_rtt": "50 ms", "cc": cc, "tcp": NEWRENO, "window": window}
    flows = ap.flows(2, **keys) + ap.flows(access=access, **keys)
    result = ap.simulate(deterministic(flows, duration="200 s", warmup="100 s"), reps=1)
    rates = result.table("flows")["ip_throughput_bps"] / 1e6
    assert rates.tolist() == pytest.approx([4.5, 4.5, 1.0], rel=0.01)
    assert result.table("flows")["cwnd_limited_share"].iloc[2] > 0.95


def test_sender_without_data_is_limited_by_neither_window() -> None:
    flows = ap.flows(base_rtt="50 ms", tcp=NEWRENO, on_off={"on": "100 ms", "off": "900 ms"})
    result = ap.simulate(deterministic(flows, duration="60 s", warmup="10 s"), reps=1)
    found = result.table("flows").iloc[0]
    assert found["rwnd_limited_share"] == 0.0
    assert found["cwnd_limited_share"] < 0.5


def test_fig_2_windows_follow_starting_and_stopping_flows() -> None:
    """Window of one flow, payload bytes, while one, two and three flows share the link."""
    flows = (
        clamped(stop="250 s")
        + clamped(start="50 s", stop="200 s")
        + clamped(start="100 s", stop="150 s")
    )
    record = {"series": ["awnd", "price", "average_queue"], "interval": "100 ms"}
    result = ap.simulate(deterministic(flows, duration="250 s", record=record), reps=1)
    awnd = result.series("awnd", 0)
    first = awnd[awnd["id"] == 0]
    for begin, end, count in [
        (30, 50, 1),
        (80, 100, 2),
        (130, 150, 3),
        (180, 200, 2),
        (230, 250, 1),
    ]:
        settled = first[(first["time_s"] > begin) & (first["time_s"] < end)]
        full = 62_500 + 5500 + 500 * count
        expected = full / count * 1460 / 1500
        assert float(np.mean(settled["value"])) == pytest.approx(expected, rel=0.05)
        queue = result.series("average_queue", 0)
        here = queue[(queue["time_s"] > begin) & (queue["time_s"] < end)]
        assert float(np.mean(here["value"])) == pytest.approx(5500 + 500 * count, rel=0.03)
    assert set(awnd["id"]) == {0, 1, 2}
    assert float(np.max(result.series("price", 0)["value"])) > 0


def scenario_with(aqm: str, flows: str, ack_path: str = '{kind = "ideal"}') -> str:
    return (
        f'duration = "1 s"\nack_path = {ack_path}\n[bottleneck]\naqm = {aqm}\n'
        f'link = {{kind = "fixed", rate = "1 Mbit/s"}}\n[[flows]]\nbase_rtt = "10 ms"\n{flows}\n'
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            scenario_with('"droptail"', 'window = "clamp"'),
            'flows.0.window = "clamp": bottleneck.aqm = "droptail" writes no price. '
            'Set bottleneck.aqm of kind "clamp".',
        ),
        (
            scenario_with('"codel"', 'cc = "clamp"'),
            'flows.0.cc = "clamp": bottleneck.aqm = "codel" writes no price. '
            'Set bottleneck.aqm of kind "clamp".',
        ),
        (
            scenario_with(
                '{kind = "clamp", a = "7 kB"}',
                'direction = "reverse"\nwindow = "clamp"',
                '{kind = "reverse", aqm = "codel"}',
            ),
            'flows.0.window = "clamp": ack_path.aqm = "codel" writes no price. '
            'Set ack_path.aqm of kind "clamp".',
        ),
        (
            scenario_with('{kind = "clamp", a = "-7 kB"}', ""),
            "bottleneck.aqm.a",
        ),
        (
            scenario_with('{kind = "clamp", a = "7 kB", inner = {kind = "clamp", a = "7 kB"}}', ""),
            "a clamp queue inside a clamp queue",
        ),
        (
            scenario_with(
                '{kind = "clamp", a = "7 kB"}',
                'window = {kind = "clamp", inner = {kind = "clamp"}}',
            ),
            "a clamp window inside a clamp window",
        ),
        (
            scenario_with('{kind = "clamp", a = "7 kB"}', 'window = {kind = "clamp", beta = 1}'),
            "flows.0.window.beta = 1: not below 1",
        ),
    ],
)
def test_invalid_scenarios_are_reported(text: str, line: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as found:
        loads(text)
    assert len(str(found.value).splitlines()) <= 2
    assert line in str(found.value)


@pytest.mark.parametrize("command", [ap.check, ap.simulate])
def test_clamp_window_requires_two_segments(command: Any) -> None:
    flows = 'window = "clamp"\ntcp = {receive_window = "2 kB"}'
    scenario = loads(scenario_with('{kind = "clamp", a = "7 kB"}', flows))
    with pytest.raises(ap.errors.ScenarioError) as found:
        command(scenario)
    assert str(found.value) == (
        'scenario: flows.0.tcp.receive_window = "2 kB": below two segments, which a clamp window '
        'needs. Use a size from "2920 B" on.'
    )


def test_reverse_flow_obeys_the_queue_of_its_direction() -> None:
    aqm = '{kind = "clamp", a = "7 kB"}'
    flows = 'direction = "reverse"\nwindow = "clamp"'
    found = loads(scenario_with('"droptail"', flows, f'{{kind = "reverse", aqm = {aqm}}}'))
    assert found.flows[0].document()["window"]["kind"] == "clamp"


@pytest.mark.parametrize("target_ms", [30, 50, 100])
def test_target_delay_is_reached_for_every_user_of_a_fading_cell(target_ms: int) -> None:
    """Issue 13 §7: within 10 %. Regression: if only the rate bounded `a`, two users starved."""
    changes = {
        "duration": "250 s",
        "warmup": "100 s",
        "bottleneck.aqm.a": None,
        "bottleneck.aqm.target_delay": f"{target_ms} ms",
    }
    result = ap.simulate(ap.load(EXAMPLES / "cell-clamp.toml").replace(changes), reps=2)
    delays = result.table("queues")["mean_delay_s"] * 1e3
    assert delays.tolist() == pytest.approx([target_ms] * 6, rel=0.15)
    assert delays.mean() == pytest.approx(target_ms, rel=0.1)
    assert result.jain_of_users()["bottleneck"].mean > 0.98


def test_first_flow_uses_the_link_immediately_with_a_target_delay() -> None:
    """With an initial `a` of 0 this would take 50 s: `a` changes with the sent data, and the price
    permits little data.
    """
    aqm = '{kind = "clamp", target_delay = "6 ms", inner = {kind = "droptail", limit = "6 MB"}}'
    scenario = loads(scenario_with(aqm, 'window = "clamp"\ntcp = {receive_window = "6 MB"}'))
    changes = {
        "duration": "60 s",
        "warmup": "20 s",
        "flows.0.base_rtt": "50 ms",
        "bottleneck.link.rate": "10 Mbit/s",
    }
    (run,) = ap.simulate(scenario.replace(changes), reps=1).replications
    assert run["flows"][0]["ip_throughput_bps"] > 0.98 * 10e6
    service_s = 1500 * 8 / 10e6
    assert run["queues"][0]["mean_sojourn_s"] + service_s == pytest.approx(0.006, rel=0.05)
