"""`airpath compare`: output, files, and behaviour when an engine cannot run the scenario."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import SCENARIO

import airpath as ap
from airpath.errors import BadValueError

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make emulation unavailable, because it would take as long as the scenario."""

    def emulate(*_: Any, **__: Any) -> Any:
        raise BadValueError("no TUN device here.")

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)


def test_engines_are_printed_side_by_side(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("compare", scenario, "--reps", "2", "--confidence", "0.9")
    assert answer.status == 0
    lines = answer.out.splitlines()
    assert lines[:4] == [
        "small",
        "2 replications of 4 s, the first 1 s not counted; seed 1; ± is the 90 % interval",
        "simulate: 2 replications",
        "solve: model fixed-point",
    ]
    assert re.search(r"^quantity +of +simulate +solve +solve − simulate +in percent$", lines[6])
    row = next(line for line in lines if line.startswith("mean queue"))
    assert re.search(r"packets +30\.\d\d packets +\+?-?\d+\.\d\d ± \d+\.\d\d packets", row)
    assert "solve less simulate: " in answer.out
    assert "[window-oscillation] solve: the fixed point is " in answer.out
    assert "emulate: not compared: no TUN device here." in answer.err.splitlines()


def test_document_names_engines_that_cannot_run_the_scenario(
    airpath_command: Command, scenario: Path
) -> None:
    answer = airpath_command("compare", scenario, "--reps", "2", "--json")
    document = json.loads(answer.out)
    assert document["base"] == "simulate"
    assert document["engines"][2] == {
        "engine": "emulate",
        "answered": False,
        "reason": "no TUN device here.",
    }
    assert document["provenance"]["command"] == "airpath compare small.toml --reps 2 --json"


def test_files_are_written(airpath_command: Command, scenario: Path, tmp_path: Path) -> None:
    line = ("compare", scenario, "--reps", "2", "--out", "out", "--figure-format", "svg")
    answer = airpath_command(*line)
    assert answer.status == 0
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "comparison.csv",
        "comparison.json",
        "comparison.svg",
        "simulate",
        "solve",
    ]
    assert ap.load_result(out / "simulate").intervals("flows")
    assert json.loads((out / "solve" / "solution.json").read_text())["model"] == "fixed-point"
    assert answer.err.count("written: ") == 5


def test_no_plot_writes_no_figure(airpath_command: Command, scenario: Path, tmp_path: Path) -> None:
    line = ("compare", scenario, "--reps", "1", "--engines", "solve,simulate", "--out", "out")
    assert airpath_command(*line, "--no-plot").status == 0
    assert not list((tmp_path / "out").glob("comparison.png"))
    document = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert document["base"] == "solve"


def test_fewer_than_two_engines_are_rejected(
    airpath_command: Command, scenario: Path, tmp_path: Path
) -> None:
    scenario.write_text(SCENARIO.replace('"gred"', '"codel"'))
    answer = airpath_command("compare", scenario, "--out", "out")
    assert answer == (
        2,
        "",
        "emulate: no TUN device here.\n"
        'solve: small.toml: bottleneck.aqm.kind = "codel": no analytic model covers it. '
        "Covered: gred, droptail\n"
        "Nothing to compare: only simulate is left.\n",
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engines", "simulate"], '--engines: "simulate": nothing to compare. Use two or'),
        (["--engines", "simulate,solv"], '--engines: "solv": not an engine. The nearest is solve'),
        (["--plot"], "--plot: needs a directory. Use --out DIR as well."),
        (["--reps", "0"], "--reps: 0: below 1."),
        (["--out", "o", "--no-plot", "--figure-format", "svg"], "--figure-format and --no-plot: c"),
    ],
)
def test_invalid_combinations_are_rejected(
    airpath_command: Command, scenario: Path, options: list[str], message: str
) -> None:
    answer = airpath_command("compare", scenario, *options)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(message)
    assert len(answer.err.splitlines()) == 1


def test_emulation_reports_progress_and_that_it_is_invalid(
    airpath_command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def emulate(made: Any, *, reps: int, progress: Any, **settings: Any) -> Any:
        for number in range(reps):
            for part in (0.25, 0.5):
                line = f"emulating in real time, replication {number + 1} of {reps}"
                progress((number + part) / reps, line)
        result: Any = ap.simulate(made, reps=reps, **settings)
        result.kernel = {"release": "6.18.5", "not_applied": []}
        result.validity_reports = [{"valid": True}, {"valid": False, "reasons": ["too late."]}]
        return result

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    line = ("compare", scenario, "--reps", "2", "--engines", "emulate,simulate")
    answer = airpath_command(*line)
    assert answer.status == 0
    assert answer.err.splitlines()[:3] == [
        "emulating in real time, replication 1 of 2",
        "emulating in real time, replication 2 of 2",
        "emulate: INVALID, its numbers cannot be believed; see the facts.",
    ]
    lines = answer.out.splitlines()
    assert "emulate: 2 replications, Linux 6.18.5, INVALID" in lines
    fact = "[invalid-emulation] emulate: 1 of 2 replications are invalid: too late."
    assert fact in lines


def test_ctrl_c_keeps_finished_results(
    airpath_command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def emulate(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    answer = airpath_command("compare", scenario, "--reps", "2")
    assert answer.status == 130
    assert answer.err.startswith(
        "Interrupted: what was finished is compared. "
        "simulate: 2 replications; solve: model fixed-point.\n"
    )
    assert "solve less simulate: " in answer.out
