"""The commands solve, check, list and reproduce; usage errors, version, help."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import SCENARIO
from typer.testing import CliRunner

import airpath as ap
from airpath.cli import app
from airpath.scenario.examples import shipped_examples

Command = Callable[..., Any]

COMMANDS = ["run", "emulate", "solve", "compare", "reproduce", "list", "check", "phy", "trace"]


# --- usage -------------------------------------------------------------------------------------


def test_version_prints_version_and_commit(airpath_command: Command) -> None:
    answer = airpath_command("--version")
    assert answer.status == 0
    assert answer.out.startswith(f"airpath {ap.__version__} (")


def test_help_names_every_command(airpath_command: Command) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        answer = airpath_command(*arguments)
        assert (answer.status, answer.err) == (0, "")
        assert all(f"  {command}" in answer.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    answer = CliRunner().invoke(app, [command, "--help"])
    assert answer.exit_code == 0
    assert f"{command} [OPTIONS]" in answer.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["house"], "airpath: no such command 'house'. See airpath --help."),
        (["--nonsense"], "airpath: no such option: --nonsense. See airpath --help."),
        (["run"], "airpath run: missing argument 'SCENARIO.toml'. See airpath run --help."),
        (["trace", "info"], "airpath trace info: missing argument 'FILE'. "
         "See airpath trace info --help."),
    ],
)  # fmt: skip
def test_wrong_usage_is_reported_in_one_line(
    airpath_command: Command, arguments: list[str], message: str
) -> None:
    assert airpath_command(*arguments) == (2, "", message + "\n")


def test_invalid_numbers_are_reported_in_one_line(airpath_command: Command) -> None:
    answer = airpath_command("run", "a.toml", "--reps", "many")
    assert (answer.status, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 1
    assert "--reps" in answer.err


# --- solve -------------------------------------------------------------------------------------


def test_solve_prints_the_operating_point(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("solve", scenario)
    assert answer.status == 0
    name, found, averaged = answer.out.splitlines()[:3]
    assert name == "small, model fixed-point"
    digits = r"throughput 9\.\d{3} Mbit/s \(IP packets\), queue 30\.\d packets, domain R1"
    assert re.fullmatch(digits, found)
    assert averaged.startswith("averaged over the oscillation of the windows: 9.9")
    (line,) = answer.err.splitlines()
    assert line.startswith("warning: the queue oscillates with the windows: averaged over that ")


def test_solve_json_is_the_solution(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("solve", scenario, "--json")
    document = json.loads(answer.out)
    assert document["provenance"]["command"] == "airpath solve small.toml --json"
    assert [flow["id"] for flow in document["flows"]] == [0, 1]


def test_solve_reports_that_no_model_matches(airpath_command: Command, scenario: Path) -> None:
    Path("small.toml").write_text(
        SCENARIO.split("[[flows]]")[0] + '[[flows]]\nsource = "poisson"\nrate = "1 Mbit/s"\n'
    )
    answer = airpath_command("solve", scenario)
    assert answer == (
        2,
        "",
        'small.toml: bottleneck.aqm.kind = "gred": no analytic model covers it. '
        "Covered: droptail\n",
    )


# --- check -------------------------------------------------------------------------------------


def test_check_prints_a_scenario_with_every_option(
    airpath_command: Command, scenario: Path
) -> None:
    answer = airpath_command("check", scenario)
    assert (answer.status, answer.err) == (0, "")
    for option in ap.TcpConfig.keys():  # noqa: SIM118  (not a dict)
        assert f"{option} = " in answer.out
    # The printed text is the same scenario; if it is checked again, the output does not change.
    Path("explicit.toml").write_text(answer.out)
    again = airpath_command("check", "explicit.toml")
    body = [line for line in answer.out.splitlines() if not line.startswith("#")]
    assert [line for line in again.out.splitlines() if not line.startswith("#")] == body
    first, second = (ap.load(name).resolve()[0] for name in ("small.toml", "explicit.toml"))
    assert first == second


@pytest.mark.parametrize("cc", ap.cc.Congestion.registry)
@pytest.mark.parametrize("profile", ["rfc", "linux", "ns3", "ns3-2014"])
def test_output_of_check_is_accepted_as_input(
    airpath_command: Command, scenario: Path, cc: str, profile: str
) -> None:
    # Regression: for DCTCP it contained ecn = "off", which contradicts cc = "dctcp".
    if profile == "ns3" and cc in ("dctcp", "prague"):
        pytest.skip(f'stack = "ns3" has no cc = "{cc}"')
    keys: tuple[str, ...] = ("--set", f"flows.0.cc={cc}", "--set", f"flows.0.profile={profile}")
    if cc == "clamp":  # CLAMP needs a queue that writes a price.
        keys = ("--set", 'bottleneck.aqm={kind = "clamp", a = "7 kB"}', *keys)
    answer = airpath_command("check", scenario, *keys)
    assert answer.status == 0, answer.err
    Path("explicit.toml").write_text(answer.out)
    again = airpath_command("check", "explicit.toml", "--json")
    assert again.status == 0, again.err
    expected = json.loads(airpath_command("check", scenario, *keys, "--json").out)
    assert json.loads(again.out)["flows"] == expected["flows"]


def test_check_json_is_the_resolved_form(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("check", scenario, "--json")
    assert json.loads(answer.out) == json.loads(ap.load(scenario).resolve()[0])


def test_check_reads_the_traces(airpath_command: Command, scenario: Path) -> None:
    Path("bad.trace").write_text("1\nx\n")
    link = 'bottleneck.link={kind = "trace", file = "bad.trace"}'
    answer = airpath_command("check", scenario, "--set", link)
    assert (answer.status, answer.out) == (2, "")
    dropped, line = answer.err.splitlines(keepends=True)
    assert dropped.startswith("warning: --set: bottleneck.link = {kind = ")
    assert line == (
        'bad.trace:2: "x" is not a delivery time. Use whole milliseconds, for example 1204.\n'
    )


@pytest.mark.parametrize("example", sorted(p.name for p in shipped_examples().glob("*.toml")))
def test_every_example_is_accepted(airpath_command: Command, example: str) -> None:
    path = shipped_examples() / example
    if "traces:" in path.read_text() and not ap.scenario.recorded_traces().is_dir():
        pytest.skip(f"no recorded traces in {ap.scenario.recorded_traces()}")
    assert airpath_command("check", path).status == 0


# --- list --------------------------------------------------------------------------------------


def test_list_has_one_line_for_each_component(airpath_command: Command) -> None:
    answer = airpath_command("list")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("congestion:\n  reno         the congestion control of RFC 5681")
    for name in ("droptail", "gred", "drain", "multi-regime", "burst", "rate-trace"):
        assert sum(line.startswith(f"  {name} ") for line in answer.out.splitlines()) == 1
    # A policy and the paper that it is from.
    assert sum(line.startswith("  qawla ") for line in answer.out.splitlines()) == 2


def test_list_has_the_error_processes(airpath_command: Command) -> None:
    assert airpath_command("list", "errors") == (
        0,
        "independent      Each packet is corrupted independently, with the same probability\n"
        "gilbert-elliott  A two-state Markov chain of slots, good and bad, "
        "each with a loss probability\n"
        "burst            Error bursts with the durations of a moving receiver's fades "
        "(Chockalingam & Zorzi 1999)\n",
        "",
    )


def test_list_has_the_schedulers(airpath_command: Command) -> None:
    status, out, error = airpath_command("list", "scheduler")
    kinds = [line.split()[0] for line in out.splitlines()]
    assert (status, error) == (0, "")
    assert kinds == ["proportional-fair", "alpha-fair", "max-rate", "round-robin"]


def test_list_json_is_one_document(airpath_command: Command) -> None:
    document = json.loads(airpath_command("list", "aqm", "--json").out)
    assert {"droptail", "gred"} <= set(document["aqm"])


def test_list_of_an_unknown_family_is_rejected(airpath_command: Command) -> None:
    assert airpath_command("list", "colour") == (
        2,
        "",
        '"colour": not a kind of component. '
        "Expected one of: congestion, aqm, link, scheduler, request, grant, window, errors, snr, "
        "policy, fading, mcs, table, model, paper.\n",
    )


# --- reproduce ---------------------------------------------------------------------------------


def test_reproduce_prints_simulated_and_published_values(airpath_command: Command) -> None:
    answer = airpath_command("reproduce", "qawla", "table2", "--quick")
    assert (answer.status, answer.err) == (0, "")
    assert "Table 2" in answer.out


def test_reproduce_names_the_figures_of_an_earlier_run(
    airpath_command: Command, tmp_path: Path
) -> None:
    """Regression: figures of an earlier run remained in the directory without a message."""
    out = tmp_path / "out"
    out.mkdir()
    for name in ("old.png", "mine.png"):
        (out / name).write_text("")
    earlier = {"items": [{"figures": ["out/old.png", "out/gone.png"]}]}
    (out / "qawla.json").write_text(json.dumps(earlier))
    answer = airpath_command("reproduce", "qawla", "table2", "--quick", "--out", out)
    assert (answer.status, answer.err) == (0, f"{out}: of an earlier run are old.png.\n")
    assert {path.name for path in out.iterdir()} == {
        *("qawla.json", "report.html", "old.png", "mine.png")
    }


def test_reproduce_json_has_the_rows(airpath_command: Command) -> None:
    answer = airpath_command("reproduce", "qawla", "table2", "--json")
    assert answer.err == ""
    document = json.loads(answer.out)
    assert document["provenance"]["command"] == "airpath reproduce qawla table2 --json"
    assert document["paper"] == "qawla"
    assert set(document["items"][0]["rows"][0]) >= {"row", "quantity", "published", "computed"}


def test_reproduce_brief_prints_the_verdict(airpath_command: Command) -> None:
    """Regression: the number of values within tolerance was not printed."""
    full = airpath_command("reproduce", "qawla", "table2")
    brief = airpath_command("reproduce", "qawla", "table2", "--brief")
    verdict = "72 of 72 published numbers are within tolerance"
    assert verdict in brief.out
    assert "Table 2" not in brief.out
    assert full.out.index(verdict) < full.out.index("Table 2")
    answer = airpath_command("reproduce", "qawla", "table2", "--brief", "--json")
    document = json.loads(answer.out)
    assert (document["verdict"]["within"], "items" in document) == (72, False)


def test_reproduce_accepts_the_directory_of_a_paper(
    airpath_command: Command, tmp_path: Path
) -> None:
    """Reproductions of other papers need not be part of an installed package."""
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "numbers.py").write_text("KEY = 'mine'\n")
    (directory / "__init__.py").write_text(
        "from dataclasses import replace\n"
        "from airpath_papers.qawla import PAPER as OF_PAPER\n"
        "from .numbers import KEY\n"
        "items = [item for item in OF_PAPER.items if item.key == 'table2']\n"
        "PAPER = replace(OF_PAPER, key=KEY, items=items)\n"
    )
    out = tmp_path / "out"
    answer = airpath_command("reproduce", str(directory), "--json", "--out", str(out))
    document = json.loads(answer.out)
    assert (document["paper"], [item["item"] for item in document["items"]]) == ("mine", ["table2"])
    assert (out / "mine.json").is_file()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (None, "not the directory of a paper: it has no __init__.py."),
        ("", "not the directory of a paper: its __init__.py has no PAPER."),
        ("PAPER = 1 / 0", "its code fails: ZeroDivisionError: division by zero."),
    ],
)
def test_reproduce_rejects_a_directory_without_a_paper(
    airpath_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str | None,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "mine"
    directory.mkdir()
    if code is not None:
        (directory / "__init__.py").write_text(code)
    answer = airpath_command("reproduce", "./mine")
    assert answer == (2, "", f'"./mine": {message}\n')


def test_reproduce_names_the_invalid_file_and_entry(
    airpath_command: Command, tmp_path: Path
) -> None:
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "__init__.py").write_text(
        "from pathlib import Path\n"
        "from airpath.reproduction.manifest import paper_of\n"
        "PAPER = paper_of(Path(__file__).parent, None, {}, None)\n"
    )
    (directory / "paper.toml").write_text('title = "T"\ncitation = "C"\nitem = {}\n[modes]\n')
    answer = airpath_command("reproduce", str(directory))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith('mine/paper.toml: "item": unknown key. Expected one of: citation,')
    assert answer.err.count("\n") == 1
    (directory / "paper.toml").write_text("title = 1\ncitation = 2\nitems = {}\n[modes]\n")
    answer = airpath_command("reproduce", str(directory))
    lines = answer.err.splitlines()
    assert [line.split(": not")[0] for line in lines] == [
        "mine/paper.toml: title = 1",
        "mine/paper.toml: citation = 2",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["lena"],
            'paper = "lena": unknown value; expected one of: clamp, qawla, sbd, vcp, wimax.',
        ),
        (
            ["qawla", "table9"],
            '"table9": not an item of qawla. Expected one of: fig2, fig3, table2, table3, table4, '
            "table5, fig5, fig6, fig7, fig8, fig9, fig10, fig11, fig12, table6.",
        ),
        (
            ["qawla", "--quick", "--full"],
            "--quick and --full: contradict each other. Use one of them.",
        ),
        (
            ["qawla", "fig2", "--figure-format", "svg"],
            "--figure-format: needs a directory. Use --out DIR as well.",
        ),
    ],
)
def test_reproduce_rejects_invalid_arguments(
    airpath_command: Command, arguments: list[str], message: str
) -> None:
    assert airpath_command("reproduce", *arguments) == (2, "", message + "\n")


def test_reproduce_checks_its_output_directory_first(
    airpath_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    answer = airpath_command("reproduce", "qawla", "--full", "--out", tmp_path / "file" / "x")
    assert answer == (
        2,
        "",
        f'--out: "{tmp_path}/file/x": cannot be written to (not a directory). '
        "Use a directory that can.\n",
    )
