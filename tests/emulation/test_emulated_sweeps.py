"""Emulated sweeps, with a replacement of airpath-emu and with the real program."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import airpath as ap
from airpath.cli import main
from airpath.emulation import process
from airpath.errors import AdvisoryWarning, BadValueError, MachineError
from conftest import SCENARIO
from emulator import cannot_emulate, has_control, judged

Fake = Callable[..., Path]

FEW = pytest.mark.filterwarnings("ignore:(few-replications|equal-replications)")


@pytest.fixture
def swept(scenario: ap.Scenario, tmp_path: Path) -> Callable[..., ap.Sweep]:
    """Run a sweep over two rates, emulated by default."""

    def run(**changes: Any) -> ap.Sweep:
        keys: dict[str, Any] = {
            "grid": {"bottleneck.link.rate": ["5 Mbit/s", "10 Mbit/s"]},
            "metrics": ["goodput_bps", "queues.bottleneck.mean_sojourn_s"],
            "reps": 2,
            "engines": ["emulate"],
        }
        return ap.sweep(scenario, **{**keys, **changes})

    return run


def _documents(seen: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["document"] for line in seen.read_text().splitlines()]


@FEW
def test_emulated_sweep_has_metrics_of_a_simulation(
    fake: Fake, swept: Callable[..., ap.Sweep]
) -> None:
    seen = fake()
    emulated, simulated = swept(threads=3).points(), swept(engines=["simulate"]).points()
    numbers = ["mean", "low", "high", "reps"]
    # The replacement simulates.
    pd.testing.assert_frame_equal(emulated[numbers], simulated[numbers])
    assert set(emulated["engine"]) == {"emulate"}
    assert emulated["valid"].tolist() == [True] * 4
    assert "valid" not in simulated
    runs = [(one["replication"], one["seed"]) for one in _documents(seen)]
    assert runs == [(0, 1), (1, 1)] * 2


@FEW
def test_emulations_run_sequentially_and_resume(
    fake: Fake, swept: Callable[..., ap.Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airpath.sweeps import emulating

    running, most = 0, 0
    lock, once = threading.Lock(), emulating.run_once

    def counted(*arguments: Any, **keys: Any) -> Iterator[Any]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            with once(*arguments, **keys) as found:
                yield found
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(emulating, "run_once", contextmanager(counted))
    seen = fake()
    swept(out=tmp_path / "out", threads=3, reps=1)
    assert most == 1
    assert len(_documents(seen)) == 2
    sweep = swept(out=tmp_path / "out", threads=3)
    assert [one["replication"] for one in _documents(seen)] == [0, 0, 1, 1]
    assert [run.measured()["validity"]["attempts"] for run in sweep.replications(1)] == [1, 1]


@FEW
def test_invalid_replication_is_repeated_once_and_point_is_marked(
    fake: Fake, swept: Callable[..., ap.Sweep]
) -> None:
    seen = fake(validity={"valid": False, "reasons": ["late by 9 ms"]})
    line = (
        r"^invalid-emulation: 2 of 2 points, the first is point 0 .*: 2 of 2 emulated replications "
        r"are invalid, after 2 attempts each; the first reason: late by 9 ms\. "
    )
    with pytest.warns(AdvisoryWarning, match=line):
        sweep = swept()
    assert [one["replication"] for one in _documents(seen)] == [0, 0, 1, 1] * 2
    assert sweep.points()["valid"].tolist() == [False] * 4
    reports = [run.measured()["validity"] for run in sweep.replications(0)]
    assert [(report["valid"], report["attempts"]) for report in reports] == [(False, 2)] * 2


@FEW
def test_user_metric_receives_validity_report(fake: Fake, swept: Callable[..., ap.Sweep]) -> None:
    fake()
    late = swept(metrics={"late_s": lambda result: result.validity_reports[0]["lateness_p99_s"]})
    assert late.points()["mean"].tolist() == [1e-4, 1e-4]


def test_points_that_cannot_be_emulated_are_problems_of_the_check(
    fake: Fake, swept: Callable[..., ap.Sweep]
) -> None:
    seen = fake()
    with pytest.raises(BadValueError) as error:
        swept(grid={"flows.0.cc": ["cubic", "bbr1", "vcp", "newreno"]})
    (line,) = str(error.value).split("\n")
    assert 'flows.0.cc = "vcp": not a congestion control of kernels' in line
    with pytest.raises(BadValueError, match="the replications of a sweep have one engine"):
        swept(engines=["emulate", "simulate"])
    with pytest.raises(BadValueError, match=r"executor = .*: an emulation runs here, one at a"):
        swept(executor=_Executor())
    assert not seen.exists()


class _Executor:
    def submit(self, *_: object) -> None:
        raise AssertionError


def test_missing_requirement_ends_sweep_immediately(
    fake: Fake, swept: Callable[..., ap.Sweep]
) -> None:
    seen = fake(failed={"what": "tun", "message": "cannot open a TUN device: no such device."})
    with pytest.raises(MachineError, match=r"no such device\. See airpath emulate --check\."):
        swept()
    assert len(_documents(seen)) == 1


def test_finished_sweep_needs_no_emulation_program(
    fake: Fake, swept: Callable[..., ap.Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake()
    first = swept(out=tmp_path / "out", reps=1)
    monkeypatch.setenv(process.PROGRAM, str(tmp_path / "nothing"))
    assert swept(out=tmp_path / "out", reps=1).points().equals(first.points())
    with pytest.raises(MachineError, match="nothing does not exist"):
        swept(out=tmp_path / "out", reps=2)


def test_dask_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.toml").write_text(ap.Scenario(**SCENARIO).to_toml())
    file = tmp_path / "sweep.toml"
    file.write_text('scenario = "s.toml"\nengines = ["emulate"]\n[grid]\nduration = ["4 s"]\n')
    assert main(["sweep", str(file), "--dask", "local"]) == 2
    line = "--dask: an emulation runs here, one at a time. Remove it.\n"
    assert capsys.readouterr().err == line


@pytest.mark.realtime
@FEW
def test_grid_with_bbr_is_emulated() -> None:
    if reason := cannot_emulate():
        pytest.skip(reason)
    if not has_control("bbr"):
        pytest.skip("this kernel has no bbr")
    scenario = ap.Scenario(
        duration="1.2 s",
        warmup="0.5 s",
        bottleneck={"aqm": "droptail", "link": {"kind": "fixed", "rate": "10 Mbit/s"}},
        flows=[{"cc": "cubic", "profile": "linux", "base_rtt": "30 ms"}],
    )
    grid = {"flows.0.cc": ["cubic", "bbr1"]}

    def run() -> pd.DataFrame:
        sweep = ap.sweep(scenario, grid=grid, metrics=["goodput_bps"], reps=1, engines=["emulate"])
        return sweep.points()

    table = judged(run, lambda found: [] if found["valid"].all() else found["advisories"])
    assert table["mean"].between(3e6, 10e6 * 1460 / 1500 * 1.05).all()
