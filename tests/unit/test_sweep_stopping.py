"""Sequential stopping: the number of replications that count, and the number to run next."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.results.intervals import mean_interval
from airpath.sweeps.plan import Rule
from airpath.sweeps.stopping import Stopping, counted, wanted

VALUES = st.lists(st.none() | st.floats(-1e6, 1e6) | st.just(math.nan), max_size=40)


def narrow_enough(rule: Rule, values: list[float | None], confidence: float) -> bool:
    found = mean_interval(values, confidence)
    half = (found.high - found.low) / 2
    relative = rule.relative is not None and half <= rule.relative * abs(found.mean)
    return relative or (rule.absolute is not None and half <= rule.absolute)


def test_fixed_number_of_replications_needs_no_metric() -> None:
    rule = Rule(4, 4)
    assert counted(rule, [None] * 3, 0.99) is None
    assert counted(rule, [None] * 9, 0.99) == 4
    assert wanted(rule, [], 0.99) == 4


def test_first_prefix_that_is_narrow_enough_counts() -> None:
    rule = Rule(2, 50, "m", absolute=1.0)
    values = [10.0, 14.0, 10.0, 14.0, *[12.0] * 20]
    expected = next(n for n in range(2, 24) if narrow_enough(rule, list(values[:n]), 0.95))
    assert 4 < expected < 24
    assert counted(rule, values, 0.95) == expected
    assert counted(rule, [*values, 1e9], 0.95) == expected
    assert counted(rule, values[: expected - 1], 0.95) is None


def test_constant_metric_stops_after_the_minimum_number_of_replications() -> None:
    for value in (0.0, 0.1, -3e9):
        assert counted(Rule(3, 64, "m", relative=0.01), [value] * 5, 0.99) == 3


def test_quantile_is_not_more_exact_than_its_resolution() -> None:
    """Four equal values of a histogram's quantile have an error of half a bucket: 1/128."""
    for metric in ("p95_sojourn_s", "queues.bottleneck.p50_sojourn_s", "flows.0.p99_delay_s"):
        values = [0.0192] * 8
        assert counted(Rule(4, 8, metric, relative=0.02), values, 0.99) == 4
        assert counted(Rule(4, 8, metric, relative=0.005), values[:7], 0.99) is None
        assert wanted(Rule(4, 64, metric, relative=0.005), values[:4], 0.99) == 8
        assert counted(Rule(4, 8, metric, relative=0.005), values, 0.99) == 8
        assert counted(Rule(4, 8, metric, absolute=0.0001), values[:7], 0.99) is None
        assert counted(Rule(4, 8, metric, absolute=0.0002), values, 0.99) == 4


def test_mean_of_zero_has_no_relative_width() -> None:
    values = [1.0, -1.0] * 8
    assert counted(Rule(4, 16, "m", relative=0.5), values[:15], 0.99) is None
    assert counted(Rule(4, 16, "m", relative=0.5), values, 0.99) == 16
    assert counted(Rule(4, 16, "m", relative=0.5, absolute=5.0), values, 0.99) == 4


def test_unmeasured_metric_is_a_replication_without_a_value() -> None:
    rule = Rule(2, 8, "m", absolute=100.0)
    assert counted(rule, [None, 1.0, math.nan], 0.99) is None
    assert counted(rule, [None, 1.0, math.nan, 1.0], 0.99) == 4
    assert counted(rule, [None] * 8, 0.99) == 8
    assert wanted(rule, [None, None], 0.99) == 4


@pytest.mark.parametrize(("target", "expected"), [(1e-9, 20), (3.0, 14), (1e9, 10)])
def test_requested_replications_are_limited_by_variance_and_doubling(
    target: float, expected: int
) -> None:
    values = [0.0, 10.0] * 5
    assert (
        wanted(Rule(10, 1000, "m", absolute=target), values, 0.95)
        == {
            20: 20,
            14: math.ceil((2.262157 / target) ** 2 * (250 / 9)),
            10: 10,
        }[expected]
    )


@given(VALUES, st.integers(2, 5), st.integers(0, 30), st.sampled_from([0.001, 0.1, 1.0]))
def test_stopping_matches_the_literal_definition(
    values: list[float | None], least: int, more: int, share: float
) -> None:
    rule = Rule(least, least + more, "m", relative=share, absolute=1.0)
    found = counted(rule, values, 0.95)
    state = Stopping(rule, 0.95)
    for value in values:
        state.extend([value])
    assert state.counted == found
    last = rule.most if found is None else found
    for n in range(rule.least, min(last, len(values) + 1)):
        known = mean_interval(values[:n], 0.95)
        near = math.isclose((known.high - known.low) / 2, max(share * abs(known.mean), 1.0))
        assert near or not narrow_enough(rule, values[:n], 0.95)
    if found is None:
        assert len(values) < rule.most
        assert len(values) < wanted(rule, values, 0.95) <= rule.most
    else:
        assert found == wanted(rule, values, 0.95) <= len(values)
