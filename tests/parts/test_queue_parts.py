"""Queue disciplines in Python: results, decisions, timers, random numbers."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from queue_runs import dumbbell, measured

import airpath as ap
from airpath.parts import (
    Arrival,
    Departure,
    LinkRate,
    QueueDiscipline,
    QueueObservation,
    QueueSetup,
)
from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.part_files import load_part_file

CODEL = Path(__file__).with_name("codel_parts.py")
EXAMPLES = Path(ap.__file__).parent / "examples"
SCENARIOS = ("synthetic-newreno-droptail", "dumbbell-16", "cell-newreno", "leo")
UNLIMITED = "1000000 packets"


def queue_of(run: Any) -> Any:
    return run["queues"][0]


# --- the same results as the built-in disciplines -------------------------------------------------


def with_queues(name: str, aqm: Any) -> ap.Scenario:
    """Return an example with `aqm` at each of its queues."""
    scenario = ap.load(EXAMPLES / f"{name}.toml")
    if scenario.hops:
        places = [f"hops.{number}.aqm" for number, _ in enumerate(scenario.hops)]
    else:
        places = ["bottleneck.aqm"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ap.errors.OverrideWarning)  # The discipline has other keys.
        return scenario.replace(dict.fromkeys(places, aqm))


@pytest.mark.parametrize("name", SCENARIOS)
def test_codel_in_python_equals_the_built_in_codel(name: str) -> None:
    """A trace, 16 flows at a fixed rate, a cell, a changing path."""
    load_part_file(CODEL)
    codel = {"kind": "codel", "limit": 200, "target": "5 ms", "interval": "50 ms"}
    in_python = {**codel, "kind": "codel-in-python", "limit": "200 packets"}
    built_in = measured(with_queues(name, codel))
    assert measured(with_queues(name, in_python)) == built_in
    assert queue_of(built_in[0])["drops"]["early"] > 5


@pytest.mark.parametrize("limit", ["10 packets", "30000 B"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_droptail_in_python_equals_the_built_in_droptail(name: str, limit: str) -> None:
    load_part_file(CODEL)
    built_in = measured(with_queues(name, {"kind": "droptail", "limit": limit}))
    assert queue_of(built_in[0])["drops"]["overflow"] > 5
    key = "most_bytes" if limit.endswith("B") else "most_packets"
    decides = {"kind": "droptail-in-python", key: int(limit.split()[0]), "limit": UNLIMITED}
    assert measured(with_queues(name, decides)) == built_in

    @ap.queue_discipline("limited")
    class Limited:
        """No method: only the key `limit`."""

    assert measured(with_queues(name, {"kind": "limited", "limit": limit})) == built_in


def test_codel_in_python_equals_the_built_in_codel_on_several_hops() -> None:
    load_part_file(CODEL)
    codel = {"kind": "codel", "limit": 100}
    runs = measured(with_queues("parking-lot", codel))
    in_python = {"kind": "codel-in-python", "limit": "100 packets"}
    assert measured(with_queues("parking-lot", in_python)) == runs
    assert len(runs[0]["queues"]) > 1


@pytest.mark.parametrize("flows", [1, 16])
def test_codel_in_python_equals_the_built_in_codel_with_ecn(flows: int) -> None:
    load_part_file(CODEL)
    built_in = dumbbell(ap.aqm.CoDel(ecn=True, limit=100), flows, tcp={"ecn": "on"})
    built_in = built_in.replace("duration", "20 s")
    runs = measured(built_in)
    in_python = {"kind": "codel-in-python", "ecn": True, "limit": "100 packets"}
    assert measured(built_in.replace("bottleneck.aqm", in_python)) == runs
    assert queue_of(runs[0])["marks"] > 10


def test_codel_in_python_drops_packets_that_are_not_ecn_capable() -> None:
    load_part_file(CODEL)
    built_in = dumbbell(ap.aqm.CoDel(ecn=True, limit=100), 16)
    runs = measured(built_in)
    in_python = {"kind": "codel-in-python", "ecn": True, "limit": "100 packets"}
    assert measured(built_in.replace("bottleneck.aqm", in_python)) == runs
    assert queue_of(runs[0])["marks"] == 0


def test_discipline_behind_ack_priority_equals_the_built_in_one() -> None:
    """Its limit also counts the ACKs that wait ahead of it."""
    load_part_file(CODEL)
    scenario = ap.load(EXAMPLES / "cross-traffic.toml")
    inner = {"kind": "codel", "limit": 20}
    runs = measured(scenario.replace("bottleneck.aqm", {"kind": "ack-priority", "aqm": inner}))
    inner = {"kind": "codel-in-python", "limit": "20 packets"}
    ahead = {"kind": "ack-priority", "aqm": inner}
    assert runs == measured(scenario.replace("bottleneck.aqm", ahead))


# --- decisions ------------------------------------------------------------------------------------


def decided(method: str, decision: Any, **changed: Any) -> Any:
    """Return the queue's measurements if `method` returns `decision` for every tenth packet."""

    class Deciding(QueueDiscipline):
        always_marks = True
        calls = 0

        def decide(self, _packet: Any) -> Any:
            self.calls += 1
            return decision if self.calls % 10 == 0 else None

    setattr(Deciding, method, Deciding.decide)
    ap.queue_discipline("deciding")(Deciding)
    return queue_of(measured(dumbbell({"kind": "deciding"}, **changed))[0])


@pytest.mark.parametrize(
    ("method", "decision", "reason"),
    [
        ("on_arrival", None, None),
        ("on_arrival", "enqueue", None),
        ("on_arrival", "drop", "early"),
        ("on_arrival", "overflow", "overflow"),
        ("on_arrival", "mark", "early"),
        ("on_departure", None, None),
        ("on_departure", "send", None),
        ("on_departure", "drop", "early"),
        ("on_departure", "mark", "early"),
    ],
)
def test_decisions_about_packets_that_are_not_ecn_capable(
    method: str, decision: str | None, reason: str | None
) -> None:
    queue = decided(method, decision)
    assert queue["marks"] == 0
    if reason is None:
        assert "early" not in queue["drops"]
    else:
        assert queue["drops"][reason] == pytest.approx(queue["arrived"] / 10, rel=0.1)


@pytest.mark.parametrize("method", ["on_arrival", "on_departure"])
def test_mark_marks_ecn_capable_packets(method: str) -> None:
    queue = decided(method, "mark", tcp={"ecn": "on"})
    assert queue["marks"] > 20
    assert "early" not in queue["drops"]


@pytest.mark.parametrize("seed", range(5))
def test_no_packet_is_lost_or_created(seed: int) -> None:
    """Arrivals are departures, drops and the packets that wait at the end."""
    observed: list[QueueObservation] = []
    waiting = 0

    @ap.queue_discipline("random")
    class Random(QueueDiscipline):
        def start(self, setup: QueueSetup) -> None:
            self.rng = setup.rng
            self.next_wakeup_ns = 1_000_000

        def on_arrival(self, arrival: Arrival) -> str | None:
            return ["enqueue", "mark", "drop", None, None, None, None][self.rng.bits() % 7]

        def on_departure(self, departure: Departure) -> str | None:
            return ["send", "mark", "drop", None, None, None, None][self.rng.bits() % 7]

        def on_timer(self, observation: QueueObservation) -> None:
            observed.append(observation)
            self.next_wakeup_ns = observation.now_ns + 1 + self.rng.bits() % 10_000_000

    scenario = dumbbell({"kind": "random", "limit": "30 packets"}, 16, tcp={"ecn": "on"})
    ap.simulate(scenario.replace("duration", "20 s"), reps=1, seed=seed)
    assert len(observed) > 500
    assert sum(each.drops for each in observed) > 20
    assert sum(each.marks for each in observed) > 20
    for each in observed:
        waiting += each.arrivals - each.departures - each.drops
        assert each.packets == waiting
        assert each.packets * 1500 >= each.backlog >= 40 * each.packets
        assert (each.head_sojourn_ns is None) == (each.packets == 0)


def test_events_have_the_state_of_the_queue() -> None:
    arrivals: list[Arrival] = []
    departures: list[Departure] = []
    rates: list[LinkRate] = []
    overflows: list[Arrival] = []

    @ap.queue_discipline("keeping")
    class Keeping:
        def on_rate(self, rate: LinkRate) -> None:
            rates.append(rate)

        def on_overflow(self, arrival: Arrival) -> None:
            overflows.append(arrival)

        def on_arrival(self, arrival: Arrival) -> None:
            arrivals.append(arrival)
            with pytest.raises(AttributeError):
                arrival.size = 1  # type: ignore[misc]

        def on_departure(self, departure: Departure) -> None:
            departures.append(departure)

    (run,) = measured(dumbbell({"kind": "keeping", "limit": "12 packets"}))
    queue = queue_of(run)
    assert len(arrivals) == queue["arrived"] - queue["drops"]["overflow"]
    assert len(overflows) == queue["drops"]["overflow"]
    assert {each.packets for each in overflows} == {12}
    assert {each.backlog for each in overflows} == {12 * 1500}
    # Each packet departs in the order of its arrival.
    expected = [each.now_ns for each in arrivals[: len(departures)]]
    assert [each.now_ns - each.sojourn_ns for each in departures] == expected
    mean_sojourn = sum(each.sojourn for each in departures) / len(departures)
    assert mean_sojourn == pytest.approx(queue["mean_sojourn_s"])
    assert {each.flow for each in arrivals} == {0, 1}
    assert {(each.kind, each.ecn, each.ecn_capable) for each in arrivals} == {
        ("data", "not-ect", False)
    }
    assert {each.drops for each in departures} == {0}
    assert [each.rate for each in rates] == [10_000_000]
    assert rates[0].transmission_time(1500) == 1.2e-3


def test_events_can_be_created_for_tests() -> None:
    arrival = Arrival(1500, now_ns=2_000_000_000, flow=3, ecn="ect1", packets=2, backlog=3000)
    assert (arrival.now, arrival.flow, arrival.ecn, arrival.packets) == (2.0, 3, "ect1", 2)
    departure = Departure(1500, now_ns=10**9, sojourn_ns=5_000_000, drops=1)
    assert (departure.sojourn, departure.drops, departure.backlog) == (0.005, 1, 1500)
    with pytest.raises(ValueError, match='ecn = "capable": no ECN codepoint'):
        Arrival(1500, ecn="capable")


# --- time and randomness --------------------------------------------------------------------------


def test_timer_expires_at_its_times_only() -> None:
    times: list[int] = []

    @ap.queue_discipline("timed")
    class Timed(QueueDiscipline):
        def start(self, setup: QueueSetup) -> None:
            self.next_wakeup_ns = 250_000_000

        def on_timer(self, observation: QueueObservation) -> None:
            times.append(observation.now_ns)
            assert self.next_wakeup_ns is None
            if len(times) < 10:
                self.next_wakeup_ns = observation.now_ns + 250_000_001

    measured(dumbbell("timed"))
    assert times == [250_000_000 + step * 250_000_001 for step in range(10)]


def test_timer_can_be_changed_by_each_method() -> None:
    times: list[tuple[int, int]] = []

    @ap.queue_discipline("idle-timer")
    class IdleTimer(QueueDiscipline):
        """The timer expires 1 ms after the last arrival."""

        def on_arrival(self, arrival: Arrival) -> None:
            self.last = arrival.now_ns
            self.next_wakeup_ns = arrival.now_ns + 1_000_000

        def on_timer(self, observation: QueueObservation) -> None:
            times.append((self.last, observation.now_ns))

    measured(dumbbell("idle-timer"))
    assert len(times) > 10
    assert all(expiry == last + 1_000_000 for last, expiry in times)


@pytest.mark.parametrize("ecn", [False, True])
def test_constant_probability_drops_or_marks_this_share(ecn: bool) -> None:
    """The number of drops is binomial: within four standard deviations of the mean."""
    p = 0.05
    calls: list[int] = []
    with_ecn = ecn

    @ap.queue_discipline("constant")
    class Constant(QueueDiscipline):
        ecn: bool = with_ecn
        interval_ns = 10_000_000

        def probability(self, observation: QueueObservation) -> float:
            calls.append(observation.now_ns)
            return p

    scenario = dumbbell({"kind": "constant", "limit": UNLIMITED}, tcp={"ecn": "on"}, cc="cubic")
    (run,) = measured(scenario.replace("duration", "60 s"))
    queue = queue_of(run)
    n = queue["arrived"]
    signals = queue["marks"] if ecn else queue["drops"]["early"]
    assert n > 5000
    assert abs(signals - n * p) < 4 * math.sqrt(n * p * (1 - p)) + 10  # No drop before 10 ms.
    assert calls == list(range(10_000_000, 60_000_000_001, 10_000_000))[: len(calls)]
    assert len(calls) >= 5999


@pytest.mark.parametrize("p", [0, 1.0])
def test_probability_zero_and_one(p: float) -> None:
    """The probability is 0 before the first call, in which both flows send their SYN."""

    @ap.queue_discipline("certain")
    class Certain(QueueDiscipline):
        interval_ns = 1000

        def probability(self, observation: QueueObservation) -> float:
            return p

    scenario = dumbbell({"kind": "certain", "limit": UNLIMITED}).replace("duration", "50 ms")
    (run,) = measured(scenario)
    queue = queue_of(run)
    if p:
        assert (queue["departed"], queue["drops"]) == (2, {"early": queue["arrived"] - 2})
    else:
        assert queue["departed"] > 2
        assert queue["drops"] == {}


def test_random_numbers_depend_on_seed_and_queue_only() -> None:
    seen: list[tuple[str, int, float]] = []

    @ap.queue_discipline("drawing")
    class Drawing(QueueDiscipline):
        def start(self, setup: QueueSetup) -> None:
            assert (setup.limit_packets, setup.limit_bytes) == (100, None)
            seen.append((setup.name, setup.replication, setup.rng.random()))

    scenario = with_queues("parking-lot", "drawing")
    scenario = scenario.replace({"duration": "1 s", "warmup": "0 s"})
    measured(scenario, reps=2)
    first = sorted(seen)
    seen.clear()
    measured(scenario, reps=2)
    assert sorted(seen) == first
    assert len({number for _, _, number in first}) == len(first) > 3


# --- the check of parts ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["codel-in-python", "droptail-in-python"])
def test_check_part_accepts_the_parts(kind: str) -> None:
    load_part_file(CODEL)
    part = QueueDisc.registry[kind]
    ap.testing.check_part(part(most_packets=20) if kind.startswith("droptail") else part)


def test_check_part_finds_hidden_state() -> None:
    counted: list[int] = []

    @ap.queue_discipline("hidden")
    class Hidden:
        def on_arrival(self, arrival: Arrival) -> str | None:
            counted.append(1)
            return "drop" if len(counted) % 50 == 0 else None

    with pytest.raises(ap.testing.PartContractError, match="hidden state"):
        ap.testing.check_part(QueueDisc.registry["hidden"])
