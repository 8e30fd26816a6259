"""DualPI2 shares a link between Prague and CUBIC; pairs agree with equations and a testbed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def load(name: str) -> ModuleType:
    """Import a script of this directory, which is not a package."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


pairs, testbed, equations = load("pairs"), load("testbed"), load("equations")
GRID = [(rate, rtt) for rate in pairs.RATES for rtt in pairs.RTTS]


def check(pair: Any, rate: float) -> None:
    least, most = pairs.BALANCE
    assert least < pair.ratio < most, pair
    if rate == 40:
        assert pair.l4s_p99 <= pairs.L4S_P99, pair
    assert abs(pair.classic_mean - 15e-3) <= pairs.CLASSIC_MEAN * 15e-3, pair


@pytest.mark.long
@pytest.mark.parametrize("point", GRID)
def test_dualpi2_balances_prague_and_cubic(point: tuple[float, float]) -> None:
    pair = pairs.measure(*point)
    check(pair, point[0])
    assert pair.ratio == pytest.approx(pair.law(point[1] / 1e3), rel=pairs.LAW), pair


def test_dualpi2_balances_prague_and_cubic_at_40_mbit_s() -> None:
    check(pairs.measure(40, 10, seconds=40, reps=2), 40)


def test_equations() -> None:
    """At small p, d is sqrt(3) - 1; at p = 1/2, d = 1 / (1 + d)."""
    assert equations.reductions(1e-9) == pytest.approx(3**0.5 - 1, rel=1e-6)
    assert equations.reductions(0.5) == pytest.approx((5**0.5 - 1) / 2, rel=1e-12)
    # 2 * 99 / 0.7303 segments of 12 kbit per 25 ms; half of it at 50 ms.
    assert equations.prague_rate(0.01, 1e-3) == pytest.approx(130.1e6, rel=1e-3)
    assert equations.prague_rate(0.01, 50e-3) == pytest.approx(65.1e6, rel=1e-3)
    # The Reno-friendly and the cubic region.
    assert equations.cubic_rate(1e-4, 20e-3) == pytest.approx(122.47 * 12e3 / 0.02, rel=1e-3)
    assert equations.cubic_rate(1e-5, 0.1) == pytest.approx(1.054 * 1e4**0.75 * 12e4, rel=1e-3)


OUTSIDE: dict[tuple[str, float, str], str] = {
    ("dualpi2", 2.0, "cubic+ecn"): "46.6, 48.8 Mbit/s: the ratio is 0.955, its bound 0.95",
}
"""Pairs outside the criterion, with their goodputs."""


@pytest.mark.long
@pytest.mark.parametrize("row", testbed.rows(), ids=lambda row: "-".join(map(str, row[:3])))
def test_goodputs_agree_with_the_testbed(row: Any) -> None:
    found = testbed.simulate(row)
    meets = testbed.meets_criterion(row, found.prague, found.other)
    assert meets is (row[:3] not in OUTSIDE), (found, row)
    if row.discipline == "dualpi2":
        assert found.median <= testbed.L4S_MEDIAN, found
