"""What a paper's ``paper.toml`` says: citation, modes, how pages write quantities, its items.

```toml
title = "..."
citation = "..."
confidence = 0.9                # of all intervals; default 0.99
published_runs = 20             # behind each printed interval, if the paper prints any
decimals = {goodput = 1}        # on pages, by quantity; likewise headings

[modes.quick]                   # the entries of Effort
replications = 4
duration_s = 60.0
warmup_s = 0.0

[items]                         # in the paper's order
fig1 = "drop-tail over the buffer size"
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from airpath.papers.kit.base import Cell, Effort, Item, ItemResult, Paper
from airpath.papers.kit.files import read_toml
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Statements

__all__ = ["Cells", "Evaluate", "paper_of", "titles"]

Cells = Sequence[Cell] | Callable[[Session], Sequence[Cell]]
"""What an item needs simulated."""

Evaluate = Callable[[Session, Path | None], ItemResult]
"""Makes an item's result; the path is the folder for its files, None when none are wanted."""


@cache
def _said(folder: str | Path) -> dict[str, Any]:
    return read_toml(folder, "paper.toml")


def titles(folder: str | Path) -> Mapping[str, str]:
    """Return the titles of a paper's items."""
    found: Mapping[str, str] = _said(folder)["items"]
    return found


def paper_of(
    folder: str | Path,
    statements: Statements,
    items: Mapping[str, tuple[Cells, Evaluate]],
    **more: Any,
) -> Paper:
    """Return a paper as its ``paper.toml`` has it.

    Parameters
    ----------
    folder : str or Path
        The paper by its key, or the folder of one that does not come with Airpath.
    statements : Statements
        What its text says, with a check for each.
    items : mapping of str to tuple
        What each item needs simulated and how it is evaluated, by the keys of the file.
    **more
        Further entries of `Paper`.

    Raises
    ------
    ValueError
        If `items` are not those of the file, or a statement belongs to an item that is not.
    """
    key = folder if isinstance(folder, str) else folder.name
    about = dict(_said(folder))
    modes = {mode: Effort(**effort) for mode, effort in about.pop("modes").items()}
    named = about.pop("items")
    belong = {item for said in statements.said.values() for item in said.items}
    if named.keys() != items.keys() or not belong <= named.keys():
        raise ValueError(f"{key}: items of paper.toml, of the code and of statements.toml differ")
    return Paper(
        key=key,
        modes=modes,
        items=[Item(name, named[name], *items[name], statements.of(name)) for name in named],
        statements=statements.specs(),
        **about,
        **more,
    )
