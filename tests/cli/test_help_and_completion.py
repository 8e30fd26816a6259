"""Information about the command itself: the version, help with examples, completion."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import environment

import airpath as ap
from airpath.cli.commands import COMMANDS, _command
from airpath.cli.examples import EXAMPLES
from airpath.scenario.examples import example_path, examples
from emulator import cannot_emulate

Command = Callable[..., Any]

ROOT = Path(__file__).parents[2]
SHORT = """\
duration = "1 s"

[bottleneck]
aqm = "gred"
link = {kind = "fixed", rate = "5 Mbit/s"}

[[flows]]
base_rtt = "40 ms"
"""
SWEEP = """\
scenario = "scenario.toml"
reps = 1
metrics = ["goodput_bps"]

[grid]
"bottleneck.aqm" = ["gred", "codel"]
"""
QUICKLY = {
    "run": ["--reps", "1"],
    "compare": ["--reps", "1"],
    "phy per": ["--errors", "1", "--blocks", "10"],
}
"""Options that shorten an example."""
LINES = [
    pytest.param(name, line, marks=[pytest.mark.realtime] if name == "emulate" else [])
    for name, lines in EXAMPLES.items()
    for line in lines
]


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenario.toml").write_text(SHORT)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "some.trace").write_text("1\n2\n3\n")
    (tmp_path / "results").mkdir()
    shutil.copy(ROOT / "papers/airpath_papers/qawla/results.json", tmp_path / "results/qawla.json")
    return tmp_path


# --- the version -------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_need_no_library(option: str) -> None:
    """Regression: they took up to 1.2 s, since every command was imported with pydantic, numpy and
    rich.
    """
    code = (
        f"import sys; from airpath.cli import main; status = main([{option!r}]); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); "
        "sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        {"--version": f"airpath {ap.__version__} (", "--help": "Usage: airpath "}[option]
    )
    heavy = {"matplotlib", "numpy", "pandas", "pyarrow", "pydantic", "rich"}
    assert heavy & set(done.stderr.split()) == set()


# --- help --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_list_of_commands_has_the_complete_first_sentence_of_each_help(
    airpath_command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    summary = _command(name).help.split("\n\n")[0]
    lines = airpath_command("--help").out.splitlines()
    assert [line.split(maxsplit=1) for line in lines].count([name, summary]) == 1
    assert summary.endswith(".")


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_ends_with_examples(airpath_command: Command, name: str) -> None:
    answer = airpath_command(*name.split(), "--help")
    assert (answer.status, answer.err) == (0, "")
    shown = [line.strip() for line in answer.out.partition("Examples:\n")[2].splitlines()]
    assert shown == [text for pair in EXAMPLES[name].items() for text in pair]


@pytest.mark.parametrize(("name", "line"), LINES)
def test_every_example_of_help_runs(airpath_command: Command, name: str, line: str) -> None:
    words = shlex.split(line)
    assert words[: len(name.split()) + 1] == ["airpath", *name.split()]
    if name in ("sweep status", "sweep export", "sweep prune"):
        assert airpath_command("sweep", "sweep.toml", "--out", "results").status == 0
    if name == "report" and "out" in words:
        run = ("run", "scenario.toml", "--reps", "1", "--out", "out", "--no-plot")
        assert airpath_command(*run).status == 0
    if name == "emulate":
        needed = {"ping", "iperf3"} & set(words)
        if reason := cannot_emulate(*needed):
            pytest.skip(reason)
    answer = airpath_command(*words[1:], *QUICKLY.get(name, []))
    # An emulation on a busy machine may report that it is invalid.
    assert answer.status in ((0, 3) if name == "emulate" else (0,)), answer.err


# --- completion --------------------------------------------------------------------------------


def completed(airpath_command: Command, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """Return the completions of the last word of a line."""
    words = line.split(" ")
    monkeypatch.setenv("_AIRPATH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    answer = airpath_command()
    assert (answer.status, answer.err) == (0, "")
    return [str(word) for word in answer.out.split()]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("airpath re", ["reproduce", "report"]),
        ("airpath trace ", ["info", "convert", "generate"]),
        ("airpath run --cap", ["--capture", "--capture-replication"]),
        ("airpath reproduce q", ["qawla"]),
        ("airpath reproduce sbd table", ["table2", "table3", "table4", "table5", "table6"]),
        ("airpath reproduce house table", []),
        ("airpath list a", ["aqm"]),
        ("airpath run scenario.toml --capture s", ["sender"]),
        ("airpath run scenario.toml --capture sender,re", ["sender,receiver"]),
        ("airpath run scenario.toml --format p", ["parquet"]),
        ("airpath run scenario.toml --set du", ["duration="]),
        ("airpath run scenario.toml --set bottleneck.aqm.m", [
            "bottleneck.aqm.max_p=", "bottleneck.aqm.max_th=", "bottleneck.aqm.min_th="]),
        ("airpath run scenario.toml --set bottleneck.", [
            "bottleneck.aqm.", "bottleneck.aqm=", "bottleneck.link.", "bottleneck.link="]),
        ("airpath run scenario.toml --set flows.0.sta", ["flows.0.start.", "flows.0.start="]),
        ("airpath run scenario.toml --set flow", ["flows."]),
        ("airpath run scenario.toml --set flows.", ["flows.0."]),
        ("airpath run scenario.toml --set record.s", [
            "record.series=", "record.ss=", "record.ss_interval="]),
        ("airpath check scenario.toml --set bottleneck.aqm=c", [
            "bottleneck.aqm=clamp", "bottleneck.aqm=codel"]),
        ("airpath run scenario.toml --set bottleneck.link.r", ["bottleneck.link.rate="]),
        ("airpath run missing.toml --set bottleneck.link.regimes.0.", [
            "bottleneck.link.regimes.0.per=", "bottleneck.link.regimes.0.rate="]),
        ("airpath run scenario.toml --set flows.0.cc=n", ["flows.0.cc=newreno"]),
        ("airpath run scenario.toml --set flows.0.tcp.recovery=s", ["flows.0.tcp.recovery=sack"]),
        ("airpath run scenario.toml --set record.ss=", ["record.ss=false", "record.ss=true"]),
        ("airpath solve scenario.toml --set nothing.at.all", []),
        ("airpath compare scenario.toml --engines s", ["simulate", "solve"]),
        ("airpath compare scenario.toml --engines simulate,e", ["simulate,emulate"]),
        ("airpath example dual", ["dual-regime"]),
        ("airpath phy per --channel aw", ["awgn"]),
        ("airpath phy per --mcs mcs0,mcs1", ["mcs0,mcs1"]),
    ],
)  # fmt: skip
def test_names_are_completed(
    airpath_command: Command, monkeypatch: pytest.MonkeyPatch, line: str, offered: list[str]
) -> None:
    assert completed(airpath_command, monkeypatch, line) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_of_a_shell_is_printed(
    airpath_command: Command, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setattr("typer._completion_shared._get_shell_name", lambda: shell, raising=False)
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: shell)
    answer = airpath_command("--show-completion")
    assert (answer.status, answer.err) == (0, "")
    assert "_AIRPATH_COMPLETE" in answer.out


# --- examples ----------------------------------------------------------------------------------


def test_examples_are_listed_with_a_line_each(airpath_command: Command) -> None:
    answer = airpath_command("example")
    assert (answer.status, answer.err) == (0, "")
    assert [line.split()[0] for line in answer.out.splitlines()] == list(examples())
    assert "dual-regime                 Queue-aware link adaptation" in answer.out


@pytest.mark.parametrize("name", examples())
def test_example_is_written_with_its_input_files(airpath_command: Command, name: str) -> None:
    assert airpath_command("example", name).out == example_path(name).read_text()
    answer = airpath_command("example", name, "--out", "mine.toml")
    assert (answer.status, answer.out) == (0, "")
    assert answer.err.startswith("written: mine.toml\n")
    text = Path("mine.toml").read_text()
    if text.startswith("[grid]") or "\n[grid]" in text:
        quickly = ["--reps", "1", "--set", "duration=1 s", "--set", "warmup=0 s"]
        assert airpath_command("sweep", "mine.toml", *quickly).status == 0
    elif "traces:" not in text:
        assert airpath_command("check", "mine.toml").status == 0


def test_example_does_not_overwrite_its_input_files(airpath_command: Command) -> None:
    name = "synthetic-newreno-droptail.toml"
    answer = airpath_command("example", "aqm-grid", "--out", name)
    message = f'--out: "{name}": a file that the example reads. Use another name.\n'
    assert answer == (2, "", message)
    Path(name).write_text("mine")
    answer = airpath_command("example", "aqm-grid", "--out", "sweep-of-mine.toml")
    message = f'--out: "{name}": is there already. Write the example into another directory.\n'
    assert answer == (2, "", message)
    assert not Path("sweep-of-mine.toml").exists()


def test_user_file_is_not_overwritten(airpath_command: Command) -> None:
    answer = airpath_command("example", "dual-regime", "--out", "scenario.toml")
    message = '--out: "scenario.toml": is there already. Use another name.\n'
    assert answer == (2, "", message)
    Path("traces").mkdir()
    Path("traces/pedestrian.trace").write_text("1\n")
    answer = airpath_command("example", "synthetic-reno-gred", "--out", "mine.toml")
    assert (answer.status, Path("mine.toml").exists()) == (2, False)
    assert "traces/pedestrian.trace" in answer.err


def test_help_consists_of_sentences() -> None:
    """Regression: descriptions were cut after 60 letters, and options said "Of the tables"."""
    for name, command in ((name, _command(name)) for name in COMMANDS):
        inner = getattr(command, "commands", {})
        room = 72 - max(map(len, inner), default=0)  # In 80 columns.
        for each in inner.values():
            assert each.hidden or not each.get_short_help_str(room).endswith("..."), each.name
        for each in inner.values() or [command]:
            for parameter in each.params:
                text = parameter.help or ""
                assert re.match(r"(?!Of |Default)[A-Z].*[.,]$", text, re.DOTALL) or (
                    text == "or after as many blocks."
                ), (name, parameter.name, text)


def test_options_of_several_commands_are_defined_once() -> None:
    """Regression: each command had its own help text for the same option."""
    texts: dict[str, set[str]] = {}
    for command in map(_command, COMMANDS):
        for each in getattr(command, "commands", {"": command}).values():
            for parameter in each.params:
                if parameter.name != "help":
                    texts.setdefault(parameter.opts[0], set()).add(parameter.help)
    for name in ("--set", "--json", "--threads", "--figure-format", "--accept-version"):
        assert len(texts[name]) == 1, name
    for name in ("--reps", "--confidence"):
        assert len({text.partition(" Default:")[0] for text in texts[name]}) == 1, name
