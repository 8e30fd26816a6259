"""The resolved form of a scenario and the contents of its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from airpath import _airpath
from airpath.engine.engine_input import EngineInput
from airpath.errors import AirpathError, BadValueError, Problem, ScenarioError
from airpath.files import LARGEST, UnreadableError, read_text
from airpath.scenario import Scenario
from airpath.scenario.tables import is_unfinished, read_table
from airpath.trace import Trace

__all__ = ["FROM_PYTHON", "Inputs", "Reading", "Role", "for_engine", "resolved_with_inputs"]

FROM_PYTHON = ("capacity",)
"""Series that are made here, from the trace; the engine does not record them."""

Role = Literal["mahimahi", "csv", "table", "snr"]
"""What a file is to the engine: a trace in one of two formats, error rates, SNRs over time."""


@dataclass(frozen=True)
class Inputs:
    """What the files of a scenario hold, by the keys of its resolved form.

    Parameters
    ----------
    traces : mapping of str to Trace
        Recorded links.
    roles : mapping of str to Role
        What each file is.
    texts : mapping of str to str
        What is in each file.
    paths : mapping of str to Path
        Where each file is.
    """

    traces: Mapping[str, Trace]
    roles: Mapping[str, Role]
    texts: Mapping[str, str]
    paths: Mapping[str, Path]

    def for_engine(self, resolved: Mapping[str, Any]) -> EngineInput:
        """Return a resolved scenario with these files as the engine takes it."""
        return EngineInput(
            json.dumps(for_engine(resolved), allow_nan=False),
            {name: trace.compiled for name, trace in self.traces.items()},
            self.table_texts,
            self.snr_texts,
        )

    @property
    def table_texts(self) -> dict[str, str]:
        """The tables of error rates."""
        return {name: self.texts[name] for name, role in self.roles.items() if role == "table"}

    @property
    def snr_texts(self) -> dict[str, str]:
        """The SNRs over time."""
        return {name: self.texts[name] for name, role in self.roles.items() if role == "snr"}

    def named(self) -> dict[str, Any]:
        """Return the files for the provenance."""
        tables = self.table_texts
        return {
            "traces": {
                **{name: trace.name for name, trace in self.traces.items()},
                **{name: str(self.paths[name]) for name in self.snr_texts},
            },
            "tables": {name: str(self.paths[name]) for name in tables},
            "unfinished": [name for name, text in tables.items() if is_unfinished(text)],
        }


class Reading:
    """What was read for earlier scenarios, so that a file of many is read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Path], tuple[str, Trace | None]] = {}

    def text(self, path: Path) -> str:
        """Return what is in a file."""
        return self._once("", path, lambda: (read_text(path, LARGEST), None))[0]

    def trace(self, path: Path, format_: Literal["csv", "mahimahi"]) -> Trace:
        """Return the recorded link of a file."""

        def read() -> tuple[str, Trace]:
            text = self.text(path)
            return text, Trace.parse(text, str(path), format_)

        found = self._once(format_, path, read)[1]
        assert found is not None  # It was made by `read`.
        return found

    def _once(
        self, what: str, path: Path, read: Callable[[], tuple[str, Trace | None]]
    ) -> tuple[str, Trace | None]:
        if (what, path) not in self._known:
            self._known[what, path] = read()
        return self._known[what, path]


def resolved_with_inputs(
    scenario: Scenario, reading: Reading | None = None, *, emulated: bool = False
) -> tuple[dict[str, Any], Inputs]:
    """Return the resolved form of a scenario and what its files hold.

    Parameters
    ----------
    scenario : Scenario
        What is to be run.
    reading : Reading, optional
        Of earlier scenarios, whose files are not read again. Default: all are read.
    emulated : bool
        Whether it is for an emulation, which has what kernels have. Default False.

    Raises
    ------
    ScenarioError
        If a part is only a kernel's, and it is not emulated.
    BadValueError
        If a file cannot be read or does not hold what its place wants; all such are named.
    """
    if not emulated and (problems := list(_only_emulated(scenario))):
        raise ScenarioError(problems)
    text, files = scenario.resolve()
    resolved: dict[str, Any] = json.loads(text)
    return resolved, _read(scenario.file, resolved, files, reading or Reading())


def _only_emulated(scenario: Scenario) -> Iterator[Problem]:
    """Yield the congestion controls that kernels have and the engine has not."""
    for number, group in enumerate(scenario.flows):
        control = getattr(group, "cc", None)
        if control is not None and control.only_emulated:
            place, accepted = scenario.file or scenario.name, "Emulate it, or write another"
            what = "the kernel's, which cannot be simulated"
            yield Problem(place, ("flows", number, "cc"), control.kind, what, accepted)


def for_engine(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resolved form without what is not the engine's."""
    record = resolved["record"]
    series = [name for name in record["series"] if name not in FROM_PYTHON]
    return {**resolved, "record": {**record, "series": series}}


def _read(
    place: str | None, resolved: Mapping[str, Any], files: Mapping[str, Path], reading: Reading
) -> Inputs:
    """Read every trace as the kind of its link wants it; report all that cannot be read."""
    kinds: dict[str, str] = {}
    fields: dict[str, tuple[str, ...]] = {}
    for field, link in _tables(resolved):
        for key in ("trace", "table"):
            if key in link:
                kinds.setdefault(link[key], link.get("kind", ""))
                fields.setdefault(link[key], (*field, key))
    traces: dict[str, Trace] = {}
    roles: dict[str, Role] = {}
    texts: dict[str, str] = {}
    problems: list[str] = []
    for name, path in files.items():
        try:
            if fields[name][-1] == "table":
                roles[name] = "table"
                texts[name] = _table_text(place, fields[name], name, path)
                continue
            texts[name] = reading.text(path)
            if "snr" in fields[name]:
                roles[name] = "snr"
                continue
            format_: Literal["csv", "mahimahi"]
            format_ = "csv" if kinds.get(name) == "rate-trace" else "mahimahi"
            roles[name] = format_
            traces[name] = reading.trace(path, format_)
        except AirpathError as error:
            problems.append(str(error))
    if problems:
        raise BadValueError("\n".join(problems))
    return Inputs(traces, roles, texts, dict(files))


def _table_text(place: str | None, field: tuple[str, ...], name: str, path: Path) -> str:
    """Return the text of a table that the engine takes; an error names the scenario's key."""
    try:
        text = read_table(name, path)
        _airpath.PerTable.from_json(text)
    except UnreadableError as error:
        wrong = error.why
    except ValueError as error:
        wrong = f"not a table of error rates: {str(error).removesuffix('.')}"
    else:
        return text
    raise ScenarioError([Problem(place, field, name, wrong)])


def _tables(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every table in `value` with its path."""
    if isinstance(value, Mapping):
        yield path, value
        for key, item in value.items():
            yield from _tables(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _tables(item, (*path, str(index)))
