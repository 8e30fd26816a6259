"""`reproduce --out` keeps finished items and resumes from there, with the same report."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.errors import AirpathWarning, BadValueError, RunError
from airpath.reproduction import Effort, Paper, Report, reproduce
from airpath.reproduction.engine import Wanted, simulated
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps
from airpath.sweeps import tasks
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.ledger.overview import overview
from airpath.sweeps.ledger.prune import prune
from airpath.sweeps.runs import Run
from waiting import wait_until

SHORT = Effort(replications=3, duration_s=2.0, warmup_s=1.0)
ITEMS = ["table3"]
REPLICATIONS = 18 * 3


class Ran:
    """A counter of the simulated replications, which can stop like Ctrl-C."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.stop_after: int | None = None
        self.has_pressed = False
        self.commit: str | None = None
        self.error: Exception | None = None
        self._run: Callable[..., list[Run]] = tasks.run_job
        monkeypatch.setattr(tasks, "run_job", self)

    def __call__(self, *arguments: Any) -> list[Run]:
        if self.error is not None:
            raise self.error
        runs = self._run(*arguments)
        self.count += len(runs)
        if self.commit is not None:
            runs = [Run(**{**vars(run), "commit": self.commit}) for run in runs]
        if self.stop_after is not None and self.count >= self.stop_after:
            if not self.has_pressed:
                self.has_pressed = True
                os.kill(os.getpid(), signal.SIGINT)
            *_, stop = arguments
            wait_until(stop)
        return runs


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    return Ran(monkeypatch)


def reproduced(ran: Ran, out: Path, **how: Any) -> Report:
    ran.has_pressed = False
    return reproduce("qawla", ITEMS, effort=SHORT, out=out, **how)


def document(out: Path) -> Any:
    return json.loads((out / "qawla.json").read_text())


def test_resumed_run_ends_like_an_uninterrupted_one(ran: Ran, tmp_path: Path) -> None:
    assert not reproduced(ran, tmp_path / "whole", threads=2).interrupted
    assert ran.count == REPLICATIONS
    out = tmp_path / "resumed"
    reported = 0
    for stop_after in (4, 20, 41):
        ran.count, ran.stop_after = reported, stop_after
        assert reproduced(ran, out, threads=2).interrupted
        # Items finished at Ctrl-C are kept, and no replication is simulated twice.
        with Ledger.read(out / "ledger.sqlite") as ledger:
            kept = sum(ledger.stored().replications.values())
        assert kept == ran.count >= stop_after
        reported = kept
    ran.stop_after = None
    assert not reproduced(ran, out, threads=1).interrupted
    assert ran.count == REPLICATIONS
    assert document(out) == document(tmp_path / "whole")
    ran.count = 0
    assert not reproduced(ran, out).interrupted
    assert ran.count == 0
    assert document(out) == document(tmp_path / "whole")


def test_more_replications_or_another_seed_simulate_missing_ones(ran: Ran, tmp_path: Path) -> None:
    few = Effort(replications=1, duration_s=2.0, warmup_s=1.0)
    reproduce("qawla", ITEMS, effort=few, out=tmp_path)
    reproduced(ran, tmp_path)
    assert ran.count == REPLICATIONS
    reproduced(ran, tmp_path, seed=2)
    assert ran.count == 2 * REPLICATIONS
    report = reproduce("qawla", ITEMS, effort=few, out=tmp_path)
    assert ran.count == 2 * REPLICATIONS
    assert {row.extra.get("replications") for row in report.items[0].rows} <= {None, 1}


def test_replications_of_another_version_are_reported(ran: Ran, tmp_path: Path) -> None:
    ran.commit = "feedbeef0123"
    assert "other_versions" in reproduced(ran, tmp_path, accept_version=True).provenance
    ran.commit, ran.count = None, 0
    used = reproduced(ran, tmp_path, accept_version=True)
    assert ran.count == 0
    (other,) = used.provenance["other_versions"]
    assert (other["commit"], other["replications"]) == ("feedbeef0123", REPLICATIONS)
    warning = r"ledger.sqlite: replications of airpath \S+ \(feedbeef0123\) are left alone and run "
    with pytest.warns(AirpathWarning, match=warning):
        renewed = reproduced(ran, tmp_path)
    assert ran.count == REPLICATIONS
    assert "other_versions" not in renewed.provenance


def test_failed_replication_ends_reproduction(ran: Ran, tmp_path: Path) -> None:
    ran.error = RunError("qawla idx 1: no memory")
    with pytest.raises(
        RunError,
        match=r"point 0 \(.*\), replication 0: qawla idx 1: no memory$",
    ):
        reproduced(ran, tmp_path)
    ran.error = None
    reproduced(ran, tmp_path)
    assert ran.count == REPLICATIONS


def test_items_without_simulation_or_output_keep_nothing(ran: Ran, tmp_path: Path) -> None:
    reproduce("qawla", ["table2"], effort=SHORT, out=tmp_path)
    assert not (tmp_path / "ledger.sqlite").exists()
    plain = reproduce("qawla", ITEMS, effort=SHORT)
    assert ran.count == REPLICATIONS
    assert not (tmp_path / "ledger.sqlite").exists()
    kept = reproduced(ran, tmp_path)
    assert [row.to_dict() for row in kept.items[0].rows] == [
        row.to_dict() for row in plain.items[0].rows
    ]


def test_recorded_series_are_kept_next_to_the_ledger(ran: Ran, tmp_path: Path) -> None:
    scenario = ap.Scenario(
        flows=ap.flows(1, cc="newreno", base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Fixed(rate="5 Mbit/s")),
        duration="2 s",
        record={"series": ["queue", "drop"], "interval": "1 s"},
    )

    def run(directory: Path | None) -> Any:
        requested = [Wanted({}, scenario, 2)]
        return simulated(requested, name="p", confidence=0.9, seed=1, directory=directory).points[0]

    temporary, first = run(None), run(tmp_path)
    assert ran.count == 4
    again = run(tmp_path)
    assert ran.count == 4
    for found in (temporary, first, again):
        queue = found.series("queue", 1)
        assert [round(at) for at in queue.time_s] == [0, 1, 2]
        assert list(queue.value) == list(first.series("queue", 1).value)
        assert (
            len(found.series("drop", 0).time_s) == 0
        )  # the series is recorded, and the queue dropped no packets
        with pytest.raises(LookupError, match="cwnd was not recorded"):
            found.series("cwnd", 0)
    files = sorted((tmp_path / "series").iterdir())
    assert len(files) == 2
    files[0].unlink()
    with pytest.raises(BadValueError, match=r"-0.parquet: does not exist\. Remove the ledger"):
        again.series("queue", 0)
    renewed = run(tmp_path)
    assert ran.count == 5
    assert list(renewed.series("queue", 0).value) == list(first.series("queue", 0).value)
    assert sorted((tmp_path / "series").iterdir()) == files
    assert renewed.replications == first.replications


def test_points_with_different_replications_are_one_sweep(tmp_path: Path) -> None:
    (tmp_path / "sweeps.toml").write_text(
        '[few]\ngrid = {rate = ["1 Mbit/s", "2 Mbit/s"]}\nreps = 2\n'
        '[many]\nset.rate = "2 Mbit/s"\nreps = 3\n'
    )
    sweeps = Sweeps(tmp_path, _path)
    cells = [cell for name in sweeps.names() for cell in sweeps.cells(name)]
    out = tmp_path / "out"
    session = Session(Paper("p", "", "", {}, [], sweeps), SHORT, directory=out)
    session.simulate(cells)
    assert [len(session.replications(cell)) for cell in cells] == [2, 2, 3]
    sweep = ap.load_sweep(out)
    axes = ["paper", "scenario", "rate", "duration_s", "warmup_s"]
    assert (sweep.plan.name, list(sweep.plan.axes), sweep.complete) == ("p", axes, True)
    table = sweep.points()
    reps = table[table["metric"] == "goodput_bps"].set_index("rate")["reps"]
    assert reps.to_dict() == {"1 Mbit/s": 2, "2 Mbit/s": 3}
    found = overview(out / "ledger.sqlite")
    assert (found.finished_points, found.wanted, found.others) == (2, (5, 5), 0)
    few = Session(Paper("p", "", "", {}, [], sweeps), SHORT, directory=out)
    few.simulate(sweeps.cells("few"))
    assert [len(few.replications(cell)) for cell in sweeps.cells("few")] == [2, 2]
    # Other items and additional replications of an earlier call are kept.
    assert overview(out / "ledger.sqlite").finished_points == 2
    assert prune(out / "ledger.sqlite").replications == 0
    longer = Session(Paper("p", "", "", {}, [], sweeps), SHORT, directory=out)
    longer.simulate(sweeps.cells("few", rate="1 Mbit/s"))
    assert len(ap.load_sweep(out).points()) == 4
    assert prune(out / "ledger.sqlite").kept == 5


def _path(rate: str) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(1, cc="newreno", base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Fixed(rate=rate)),
        duration="9 s",
    )


def test_damaged_ledger_is_reported(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(b"")
    name = re.escape(str(tmp_path / "ledger.sqlite"))
    with pytest.raises(BadValueError, match=rf"^{name}: damaged \(empty\)\."):
        reproduce("qawla", ITEMS, effort=SHORT, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]
