"""Points that several `reproduce` commands store in one ledger: their names, and removed points."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import airpath as ap
from airpath.reproduction import Effort, Paper, load
from airpath.reproduction.plan_points import CurrentPoints, named
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath.sweeps.job import job_of
from airpath.sweeps.ledger.overview import overview
from airpath.sweeps.ledger.prune import prune
from airpath.sweeps.plan import Point as PlanPoint

ROOT: Final = Path(__file__).parents[2]
SHORT: Final = Effort(replications=3, duration_s=2.0, warmup_s=1.0)
LINK: Final = {
    "channel": "awgn",
    "snr_db": 20.0,
    "spacing": "SF",
    "flows": 1,
    "mean_rtt0_ms": 100,
    "mcs1": 3,
    "mcs2": 3,
    "boundary": 1,
}
"""A link of a policy, as computed by papers/studies/qawla."""


def _path(rate: str) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(1, cc="newreno", base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Fixed(rate=rate)),
        duration="9 s",
    )


def _reproduced_rates(
    directory: Path,
    rates: list[str],
    *,
    effort: Effort = SHORT,
    key: str = "p",
    confidence: float = 0.9,
    make: Callable[..., ap.Scenario] | None = None,
    chosen: str | None = None,
) -> None:
    """Simulate points with the rates `rates`, or one of them, into ``out``."""
    (directory / "sweeps.toml").write_text(f"[rates]\ngrid.rate = {json.dumps(rates)}\nreps = 1\n")
    sweeps = Sweeps(directory, make or _path)
    paper = Paper(key, "", "", {}, [], sweeps, confidence=confidence)
    session = Session(paper, effort, directory=directory / "out")
    session.simulate(sweeps.cells("rates", rate=chosen or tuple(rates)))


def _named_points(out: Path) -> list[tuple[Any, ...]]:
    """Return, for each point, its key and its number of replications."""
    sweep = ap.load_sweep(out)
    table = sweep.points()
    found = table[table["metric"] == "goodput_bps"]
    return list(found[[*sweep.plan.axes, "reps"]].itertuples(index=False, name=None))


def test_points_of_other_modes_and_papers_have_distinct_names(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _reproduced_rates(tmp_path, ["1 Mbit/s"], confidence=0.95)
    _reproduced_rates(tmp_path, ["1 Mbit/s"], effort=Effort(1, 3.0, 1.0), confidence=0.95)
    _reproduced_rates(tmp_path, ["1 Mbit/s"], effort=Effort(1, 4.0, 1.0), key="q")
    assert _named_points(out) == [
        ("q", "_path", "1 Mbit/s", "4.0", "1.0", 1),
        ("p", "_path", "1 Mbit/s", "3.0", "1.0", 1),
        ("p", "_path", "1 Mbit/s", "2.0", "1.0", 1),
    ]
    plan = ap.load_sweep(out).plan
    assert (plan.name, plan.confidence) == ("p, q", 0.95)
    found = overview(out / "ledger.sqlite")
    assert (found.points, found.finished_points) == (3, 3)
    assert (prune(out / "ledger.sqlite").kept, prune(out / "ledger.sqlite").replications) == (3, 0)


def test_points_that_record_series_have_distinct_names(tmp_path: Path) -> None:
    (tmp_path / "sweeps.toml").write_text(
        '[plain]\nset.rate = "1 Mbit/s"\nreps = 1\n'
        '[recorded]\nset.rate = "1 Mbit/s"\nreps = 1\nseries = ["queue"]\n'
    )
    sweeps = Sweeps(tmp_path, _path)
    for name in sweeps.names():
        paper = Paper("p", "", "", {}, [], sweeps)
        Session(paper, SHORT, directory=tmp_path / "out").simulate(sweeps.cells(name))
    names = _named_points(tmp_path / "out")
    assert len(names) == len(set(names)) == 2


@pytest.mark.parametrize("name", ["sbd", "clamp", "vcp", "wimax", "qawla"])
@pytest.mark.parametrize("kind", ["", "papers/studies/"])
def test_points_of_all_items_stay_in_the_plan(kind: str, name: str) -> None:
    """The points of `ranking` are computed by the paper; their scenarios identify them."""
    paper = load(str(ROOT / kind / name) if kind else name)
    known = CurrentPoints(paper).known
    session = Session(paper, paper.modes["full"])
    items = [item for item in paper.items if item.key != "ranking"]
    wanted = {cell for item in items for cell in item.cells_of(session)}
    assert len(wanted) > 20
    assert wanted <= known


def test_computed_point_is_kept_while_its_scenario_is_unchanged() -> None:
    paper = load(str(ROOT / "papers" / "studies" / "qawla"))
    cell = SweepPoint.of("adapted_path", **LINK)
    session = Session(paper, SHORT)
    values = named(paper, cell, session.effort_of(cell))
    job, _ = job_of(session.scenario(cell))
    stays = CurrentPoints(paper)
    assert stays(PlanPoint(0, values, {}, job.digest))
    assert not stays(PlanPoint(0, values, {}, "another"))
    assert not stays(PlanPoint(0, values | {"scenario": "gone"}, {}, job.digest))
    assert stays(PlanPoint(0, values | {"paper": "another"}, {}, "another"))


def _corrected(rate: str) -> ap.Scenario:
    return _path(rate).replace({"flows.0.count": 2})


@pytest.mark.parametrize("is_removed", [False, True])
def test_points_removed_from_the_paper_leave_the_plan(tmp_path: Path, *, is_removed: bool) -> None:
    """A point is removed from the paper if its scenario is corrected, or its axis value is
    removed.
    """
    _corrected.__name__ = "_path"
    out = tmp_path / "out"
    _reproduced_rates(tmp_path, ["1 Mbit/s", "2 Mbit/s"])
    make, rates = (_path, ["1 Mbit/s"]) if is_removed else (_corrected, ["1 Mbit/s", "2 Mbit/s"])
    _reproduced_rates(tmp_path, rates, make=make, chosen="1 Mbit/s")
    assert [rate for _, _, rate, *_ in _named_points(out)] == ["1 Mbit/s"]
    found = overview(out / "ledger.sqlite")
    assert (found.points, found.finished_points, found.others) == (1, 1, 1 if is_removed else 2)
    pruned = prune(out / "ledger.sqlite")
    assert (pruned.kept, pruned.not_planned) == (1, 1 if is_removed else 2)
