"""The tables of the reference match the commands and classes: options, defaults, columns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer

import airpath as ap
from airpath.cli import app
from airpath.reproduction.base import Effort
from airpath.scenario.examples import shipped_examples
from airpath_papers.sbd.claims import SWEEPS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def tables(page: Path, kind: str) -> dict[str, list[list[str]]]:
    """Return the tables below ``<!-- kind: name -->``, row by row, without heads."""
    found: dict[str, list[list[str]]] = {}
    for name, text in re.findall(
        rf"<!-- {kind}: (.*?) -->\n((?:\|.*\n)+)", page.read_text("utf-8")
    ):
        rows = [line.strip().strip("|") for line in text.splitlines()[2:]]
        found[name] = [[cell.strip() for cell in row.split("|")] for row in rows]
    return found


# --- the command line --------------------------------------------------------------------------

OPTIONS = tables(REFERENCE / "cli.md", "options")


def command(name: str) -> typer.core.TyperCommand:
    found = typer.main.get_command(app)
    for word in name.split():
        found = found.commands[word]
    return found


def test_every_command_is_described() -> None:
    root = typer.main.get_command(app)
    names = []
    for name, part in root.commands.items():
        inner = getattr(part, "commands", None)
        names += [name] if inner is None else [f"{name} {word}" for word in inner]
    assert sorted(OPTIONS) == sorted(names)


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_option_is_described_with_its_default(name: str) -> None:
    described: dict[str, str] = {}
    for cells in OPTIONS[name]:
        for option in re.findall(r"--[a-z-]+", cells[0]):
            described[option] = cells[-1]
    actual = {}
    for parameter in command(name).params:
        if parameter.param_type_name != "option" or "--help" in parameter.opts:
            continue
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("--"):
                actual[option] = parameter.default
    assert sorted(described) == sorted(actual)
    for option, default in actual.items():
        if isinstance(default, (int, float, str)) and not isinstance(default, bool):
            assert described[option] == str(default), option


# --- columns of results ------------------------------------------------------------------------

COLUMNS = {
    name: [re.findall(r"`(\w+)`", cells[0])[0] for cells in rows]
    for name, rows in tables(REFERENCE / "results.md", "columns").items()
}


@pytest.fixture(scope="module")
def result() -> ap.Result:
    """Return a result with an overloaded small RED queue, so that both reasons for drops occur."""
    scenario = ap.Scenario(
        flows=ap.flows(source="cbr", rate="20 Mbit/s"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Gred(min_th=1, max_th=3), link=ap.link.Fixed(rate="1 Mbit/s")
        ),
        duration="5 s",
    )
    return ap.simulate(scenario, reps=2)


@pytest.mark.parametrize("name", ["flows", "groups", "queues", "links", "pmf"])
def test_every_column_is_described(name: str, result: ap.Result) -> None:
    table = result.pmf() if name == "pmf" else result.table(name)
    assert sorted(COLUMNS[name]) == sorted(table.columns)


def test_every_column_of_other_records_is_described() -> None:
    """One TCP flow overloads a small queue, so that there is one reason for drops."""
    scenario = ap.Scenario(
        flows=ap.flows(cc="reno", base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="5 packets"), link=ap.link.Fixed(rate="1 Mbit/s")
        ),
        duration="5 s",
        record={"ss": True, "flow_monitor": True, "delay_parts": True},
    )
    result = ap.simulate(scenario, reps=1)
    assert COLUMNS["ss"] == list(result.ss().columns)
    assert COLUMNS["flow_monitor"] == list(result.flow_monitor().columns)
    assert COLUMNS["delay_parts"] == list(result.table("delay_parts").columns)


def test_every_summarised_quantity_is_described(result: ap.Result) -> None:
    assert {name for name, _ in result.summary().columns} <= set(COLUMNS["flows"])


# --- examples of papers ------------------------------------------------------------------------


def test_3g_example_matches_scenario_of_paper() -> None:
    example = json.loads(ap.load(shipped_examples() / "umts-sbd.toml").resolve()[0])
    [point] = SWEEPS.cells("traces", aqm="SBD reconfigured")
    effort = SWEEPS.effort_of(point, Effort(1, 60.0, 0.0))
    paper = json.loads(SWEEPS.scenario(point, effort).resolve()[0])
    own = {"name", "record"}
    assert {key: example[key] for key in example.keys() - own} == {
        key: paper[key] for key in paper.keys() - own
    }
