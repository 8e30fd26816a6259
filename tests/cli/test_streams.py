"""Standard output and error streams that are full, closed or without a reader, in every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from processes import SCENARIO, environment

from airpath.cli.commands import app

EXAMPLES = {
    ("run",): ["small.toml", "--reps", "1", "--set", "duration=2 s", "--out", "out", "--no-plot"],
    ("solve",): ["small.toml"],
    ("check",): ["small.toml"],
    ("list",): [],
    ("reproduce",): ["qawla", "table2", "--quick", "--out", "paper"],
    ("phy", "per"): [
        *("--channel", "awgn", "--snr", "10", "--mcs", "0", "--blocks", "1", "--errors", "1")
    ],
    ("trace", "info"): ["link.csv"],
    ("trace", "convert"): ["link.csv", "link.down"],
    ("trace", "generate"): ["made.down", "--duration", "1 s"],
}
"""Calls that print something. The help of every command is printed as well, with full streams."""

JSON = {("run",), ("solve",), ("check",), ("list",), ("trace", "info")}
"""Commands that are also called with ``--json``."""

REASONS = {"full": "no space left on device", "closed": "it is closed"}


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command, from the command's own list."""
    group = typer.main.get_command(app) if group is None else group
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


def calls() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [("--help",), ("--version",)]
    for path in commands():
        found.append((*path, "--help"))
        if path in EXAMPLES:
            found.append((*path, *EXAMPLES[path]))
        if path in JSON:
            found.append((*path, *EXAMPLES[path], "--json"))
    return found


TROUBLE = ("standard output", "Traceback", "Exception", "Interrupted", "out of memory")

WRONG = [(*path, "--no-such-option") for path in commands()]
HOWS = {1: ["full", "closed", "left"], 2: ["full", "closed", "left"]}

Answers = dict[tuple[int, str], dict[tuple[str, ...], tuple[int, str]]]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the calls."""
    made = tmp_path_factory.mktemp("streams")
    (made / "small.toml").write_text(SCENARIO)
    (made / "link.csv").write_text("time_s,rate_bps\n0,1e6\n1,2e6\n2,2e6\n")
    return made


@pytest.fixture(scope="module")
def answers(directory: Path) -> Answers:
    """Return a mapping from (stream, fault) to a mapping from call to (status, text on the other
    stream).
    """
    cases = [
        {"stream": stream, "how": how, "arguments": call}
        for stream, hows in HOWS.items()
        for how in hows
        for call in (calls() if stream == 1 else [*calls(), *WRONG])
        if how == "full" or call == ("--help",) or "--help" not in call
    ]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("forks.py"))],
        input=json.dumps(cases),
        env={**environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
    )
    found: Answers = {}
    for case, (status, text) in zip(cases, json.loads(done.stdout), strict=True):
        place = found.setdefault((case["stream"], case["how"]), {})
        place[case["arguments"]] = status, text
    return found


def test_examples_belong_to_existing_commands() -> None:
    assert EXAMPLES.keys() <= set(commands())


@pytest.mark.parametrize("how", HOWS[1])
def test_standard_output_that_rejects_output(answers: Answers, how: str) -> None:
    """Regression: there was a traceback, and status 1 if the reader of a pipe had exited."""
    silent = {("trace", "convert"), ("trace", "generate")}
    for call, (status, err) in answers[1, how].items():
        # Files and advisories are printed as usual.
        notes = [line for line in err.splitlines() if line.startswith(TROUBLE)]
        if call[:2] in silent and "--help" not in call:
            assert (status, notes) == (0, []), call
        elif how == "left":
            assert (status, notes) == (141, []), call
        else:
            lost = f"standard output: cannot be written to ({REASONS[how]})."
            assert (status, notes) == (1, [lost]), call


@pytest.mark.parametrize("how", HOWS[2])
def test_standard_error_that_rejects_output_changes_nothing(answers: Answers, how: str) -> None:
    """Regression: if standard error was full, the status was 120; if it was closed, its text was
    written into the results.
    """
    for call, (status, out) in answers[2, how].items():
        assert status == (2 if call in WRONG else 0), (call, out)
        assert "written: " not in out, call
        assert "no such option" not in out.lower(), call
        if "--json" in call:
            json.loads(out)


def test_files_are_written_if_nothing_can_be_printed(answers: Answers, directory: Path) -> None:
    call = ("run", *EXAMPLES["run",])
    assert answers[1, "full"][call][0] == 1
    assert json.loads((directory / "out" / "result.json").read_text())["complete"]
