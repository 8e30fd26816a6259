"""Reads the papers' data files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

__all__ = ["read_table"]


def read_table(paper: str | Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a published table, every entry as it is printed.

    Parameters
    ----------
    paper : str or Path
        The paper by its key, or the folder of one that does not come with Airpath.
    name : str
        File name: ``table3.csv``. Lines that begin with ``#`` are comments.
    """
    folder = resources.files("airpath.papers") / paper if isinstance(paper, str) else paper
    file = folder / name
    text = file.read_text(encoding="utf-8")
    return list(csv.DictReader(_without_comments(text)))


def _without_comments(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
