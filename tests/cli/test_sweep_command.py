"""``airpath sweep``: tables and report of a sweep file; interrupted, killed and restarted."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from processes import environment, words

import airpath as ap
from airpath.sweeps.ledger import FILE_NAME, Ledger
from forked import airpath_words
from waiting import wait_until

Command = Callable[..., Any]

BASE = """\
duration = "2 s"

[bottleneck]
aqm = "gred"
link = {kind = "fixed", rate = "5 Mbit/s"}

[[flows]]
base_rtt = "40 ms"
tcp = {receive_window = "1 MB"}
start = {uniform = ["0 s", "1 s"]}
"""
SWEEP = """\
scenario = "base.toml"
reps = 5
metrics = ["goodput_bps", "p95_sojourn_s"]

[grid]
"bottleneck.aqm" = ["gred", "codel"]
"flows.0.cc" = ["newreno", "cubic"]
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)
    Path("sweep.toml").write_text(SWEEP)
    return tmp_path


def finished(directory: str) -> dict[tuple[str, int], float]:
    """Return the finished replications of a ledger: a mapping from (job, replication) to
    CPU time.
    """
    with Ledger.read(Path(directory, FILE_NAME)) as ledger:
        plan = ledger.plan()
        assert plan is not None
        return {
            (point.digest, run.replication): run.cpu_s
            for point in plan.points
            for run in ledger.runs(point.digest, plan.seed_of(point))
        }


def test_table_is_the_same_for_every_executor_and_a_larger_one_runs_missing_points(
    airpath_command: Command,
) -> None:
    Path("sweep.toml").write_text(SWEEP.replace(', "p95_sojourn_s"', ""))
    first = airpath_command("sweep", "sweep.toml", "--out", "one", "--threads", "1")
    assert first.status == 0
    assert first.out.count("\n") == 4 + 4
    assert first.err.splitlines()[-1] == "written: one/report.html"
    second = airpath_command("sweep", "sweep.toml", "--out", "two", "--threads", "2")
    assert (second.status, second.out) == (0, first.out)
    for name in ("points.csv", "runs.csv"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    stored = finished("two")
    more = airpath_command("sweep", "sweep.toml", "--out", "two", "--reps", "6")
    assert more.status == 0
    after = finished("two")
    assert len(after) == 24
    assert {key: after[key] for key in stored} == stored
    sessions = [(each.command, each.replications) for each in ap.load_sweep("two").sessions]
    command = "airpath sweep sweep.toml --out two"
    assert sessions == [(f"{command} --threads 2", 20), (f"{command} --reps 6", 4)]


def test_json_is_one_document_and_tables_have_other_formats(airpath_command: Command) -> None:
    text = SWEEP.replace("reps = 5", "reps = 2").replace(', "p95_sojourn_s"', "")
    Path("sweep.toml").write_text(text)
    options = ("--format", "latex", "--figure-format", "pdf", "--seed", "7")
    answer = airpath_command("sweep", "sweep.toml", "--json", "--out", "o", *options)
    assert answer.status == 0
    document = json.loads(answer.out)
    assert document["provenance"]["seed"] == 7
    assert [point["point"] for point in document["points"]] == [0, 1, 2, 3]
    assert document["points"][3]["simulate"]["goodput_bps"]["reps"] == 2
    assert r"\toprule" in Path("o", "points.tex").read_text()
    assert not Path("o", "points.csv").exists()
    figures = sorted(path.name for path in Path("o").iterdir() if path.suffix in (".pdf", ".png"))
    assert "lines-goodput_bps.pdf" in figures
    assert all(name.endswith(".pdf") for name in figures)
    assert b"/FontFile2" in Path("o", "lines-goodput_bps.pdf").read_bytes()


def test_uncovered_points_are_reported_and_the_table_has_units(airpath_command: Command) -> None:
    """Regression: the report could not be written if a failure belonged to no replication."""
    text = SWEEP.replace("reps = 5", 'engines = ["solve"]').replace(
        '["gred", "codel"]', '["droptail"]'
    )
    Path("sweep.toml").write_text(text)
    Path("base.toml").write_text(BASE.replace('start = {uniform = ["0 s", "1 s"]}\n', ""))
    answer = airpath_command("sweep", "sweep.toml", "--out", "out")
    assert answer.status == 0
    _, title, head, _, newreno, cubic = answer.out.splitlines()
    assert title == "sweep"
    assert "goodput, Mbit/s" in head
    assert newreno.split()[:3] == ["0", "droptail", "newreno"]
    assert 4 < float(newreno.split()[3]) < 5
    assert cubic.split()[3:] == ["–", "–"]
    last_line = answer.err.splitlines()[-1]
    assert last_line.startswith("solve: 1 of 2 points have no solution. The first is point 1: ")
    assert "What failed" in Path("out/report.html").read_text()


def test_ctrl_c_does_not_wait_for_the_figures(
    airpath_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("airpath.sweeps.plot.figures.rendered", pressed)
        answer = airpath_command("sweep", "sweep.toml", "--out", "o u't")
    assert answer.status == 130
    assert answer.err.splitlines()[2:] == [
        "Interrupted: 4 of 4 points are finished. Resume with: "
        """airpath sweep sweep.toml --out 'o u'"'"'t'""",
    ]
    assert sorted(os.listdir("o u't")) == ["ledger.sqlite", "points.csv", "runs.csv"]  # noqa: PTH208


def test_sweep_without_a_directory_keeps_nothing(airpath_command: Command, directory: Path) -> None:
    before = sorted(directory.iterdir())
    answer = airpath_command("sweep", "sweep.toml", "--reps", "1")
    assert answer.status == 0
    assert answer.err.startswith("Nothing was kept. Use --out DIR for ")
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--reps", "0"], "--reps: 0: below 1. Use an integer from 1 on."),
        (["--seed", "-1"], "--seed: -1: not accepted. Use an integer from 0 to 2^64 - 1."),
        (["--threads", "0"], "--threads: 0: below 1. Use an integer from 1 on."),
        (["--dask", "x.py", "--threads", "2"], "--threads and --dask: the cluster has its own. "),
        (["--dask", "x.py"], '--dask: "x.py": cannot be read (no such file or directory).'),
        (["--set", "flows.0.cc"], "--set flows.0.cc: no value. "),
    ],
)
def test_invalid_options_are_reported_in_one_line_each(
    airpath_command: Command, directory: Path, options: list[str], line: str
) -> None:
    answer = airpath_command("sweep", "sweep.toml", "--out", "new", *options)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(line)
    assert answer.err.count("\n") == 1
    assert not Path("new").exists()


def test_missing_file_is_reported_in_one_line(airpath_command: Command) -> None:
    answer = airpath_command("sweep", "statsu")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("statsu: ")
    assert answer.err.count("\n") == 1


# --- interrupted, killed -------------------------------------------------------------------------

MANY = """\
scenario = "base.toml"
reps = {reps}

[grid]
"bottleneck.link.rate" = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]
"""


def started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        airpath_words("sweep", *arguments),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_to_the_end(*arguments: str) -> None:
    process = started(*arguments)
    _, err = process.communicate()
    assert process.returncode == 0, err


def wait_for_replications(process: subprocess.Popen[str], many: int, directory: str = "o") -> None:
    def are_stored() -> bool:
        try:
            with Ledger.read(Path(directory, FILE_NAME)) as ledger:
                return sum(ledger.stored().replications.values()) >= many
        except ValueError:
            return False

    wait_until(are_stored, process)


def test_ctrl_c_keeps_finished_points_and_prints_how_to_resume(airpath_command: Command) -> None:
    Path("many.toml").write_text(MANY.format(reps=1_000_000))
    process = started("many.toml", "--out", "o")
    wait_for_replications(process, 20)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    end = "points are finished. Resume with: airpath sweep many.toml --out o\n"
    assert err == f"Interrupted: 0 of 4 {end}"
    assert len(finished("o")) >= 20


def test_ctrl_c_in_a_terminal_reaches_workers_which_print_nothing() -> None:
    """Regression: they printed sixty lines of tracebacks, and a warning if another Dask was
    running.
    """
    Path("many.toml").write_text(MANY.format(reps=1_000_000))
    options = ("--out", "o", "--dask", "local", "--threads", "1")
    dask_default = socket.socket()
    with suppress(OSError):  # If it is in use already, that is sufficient.
        dask_default.bind(("0.0.0.0", 8787))
        dask_default.listen()
    process = subprocess.Popen(
        words("sweep", "many.toml", *options),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for_replications(process, 1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate()
    dask_default.close()
    assert process.returncode == 130
    assert err.count("\n") == 1
    assert err.endswith("Resume with: airpath sweep many.toml --out o --dask local --threads 1\n")


def kill_at_random(kills: int, reps: int) -> None:
    """Kill the command repeatedly, and compare with an uninterrupted run."""
    Path("many.toml").write_text(MANY.format(reps=reps))
    draw = random.Random(4)
    lasting: dict[tuple[str, int], float] = {}
    for _ in range(kills):
        process = started("many.toml", "--out", "o")
        more = draw.randrange(1, 4 * reps // (kills + 1))
        wait_for_replications(process, min(len(lasting) + more, 4 * reps))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        now = finished("o")
        # Earlier replications are unchanged: equal processor times show that they ran only once.
        assert {key: now[key] for key in lasting} == lasting
        lasting = now
    run_to_the_end("many.toml", "--out", "o")
    full = finished("o")
    assert {key: full[key] for key in lasting} == lasting
    assert len(full) == 4 * reps
    run_to_the_end("many.toml", "--out", "alone")
    for name in ("points.csv", "runs.csv"):
        assert Path("o", name).read_bytes() == Path("alone", name).read_bytes()


def test_killed_sweep_loses_nothing_and_runs_nothing_twice() -> None:
    kill_at_random(3, 150)


@pytest.mark.long
def test_sweep_killed_a_hundred_times_loses_nothing() -> None:
    kill_at_random(100, 3000)
