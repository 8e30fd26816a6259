"""Queue disciplines in Python: exceptions, wrong values, wrong classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queue_runs import dumbbell, measured

import airpath as ap
from airpath.parts import Arrival, QueueDiscipline, QueueObservation, QueueSetup
from airpath.scenario.part_files import load_part_file

CODEL = Path(__file__).with_name("codel_parts.py")


def failing(method: str, fail: Callable[[Any], Any], **members: Any) -> Any:
    class Failing(QueueDiscipline):
        def start(self, setup: QueueSetup) -> None:
            self.next_wakeup_ns = 100_000_000

        def on_timer(self, observation: QueueObservation) -> None: ...

    before = getattr(Failing, method)

    def call(self: Any, event: Any) -> Any:
        before(self, event)
        return fail(self)

    setattr(Failing, method, call)
    for name, value in members.items():
        setattr(Failing, name, value)
    return ap.queue_discipline("failing")(Failing)


METHODS = ("start", "on_arrival", "on_overflow", "on_departure", "on_timer", "on_rate")


@pytest.mark.parametrize("method", [*METHODS, "probability"])
def test_exception_ends_the_run_with_its_cause(method: str) -> None:
    def fail(_self: Any) -> None:
        raise LookupError("of the part")

    failing(method, fail)
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell({"kind": "failing", "limit": "5 packets"}))
    assert isinstance(caught.value.__cause__, LookupError)
    assert 'part "failing", ' in str(caught.value)
    assert f": {method}: LookupError: of the part" in str(caught.value)
    if method != "start":
        assert " (at " in str(caught.value)


@pytest.mark.parametrize(
    ("method", "value", "problem"),
    [
        ("on_arrival", "dorp", "the returned value = 'dorp': unknown. Use None, \"enqueue\""),
        ("on_arrival", "send", "the returned value = 'send': unknown. Use None, \"enqueue\""),
        ("on_arrival", True, "the returned value = True: unknown. Use None"),
        ("on_departure", "enqueue", "the returned value = 'enqueue': unknown. Use None, \"send\""),
        ("on_departure", 1, "the returned value = 1: unknown. Use None"),
        ("probability", float("nan"), "the returned value = nan: not a number. Use a number from"),
        ("probability", -0.1, "the returned value = -0.1: out of range. Use a number from 0 to 1"),
        ("probability", 1.1, "the returned value = 1.1: out of range. Use a number from 0 to 1"),
        ("probability", None, "the returned value = None: not a number. Use a number from 0 to 1"),
    ],
)
def test_unknown_decision_is_one_line(method: str, value: Any, problem: str) -> None:
    failing(method, lambda _self: value)
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell("failing"))
    assert f": {method}: {problem}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["start", "on_arrival", "on_departure", "on_timer", "on_rate"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (float("nan"), "next_wakeup_ns = nan: not a number. Use"),
        (float("inf"), "next_wakeup_ns = inf: too large. Use"),
        (0, "next_wakeup_ns = 0: not after the current time ("),
        (-5, "next_wakeup_ns = -5: not after the current time ("),
        ("now", "next_wakeup_ns = 'now': not a number. Use"),
        (True, "next_wakeup_ns = True: not a number. Use"),
    ],
)
def test_wrong_wakeup_is_one_line(method: str, value: Any, problem: str) -> None:
    failing(method, lambda self: setattr(self, "next_wakeup_ns", value))
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell("failing"))
    assert f": {method}: {problem}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wakeup_at_the_current_time_is_rejected() -> None:
    """The timer cannot expire twice at the same time."""

    @ap.queue_discipline("again")
    class Again(QueueDiscipline):
        def start(self, setup: QueueSetup) -> None:
            self.next_wakeup_ns = 1000

        def on_timer(self, observation: QueueObservation) -> None:
            self.next_wakeup_ns = observation.now_ns

    with pytest.raises(ap.errors.RunError, match="on_timer: next_wakeup_ns = 1000: not after the"):
        measured(dumbbell("again"))


@pytest.mark.parametrize("value", [0, float("nan"), "fast", None])
def test_wrong_interval_is_one_line(value: Any) -> None:
    failing("probability", lambda _self: 0.0, interval_ns=value)
    with pytest.raises(ap.errors.RunError, match=": start: interval_ns = "):
        measured(dumbbell("failing"))


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda c: setattr(c, "on_arival", c.on_arrival), "Bad.on_arival: not a method of this"),
        (lambda c: setattr(c, "on_arrival", lambda _self: None), "Bad.on_arrival: wrong arguments"),
        (lambda c: setattr(c, "on_timer", 3), "Bad.on_timer: not a method"),
        (lambda c: setattr(c, "probability", lambda _s, _o: 0.0), "Bad: two methods decide about"),
        (lambda c: setattr(c, "always_marks", 1), "Bad.always_marks = 1: not a bool"),
        (lambda c: setattr(c, "limit", 10), "Bad.limit: not accepted. Each discipline has the key"),
        (lambda c: c.__annotations__.update(limit=int), "Bad.limit: not accepted. Each discipline"),
    ],
    ids=["name", "arguments", "method", "two", "flag", "limit", "key"],
)
def test_wrong_class_is_rejected_when_it_is_defined(
    define: Callable[[Any], None], message: str
) -> None:
    class Bad:
        x: float = 1.0

        def on_arrival(self, arrival: Arrival) -> None: ...

    define(Bad)
    with pytest.raises(TypeError) as caught:
        ap.queue_discipline("bad")(Bad)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", ["codel", "Upper", "", 3])
def test_wrong_name_is_rejected(name: Any) -> None:
    with pytest.raises(TypeError, match=r"^name "):
        ap.queue_discipline(name)(type("Bad", (), {}))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("limit", 20, "aqm.limit = 20: no unit. Use a number with the unit packets, B"),
        ("limit", "0 packets", 'aqm.limit = "0 packets": '),
        ("limit", "0 B", 'aqm.limit = "0 B": '),
        ("target", "3", 'aqm.target = "3": no unit'),
        ("ecn", "yes", 'aqm.ecn = "yes": '),
        ("targt", "3 ms", "unknown key. The nearest is target"),
    ],
)
def test_parameters_are_checked(key: str, value: Any, message: str) -> None:
    load_part_file(CODEL)
    with pytest.raises(ap.errors.ScenarioError) as caught:
        measured(dumbbell({"kind": "codel-in-python", key: value}))
    assert message in str(caught.value)


def test_part_that_simulates_gets_an_exception() -> None:
    failing("on_arrival", lambda _self: measured(dumbbell("droptail")))
    with pytest.raises(ap.errors.RunError, match="simulate was called from a method of a part"):
        measured(dumbbell("failing"))
