"""The coverage study: confidence intervals for an M/D/1 queue with a known mean."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import airpath as ap
from airpath.sweeps.plan import Rule
from studies.stopping import coverage as study


def test_known_mean_is_that_of_the_model() -> None:
    solution = ap.solve(study.scenario())
    # Little's law: the waiting packets divided by the arrival rate.
    wait = solution.queue_packets / (5e6 / 12_000)  # type: ignore[attr-defined]
    assert wait == pytest.approx(study.KNOWN_S, rel=1e-9)


def test_intervals_of_normal_values_have_their_coverage_and_early_stopping_reduces_it() -> None:
    """Intervals of normal values have the stated coverage. With a minimum of two replications, the
    stopping rule reduces the coverage.
    """
    values = np.random.default_rng(5).normal(study.KNOWN_S, 0.1 * study.KNOWN_S, (3000, 64))
    rules = [Rule(8, 8), Rule(2, 64, "wait", relative=0.05)]
    fixed, early = study.coverage(values.tolist(), rules, [0.95])
    low, high = study.binomial_range(3000, 0.95, 1e-6)
    assert low <= fixed.contained <= high
    assert fixed.mean_reps == 8
    assert early.contained < low
    assert early.half_width <= 0.05


def test_sweep_stops_and_has_the_interval_of_the_study() -> None:
    rule = Rule(4, 16, study.METRIC, relative=0.05)
    until = {"metric": study.METRIC, "relative": 0.05}
    for seed in (3, 4):
        sweep = ap.sweep(
            study.scenario(),
            metrics=[study.METRIC],
            reps={"min": 4, "max": 16, "until": until},
            seed=seed,
            confidence=0.95,
        )
        [found] = sweep.points().to_dict("records")
        expected = study.interval(rule, study.waits(seed, 16), 0.95)
        assert (found["low"], found["high"]) == (expected.low, expected.high)
        assert found["reps"] == expected.reps


def test_study_writes_a_row_for_each_rule(tmp_path: Path) -> None:
    reports: list[str] = []
    study.main(2, tmp_path / "coverage.csv", reports.append)
    rows = list(csv.DictReader((tmp_path / "coverage.csv").read_text().splitlines()))
    assert len(rows) == 2 * len(study.RULES)
    assert {row["sweeps"] for row in rows} == {"2"}
    assert rows[0]["rule"] == "fixed"
    assert rows[5]["relative"] == "0.1"
    assert "bias" in reports[1]


def test_page_has_the_written_numbers() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "explanation" / "statistics.md").read_text("utf-8")
    _, _, rest = page.partition("<!-- coverage -->\n")
    printed = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in rest.partition("\n\n")[0].splitlines()[2:]
    ]
    rows = list(csv.DictReader(study.TABLE.read_text().splitlines()))
    assert {row["holds"] for row in rows} == {"yes", ""}
    found = {}
    for row in rows:
        name = f"fixed, {row['min']}"
        if row["relative"]:
            name = f"until {row['relative']}, from {row['min']} to {row['max']}"
        share = f"{100 * int(row['contained']) / int(row['sweeps']):.1f} %"
        found.setdefault(name, [name]).extend([share, f"{float(row['mean_reps']):.1f}"])
    assert printed == list(found.values())
