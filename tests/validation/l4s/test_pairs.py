"""DualPI2 shares a link between Prague and CUBIC; pairs agree with a testbed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def load() -> ModuleType:
    """Import the script of this directory, which is not a package."""
    file = Path(__file__).parent / "pairs.py"
    spec = importlib.util.spec_from_file_location("l4s_pairs", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


pairs = load()
OUTSIDE = {
    (40, 20): "ratio 2.15",
    (120, 20): "ratio 2.56",
    "dualpi2": "ratio 0.64, bound 0.65; the testbed has 0.79",
}
"""Measured results outside the criteria."""


def params(points: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test; results outside the criteria are expected failures."""
    return [
        pytest.param(point, marks=pytest.mark.xfail(strict=True, reason=OUTSIDE[point]))
        if point in OUTSIDE
        else point
        for point in points
    ]


GRID = [(rate, rtt) for rate in pairs.RATES for rtt in pairs.RTTS]


def check(pair: Any, rate: float) -> None:
    least, most = pairs.BALANCE
    assert least < pair.ratio < most, pair
    if rate == 40:
        assert pair.l4s_p99 <= pairs.L4S_P99, pair
    assert abs(pair.classic_mean - 15e-3) <= pairs.CLASSIC_MEAN * 15e-3, pair


@pytest.mark.long
@pytest.mark.parametrize("point", params(GRID))
def test_dualpi2_balances_prague_and_cubic(point: tuple[float, float]) -> None:
    check(pairs.measure(*point), point[0])


def test_dualpi2_balances_prague_and_cubic_at_40_mbit_s() -> None:
    check(pairs.measure(40, 10, seconds=40, reps=2), 40)


@pytest.mark.long
@pytest.mark.parametrize("kind", params(pairs.MEASURED))
def test_ratio_of_rates_agrees_with_the_testbed(kind: str) -> None:
    least, most = pairs.RATIOS[kind]
    assert least <= pairs.measured_pair(kind).ratio <= most
