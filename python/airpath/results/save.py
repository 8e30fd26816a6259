"""Saving of a result as a directory of files, each with the provenance of the run."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.errors import BadValueError
from airpath.files import LARGEST, other_than_file, output_directory, read_bytes, write_file
from airpath.present import figure_files
from airpath.results.applications import APPLICATIONS, application_groups
from airpath.results.export import LATEX, checked_formats, write_latex, write_table
from airpath.results.frames import frame
from airpath.results.provenance import as_comment
from airpath.results.stored import DOCUMENT
from airpath.results.tables import queue_names
from airpath.results.transfers import transfer_groups
from airpath.scenario.scenario import DISTRIBUTIONS

if TYPE_CHECKING:
    import pandas as pd

    from airpath.present.tables import Table
    from airpath.results.result import Result

__all__ = ["DOCUMENT", "FIGURES", "Saving", "check_places"]

_TEXTS = (DOCUMENT, "scenario.toml")
TABLES = "tables.tex"
"""Name of the file with the tables that the terminal shows, as LaTeX source."""
_STEMS = (
    "summary",
    "flows",
    "queues",
    "links",
    "users",
    "stations",
    "mac-delays",
    "queue-lengths",
    "transfers",
    "transfer-sizes",
    *APPLICATIONS,
    "ss",
    "flowmonitor",
)

FIGURES = tuple(
    f"{stem}.{kind}"
    for stem in (
        *("queue-lengths", "mac-delays", "users", "completion-times", "applications"),
        *("page-load-times", "delay-parts", "timeline"),
        *(f"distribution-{quantity}" for quantity in DISTRIBUTIONS),
    )
    for kind in figure_files.FORMATS
)
"""Names of all figure files that a result can have."""


def check_places(directory: Path, series: Iterable[str], formats: Iterable[str]) -> None:
    """Check, before a run, that the output files would replace only regular files.

    Parameters
    ----------
    directory : Path
        Output directory.
    series : iterable of str
        Names of the recorded series.
    formats : iterable of str
        Formats of the tables.

    Raises
    ------
    BadValueError
        If an output path is a pipe, a device or a directory. The message names all such paths.
    """
    stems = [*_STEMS, *(f"series-{name}" for name in series)]
    tables = (f"{stem}.{form}" for stem in stems for form in formats if form != LATEX)
    names = [*_TEXTS, TABLES, *tables, *FIGURES]
    found = ((directory / name, other_than_file(directory / name)) for name in names)
    problems = [
        f"{path}: cannot be written (is {what}, not a regular file). Remove it, or write another "
        "directory."
        for path, what in found
        if what is not None
    ]
    if problems:
        raise BadValueError("\n".join(problems))


class Saving:
    """Writes the files of a result to a directory, small files first.

    Parameters
    ----------
    result : Result
        Result to write.
    directory : path
        Output directory; created if it does not exist.
    formats : str or sequence of str
        Formats of the tables.

    Raises
    ------
    BadValueError
        If the directory is not writable, or a format is not available.

    Attributes
    ----------
    missing : list of str
        Names of the files that have not been written yet.
    removed : list of Path
        Removed files of an earlier run.
    """

    def __init__(self, result: Result, directory: str | Path, formats: str | Sequence[str]) -> None:
        self._result = result
        checked = checked_formats(formats)
        self._forms = [form for form in checked if form != LATEX]
        self._has_latex = LATEX in checked
        self._directory = output_directory(directory)
        self._head = as_comment(result.provenance)
        self._head += "".join(f"# INVALID: {reason}\n" for reason in result.invalid)
        if not result.complete:
            done = f"{len(result.replications)} of {result.requested} replications"
            self._head += f"# incomplete: interrupted after {done}\n"
        self._long = _recordings(result) if result.replications else {}
        self.missing = [f"{stem}.{form}" for stem in self._long for form in self._forms]
        self.removed: list[Path] = []

    def statistics(self) -> Iterator[Path]:
        """Write ``result.json`` and the short tables, and remove files of an earlier run.

        Yields
        ------
        path : Path
            A written file.
        """
        result = self._result
        tables = _tables(result)
        texts = {"scenario.toml": _utf8(_scenario_file(result))}
        if result.resolved.recording.has_flow_monitor:
            for index, run in enumerate(result.replications):
                texts[f"flowmonitor-{run['replication']}.xml"] = result.flow_monitor_xml(index)
        names = [*texts, *(f"{stem}.{form}" for stem in tables for form in self._forms)]
        names += [TABLES] * self._has_latex
        document = result.to_dict(raw=True)
        document["files"] = sorted(
            [*names, *self.missing, *FIGURES, *(path.name for path in result.captures.values())]
        )
        earlier = _earlier(self._directory)
        path = self._directory / DOCUMENT
        write_file(path, _utf8(json.dumps(document, allow_nan=False) + "\n"))
        self._remove(earlier, names)
        yield self._written(path)
        for name, data in texts.items():
            write_file(self._directory / name, data)
            yield self._written(self._directory / name)
        for stem, table in tables.items():
            yield from self._table(stem, functools.partial(iter, [table]))
        if self._has_latex:
            write_latex(path := self._directory / TABLES, _shown_tables(result), self._head)
            yield self._written(path)

    def recordings(self) -> Iterator[Path]:
        """Write the recorded series, which can be long.

        Yields
        ------
        path : Path
            A written file.
        """
        for stem, parts in self._long.items():
            for path in self._table(stem, parts):
                self.missing.remove(path.name)
                yield path

    def _table(self, stem: str, parts: Callable[[], Iterable[pd.DataFrame]]) -> Iterator[Path]:
        for form in self._forms:
            path = self._directory / f"{stem}.{form}"
            write_table(path, parts(), form, self._head, self._result.provenance)
            yield self._written(path)

    def _written(self, path: Path) -> Path:
        self._result.files.add(path)
        return path

    def _remove(self, earlier: Iterable[str], names: Sequence[str]) -> None:
        """Remove the files of an earlier run, except files that this run replaces."""
        for name in earlier:
            path = self._directory / name
            if name not in names and path not in self._result.files:
                with suppress(OSError):
                    path.unlink()
                    self.removed.append(path)


def _earlier(directory: Path) -> list[str]:
    """Return the names of the files that ``result.json`` in a directory lists."""
    try:
        document = json.loads(read_bytes(directory / DOCUMENT, LARGEST))
        names = document["files"] if "provenance" in document else []
        return [name for name in names if Path(name).name == name and name != DOCUMENT]
    except (BadValueError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _scenario_file(result: Result) -> str:
    about = result.provenance
    seed, reps = about["seed"], about["replications"]
    verb = "run" if result.engine == "simulate" else "emulate"
    head = (
        f"# Written by airpath {about['version']} ({about['commit']}).\n"
        f"# The same run again: airpath {verb} scenario.toml --seed {seed} --reps {reps}\n\n"
    )
    return head + str(about["scenario_toml"])


def _tables(result: Result) -> dict[str, pd.DataFrame]:
    import pandas as pd

    tables = {
        "summary": _tidy_summary(result),
        "flows": result.table("flows"),
        "groups": result.table("groups"),
        "queues": result.table("queues"),
        "links": result.table("links"),
        "queue-lengths": pd.concat(
            [result.pmf(name).assign(queue=name) for name in queue_names(result.replications)]
            or [pd.DataFrame()]
        ),
    }
    if any(run.get("users") for run in result.replications):
        tables["users"] = result.table("users")
    if any(run.get("stations") for run in result.replications):
        tables["stations"] = result.table("stations")
        tables["mac-delays"] = result.table("mac_delays")
    if any(run.get("phases") for run in result.replications):
        tables["phases"] = result.table("phases")
    if any(run.get("delay_parts") for run in result.replications):
        tables["delay-parts"] = result.table("delay_parts")
    if transfer_groups(result.resolved):
        tables["transfers"] = result.table("transfers")
        tables["transfer-sizes"] = result.table("transfer_sizes")
    for name in APPLICATIONS:
        if application_groups(result.resolved, name):
            tables[name] = result.table(name)
    if result.resolved.recording.has_flow_monitor:
        tables["flowmonitor"] = result.flow_monitor()
    return tables


def _shown_tables(result: Result) -> Iterator[Table]:
    from airpath.results.overview import tables

    return tables(result, "other tables") if result.replications else iter(())


def _recordings(result: Result) -> Mapping[str, Callable[[], Iterator[pd.DataFrame]]]:
    """Map each long table to a function that yields one DataFrame per replication."""

    def parts(table: Callable[[int], pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for index, run in enumerate(result.replications):
            yield table(index).assign(replication=run["replication"])

    tables: dict[str, Any] = {
        f"series-{name}": functools.partial(result.series, name)
        for name in result.resolved.recording.series
    }
    if result.resolved.recording.has_ss:
        tables["ss"] = result.ss
    return {stem: functools.partial(parts, table) for stem, table in tables.items()}


def _tidy_summary(result: Result) -> pd.DataFrame:
    return frame(
        {"flow": row["flow"], "quantity": name, **value.to_dict()}
        for row in result.intervals("flows")
        for name, value in row.items()
        if name != "flow"
    )


def _utf8(text: str) -> bytes:
    # File names may contain bytes that are not valid text.
    return text.encode("utf-8", "backslashreplace")
