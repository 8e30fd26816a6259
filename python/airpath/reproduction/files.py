"""Reads the data files of papers: CSV, TOML and text."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from airpath.errors import BadValueError, quoted
from airpath.reproduction.published import parsed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["MANIFEST", "read_records", "read_table", "read_text", "read_toml", "refuse_unknown"]

R = TypeVar("R")

MANIFEST: Final = "paper.toml"
"""The file that describes a paper (see `manifest`)."""


def read_table(directory: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a published table; each entry is a string, as printed in the paper.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    name : str
        File name: ``table3.csv``. Lines that begin with ``#`` are comments.
    """
    return list(csv.DictReader(_without_comments(read_text(directory, name))))


def read_records(
    directory: Path, name: str, kind: type[R], columns: Mapping[str, str] | None = None
) -> list[R]:
    """Return the rows of a published table as named tuples.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    name : str
        File name.
    kind : type
        A named tuple whose fields are `int`, `float` or `str`, optionally ``| None``. An empty
        entry is read as None.
    columns : mapping of str to str, optional
        Maps a field to the name of its column, if the names differ. Default: empty.
    """
    of = [(columns or {}).get(field, field) for field in get_type_hints(kind)]
    return [
        kind(*(parsed(row[name]) if row[name] else None for name in of))
        for row in read_table(directory, name)
    ]


def read_toml(directory: Path, name: str) -> dict[str, Any]:
    """Return the document of a TOML file of a paper.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    name : str
        File name: ``paper.toml``.
    """
    return tomllib.loads(read_text(directory, name))


def read_text(directory: Path, name: str) -> str:
    """Return the text of a file of a paper.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    name : str
        File name: ``README.md``.
    """
    return (directory / name).read_text(encoding="utf-8")


def refuse_unknown(
    place: str, names: Iterable[str], known: Iterable[str], what: str = "unknown key"
) -> None:
    """Raise an error for unknown names in a paper's file.

    Parameters
    ----------
    place : str
        File and table, for example ``sbd/paper.toml: figures.fig1``.
    names : iterable of str
        The names to check.
    known : iterable of str
        The accepted names.
    what : str
        Text of the problem. Default: ``unknown key``.

    Raises
    ------
    BadValueError
        If there are unknown names. The message has one line for each unknown name.
    """
    expected = f"Expected one of: {', '.join(sorted(known))}"
    bad = [name for name in dict.fromkeys(names) if name not in set(known)]
    if bad:
        raise BadValueError("\n".join(f"{place}: {quoted(n)}: {what}. {expected}." for n in bad))


def _without_comments(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
