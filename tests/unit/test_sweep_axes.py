"""Points of a sweep: crossed, paired and random axes; labels of axis values."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.errors import BadValueError
from airpath.sweeps.axes import (
    Dimension,
    combined,
    key_of,
    labels_of,
    matches,
    size,
    values_by_axis,
)
from airpath.sweeps.draw import drawn
from random_examples import examples

NAMES = st.text("abc.", min_size=1, max_size=4)
SCALARS = st.one_of(
    st.booleans(), st.integers(-5, 5), st.floats(-2, 2), st.text("ab 1", max_size=3)
)
TABLES = st.dictionaries(st.sampled_from(["kind", "limit", "a"]), SCALARS, max_size=3)
VALUES = st.one_of(SCALARS, TABLES, st.lists(SCALARS, max_size=2))


@given(st.lists(st.integers(1, 4), max_size=4))
def test_grid_has_the_product_of_its_axes_in_order(counts: list[int]) -> None:
    grid = [
        Dimension("grid", [{f"a{axis}": value} for value in range(count)])
        for axis, count in enumerate(counts)
    ]
    points = [tuple(point.values()) for point in combined(grid)]
    assert len(points) == size(counts) == math.prod(counts)
    assert points == sorted(set(points))


def test_paired_axes_stay_together_when_crossed() -> None:
    pairs = Dimension("zip", [{"rate": 1, "delay": 10}, {"rate": 2, "delay": 20}])
    points = list(combined([Dimension("grid", [{"n": 1}, {"n": 2}]), pairs]))
    assert points == [
        {"n": 1, "rate": 1, "delay": 10},
        {"n": 1, "rate": 2, "delay": 20},
        {"n": 2, "rate": 1, "delay": 10},
        {"n": 2, "rate": 2, "delay": 20},
    ]
    assert values_by_axis([pairs]) == {"rate": [1, 2], "delay": [10, 20]}


@given(st.lists(VALUES, max_size=8, unique_by=key_of))
def test_labels_of_values_are_unique(values: list[Any]) -> None:
    labels = labels_of(values)
    assert len(set(labels)) == len(labels) == len(values)
    assert all(label and label.isprintable() for label in labels)


def test_label_of_a_component_is_its_kind_with_differing_keys_if_necessary() -> None:
    aqms = [
        {"kind": "droptail", "limit": "100 packets"},
        {"kind": "droptail", "limit": "20 packets"},
        {"kind": "codel", "target": "5 ms"},
        "pie",
    ]
    assert labels_of(aqms) == ["droptail, 100 packets", "droptail, 20 packets", "codel", "pie"]
    assert labels_of([{"kind": "codel"}, {"kind": "codel", "ecn": True}]) == [
        "codel",
        "codel, ecn true",
    ]
    assert labels_of([1, 1.0, "1", True]) == ["1", "1.0", "1 (2)", "true"]


def test_exclusion_names_a_table_by_its_kind_or_by_some_of_its_keys() -> None:
    table = {"kind": "codel", "target": "5 ms", "ecn": True}
    for expected in ("codel", "CoDel", table, {"kind": "codel"}, {"ecn": True}):
        assert matches(table, "CoDel", expected)
    for expected in ("pie", {}, {"ecn": False}, {"limit": 3}, 1, True, None):
        assert not matches(table, "CoDel", expected)
    assert not matches(1, "1", True)


# --- draws -------------------------------------------------------------------------------------

METHODS = ["random", "latin-hypercube", "sobol"]
AXES: dict[str, dict[str, list[Any]]] = {
    "rate": {"uniform": ["1 Mbit/s", "9 Mbit/s"]},
    "loss": {"log-uniform": [1e-4, 1e-1]},
    "count": {"uniform": [1, 16]},
    "limit": {"log-uniform": ["10 packets", "1000 packets"]},
    "cc": {"choice": ["reno", "cubic"]},
}


@pytest.mark.parametrize("method", METHODS)
@examples(15)
@given(samples=st.integers(1, 40), seed=st.integers(0, 2**64 - 1))
def test_random_values_are_within_their_range_and_depend_only_on_the_seed(
    method: str, samples: int, seed: int
) -> None:
    points = drawn(method, samples, seed, AXES)
    assert points == drawn(method, samples, seed, AXES)
    assert len(points) == samples
    for point in points:
        rate, unit = point["rate"].split(" ")
        assert unit == "Mbit/s"
        assert 1 <= float(rate) <= 9
        assert 1e-4 <= point["loss"] <= 1e-1
        assert type(point["count"]) is int
        assert 1 <= point["count"] <= 16
        packets, unit = point["limit"].split(" ")
        assert unit == "packets"
        assert 10 <= int(packets) <= 1000
        assert point["cc"] in ("reno", "cubic")
    other = drawn(method, samples, seed ^ 1, AXES)
    assert other != points


@examples(25)
@given(samples=st.integers(1, 64), seed=st.integers(0, 2**32))
def test_latin_hypercube_uses_each_stratum_of_each_axis_once(samples: int, seed: int) -> None:
    axes = {"a": {"uniform": [0.0, 1.0]}, "b": {"uniform": [10.0, 30.0]}}
    points = drawn("latin-hypercube", samples, seed, axes)
    everyone = list(range(samples))
    assert sorted(math.floor(point["a"] * samples) for point in points) == everyone
    assert sorted(math.floor((point["b"] - 10) / 20 * samples) for point in points) == everyone


@pytest.mark.parametrize("seed", range(4))
def test_sobol_points_use_each_cell_of_a_square_once(seed: int) -> None:
    axes = {"a": {"uniform": [0.0, 1.0]}, "b": {"uniform": [0.0, 1.0]}}
    points = drawn("sobol", 64, seed, axes)
    cells = {(math.floor(point["a"] * 8), math.floor(point["b"] * 8)) for point in points}
    assert len(cells) == 64


def test_another_axis_does_not_change_random_values() -> None:
    alone = drawn("random", 8, 1, {"a": {"uniform": [0.0, 1.0]}})
    both = drawn("random", 8, 1, {"b": {"choice": [1, 2]}, "a": {"uniform": [0.0, 1.0]}})
    assert [point["a"] for point in both] == [point["a"] for point in alone]


def test_integers_and_choices_are_equally_likely() -> None:
    axes = {"n": {"uniform": [1, 4]}, "c": {"choice": ["x", "y", "z", "w"]}}
    points = drawn("latin-hypercube", 40, 3, axes)
    for axis in axes:
        values = [point[axis] for point in points]
        assert {values.count(value) for value in values} == {10}


def test_missing_scipy_is_reported_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(BadValueError) as raised:
        drawn("sobol", 4, 1, AXES)
    assert str(raised.value) == (
        'random.method = "sobol": requires scipy, which is not installed. Install it, '
        'pip install "airpath[random]", or write method = "random".'
    )
    assert len(drawn("random", 4, 1, AXES)) == 4


def test_labels_of_many_values_do_not_take_quadratic_time() -> None:
    """Regression: the labels of twenty thousand random values took half a minute."""
    values = [number / 7 for number in range(40_000)]
    began = time.process_time()
    labels = labels_of([*values, *({"kind": "codel", "n": number} for number in range(2000))])
    assert len(set(labels)) == 42_000
    assert time.process_time() - began < 10
