"""Reads the papers' data files."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["read_table", "read_toml"]


def read_table(paper: str | Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a published table, every entry as it is printed.

    Parameters
    ----------
    paper : str or Path
        The paper by its key, or the folder of one that does not come with Airpath.
    name : str
        File name: ``table3.csv``. Lines that begin with ``#`` are comments.
    """
    return list(csv.DictReader(_without_comments(_text(paper, name))))


def read_toml(paper: str | Path, name: str) -> dict[str, Any]:
    """Return what a TOML file of a paper says.

    Parameters
    ----------
    paper : str or Path
        The paper by its key, or the folder of one that does not come with Airpath.
    name : str
        File name: ``paper.toml``.
    """
    return tomllib.loads(_text(paper, name))


def _text(paper: str | Path, name: str) -> str:
    folder = resources.files("airpath.papers") / paper if isinstance(paper, str) else paper
    return (folder / name).read_text(encoding="utf-8")


def _without_comments(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
