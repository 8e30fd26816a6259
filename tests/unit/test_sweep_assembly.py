"""Fast creation of points: tables are checked once, and the points equal those checked singly."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.errors import AirpathError
from airpath.sweeps import assembly
from airpath.sweeps.base import Base
from airpath.sweeps.description import described
from airpath.sweeps.memo import Kept, Memo, Read

EXAMPLES = Path(ap.__file__).parent / "examples"
TRACES = EXAMPLES / "traces"

AXES: dict[str, list[Any]] = {
    "duration": ["30 s", "20 s", "1 s", "soon"],
    "warmup": ["0 s", "2 s"],
    "name": ["one", "two → three"],
    "bottleneck.aqm": ["droptail", "codel", ap.aqm.Gred(), {"kind": "pie", "target": "5 ms"}],
    "bottleneck.aqm.limit": ["50 packets", "64 kB", None, "0 packets", 7],
    "bottleneck.link": [
        {"kind": "fixed", "rate": "4 Mbit/s", "delay": "3 ms"},
        ap.link.Trace(file=str(TRACES / "pedestrian.trace")),
        {"kind": "trace", "file": str(TRACES / "vehicular.trace")},
        {"kind": "trace", "file": "none.trace"},
    ],
    "bottleneck.link.delay": ["0 s", "5 ms", "30 ms"],
    "bottleneck.link.rate": ["5 Mbit/s", "6 Mbit/s", "fast"],
    "bottleneck": [{"aqm": "fq-codel"}, {"link": {"kind": "fixed", "rate": "1 Mbit/s"}}],
    "ack_path": ["ideal", {"kind": "link", "link": {"kind": "fixed", "rate": "1 Mbit/s"}}],
    "ack_path.link.rate": ["2 Mbit/s"],
    "backhaul": [{"rate": "100 Mbit/s", "delay": "2 ms"}, None],
    "backhaul.delay": ["1 ms", "4 ms"],
    "flows": [[{"base_rtt": "80 ms"}], {"count": 3, "base_rtt": "40 ms", "cc": "cubic"}],
    "flows.0.base_rtt": ["100 ms", 0.05, "10 ms"],
    "flows.0.cc": ["reno", "newreno", {"kind": "cubic"}, ap.cc.Cubic(), "clamp", "bbr"],
    "flows.0.count": [1, 3, 0],
    "flows.0.tcp.mss": [1000, 1460],
    "flows.1.count": [2],
    "flows.web.cc": ["reno", "cubic"],
    "flows.1.name": ["web", "bulk"],
    "control": [[{"at": "1 s", "rate": "2 Mbit/s"}], [{"at": "90 s", "rate": "2 Mbit/s"}]],
    "control.0.at": ["1 s"],
    "record.interval": ["1 s", "2 s"],
    "bottleneck.link.speed": ["1 Mbit/s"],
}


def random_keys(draw: random.Random) -> dict[str, Any]:
    axes = draw.sample(list(AXES), draw.choice([1, 2, 2, 3, 4]))
    chosen = {axis: _values(draw, AXES[axis]) for axis in axes}
    if draw.random() < 0.7:
        return {
            "grid": {axis: [v for v in of if v is not None] or of for axis, of in chosen.items()}
        }
    pairs = [(axis, value) for axis, of in chosen.items() for value in of if value is not None]
    return {"points": [dict(draw.sample(pairs, draw.randint(1, len(pairs)))) for _ in range(4)]}


def _values(draw: random.Random, of: list[Any]) -> list[Any]:
    """Return at most two of the values; the first two are valid with more base scenarios."""
    known = of[:2] if draw.random() < 0.8 else of
    return draw.sample(known, min(2, len(known)))


def base_of(draw: random.Random) -> ap.Scenario:
    flows = ap.flows(2, cc="newreno", base_rtt="60 ms", name=draw.choice(["web", None])) + ap.flows(
        base_rtt="90 ms"
    )
    link = ap.link.Fixed(rate="5 Mbit/s")
    keys: dict[str, Any] = draw.choice(
        [{}, {"control": AXES["control"][0]}, {"backhaul": {"rate": "1 Gbit/s"}}]
    )
    bottleneck = ap.Bottleneck(aqm=draw.choice(["droptail", "codel"]), link=link)
    return ap.Scenario(flows=flows, bottleneck=bottleneck, duration="30 s", **keys)


def outcome(base: ap.Scenario, keys: Mapping[str, Any]) -> Any:
    """Return all data and warnings of a sweep description, or its error message."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            found = described(base, **keys)
        except AirpathError as error:
            return str(error)
    texts = [job.text for job in found.jobs.values()]
    lost = sorted(str(each.message) for each in noted)
    return found.plan, found.jobs.keys(), texts, found.contents, lost


def test_assembled_points_equal_those_checked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(8)
    cases = [(base_of(draw), random_keys(draw)) for _ in range(30)]
    assembled = [outcome(base, keys) for base, keys in cases]
    monkeypatch.setattr(Base, "assembly", lambda *_: None)
    one_by_one = [outcome(base, keys) for base, keys in cases]
    for (_, keys), fast, slow in zip(cases, assembled, one_by_one, strict=True):
        assert fast == slow, keys
    accepted = [each for each in one_by_one if not isinstance(each, str)]
    assert 5 < len(accepted) < 25


def test_points_of_a_grid_are_assembled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Creating a point from its document takes twenty times as long."""
    monkeypatch.setattr(Base, "at", None)
    axes = (
        "duration",
        "bottleneck.aqm.limit",
        "bottleneck.link.delay",
        "flows.0.cc",
        "flows.0.count",
    )
    grid = {axis: AXES[axis][:2] for axis in axes}
    found = described(base_of(random.Random(1)), grid=grid)
    assert len(found.plan.points) == 32


def test_rule_is_evaluated_once_for_equal_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[str] = []

    def rule(scenario: ap.Scenario) -> list[Any]:
        evaluated.append(f"{scenario.flows[0].count} flows, {scenario.bottleneck.link.rate}")
        return []

    monkeypatch.setattr(assembly, "RULES", [rule])
    axes = ("bottleneck.aqm.limit", "bottleneck.link.rate", "flows.0.count", "flows.0.cc")
    described(base_of(random.Random(1)), grid={axis: AXES[axis][:2] for axis in axes})
    rates, counts = AXES["bottleneck.link.rate"][:2], AXES["flows.0.count"][:2]
    of_pairs = [f"{count} flows, {rate}" for count in counts for rate in rates]
    assert sorted(evaluated) == sorted(2 * of_pairs)  # For each of two algorithms.


@pytest.mark.parametrize("most", [0, 3, 100])
def test_memo_depends_on_the_values_it_reads(most: int) -> None:
    calls = itertools.count(1)

    def function(read: Read) -> tuple[int, ...]:
        next(calls)
        first = read(("first",))
        return (first,) if first == 0 else (first, read(("second",)), read(("base",)))

    memo = Memo(function, lambda _: 7, most)
    for first, second, third in [*itertools.product(range(3), repeat=3)] * 2:
        values = {("first",): first, ("second",): second, ("third",): third}
        tables = {owner: (value, value) for owner, value in values.items()}
        expected = (0,) if first == 0 else (first, second, 7)
        assert memo.of(tables) == expected
    different = 1 + 3 + 3
    assert (next(calls) - 1 == different) == (most == 100)


def test_first_and_last_value_are_kept() -> None:
    numbers = itertools.count()
    kept: Kept[str, int] = Kept(2)
    assert [kept.get(key, lambda: next(numbers)) for key in "abccacdc"] == [0, 1, 2, 2, 0, 2, 3, 4]
