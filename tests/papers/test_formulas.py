"""Declared checks of claims: each function of their formulas, on numbers of four points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_by_one import session_of

from airpath.reproduction import Effort
from airpath.reproduction.claims import Claims
from airpath.reproduction.engine import Simulated
from airpath.reproduction.formulas import Criterion, Point, of_point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath.reproduction.strength import checked
from airpath.reproduction.vocabulary import FUNCTIONS

RUNS: Mapping[str, Sequence[float]] = {
    "a1": [1.0, 3.0],
    "a2": [4.0, 4.0],
    "b1": [3.0, 5.0],
    "b2": [5.0, 7.0],
}
"""Mapping from each point to the values of its replications; the means are 2, 4, 4 and 6."""

POINTS = [
    Point({"group": name[0], "x": float(name[1])}, (name,)) for name in ("a1", "a2", "b1", "b2")
]

MEASURES = {
    "y": of_replication(lambda replication: replication["value"]),
    "times": of_replication(
        lambda factor: lambda replication: factor * replication["value"], has_arguments=True
    ),
    "plus_run": of_run(
        lambda session, run, cell, more: session.replications(cell)[run]["value"] + more * run
    ),
    "model": of_point(lambda _session, cell: 10 * float(cell[0][1])),
}


class Sets:
    """Replacement of a paper's sweeps: each sweep contains all points."""

    def __init__(self, *names: str) -> None:
        self.names = lambda: names

    def points(self, _name: str, _numbers: Mapping[str, Any]) -> list[Point]:
        return POINTS


ALL: Any = Sets("all")


@pytest.fixture
def session() -> Session:
    runs = {name: [{"value": value} for value in values] for name, values in RUNS.items()}
    return session_of(runs, Effort(2, 1.0, 0.0, resamples=50))


def criterion(formula: str, *holds: str, each: Sequence[str] = (), **numbers: Any) -> Criterion:
    shown = {"found": (formula, ".2f")}
    return Criterion(POINTS, each, shown, holds or ("0 < 1",), numbers, MEASURES)


def value(session: Session, formula: str, **numbers: Any) -> Any:
    return criterion(formula, **numbers).find(session).values["found"]


VALUES = {
    "within": ("within(y(group='b', x=2), 5.0, 1.0)", 1.0),
    "increasing": ("increasing(y(group='a'))", 1.0),
    "decreasing": ("decreasing(-y)", 0.0),  # two are equal
    "nondecreasing": ("nondecreasing(y)", 1.0),
    "nonincreasing": ("nonincreasing(-y)", 1.0),
    "all": ("all(y > 2)", 0.0),
    "any": ("any(y > 5)", 1.0),
    "share": ("share(y >= 4)", 0.75),
    "run_share": ("run_share(y(group='a', x=1) > 2)", 0.5),
    "run_most": ("run_most(y(group='b', x=2))", 7.0),
    # Two replications at 99 %: t = 63.657. The standard deviation s of a1 is 1.414.
    "low": ("low(y(group='a', x=1))", 2 - 63.657),
    "high": ("high(y(group='a', x=1))", 2 + 63.657),
    "half_width": ("half_width(y(group='a', x=1))", 63.657),
    "mean": ("mean(y)", 4.0),
    "median": ("median(y(group='b'))", 5.0),
    "total": ("total(y)", 16.0),
    "deviation": ("deviation(y)", math.sqrt(2.0)),
    "run_deviation": ("run_deviation(y(group='a', x=1))", math.sqrt(2.0)),
    "correlation": ("correlation(y, y)", 1.0),
    "least": ("least(y, 1.5)", 1.5),
    "largest": ("largest(y, 1.5)", 6.0),
    "greatest": ("greatest(first(y), 3, 2.5)", 3.0),
    "first": ("first(y)", 2.0),
    "last": ("last(y)", 6.0),
    "sort": ("last(sort(-y))", -2.0),
    "steps": ("first(steps(y))", 2.0),
    "drop": ("drop(sort(-y) * -1)", 1 - 2 / 6),
    "where": ("total(where(y, y > 3))", 14.0),
    "from_peak": ("total(from_peak(-y))", -16.0),
    "peak": ("peak(axis('x', group='b'), y(group='b'))", 2.0),
    "crossing": ("crossing(axis('x', group='b'), -y(group='b'), -5)", 1.5),
    "span": ("span(axis('x', group='b'), y(group='b') > 3)", 1.0),
    "reaching": ("reaching(axis('x', group='a'), y(group='a'), 3)", 1.5),
    "at": ("at(axis('x', group='a'), y(group='a'), 1.25)", 2.5),
    "fixed": ("fixed(last(y))", 6.0),
    "abs": ("abs(-first(y))", 2.0),
    "sqrt": ("sqrt(y(group='a', x=2))", 2.0),
    "log": ("log(first(y))", math.log(2.0)),
    "hypot": ("hypot(3, y(group='a', x=2))", 5.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_has_its_value(session: Session, name: str) -> None:
    formula, expected = VALUES[name]
    assert value(session, formula) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("where(y, 1 > 2)", "1 conditions for 4 points"),
        ("y(group='a') + y", "2 and 4 points cannot be combined"),
        ("low(model)", "runs are expected"),
        ("crossing(y, y, y)", "4 numbers where one is expected"),
    ],
)
def test_mismatched_shapes_are_rejected(session: Session, formula: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        value(session, formula)


def test_arithmetic_is_by_point_and_replication(session: Session) -> None:
    assert value(session, "y(x=2) - y(x=1)") == {"a": 2.0, "b": 2.0}
    # The quotient is that of the means. The differences are those of replications: a2 - a1 is 3 and
    # 1.
    assert value(session, "y(group='a', x=2) / y(group='a', x=1)") == 2.0
    difference = "y(group='a', x=2) - y(group='a', x=1)"
    assert value(session, f"run_most({difference})") == 3.0
    assert value(session, f"half_width({difference})") == pytest.approx(63.657, rel=1e-4)
    assert value(session, "times(3, group='a', x=2) + 2 ** 2 - model(group='a', x=2)") == -4.0
    assert value(session, "plus_run(2, group='a', x=1)") == 3.0


def test_comparisons_are_chained_and_joined(session: Session) -> None:
    assert value(session, "all(1 < y < 7 and not y == 5 or y > 100)") == 1.0
    assert value(session, "all(2 < y <= 6)") == 0.0


def test_names_are_measures_numbers_and_axes(session: Session) -> None:
    made = Criterion(
        POINTS,
        (),
        {"low_x": ("y(x=wanted[0])", ".1f"), "ratio": ("low_x / 2", ".1f")},
        ("ratio(group='b') == limit * 2",),
        {"wanted": [1, 2], "limit": 1.0},
        MEASURES,
    )
    assert made.cells() == [("a1",), ("b1",)]
    found = made.find(session)
    assert found.holds
    assert found.values == {"low_x": {"a": 2.0, "b": 4.0}, "ratio": {"a": 1.0, "b": 2.0}}
    assert found.measured == ["low x 2.0 (a), 4.0 (b); ratio 1.0 (a), 2.0 (b)"]


def test_number_hides_measure_of_the_same_name(session: Session) -> None:
    assert value(session, "y + 1", y=3.0) == 4.0
    assert criterion("y + 1", y=3.0).cells() == []


def test_each_repeats_the_criterion_for_the_values_of_an_axis(session: Session) -> None:
    holds = criterion("y", "increasing(y)", each=["group"])
    found = holds.find(session)
    assert found.holds
    assert found.measured[1] == "group=b: found 4.00 (1.0), 6.00 (2.0)"
    assert found.values["group=a"] == {"found": {"1.0": 2.0, "2.0": 4.0}}
    # A formula that names an axis is not restricted in this axis.
    other = criterion("y", "y < 5 or y(group='a') < 5", "y(group='b', x=1) == 4", each=["group"])
    assert other.find(session).holds
    assert not criterion("y", "largest(y) < 5", each=["group"]).find(session).holds


def test_empty_selection_does_not_hold(session: Session) -> None:
    assert not criterion("y", "where(y > 0, y > 100)").find(session).holds
    assert value(session, "least(where(y, y > 100))") is None


def test_single_replication_has_no_interval(session: Session) -> None:
    session._simulated = {
        cell: Simulated(run.replications[:1]) for cell, run in session._simulated.items()
    }
    for holds in ("low(y) > 0", "high(y) < 100", "not high(y) >= 100"):
        found = criterion("y", holds).find(session)
        assert found.holds is (holds == "not high(y) >= 100")


def test_point_outside_the_sweep_is_not_evaluated(session: Session) -> None:
    found = criterion("at(axis('x'), y, 3.5)").find(session)
    assert (found.holds, found.values) == (False, {})
    assert found.measured == ["not evaluated: 3.5 is outside the points, 1 to 2"]


def test_random_numbers_come_from_simulations_and_declared_measures() -> None:
    assert criterion("y").is_random
    assert not criterion("model").is_random
    rates = {"rate": of_point(lambda _session, _cell: 1.0, is_random=True)}
    assert Criterion(POINTS, (), {"found": ("rate", "g")}, ("1 > 0",), {}, rates).is_random


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("y +", "not a formula"),
        ("z + 1", "unknown name 'z'"),
        ("__import__('os')", "unknown name '__import__'"),
        ("y(group='c')", "no point has group=c"),
    ],
)
def test_formula_that_cannot_be_evaluated_is_reported_when_loaded(
    tmp_path: Path, formula: str, problem: str
) -> None:
    (tmp_path / "claims.toml").write_text(
        '[key]\nitems = []\ntext = ""\ncriterion = ""\n'
        f'check.points = "all"\ncheck.measures.found = "{formula}"\ncheck.holds = ["found > 0"]\n'
    )
    with pytest.raises(ValueError, match=f"claims.toml: key: .*{problem}"):
        Claims(tmp_path, ALL, MEASURES)


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (
            'check.points = "all"',
            "check: measures: missing. .*\n.*key: check: holds: missing",
        ),
        (
            'check.points = "some"\ncheck.measures = {}\ncheck.holds = []',
            'check.points: "some": no sweep. Expected',
        ),
        (
            'check.points = "all"\ncheck.measures = {}\ncheck.holds = []\ncheck.hold = []',
            'check: "hold": unknown key',
        ),
        ('check.points = "all"\ncheck.measures = {}\ncheck.holds = []', "check.holds: empty"),
        (
            'check.points = "all"\ncheck.each = ["snr"]\n'
            'check.measures = {}\ncheck.holds = ["1 > 0"]',
            "check.each = 'snr': no point has this axis",
        ),
    ],
)
def test_check_with_wrong_keys_is_reported(tmp_path: Path, check: str, problem: str) -> None:
    text = f'[key]\nitems = []\ntext = ""\ncriterion = ""\n{check}\n'
    (tmp_path / "claims.toml").write_text(text)
    with pytest.raises(ValueError, match=f"claims.toml: key: .*{problem}"):
        Claims(tmp_path, ALL, MEASURES)


def test_declared_claim_is_checked_on_resamples(tmp_path: Path, session: Session) -> None:
    (tmp_path / "claims.toml").write_text(
        '[key]\nitems = ["fig1"]\ntext = "It rises."\ncriterion = "By {least:g}."\nleast = 3\n'
        'check.points = ["all", "all-again"]\n'
        'check.measures.rise = \'y(group="a", x=2, points="all") - '
        'y(group="a", x=1, points="all")\'\n'
        'check.holds = ["rise >= least"]\n'
    )
    sets: Any = Sets("all", "all-again")
    [spec] = Claims(tmp_path, sets, MEASURES).checks()
    assert sorted(spec.cells) == [("a1",), ("a2",)]
    [claim] = checked(session, [spec])
    # The rise is 3 in the first replication and 1 in the second. Its mean over a resample is at
    # least 3 only if both samples are the first replication.
    assert not claim.holds
    assert claim.strength is not None
    both_first = sum(
        session.resampled(n).values(("a1",), lambda r: r["value"]) == [1.0, 1.0] for n in range(50)
    )
    assert 0 < claim.strength.held == both_first < 50
    assert (claim.criterion, np.isfinite(claim.values["rise"])) == ("By 3.", True)
