"""Reads the papers' data files, and writes results so that no file is ever left half-written."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path

from airpath.errors import BadValueError

__all__ = ["output_folder", "read_table", "write_file"]


def read_table(paper: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a published table, every entry as it is printed.

    Parameters
    ----------
    paper : str
        Folder of the paper.
    name : str
        File name: ``table3.csv``. Lines that begin with ``#`` are comments.
    """
    file = resources.files("airpath.papers") / paper / name
    text = file.read_text(encoding="utf-8")
    return list(csv.DictReader(_without_comments(text)))


def _without_comments(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))


def output_folder(folder: Path) -> Path:
    """Make a folder for results and try it, before any work is done.

    Raises
    ------
    BadValueError
        If it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".airpath-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadValueError(
            f'out = "{folder}": cannot be written to ({reason}). Give a folder that can.'
        ) from None
    return folder


def write_file(path: Path, data: bytes) -> None:
    """Write a file at once: under another name first, so that it is never seen half-written."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
