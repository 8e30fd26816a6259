"""Schedulers and link-adaptation policies in Python."""

from __future__ import annotations

import inspect
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.parts import (
    PolicySetup,
    SchedulerSetup,
    Scheme,
    User,
    cell_scheduler,
    link_policy,
)

pytestmark = pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")

EXAMPLES = Path(ap.__file__).parent / "examples"
SCHEDULER = "bottleneck.link.scheduler"
POLICY = "bottleneck.link.policy"


def measured(name: str, key: str, value: Any, reps: int = 2) -> Any:
    if isinstance(value, str):
        family = ap.policy.LinkAdaptation if key == POLICY else ap.scheduler.Scheduler
        value = family.registry[value]()
    scenario = ap.load(EXAMPLES / f"{name}.toml").replace({key: value})
    return ap.simulate(scenario, reps=reps, threads=1).replications


def a_round_robin() -> Any:
    @cell_scheduler("in-turn")
    class InTurn:
        def start(self, setup: SchedulerSetup) -> None:
            assert len(setup.weights) > 0
            self.next = 0

        def choose(self, slot: int, users: Sequence[User]) -> int:
            after = bisect_left([user.user for user in users], self.next)
            return 0 if after == len(users) else after

        def served(self, slot: int, users: Sequence[User], place: int, rate: float) -> None:
            self.next = users[place].user + 1

    return InTurn


def a_tagla() -> Any:
    @link_policy("tagla-in-python")
    class TaglaInPython:
        th_per: float

        def choose(self, schemes: Sequence[Scheme], regime: int) -> int:
            places = range(len(schemes))
            low = [place for place in places if schemes[place].per < self.th_per]
            if low:
                return min(low, key=lambda at: (-schemes[at].efficiency, schemes[at].per))
            return min(places, key=lambda at: (schemes[at].per, schemes[at].efficiency))

    return TaglaInPython


# --- the same results as the built-in parts -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("cell-newreno", SCHEDULER),
        ("cell-clamp", SCHEDULER),
        ("cell-behind-backhaul", "hops.1.down.link.scheduler"),
        ("wimax-cell", SCHEDULER),
    ],
)
def test_round_robin_in_python_equals_the_built_in_scheduler(name: str, key: str) -> None:
    a_round_robin()
    assert measured(name, key, "round-robin") == measured(name, key, "in-turn")


@pytest.mark.parametrize("th_per", [0.01, 0.2])
def test_tagla_in_python_equals_the_built_in_policy(th_per: float) -> None:
    tagla = a_tagla()
    built_in = measured("link-adaptation", POLICY, ap.policy.Tagla(th_per=th_per))
    assert measured("link-adaptation", POLICY, tagla(th_per=th_per)) == built_in


def test_policy_with_a_threshold_equals_the_built_in_dual_regime() -> None:
    @link_policy("two-schemes")
    class TwoSchemes:
        below: int
        above: int
        threshold: int = 20

        def start(self, setup: PolicySetup) -> None:
            assert "mcs3" in setup.names or len(setup.names) > self.above
            self.thresholds = [self.threshold]
            self.uses_estimate = False

        def choose(self, schemes: Sequence[Scheme], regime: int) -> int:
            return self.above if regime else self.below

    built_in = ap.policy.DualRegime(mcs_below=1, mcs_above=3, threshold=20)
    assert measured("link-adaptation", POLICY, TwoSchemes(below=1, above=3)) == measured(
        "link-adaptation", POLICY, built_in
    )


# --- theory ---------------------------------------------------------------------------------------


def test_scheduler_of_the_largest_rate_serves_only_the_best_user() -> None:
    """A constant order of rates: the other users get the slots in which the best has no data."""
    seen: list[float] = []

    @cell_scheduler("best")
    class Best:
        def choose(self, slot: int, users: Sequence[User]) -> int:
            return max(range(len(users)), key=lambda place: users[place].rate)

        def served(self, slot: int, users: Sequence[User], place: int, rate: float) -> None:
            seen.append(rate - max(map(attrgetter("rate"), users)))

    assert measured("cell-newreno", SCHEDULER, "best") == measured(
        "cell-newreno", SCHEDULER, "max-rate"
    )
    assert max(seen) <= 1e-9 * 1e8


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1, "the returned value = -1: out of range. Use an index from 0 to"),
        (99, "the returned value = 99: out of range. Use an index from 0 to"),
        (0.0, "the returned value = 0.0: not an integer. Use an index from 0 to"),
        (True, "the returned value = True: not an integer. Use an index from 0 to"),
        (None, "the returned value = None: not an integer. Use an index from 0 to"),
        (2**70, f"the returned value = {2**70}: not an integer. Use an index from 0 to"),
    ],
)
@pytest.mark.parametrize("family", ["scheduler", "policy"])
def test_wrong_choice_is_one_line(family: str, value: Any, problem: str) -> None:
    if family == "scheduler":

        @cell_scheduler("wrong")
        class WrongScheduler:
            def choose(self, slot: int, users: Sequence[User]) -> Any:
                return value

        name, key = "cell-newreno", SCHEDULER
    else:

        @link_policy("wrong")
        class WrongPolicy:
            def choose(self, schemes: Sequence[Scheme], regime: int) -> Any:
                return value

        name, key = "link-adaptation", POLICY
    with pytest.raises((ap.errors.RunError, ap.errors.BadValueError)) as caught:
        measured(name, key, "wrong", reps=1)
    assert f": choose: {problem}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["start", "choose", "served"])
def test_exception_of_a_scheduler_is_the_cause_of_the_error(method: str) -> None:
    class Failing:
        def start(self, setup: SchedulerSetup) -> None: ...

        def choose(self, slot: int, users: Sequence[User]) -> int:
            return 0

        def served(self, slot: int, users: Sequence[User], place: int, rate: float) -> None: ...

    def fail(_self: Any, *arguments: Any) -> int:
        raise LookupError(f"of the part after {len(arguments)} arguments")

    count = {"start": 1, "choose": 2, "served": 4}[method]
    before = getattr(Failing, method)
    fail.__signature__ = inspect.signature(before)  # type: ignore[attr-defined]
    setattr(Failing, method, fail)
    cell_scheduler("failing")(Failing)
    with pytest.raises(ap.errors.RunError) as caught:
        measured("cell-newreno", SCHEDULER, "failing", reps=1)
    assert isinstance(caught.value.__cause__, LookupError)
    assert f"{method}: LookupError: of the part after {count} arguments" in str(caught.value)


@pytest.mark.parametrize("given", [[0], [3, 3], [5, 2], ["a"], [-1], 7])
def test_wrong_thresholds_of_a_policy_are_rejected(given: Any) -> None:
    @link_policy("wrong-thresholds")
    class WrongThresholds:
        def start(self, setup: PolicySetup) -> None:
            self.thresholds = given

        def choose(self, schemes: Sequence[Scheme], regime: int) -> int:
            return 0

    with pytest.raises(ap.errors.RunError, match=r"thresholds = .*: not accepted"):
        measured("link-adaptation", POLICY, "wrong-thresholds", reps=1)


@pytest.mark.parametrize(
    ("decorate", "message"),
    [(cell_scheduler, "Empty: no method choose"), (link_policy, "Empty: no method choose")],
)
def test_class_without_choose_is_rejected(decorate: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        decorate("empty")(type("Empty", (), {}))
