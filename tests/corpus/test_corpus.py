"""Invalid input of every kind is rejected with a message of Airpath: one line, status 2, nothing
else.

The corpus is generated: from the models of a scenario, from a valid trace and a valid table, from
the options of the commands, and from the signatures of the Python functions.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from corpus_case import Call, Case, what_is_wrong_with, what_is_wrong_with_the_call
from corpus_commands import GOOD_WORDS, WRONG_VALUES, command_lines, commands
from corpus_faults import faults
from corpus_files import error_rates, scenarios, traces
from corpus_methods import METHODS, attributes, methods, public_methods
from corpus_python import constructors, functions
from corpus_tables import GOOD, Host, hosts, toml

from airpath.scenario.base import Component
from report_samples import document
from report_sweeps import write_sweep

HOSTS = hosts()
FEWEST = {
    "scenario": 8000,
    "file": 150,
    "trace": 450,
    "table": 350,
    "command line": 600,
    "Python": 8000,
}
"""Minimum number of cases in each area; the corpus grows with every key, option and argument."""
KINDS = 785
"""Minimum number of kinds of errors, where a kind is an error in a class of positions: the number
of kinds in an earlier manual test.
"""

TRACE = b"1\n2\n3\n"
SNRS = b"time_s,snr_db\n0,10\n1,10\n"
PAPER = json.dumps(document())
SWEEP = """\
scenario = "../good.toml"
reps = 1
metrics = ["goodput_bps"]
[grid]
duration = ["1 s"]
"""
RATES = b"time_s,rate_bps\n0,1000000\n1,1000000\n"


@cache
def ledger() -> bytes:
    """Return the file of a small sweep."""
    with TemporaryDirectory() as directory:
        return write_sweep(Path(directory), reps=1).read_bytes()


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one valid file of every kind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text(toml(GOOD))
    (tmp_path / "good.trace").write_bytes(TRACE)
    (tmp_path / "good.csv").write_bytes(RATES)
    (tmp_path / "snr.csv").write_bytes(SNRS)
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "paper.json").write_text(PAPER)
    (tmp_path / "good" / "sweep.toml").write_text(SWEEP)
    (tmp_path / "good" / "ledger.sqlite").write_bytes(ledger())
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def thirds(function: Callable[..., None]) -> Callable[..., None]:
    """Divide the cases of a test into three parts. One part runs always; the other two run only in
    the long tests.
    """
    days = (0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long))
    return pytest.mark.parametrize("third", days)(function)


def none_is_wrong(cases: Iterable[Case], directory: Path, *, in_short: bool = False) -> None:
    wrong = []
    for case in cases:
        what = what_is_wrong_with(case, directory, in_short=in_short)
        if what is not None:
            wrong.append(f"{case.name}, {case.kind}: {what}")
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong)


def faults_of(host: Host) -> Iterator[Case]:
    """Yield the cases of a host; keys that a family shares are tested with its first member."""
    family = next((c for c in host.model.__mro__ if "family" in vars(c)), None)
    if family is None or not issubclass(family, Component):
        return faults(host)
    first = next(h for h in HOSTS if issubclass(h.model, family))
    return faults(host, () if first is host else family.model_fields)


@cache
def first_of_each_kind() -> dict[str, Case]:
    """Return the errors of scenarios with which the command itself is tested."""
    cases = [case for host in HOSTS for case in faults_of(host)]
    return {case.kind: case for case in reversed(cases)}


def calls() -> Iterator[Call]:
    for host in HOSTS:
        yield from constructors(host)
    yield from functions()
    yield from methods()
    yield from attributes()


# --- the corpus itself -------------------------------------------------------------------------


def test_corpus_is_large() -> None:
    """It has at least 785 kinds: an error at a key, an argument, an option or a line."""
    cases = [case for host in HOSTS for case in faults_of(host)]
    cases += [*scenarios(), *traces(), *error_rates(), *command_lines()]
    count = Counter(case.area for case in cases)
    count["Python"] = sum(1 for _ in calls())
    kinds = {(case.area, case.kind, case.name.partition(" ")[0]) for case in cases}
    print(*(f"{area}: {number}" for area, number in count.items()), sep=", ", end="; ")
    print(f"{len(kinds)} kinds")
    assert [area for area, fewest in FEWEST.items() if count[area] < fewest] == []
    assert len(kinds) >= KINDS


def test_every_command_and_option_is_known() -> None:
    """Add valid arguments of a new command and rejected values of a new option to
    corpus_commands.py.
    """
    assert sorted(GOOD_WORDS) == sorted(commands())
    options = [p for c in commands().values() for p in c.params if p.param_type_name == "option"]
    taking = {name for option in options if not option.is_flag for name in option.opts}
    assert {name for name in taking if name.startswith("--")} - WRONG_VALUES.keys() == set()


def test_every_method_is_known() -> None:
    """Add valid arguments of a new method to corpus_methods.py."""
    assert sorted(name for name, _, _ in public_methods()) == sorted(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_method_with_valid_arguments_is_accepted(name: str) -> None:
    if name in ("Plot.mac_delays", "Plot.mcs", "Plot.regimes", "Plot.snr", "Plot.users"):
        pytest.skip("the good scenario has a fixed link")
    if name in ("Sweep.distribution", "Sweep.quantiles", "SweepPlot.distribution"):
        pytest.skip("the replications of the good sweep are made up")
    method = next(found for known, found, _ in public_methods() if known == name)
    method(**METHODS[name])


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_host_without_an_error_is_accepted(host: Host, directory: Path) -> None:
    (directory / "host.toml").write_text(host.with_keys({}))
    case = Case("scenario", "none", host.name, ("check", "host.toml", "--json"))
    assert str(what_is_wrong_with(case, directory)).startswith("exit status 0, not 2: ")


# --- every case --------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@thirds
def test_fault_at_every_key_of_a_scenario_is_rejected(
    host: Host, third: int, directory: Path
) -> None:
    first = first_of_each_kind()
    cases = [case for case in faults_of(host) if case != first[case.kind]]
    none_is_wrong(cases[third::3], directory, in_short=True)


def test_every_kind_of_fault_is_rejected_by_the_command(directory: Path) -> None:
    none_is_wrong(first_of_each_kind().values(), directory)


def test_every_invalid_scenario_file_is_rejected(directory: Path) -> None:
    none_is_wrong(scenarios(), directory)


def test_every_invalid_trace_is_rejected(directory: Path) -> None:
    none_is_wrong(traces(), directory)


def test_every_invalid_error_rate_table_is_rejected(directory: Path) -> None:
    none_is_wrong(error_rates(), directory)


def test_every_invalid_command_line_is_rejected(directory: Path) -> None:
    none_is_wrong(command_lines(), directory)


@thirds
def test_every_invalid_call_from_python_is_rejected(third: int, directory: Path) -> None:
    wrong = []
    for call in islice(calls(), third, None, 3):
        what = what_is_wrong_with_the_call(call)
        if what is not None:
            wrong.append(f"{call.name}, {call.kind}: {what}")
    assert not wrong, f"{len(wrong)} calls:\n" + "\n".join(wrong)
