"""The command as a process: exit status, pipes, Ctrl-C, no traceback."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import AT_ONCE_S, Running, environment, words

from forked import airpath_words

Command = Callable[..., Any]

REPS = 500
LONG = ("--reps", REPS, "--set", "duration=1000 s", "--threads", 2)
"""Options for a run of minutes, with replications of a fraction of a second."""
ENDLESS = ("--reps", 2, "--set", "duration=1000000 s")
"""Options for a run in which no replication finishes within an hour."""


def interrupted_by_itself(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script that calls the command and sends Ctrl-C to itself at one point."""
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_uses_exit_status_and_both_streams(
    airpath_process: Command, scenario: Path
) -> None:
    good = airpath_process("run", scenario, "--reps", 1, "--json")
    assert (good.status, good.err) == (0, "")
    json.loads(good.out)
    bad = airpath_process("run", scenario, "--set", "duration=1")
    assert (bad.status, bad.out) == (2, "")
    assert len(bad.err.splitlines()) == 1
    assert "Traceback" not in bad.err


def test_output_bytes_are_equal_for_one_and_two_threads(
    airpath_process: Command, scenario: Path
) -> None:
    one, two = (
        airpath_process("run", scenario, "--reps", 4, "--json", "--threads", n).out for n in (1, 2)
    )
    assert one.replace("--threads 1", "--threads 2") == two


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_equal_flows_do_not_slow_a_check(tmp_path: Path) -> None:
    """With 100,000 equal flows the resolved form is below 100 kB, and the process uses below 150
    MB.
    """
    file = tmp_path / "many.toml"
    file.write_text(
        'duration = "10 s"\n[bottleneck]\naqm = "droptail"\n'
        'link = {kind = "fixed", rate = "100 Mbit/s"}\n'
        '[[flows]]\ncount = 100_000\nbase_rtt = "40 ms"\n'
    )
    # This is the peak of this program only; ru_maxrss includes the peak of the process that forked
    # it.
    program = (
        "import pathlib, sys; from airpath.cli import main; main(['check', '--json', sys.argv[1]]);"
        "print(pathlib.Path('/proc/self/status').read_text(), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, file], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["flows"][0]["count"] == 100_000
    assert len(done.stdout) < 100_000
    [peak_kb] = [line.split()[1] for line in done.stderr.splitlines() if "VmHWM" in line]
    assert int(peak_kb) < 150_000


def test_ctrl_c_keeps_finished_replications(scenario: Path) -> None:
    with Running("run", scenario, "--json", *LONG) as process:
        process.wait_for(r"simulating, [1-9]\d* of 500")
        ended = process.interrupt()
    assert ended.status == 130
    document = json.loads(ended.out)
    assert document["complete"] is False
    done = document["summary"]["replications"]
    assert 0 < done < REPS
    assert document["summary"]["replications_requested"] == REPS
    first = ended.err.splitlines()[0]
    assert first == f"Interrupted: {done} of {REPS} replications were finished."
    assert document["flows"][0]["goodput_bps"]["reps"] == done


def test_ctrl_c_before_the_first_result_names_files_of_an_earlier_run(
    airpath_command: Command, scenario: Path
) -> None:
    """Regression: files of an earlier run remained without a message."""
    assert airpath_command("run", scenario, "--reps", 1, "--out", "out").status == 0
    with Running("run", scenario, "--out", "out", *ENDLESS) as process:
        process.wait_for("simulating, 0 of 2")
        ended = process.interrupt()
    assert (ended.status, "what is in out is of an earlier run." in ended.err) == (130, True)
    assert ended.cpu_s < AT_ONCE_S


def test_ctrl_c_before_the_first_result_leaves_no_directory(scenario: Path) -> None:
    """Regression: the command left an empty directory."""
    before = sorted(Path().iterdir())
    with Running("run", scenario, "--out", "new/out", "--capture", "sender", *ENDLESS) as process:
        process.wait_for("simulating, 0 of 2")
        ended = process.interrupt()
    assert (ended.status, "Interrupted: 0 of 2" in ended.err) == (130, True)
    assert sorted(Path().iterdir()) == before


def test_finished_replications_equal_those_of_a_complete_run(
    scenario: Path, airpath_process: Command
) -> None:
    with Running("run", scenario, "--out", "part", *LONG) as process:
        process.wait_for(r"simulating, [1-9]\d* of 500")
        ended = process.interrupt()
    assert ended.status == 130
    assert "Incomplete:" in ended.out
    part = json.loads(Path("part/result.json").read_text())
    assert part["complete"] is False
    kept = part["replications"]
    assert kept
    assert "# incomplete: interrupted after" in Path("part/flows.csv").read_text()
    number = kept[0]["replication"]
    full = airpath_process(
        "run", scenario, "--set", "duration=1000 s", "--reps", number + 1, "--out", "whole"
    )
    assert full.status == 0
    assert json.loads(Path("whole/result.json").read_text())["replications"][number] == kept[0]
    assert not list(Path("part").glob(".*")), "a file was left half-written"


RECORDED = (
    *("--set", 'record.series=["cwnd", "seq_sent", "queue"]', "--set", "record.interval=0 s"),
    *("--set", "bottleneck.link.rate=200 Mbit/s", "--set", "bottleneck.link.loss=0"),
    *("--set", "flows.0.count=8", "--set", "duration=2 s"),
    *("--reps", 2, "--out", "out"),
)
"""Options that record series with about ten thousand rows."""


def named_files(lines: list[str]) -> set[str]:
    """Return the names of the files that were reported as written."""
    prefix = "written: "
    return {
        Path(line.removeprefix(prefix).strip()).name for line in lines if line.startswith(prefix)
    }


WHILE_WRITTEN = """
import os, signal, sys
from airpath.cli import main
from airpath.results import save

written = save.write_table

def write_table(path, parts, *others):
    def interrupted():
        for part in parts:
            yield part
            if path.stem == "series-seq_sent":
                os.kill(os.getpid(), signal.SIGINT)
    written(path, interrupted(), *others)

save.write_table = write_table
sys.exit(main(sys.argv[1:]))
"""
"""Script that calls the command, with Ctrl-C while the second file of series is half written."""


def test_ctrl_c_while_series_are_written_keeps_the_finished_files(scenario: Path) -> None:
    """Regression: the command wrote the remaining files for half a minute, without a message."""
    done = interrupted_by_itself(WHILE_WRITTEN, "run", scenario, *RECORDED)
    assert done.returncode == 130
    assert "Incomplete" not in done.stdout
    assert "2 replications of 2 s" in done.stdout
    *finished, last = done.stderr.splitlines()
    assert last == "Interrupted: without series-seq_sent.csv, series-queue.csv."
    names = {path.name for path in Path("out").iterdir()}
    assert names == named_files(finished)
    assert {"result.json", "summary.csv", "series-cwnd.csv"} <= names
    assert not names & {"series-seq_sent.csv", "series-queue.csv"}


def test_full_disk_keeps_finished_results(scenario: Path) -> None:
    """Regression: the command printed a traceback and no results."""
    limit = 300_000
    done = subprocess.run(
        words("run", scenario, *RECORDED),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1
    assert "2 replications of 2 s" in done.stdout
    *finished, last = done.stderr.splitlines()
    assert last == "out/series-cwnd.csv: cannot be written: file too large."
    names = {path.name for path in Path("out").iterdir()}
    assert names == named_files(finished)
    assert {"result.json", "summary.csv"} <= names


WHILE_STARTING = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module = sys.argv[1]
sys.meta_path.insert(0, Interrupts())
from airpath.cli import main
sys.exit(main(sys.argv[2:]))
"""
"""Script that calls the command, with Ctrl-C at the import of a module."""


@pytest.mark.parametrize(
    "module", ["airpath.cli.commands", "typer", "airpath.cli.run", "pydantic", "airpath.results"]
)
def test_ctrl_c_during_start_gives_no_traceback(scenario: Path, module: str) -> None:
    done = interrupted_by_itself(WHILE_STARTING, module, "run", scenario, "--reps", 1)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_ctrl_c_in_reproduce_keeps_the_finished_items() -> None:
    with Running("reproduce", "qawla", "--full", "--json") as process:
        process.wait_for("simulating")
        ended = process.interrupt()
    assert ended.status == 130
    document = json.loads(ended.out)
    assert document["complete"] is False
    assert ended.err.startswith("Interrupted: ")


def test_reader_that_closes_the_pipe_is_no_error(scenario: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        airpath_words("run", scenario, "--reps", "1", "--json"),
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_undecodable_names_are_harmless(airpath_process: Command, scenario: Path) -> None:
    odd = os.fsdecode(b"o\xff")
    answer = airpath_process("run", scenario, "--reps", 1, "--json", "--out", odd)
    assert answer.status == 0
    assert (
        json.loads(answer.out)["provenance"]
        == json.loads(Path(odd, "result.json").read_text())["provenance"]
    )
    bad = airpath_process("check", os.fsdecode(b"none-\xff.toml"))
    assert bad == (2, "", "none-\\udcff.toml: cannot be read: no such file or directory.\n")


def test_pipe_gets_no_bar_and_no_colour(airpath_process: Command, scenario: Path) -> None:
    answer = airpath_process("run", scenario, "--reps", 5)
    assert answer.err == ""
    assert "\x1b" not in answer.out
    answer = airpath_process("reproduce", "qawla", "table2", "--quick", "--json")
    assert answer.err == ""


def test_demo_rejects_a_directory_that_is_not_writable(scenario: Path) -> None:
    done = subprocess.run(
        [words()[0], "-m", "airpath.demo", "small.toml/x"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        'out = "small.toml/x": cannot be written to (not a directory). Use a directory that can.\n'
    )
