"""Scenarios whose path is a list of hops."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.engine.path import ResolvedHop
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import AirpathError
from airpath.scenario import loads
from airpath.scenario.path import hops_of, route_of
from airpath.sweeps.base import Base
from airpath.sweeps.description import described

TWO = """
duration = "4 s"
[[hops]]
name = "dsl"
link = {kind = "fixed", rate = "8 Mbit/s"}
delay = "5 ms"
[[hops]]
name = "air"
down = {link = {kind = "fixed", rate = "6 Mbit/s"}, aqm = "codel", delay = "7 ms"}
up = {link = {kind = "fixed", rate = "1 Mbit/s"}, aqm = "gred", delay = "9 ms"}
[[flows]]
base_rtt = "40 ms"
"""


def with_flow(keys: str, text: str = TWO) -> ap.Scenario:
    """Return the scenario with another group of flows."""
    return loads(f'{text}\n[[flows]]\nbase_rtt = "60 ms"\n{keys}\n')


def test_hops_and_short_form_resolve_to_equal_typed_hops() -> None:
    short = """
        backhaul = {delay = "3 ms", rate = "90 Mbit/s"}
        bottleneck = {aqm = "gred", link = {kind = "rlc-am", rate = "384 kbit/s"}}
        ack_path = {kind = "reverse"}
        """
    listed = """
        [[hops]]
        name = "backhaul"
        wire = {delay = "3 ms", rate = "90 Mbit/s"}
        [[hops]]
        name = "bottleneck"
        link = {kind = "rlc-am", rate = "384 kbit/s"}
        down = {aqm = "gred"}
        """
    found = []
    for path in (short, listed):
        scenario = loads(f'duration = "1 s"\nflows = [{{base_rtt = "90 ms"}}]\n{path}')
        resolved = ResolvedScenario.from_json(scenario.resolve()[0])
        found.append([(hop.name, hop.wire, typed(hop)) for hop in resolved.hops])
        assert resolved.base_rtt_s(resolved.flows[0]) == pytest.approx(0.09)
    assert found[0] == found[1]


def typed(hop: ResolvedHop) -> list[tuple[object, ...]]:
    """Return name, link, queue and delay of each direction."""
    return [
        (each.name, each.link.description, each.queue.description, each.total_delay_ns)
        for each in hop.directions
    ]


def test_delay_of_a_hop_is_part_of_the_base_rtt() -> None:
    scenario = loads(TWO)
    resolved = ResolvedScenario.from_json(scenario.resolve()[0])
    flow = resolved.flows[0]
    # 40 ms - 5 ms - 7 ms - 9 ms - 5 ms remain for the two wires.
    assert (flow.egress.delay_ns, flow.return_wire.delay_ns) == (7_000_000, 7_000_000)
    assert resolved.base_rtt_s(flow) == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("keys", "crossed", "direction"),
    [
        ("", ["dsl", "air"], "forward"),
        ('to = "dsl"', ["dsl"], "forward"),
        ('from = "air"', ["air"], "forward"),
        ('from = "dsl"\nto = "dsl"', ["dsl"], "forward"),
        ('from = "dsl"\nto = "dsl"\ndirection = "reverse"', ["dsl"], "reverse"),
        ('from = "users"', ["dsl", "air"], "reverse"),
        ('from = "users"\nto = "air"', ["air"], "reverse"),
        ('from = "dsl"\nto = "servers"', ["dsl"], "reverse"),
        ('from = "air"\nto = "dsl"', ["dsl", "air"], "reverse"),
        ('direction = "reverse"', ["dsl", "air"], "reverse"),
        ('from = "servers"\nto = "users"', ["dsl", "air"], "forward"),
    ],
)
def test_route_follows_from_and_to(keys: str, crossed: list[str], direction: str) -> None:
    scenario = with_flow(keys)
    hops = hops_of(scenario)
    route = route_of(scenario.flows[1], hops)
    assert ([hop.name for hop in route.of(hops)], route.direction) == (crossed, direction)
    again = loads(scenario.to_toml())
    assert again.resolve()[0] == scenario.resolve()[0].replace('"name": "x"', '"name": "scenario"')
    resolved = json.loads(scenario.resolve()[0])["flows"][1]
    assert resolved["direction"] == direction
    assert resolved.get("hops", ["dsl", "air"]) == [crossed[0], crossed[-1]]


def test_flows_cross_only_the_hops_of_their_route() -> None:
    run = ap.simulate(with_flow('to = "dsl"'), reps=1).replications[0]
    flows = [flow["delivered_packets"] for flow in run["flows"]]
    links = {link["name"]: link["delivered_packets"] for link in run["links"]}
    assert 0 < links["air"] < links["dsl"]
    assert abs(links["dsl"] - sum(flows)) <= 100  # Packets in flight at the end.
    assert abs(links["air"] - flows[0]) <= 100


def test_control_changes_the_rate_of_its_hop() -> None:
    text = TWO.replace(
        "[[hops]]\nname",
        '[[control]]\nat = "2 s"\nhop = "dsl"\nrate = "1 Mbit/s"\n[[hops]]\nname',
        1,
    )
    run = ap.simulate(loads(text), reps=1).replications[0]
    before, after = run["phases"]
    links = [link["name"] for link in run["links"]]
    dsl = links.index("dsl")
    assert before["links"][dsl]["utilisation"] < 0.9 < after["links"][dsl]["utilisation"]


def test_users_of_a_cell_are_the_flows_that_cross_it() -> None:
    scenario = loads(
        """
        duration = "3 s"
        flows = [{to = "core", base_rtt = "20 ms"}, {base_rtt = "20 ms", count = 2}]
        [[hops]]
        name = "core"
        link = {kind = "fixed", rate = "50 Mbit/s"}
        [[hops]]
        name = "cell"
        [hops.down.link]
        kind = "cell"
        slot = "3 ms"
        snr = {kind = "constant", mean = "20 dB"}
        rate = {kind = "shannon", bandwidth = "4.3 MHz", cap = "10 Mbit/s"}
        """
    )
    run = ap.simulate(scenario, reps=1).replications[0]
    assert [user["user"] for user in run["users"]] == [0, 1]
    assert all(user["delivered_bytes"] > 0 for user in run["users"])


AXES: dict[str, list[Any]] = {
    "hops.dsl.link.rate": ["8 Mbit/s", "3 Mbit/s", "0 bit/s"],
    "hops.dsl.aqm": ["gred", {"kind": "pie", "target": "5 ms"}],
    "hops.1.down.aqm": ["codel", "droptail", "none"],
    "hops.air.down.link.rate": ["5 Mbit/s", "6 Mbit/s"],
    "hops.air.up.delay": ["1 ms", "20 ms"],
    "hops.air.name": ["radio", "dsl"],
    "hops.0.wire": [{"rate": "9 Mbit/s"}],
    "flows.0.to": ["dsl", "users", "nowhere"],
    "flows.0.base_rtt": ["10 ms", "90 ms"],
    "flows.0.cc": ["reno", "cubic"],
    "bottleneck": [{"aqm": "codel", "link": {"kind": "fixed", "rate": "1 Mbit/s"}}],
    "control": [[{"at": "1 s", "hop": "dsl", "rate": "2 Mbit/s"}], [{"at": "1 s", "hop": "x"}]],
    "duration": ["4 s", "6 s"],
}


def described_points(base: ap.Scenario, grid: dict[str, Any]) -> Any:
    """Return the jobs of a sweep, or its error message."""
    try:
        found = described(base, grid=grid)
    except AirpathError as error:
        return str(error)
    return found.jobs.keys(), [job.text for job in found.jobs.values()]


def test_assembled_points_of_hops_equal_those_checked_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(3)
    grids = [
        {axis: draw.sample(AXES[axis], min(2, len(AXES[axis]))) for axis in axes}
        for axes in (draw.sample(list(AXES), draw.choice([1, 2, 3])) for _ in range(30))
    ]
    base = loads(TWO)
    assembled = [described_points(base, grid) for grid in grids]
    monkeypatch.setattr(Base, "assembly", lambda *_: None)
    one_by_one = [described_points(base, grid) for grid in grids]
    for grid, fast, slow in zip(grids, assembled, one_by_one, strict=True):
        assert fast == slow, grid
    accepted = [each for each in one_by_one if not isinstance(each, str)]
    assert 5 < len(accepted) < 25


def test_discipline_with_a_short_queue_is_reported() -> None:
    text = TWO.replace('rate = "8 Mbit/s"', 'rate = "2 Mbit/s"')
    found = ap.simulate(loads(text), reps=1).advisories
    (idle,) = (each for each in found if each.code == "idle-queue")
    assert idle.place == "hops.air"
    assert "hop dsl is the bottleneck" in idle.text
    slow = text.replace('rate = "6 Mbit/s"', 'rate = "1 Mbit/s"')
    others = ap.simulate(loads(slow), reps=1).advisories
    assert "idle-queue" not in [each.code for each in others]


def test_timeline_has_panels_for_each_queue_of_data() -> None:
    scenario = with_flow('from = "users"').replace({"record.series": ["queue", "sojourn"]})
    figure = ap.simulate(scenario, reps=1).plot.timeline()
    labels = [axis.get_ylabel().split("\n")[0] for axis in figure.axes]
    assert labels == ["dsl", "dsl_reverse", "air", "air_reverse"] * 2


def test_solve_names_hop_and_key_of_what_it_does_not_cover() -> None:
    with pytest.raises(AirpathError) as caught:
        ap.solve(loads(TWO))
    lines = str(caught.value).splitlines()
    assert any('hops.air.down.aqm.kind = "codel"' in line for line in lines)
    one = TWO.partition("[[hops]]")[0] + "[[hops]]" + TWO.split("[[hops]]")[2]
    with pytest.raises(AirpathError, match=r"hops\.air\.down\.aqm"):
        ap.solve(loads(one))


def test_solve_covers_a_parking_lot() -> None:
    scenario = ap.load(Path(ap.__file__).parent / "examples" / "parking-lot.toml")
    found = ap.solve(scenario).metrics()
    queues = [found[f"queues.{hop}.mean_packets"] for hop in ("first", "second", "third")]
    assert max(queues) == pytest.approx(min(queues), rel=0.01)
    long, at_first = (found[f"flows.{flow}.ip_throughput_bps"] for flow in (0, 4))
    assert 4 * (long + at_first) == pytest.approx(20e6, rel=0.01)


def test_figures_of_a_cell_behind_a_hop_are_written(tmp_path: Path) -> None:
    scenario = ap.load(
        Path(ap.__file__).parent / "examples" / "cell-behind-backhaul.toml",
        overrides={"duration": "2 s", "warmup": "1 s", "record.delay_parts": True},
    )
    result = ap.simulate(scenario, reps=1)
    names = {path.name for path in result.plot.save(tmp_path)}
    assert names == {"queue-lengths.png", "users.png", "delay-parts.png", "timeline.png"}
    # Users are the three downloads: 5 ms + 10 ms of the hops and 15 ms of the egress wire.
    assert [result.plot._propagation_s("cell", user) for user in range(3)] == [0.03] * 3


def test_second_schedule_of_a_hop_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "delays.csv").write_text("time_s,delay_s\n0,0.01\n1,0.02\n", "utf-8")
    entries = ", ".join('{hop = "dsl", schedule = "delays.csv"}' for _ in range(2))
    text = TWO.replace('duration = "4 s"', f'duration = "4 s"\ncontrol = [{entries}]')
    with pytest.raises(AirpathError, match=r"control\.0 has a schedule of this hop"):
        loads(text, directory=tmp_path)


def test_interruption_that_outlasts_the_run_is_rejected() -> None:
    entry = '{at = "3.5 s", hop = "dsl", interruption = "1 s", rate = "1 Mbit/s"}'
    text = TWO.replace('duration = "4 s"', f'duration = "4 s"\ncontrol = [{entry}]')
    with pytest.raises(AirpathError) as caught:
        loads(text)
    line = 'control.0.interruption = "1 s": ends after the run. Use at most "500 ms".'
    assert str(caught.value) == f"scenario: {line}"
