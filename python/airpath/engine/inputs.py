"""Reading of a scenario's files: traces, error-rate tables and SNR files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from airpath import _airpath
from airpath.engine.engine_input import EngineInput
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import AirpathError, BadValueError, Problem, ScenarioError
from airpath.files import LARGEST, UnreadableError, read_text
from airpath.scenario.part_files import used_parts
from airpath.scenario.tables import is_unfinished, read_table
from airpath.trace import Trace

__all__ = ["Inputs", "Reading", "Role", "read_inputs", "trace_formats"]

Role = Literal["mahimahi", "csv", "table", "snr", "schedule", "part"]
"""Role of a file: trace in one of two formats, error-rate table, SNR or delay over time, parts."""


@dataclass(frozen=True)
class Inputs:
    """Contents of a scenario's files. All mappings have the names in the resolved form as keys.

    Parameters
    ----------
    traces : mapping of str to Trace
        Compiled traces.
    roles : mapping of str to Role
        Role of each file.
    texts : mapping of str to str
        Text of each file.
    paths : mapping of str to Path
        Path of each file.
    """

    traces: Mapping[str, Trace]
    roles: Mapping[str, Role]
    texts: Mapping[str, str]
    paths: Mapping[str, Path]

    def for_engine(self, resolved: ResolvedScenario) -> EngineInput:
        """Combine a resolved scenario with these files to the input of the engine."""
        return EngineInput(
            json.dumps(resolved.for_engine().document, allow_nan=False),
            {name: trace.compiled for name, trace in self.traces.items()},
            self.table_texts,
            self.snr_texts,
            self.part_texts,
        )

    @property
    def table_texts(self) -> dict[str, str]:
        """Maps names of error-rate tables to their texts."""
        return {name: self.texts[name] for name, role in self.roles.items() if role == "table"}

    @property
    def snr_texts(self) -> dict[str, str]:
        """Maps names of SNR files to their texts."""
        return {name: self.texts[name] for name, role in self.roles.items() if role == "snr"}

    @property
    def part_texts(self) -> dict[str, str]:
        """Maps the paths of Python files with parts to their texts."""
        return {name: self.texts[name] for name, role in self.roles.items() if role == "part"}

    def digest(self, name: str) -> str:
        """Return the SHA-256 of the file `name`, hexadecimal."""
        return _digest(self.texts[name])

    def provenance(self) -> dict[str, Any]:
        """Map the name of each trace and error-rate table to its path and SHA-256."""
        schedules = [name for name, role in self.roles.items() if role == "schedule"]
        files = {
            name: {"file": str(self.paths[name]), "sha256": self.digest(name)}
            for name in (*self.traces, *self.snr_texts, *schedules, *self.table_texts)
        }
        parts = {name: {"file": name, "sha256": self.digest(name)} for name in self.part_texts}
        tables = {
            name: {**files.pop(name), **({"complete": False} if is_unfinished(text) else {})}
            for name, text in self.table_texts.items()
        }
        found = {"traces": files, "tables": tables, "parts": parts}
        return {key: value for key, value in found.items() if value or key == "traces"}


@lru_cache(64)
def _digest(text: str) -> str:
    """Return the SHA-256 of a text. The result is cached: points of a sweep share texts."""
    return hashlib.sha256(text.encode()).hexdigest()


class Reading:
    """Cache of file contents, so that a file that several scenarios use is read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Path], tuple[str, Trace | None]] = {}

    def text(self, path: Path) -> str:
        """Return the text of a file."""
        return self._once("", path, lambda: (read_text(path, LARGEST), None))[0]

    def trace(self, path: Path, format_: Literal["csv", "mahimahi"]) -> Trace:
        """Return the compiled trace of a file."""

        def read() -> tuple[str, Trace]:
            text = self.text(path)
            return text, Trace.parse(text, str(path), format_)

        found = self._once(format_, path, read)[1]
        assert found is not None  # `read` returns a trace.
        return found

    def _once(
        self, what: str, path: Path, read: Callable[[], tuple[str, Trace | None]]
    ) -> tuple[str, Trace | None]:
        if (what, path) not in self._known:
            self._known[what, path] = read()
        return self._known[what, path]


def read_inputs(
    place: str | None, resolved: ResolvedScenario, files: Mapping[str, Path], reading: Reading
) -> Inputs:
    """Read the files of a resolved scenario.

    Parameters
    ----------
    place : str or None
        File of the scenario, for error messages.
    resolved : ResolvedScenario
        The scenario.
    files : mapping of str to Path
        Maps names in the resolved scenario to paths.
    reading : Reading
        Cache with the files of earlier scenarios.

    Raises
    ------
    BadValueError
        If files cannot be read or have a wrong format. The message lists all such files.
    """
    formats = trace_formats(resolved)
    fields: dict[str, tuple[str, ...]] = {}
    for field, table in _tables(resolved.document):
        for key in ("trace", "table"):
            if key in table:
                fields.setdefault(table[key], (*field, key))
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
            if fields[name][0] == "controls":
                # The resolved scenario contains the values of a schedule.
                roles[name] = "schedule"
                continue
            roles[name] = formats[name]
            traces[name] = reading.trace(path, formats[name])
        except AirpathError as error:
            problems.append(str(error))
    if problems:
        raise BadValueError("\n".join(problems))
    paths = dict(files)
    for source in used_parts(resolved.document).values():
        if source is not None:
            roles[source.file], texts[source.file] = "part", source.text
            paths[source.file] = Path(source.file)
    return Inputs(traces, roles, texts, paths)


def trace_formats(resolved: ResolvedScenario) -> dict[str, Literal["mahimahi", "csv"]]:
    """Map the name of each trace of a link in the resolved scenario to its format."""
    found: dict[str, Literal["mahimahi", "csv"]] = {}
    for _, link in resolved.links():
        if link.trace is not None and link.trace_format is not None:
            found.setdefault(link.trace, link.trace_format)
    return found


def _table_text(place: str | None, field: tuple[str, ...], name: str, path: Path) -> str:
    """Read and check an error-rate table; return its text. Errors contain the scenario's key."""
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
    """Yield every table in `value` with its path."""
    if isinstance(value, Mapping):
        yield path, value
        for key, item in value.items():
            yield from _tables(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _tables(item, (*path, str(index)))
