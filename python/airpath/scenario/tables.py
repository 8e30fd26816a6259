"""Lookup of error-rate tables.

A scenario names a table either by its path from the directory of the scenario file, or as
``airpath:NAME`` for a table that comes with Airpath.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from airpath.files import MIB, read_text
from airpath.scenario.base import nearest

__all__ = [
    "DIRECTORY",
    "LARGEST",
    "PREFIX",
    "is_table",
    "is_unfinished",
    "read_table",
    "shipped_tables",
    "table_not_found",
    "table_path",
]

PREFIX = "airpath:"
"""Prefix of the names of tables that come with Airpath."""

DIRECTORY = Path(__file__).parents[1] / "phy" / "tables"
"""Directory of the tables that come with Airpath."""

LARGEST = 64 * MIB
"""Size limit of a table, bytes."""


def shipped_tables() -> list[str]:
    """Return the names of the tables that come with Airpath, as written in a scenario."""
    return sorted(PREFIX + file.stem for file in DIRECTORY.glob("*.json"))


def table_path(table: str, directory: Path | None = None) -> Path:
    """Return the path of a table. The file may not exist.

    Parameters
    ----------
    table : str
        A path, or ``airpath:NAME``.
    directory : pathlib.Path or None
        Directory from which relative paths start; None is the working directory.
    """
    if table.startswith(PREFIX):
        return DIRECTORY / f"{table.removeprefix(PREFIX)}.json"
    return (directory or Path()) / table


def is_table(table: str, path: Path) -> bool:
    """Return whether a table exists; `path` is the result of `table_path`."""
    if table.startswith(PREFIX):
        return table in shipped_tables()
    # Path.is_file would raise an error for names that are too long.
    return os.path.isfile(path)  # noqa: PTH113


def is_unfinished(text: str) -> bool:
    """Return whether the text of a table contains the mark of an unfinished measurement."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(table, dict) and table.get("complete") is False


def read_table(name: str, path: Path) -> str:
    """Return the text of a table's file. Its content is not checked here.

    Raises
    ------
    BadValueError
        If the file cannot be read. The message is one line that begins with `name`.
    """
    return read_text(path, LARGEST, name)


def table_not_found(table: str, path: Path) -> tuple[str, str]:
    """Return the problem and the fix for a table that does not exist."""
    if table.startswith(PREFIX):
        return "not a table that comes with Airpath", nearest(table, shipped_tables())
    shipped = ", ".join(shipped_tables()) or "none"
    advice = f"Use a path from the scenario file, or a table that comes with Airpath: {shipped}"
    return f"no such file: {path}", advice
