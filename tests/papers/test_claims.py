"""Claims, settings, items and measured quantities that the files of a paper declare."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from one_by_one import Named, session_of

from airpath.reproduction import Effort, ItemResult
from airpath.reproduction.base import Row
from airpath.reproduction.claim import Claim, Strength
from airpath.reproduction.claims import Claims, ClaimSpec, Finding, gathered, joined
from airpath.reproduction.engine import Simulated
from airpath.reproduction.half_widths import half_widths
from airpath.reproduction.manifest import paper_of
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.quantities import (
    MeasuredQuantity,
    RecordedQuantity,
    batch_means,
    improvement,
)
from airpath.reproduction.scoring import by_place, largest_difference, others, within_by_batch
from airpath.reproduction.session import Session
from airpath.reproduction.strength import checked
from airpath.reproduction.tolerance import Tolerance
from airpath.results.differences import paired_interval

FILE = """
[rises]
items = ["fig1", "fig2"]
text = "It rises (§1)."
criterion = "Of {sizes} the last ({sizes[2]}) is above {share:.0%} of the first, {sizes:.1f}."
sizes = [1, 2, 3]
share = 0.95

[weaker]
items = ["fig2"]
text = "A measure."
criterion = "None."
of_paper = false
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "claims.toml").write_text(FILE)
    return tmp_path


def session(resamples: int = 100, **numbers: Sequence[float]) -> Session:
    """Return a session whose points, tuples of one name, have these values, one per replication."""
    runs = {name: [{"value": value} for value in values] for name, values in numbers.items()}
    return session_of(runs, Effort(1, 1.0, 0.0, resamples=resamples))


def value(replication: Any) -> float:
    return float(replication["value"])


# --- claims --------------------------------------------------------------------------------


def test_criterion_contains_its_numbers(directory: Path) -> None:
    spec = Claims(directory).specs["rises"]
    assert spec.criterion == "Of 1, 2, 3 the last (3) is above 95% of the first, 1.0, 2.0, 3.0."
    assert (spec["sizes"], spec["share"], spec.of_paper) == ([1, 2, 3], 0.95, True)


def test_check_receives_requested_points(directory: Path) -> None:
    says = Claims(directory)

    def cells(spec: ClaimSpec) -> Any:
        return {"all": [(str(size),) for size in spec["sizes"]], "twice": {1: ("1",)}}

    @says.check("rises", cells)
    def _rises(_session: Session, spec: ClaimSpec, found: Any) -> Finding:
        assert found == cells(spec)
        return Finding(spec["share"] < 1, ["as measured"], {"n": 3})

    with pytest.raises(KeyError, match="weaker"):
        says.checks()
    says.check("weaker")(lambda *_: Finding(False, [], {}))
    rises, weaker = says.checks()
    assert rises.cells == [("1",), ("2",), ("3",)]
    assert weaker.cells == []
    checked = rises.check(session())
    assert (checked.key, checked.text, checked.holds) == ("rises", "It rises (§1).", True)
    assert (checked.measured, checked.values) == (["as measured"], {"n": 3})
    assert (checked.of_paper, weaker.check(session()).of_paper) == (True, False)
    assert (says.of("fig1"), says.of("fig2")) == (("rises",), ("rises", "weaker"))


def test_check_without_claim_is_rejected(directory: Path) -> None:
    with pytest.raises(KeyError, match="falls"):
        Claims(directory).check("falls")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('revises = "rises"', "weaker: revises = 'rises': must name a claim; set later"),
        ('later = "2026-11-24"\nrevises = "falls"', "weaker: revises = 'falls'"),
        ('cause = "weather"\nwhy = "It rains."', "must be one of airpath, reading, paper, differs"),
        ('cause = "paper"', "weaker: cause = 'paper'"),
    ],
)
def test_later_entries_are_checked(entry: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text(FILE + entry)
    with pytest.raises(ValueError, match=problem):
        Claims(tmp_path)


# --- strengths ---------------------------------------------------------------------------------


def strength_of(check: Any, numbers: dict[str, Sequence[float]], directory: Path) -> Claim:
    """Return the claim `rises`, checked on points with these values, one per replication."""
    says = Claims(directory)
    says.check("rises", lambda _spec: [(name,) for name in numbers])(check)
    says.check("weaker")(lambda *_: Finding(True, [], {}))
    found, exact = checked(session(**numbers), says.checks())
    assert exact.strength is None
    return found


def test_verdict_that_depends_on_replications_is_undecided(directory: Path) -> None:
    def check(found: Session, _spec: ClaimSpec, cells: Any) -> Finding:
        return Finding(statistics.fmean(found.values(cells[0], value)) > 0, [], {})

    level = strength_of(check, {"a": [-1.0, 1.0, -1.0, 1.0, 0.1]}, directory)
    assert level.strength is not None
    assert (level.holds, level.outcome, level.strength.draws) == (True, "undecided", 100)
    # More than half of the resamples of five have a mean above 0, but less than 95 %.
    assert 0.4 < level.strength.share < 0.7
    assert strength_of(check, {"a": [1.0, 2.0, 3.0]}, directory).outcome == "holds"
    below = strength_of(check, {"a": [-1.0, -2.0, -3.0]}, directory)
    assert (below.outcome, below.strength) == ("does not hold", Strength(0, 100))
    # A single replication cannot be resampled.
    assert strength_of(check, {"a": [1.0]}, directory).strength is None


def test_resamples_keep_pairs_of_replications(directory: Path) -> None:
    def check(found: Session, _spec: ClaimSpec, cells: Any) -> Finding:
        low, high = (found.values(cell, value) for cell in cells)
        return Finding(paired_interval(high, low, 0.99).high < 0, [], {})

    runs = [10.0, 20.0, 30.0, 40.0]
    numbers = {"low": runs, "high": [run + 1 + run / 100 for run in runs]}
    # The paired differences are -1.1 to -1.4; without pairs they are between -31 and +29.
    assert strength_of(check, numbers, directory).strength == Strength(100, 100)


def test_resamples_are_repeatable() -> None:
    found = session(a=[float(run) for run in range(50)])
    first = found.resampled(3).values(("a",), value)
    assert first == found.resampled(3).values(("a",), value)
    assert first != found.resampled(4).values(("a",), value)
    # A bootstrap sample of n omits 1/e of the replications on average: 18.4 of 50.
    assert 25 < len(set(first)) < 40
    assert (found.resample, found.resampled(3).resample) == (None, 3)
    run = Simulated([{}, {}, {}], lambda name, number: (name, number))  # type: ignore[arg-type,return-value]
    chosen: Any = run.chosen([2, 2, 0])
    assert [chosen.series("rate", place) for place in range(3)] == [
        ("rate", 2),
        ("rate", 2),
        ("rate", 0),
    ]


def test_measure_of_replication_is_computed_once_for_all_resamples() -> None:
    found = session(a=[float(run) for run in range(8)], b=[10.0] * 8)
    computed = []

    def measure(of: Session, run: int) -> float:
        computed.append(run)
        return of.values(("a",), value)[run] + of.values(("b",), value)[run]

    resample = found.resampled(3)
    sampled = [number + 10 for number in resample.values(("a",), value)]
    assert resample.per_run(("a",), "sum", measure) == sampled
    assert found.per_run(("a",), "sum", measure) == [run + 10.0 for run in range(8)]
    assert computed == list(range(8))


def test_quantities_with_equal_names_have_separate_numbers() -> None:
    found = session(a=[1.0, 2.0])
    runs, sums = (
        RecordedQuantity("seen", "1", measure, 0)
        for measure in (
            lambda _of, run, _cell: float(run),
            lambda of, run, cell: 10.0 + of.values(cell, value)[run],
        )
    )
    assert runs.values(found, ("a",)) == [0.0, 1.0]
    assert sums.values(found, ("a",)) == [11.0, 12.0]


counted: list[float] = []


def _counted(replication: Any) -> float:
    counted.append(value(replication))
    return counted[-1]


def test_measure_is_computed_once_for_replications_and_resamples() -> None:
    found = session(a=[float(run) for run in range(8)])
    counted.clear()
    assert found.values(("a",), _counted) == found.values(("a",), _counted)
    for draw in (0, 1, 2):
        resample = found.resampled(draw)
        assert resample.values(("a",), _counted) == resample.values(("a",), lambda run: value(run))
    assert counted == list(range(8))


def test_point_has_numbers_only_after_simulation() -> None:
    found, other = session(), session(a=[1.0, 2.0])
    assert found.values(("a",), value) == []
    found._simulated = other._simulated
    assert found.values(("a",), value) == [1.0, 2.0]


@pytest.mark.parametrize("resamples", [0, 3])
def test_checks_of_a_resample_share_computed_values(resamples: int, directory: Path) -> None:
    made: list[int | None] = []

    def check(found: Session, _spec: ClaimSpec, _cells: Any) -> Finding:
        sampled = found.shared("number", lambda: found.resample)
        made.append(sampled)
        return Finding(sampled == found.resample, [], {})

    says = Claims(directory)
    for key in ("rises", "weaker"):
        says.check(key)(check)
    random = [replace(each, is_random=True) for each in says.checks()]
    for claim in checked(session(resamples), random):
        assert claim.holds
        assert claim.strength == (Strength(3, 3) if resamples else None)
    assert made == [None, None, *(draw for draw in range(resamples) for _ in range(2))]


def test_items_not_computed_before_ctrl_c_stay_missing() -> None:
    found = session()
    assert found.shared("early", lambda: 1) == 1
    found.interrupted = True
    assert found.shared("early", lambda: 2) == 1
    with pytest.raises(KeyboardInterrupt):
        found.shared("late", lambda: 1)


def test_ctrl_c_between_resamples_keeps_the_verdicts(directory: Path) -> None:
    calls = []

    def check(found: Session, _spec: ClaimSpec, _cells: Any) -> Finding:
        calls.append(found.resample)
        if found.resample == 4:
            raise KeyboardInterrupt
        return Finding(True, [], {})

    claim = strength_of(check, {"a": [1.0, 2.0]}, directory)
    assert calls == [None, 0, 1, 2, 3, 4]
    assert (claim.holds, claim.strength) == (True, None)


def test_combined_claim_holds_when_all_parts_hold() -> None:
    def look(bearer: int, limit: int) -> Finding:
        return Finding(bearer > limit, [f"at {bearer}"], {"limit": limit})

    found = gathered("bearer", {384: 1, 128: 200}, look)
    values = {"bearer=384": {"limit": 1}, "bearer=128": {"limit": 200}}
    assert found == Finding(False, ["at 384", "at 128"], values)
    assert gathered("bearer", {384: 1}, look).holds
    assert list(gathered("", {"T_M": 1}, lambda *_: Finding(True, [], {})).values) == ["T_M"]


def test_values_are_joined() -> None:
    assert joined([0.616, 0.5], ".2f") == "0.62, 0.50"


# --- items -------------------------------------------------------------------------------------


def evaluate(_session: Session, _out: Path | None) -> ItemResult:
    return ItemResult("fig1", "", [])


@pytest.mark.parametrize(
    ("items", "belongs"), [(["fig1"], '["fig1"]'), (["fig1", "fig2"], '["fig1", "fig3"]')]
)
def test_items_that_differ_from_the_file_are_rejected(
    items: Sequence[str], belongs: str, tmp_path: Path
) -> None:
    (tmp_path / "paper.toml").write_text(
        'title = "T"\ncitation = "C"\nmodes = {}\nitems = {fig1 = "A", fig2 = "B"}\n'
    )
    text = f'[one]\nitems = {belongs}\ntext = ""\ncriterion = ""\n'
    (tmp_path / "claims.toml").write_text(text)
    says = Claims(tmp_path)
    says.check("one")(lambda *_: Finding(True, [], {}))
    sweeps: Any = Named()
    with pytest.raises(ValueError, match="differ"):
        paper_of(tmp_path, says, dict.fromkeys(items, ((), evaluate)), sweeps)


def test_directory_declares_a_paper(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(
        'title = "T"\ncitation = "C"\nconfidence = 0.9\nitems = {fig1 = "A"}\n'
        "[modes.quick]\nreplications = 2\nduration_s = 3.0\nwarmup_s = 1.0\n"
    )
    (tmp_path / "claims.toml").write_text("")
    items: Any = {"fig1": ((), evaluate)}
    sweeps: Any = Named()
    made = paper_of(tmp_path, Claims(tmp_path), items, sweeps)
    assert (made.key, made.title, made.confidence) == (tmp_path.name, "T", 0.9)
    assert [(item.key, item.title) for item in made.items] == [("fig1", "A")]
    assert made.modes == {"quick": Effort(2, 3.0, 1.0)}


# --- measured quantities -----------------------------------------------------------------------

NEAR = Tolerance("5 %", relative=0.05)
QUANTITY = MeasuredQuantity("goodput", "kbit/s", value, 1, NEAR, batch=2)


def test_measured_quantity_creates_rows_texts_and_columns() -> None:
    found = session(a=[10.0, 11.0, 12.0])
    row = QUANTITY.row(found, ("a",), {"aqm": "a"}, PublishedMean(11.5, 0.5))
    assert (row.computed, row.published, row.published_ci, row.within) == (11.0, 11.5, 0.5, True)
    assert row.extra == {"replications": 3, "means_of_2_runs": [10.5]}
    cells = QUANTITY.shown().cells({"goodput": row})
    assert cells == ["11.5 ± 0.5", "11.0 ± 5.7", "-4.3"]
    assert QUANTITY.text(found, ("b",)) == "not simulated"
    missing = QUANTITY.row(found, ("b",), {"aqm": "b"})
    assert (missing.computed, missing.published, missing.tolerance) == (None, None, None)


def test_improvement_compares_means_and_pairs_replications() -> None:
    found = session(new=[11.0, 22.0, 33.0, 44.0], old=[10.0, 20.0, 30.0, 40.0], one=[1.0])
    computed = improvement(found, ("new",), ("old",), QUANTITY)
    assert computed is not None
    assert computed.per_cent == pytest.approx(10)
    assert computed.per_cent_of_batches == pytest.approx([10, 10])
    # Differences of 1 to 4 between means of 25: 2.5 ± 3.77, with t = 5.841 at 99 %.
    assert computed.interval == pytest.approx((10 - 15.08, 10 + 15.08), abs=0.01)
    assert not computed.significant
    back = improvement(found, ("old",), ("old",), QUANTITY)
    assert back is not None
    assert (back.per_cent, back.significant) == (0, False)
    assert improvement(found, ("new",), ("missing",), QUANTITY) is None


def test_batches_omit_incomplete_batch() -> None:
    assert batch_means([1, 3, 5, 7, 100], 2) == [2, 6]
    assert batch_means([1], 2) == []


def test_printed_half_widths_are_compared_at_published_replications() -> None:
    found = session(a=[10.0, 11.0, 12.0, 13.0, 14.0])
    # Half-width t s / sqrt(n) with s = 1.581 at 99 %: t = 4.604 and 3.255 for 5 replications, t =
    # 9.925 and 9.060 for 3 replications.
    found.paper = replace(found.paper, published_runs=3)
    row = QUANTITY.row(found, ("a",), {"aqm": "a"}, PublishedMean(11.5, 4.53))
    missing = QUANTITY.row(found, ("b",), {"aqm": "b"}, PublishedMean(11.5, 1.0))
    item = ItemResult("table1", "", [row, missing])
    [compared] = half_widths([item, replace(item, item="table2")], found)
    values = compared.values["goodput"]
    assert (values["half_widths"], values["mean_ratio"]) == (1, pytest.approx(2.0, abs=0.001))
    # exp(2.576 sqrt(1/8 + 1/4)) = 4.84, so that a factor of 2 may be due to chance.
    assert values["within_chance"] == 1
    assert compared.lines == [
        "goodput: 1 printed half-widths; simulated over printed 2.00 (geometric mean), "
        "2.00 to 2.00; 1 within the factor 4.84 that 99 % of equal ones stay within"
    ]
    found.paper = replace(found.paper, published_runs=None)
    assert half_widths([item], found) == []


# --- scores ------------------------------------------------------------------------------------


def test_point_is_near_if_all_its_rows_are_near_in_each_batch() -> None:
    def row(bearer: int, quantity: str, batches: list[float]) -> Row:
        about = ({"bearer": bearer, "aqm": quantity}, quantity, "1", 100.0, batches[0])
        return Row(*about, tolerance=NEAR, extra={"batches": batches})

    rows = [
        row(384, "goodput", [104.0, 96.0, 106.0]),
        row(384, "delay", [96.0, 94.0, 96.0]),
        row(128, "goodput", [100.0, 100.0, 100.0]),
    ]
    places = by_place(rows, ("bearer",))
    assert list(places) == [(384,), (128,)]
    assert within_by_batch(places.values(), "batches") == [2, 1, 1]
    assert largest_difference(rows, "delay") == pytest.approx(-0.04)
    assert largest_difference(rows, "rtt") == 0
    assert others(["a", "b"]) == "; others: a; b"
    assert others([]) == ""
