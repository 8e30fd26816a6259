"""Agreement with ns-3 on random dumbbells, with the stored numbers of ns-3.

Method and all results: `docs/explanation/ns-3.md`.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from conformance import Law

HERE = Path(__file__).parent
SHARES = Law(
    area="Compared with ns-3",
    source="ns-3 on dumbbells drawn at random, two sets: share that agrees, profile ns3",
    allows="goodput within 3 %, mean queue within 10 %, in nine of ten",
)
BIAS = Law(
    area="Compared with ns-3",
    source="ns-3 on the same dumbbells: the weighted mean of the relative differences",
    allows="1 %",
)


def load(name: str) -> ModuleType:
    """Import a script of this directory, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"ns3_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


compare = load("compare")
REPS = [2, pytest.param(10, marks=pytest.mark.long)]
"""Number of replications of each dumbbell; the page uses ten."""
found = cache(lambda number, reps: list(compare.compare(compare.the_set(number), reps=reps)))


def test_dumbbells_match_seeds() -> None:
    draw = load("draw")
    drawn = [{key: str(value) for key, value in row.items()} for row in draw.dumbbells()]
    assert drawn == compare.read("dumbbells.csv")


def test_ns3_has_several_runs_of_each_dumbbell() -> None:
    runs = {key: len(values["goodput_bps"]) for key, values in compare.stored_values().items()}
    assert list(runs) == [row["id"] for row in compare.read("dumbbells.csv")]
    assert min(runs.values()) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("reps", REPS)
@pytest.mark.parametrize("number", [1, 2])
def test_goodput_is_within_3_percent_for_nine_of_ten_dumbbells(number: int, reps: int) -> None:
    """Eight of ten are required."""
    agreeing = [one.goodput_agrees for one in found(number, reps)]
    what = f"goodput, set {number}, {len(agreeing)} dumbbells"
    SHARES.between(what, "", sum(agreeing) / len(agreeing), 0.9, 1)


@pytest.mark.slow
@pytest.mark.parametrize("reps", REPS)
@pytest.mark.parametrize("number", [1, 2])
def test_mean_queue_is_within_10_percent_for_nine_of_ten_dumbbells(number: int, reps: int) -> None:
    agreeing = [one.queue_agrees for one in found(number, reps)]
    what = f"mean queue, set {number}, {len(agreeing)} dumbbells"
    SHARES.between(what, "", sum(agreeing) / len(agreeing), 0.9, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["goodput_bps", "queue_packets"])
def test_mean_difference_is_unbiased(name: str) -> None:
    """The weighted mean of the relative differences is within 1 %; weights follow the standard
    errors."""
    every = [*found(1, 2), *found(2, 2)]
    weights = [1 / max(one.error(name), 0.005) ** 2 for one in every]
    differences = [one.difference(name) for one in every]
    mean = math.fsum(w * x for w, x in zip(weights, differences, strict=True)) / math.fsum(weights)
    BIAS.close({"goodput_bps": "goodput"}.get(name, "mean queue"), "", mean, 0.0, 0.01)
