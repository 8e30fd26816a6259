"""`airpath.sweep`: return value, stored data, warnings and errors."""

from __future__ import annotations

import gc
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sweep_samples import scenario

import airpath as ap
from airpath.errors import AirpathWarning, BadValueError, RunError
from airpath.sweeps.api import TemporaryDirectory
from airpath.sweeps.ledger import FILE_NAME, Ledger
from waiting import wait_until

GRID = {"bottleneck.aqm": ["gred", "codel"]}


def test_package_is_callable() -> None:
    import airpath.sweeps.job  # noqa: F401

    assert callable(ap.sweep)
    with pytest.raises(BadValueError, match=r"^threads = 0: below 1\."):
        ap.sweep(scenario(), grid=GRID, threads=0)


@pytest.mark.filterwarnings("ignore::airpath.errors.AdvisoryWarning")
def test_means_equal_those_of_simulate_and_no_file_remains() -> None:
    reports: list[float] = []
    sweep = ap.sweep(scenario(), grid=GRID, reps=3, seed=5, progress=lambda f, _: reports.append(f))
    table = sweep.points()
    assert list(table["metric"]) == ["goodput_bps", "p95_delay_s"] * 2
    table = table[table["metric"] == "goodput_bps"]
    assert list(table["bottleneck.aqm"]) == ["gred", "codel"]
    alone = ap.simulate(scenario(), reps=3, seed=5)
    goodput = sum(sum(flow["goodput_bps"] for flow in run["flows"]) for run in alone.replications)
    assert table["mean"][0] == pytest.approx(goodput / 3)
    assert reports
    assert sweep.path.exists()
    path = sweep.path
    del sweep
    gc.collect()
    assert not path.parent.exists()


def test_temporary_directory_is_removed_after_a_kill() -> None:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        owned = TemporaryDirectory()
        os.write(write, str(owned.path).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    path = Path(os.read(read, 4096).decode())
    os.waitpid(child, 0)
    wait_until(lambda: not path.exists())
    os.close(read)
    os.close(write)


@pytest.mark.filterwarnings("ignore::airpath.errors.AdvisoryWarning")
def test_base_and_metric_may_be_functions(tmp_path: Path) -> None:
    def base(rate: str) -> ap.Scenario:
        return scenario(rate)

    def events(result: ap.Result) -> float:
        return float(result.replications[0]["events"])

    sweep = ap.sweep(
        base,
        grid={"rate": ["1 Mbit/s", "2 Mbit/s"]},
        metrics=["goodput_bps", events],
        reps=2,
        out=tmp_path / "out",
    )
    runs = sweep.runs()
    alone = ap.simulate(scenario("2 Mbit/s"), reps=2)
    expected = [float(run["events"]) for run in alone.replications]
    assert list(runs[runs["point"] == 1]["events"]) == expected
    assert (tmp_path / "out" / FILE_NAME).exists()


def test_failing_metric_is_a_warning_or_with_fail_fast_an_error(tmp_path: Path) -> None:
    def bad(_result: ap.Result) -> float:
        raise LookupError("nothing there")

    arguments: dict[str, Any] = {"grid": GRID, "metrics": [bad], "reps": 1}
    text = r"^2 points failed\. The first is point 0 \(bottleneck\.aqm = gred\), replication 0: "
    with pytest.warns(AirpathWarning, match=text + "bad: LookupError: nothing there"):
        sweep = ap.sweep(scenario(), **arguments)
    assert sweep.points()["mean"].isna().all()
    with pytest.raises(RunError, match=r"^. points? failed\. "):
        ap.sweep(scenario(), **arguments, fail_fast=True, threads=1)


def test_ctrl_c_raises_with_the_finished_replications(tmp_path: Path) -> None:
    main = threading.main_thread().ident
    assert main is not None

    def are_stored() -> bool:
        try:
            with Ledger.read(tmp_path / FILE_NAME) as ledger:
                return sum(ledger.stored().replications.values()) == 2
        except ValueError:
            return False

    def interrupt() -> None:
        wait_until(are_stored)
        signal.pthread_kill(main, signal.SIGINT)

    watching = threading.Thread(target=interrupt, daemon=True)
    watching.start()
    points = [{"duration": "1 s"}, {"duration": "10 h"}]
    with pytest.raises(ap.errors.SweepInterrupted) as stopped:
        ap.sweep(scenario("1 Gbit/s"), points=points, reps=2, out=tmp_path)
    watching.join()
    assert len(stopped.value.sweep.runs()) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore::airpath.errors.AdvisoryWarning")
def test_replication_without_its_series_is_run_again(tmp_path: Path) -> None:
    base = scenario(record={"series": ["cwnd"], "interval": "100 ms"})
    options: dict[str, Any] = {"grid": GRID, "reps": 2, "series": ["cwnd"], "out": tmp_path}
    ap.sweep(base, **options)
    files = sorted((tmp_path / "series").iterdir())
    content = files[1].read_bytes()
    files[1].unlink()
    assert ap.sweep(base, **options).complete
    assert sorted((tmp_path / "series").iterdir()) == files
    assert files[1].read_bytes() == content


@pytest.mark.filterwarnings("ignore::airpath.errors.AdvisoryWarning")
def test_series_are_stored_next_to_the_ledger(tmp_path: Path) -> None:
    base = scenario(record={"series": ["cwnd"], "interval": "100 ms"})
    sweep = ap.sweep(base, grid=GRID, reps=2, series=["cwnd"], out=tmp_path)
    files = sorted((tmp_path / "series").iterdir())
    digests = {point.digest[:12] for point in sweep.plan.points}
    assert {path.name for path in files} == {
        f"{digest}-1-{number}.parquet" for digest in digests for number in range(2)
    }
    # Another seed has other files: stored replications are not run again and keep their own.
    ap.sweep(base, grid=GRID, reps=1, seed=2, series=["cwnd"], out=tmp_path)
    digest = sweep.plan.points[0].digest[:12]
    first = pd.read_parquet(tmp_path / "series" / f"{digest}-1-0.parquet")
    assert (tmp_path / "series" / f"{digest}-2-0.parquet").exists()
    alone = ap.simulate(base, reps=1).series("cwnd")
    assert list(first.columns) == ["series", "time_s", "id", "queue", "value"]
    assert sweep.series(0, "cwnd")["value"].tolist() == first["value"].tolist()
    every = sweep.series(0, "cwnd", replication=None)
    assert every["replication"].unique().tolist() == [0, 1]
    assert every[every["replication"] == 0]["value"].tolist() == first["value"].tolist()
    assert [run.replication for run in sweep.replications(0)] == [0, 1]
    assert list(first["value"]) == list(alone["value"])
