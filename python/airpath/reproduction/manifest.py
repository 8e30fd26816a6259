"""What a paper's ``paper.toml`` says: citation, modes, how pages write quantities, its items.

```toml
description = "..."             # one line, for lists
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

[figures.fig1]                  # declared items: see `declared`, `figures`, `timelines`
like = "fig2"                   # has the keys of that one, but for those that follow
...
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from airpath.reproduction.base import Effort, Item, Paper
from airpath.reproduction.claims import Claims
from airpath.reproduction.declared import table_item
from airpath.reproduction.figures import figure_item
from airpath.reproduction.files import MANIFEST, read_toml, refuse_unknown
from airpath.reproduction.items import Cells, Evaluate
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import Sweeps
from airpath.reproduction.timelines import timeline_item

__all__ = ["paper_of"]


def paper_of(
    directory: Path,
    claims: Claims,
    items: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Any] = MappingProxyType({}),
    naming: Naming | None = None,
    **more: Any,
) -> Paper:
    """Return a paper as its ``paper.toml`` has it.

    Parameters
    ----------
    directory : Path
        Of the paper.
    claims : Claims
        What its text says, with a check for each.
    items : mapping
        What each item needs simulated and how it is evaluated, by the keys of the file; without
        those that the file declares (`declared`, `figures`, `timelines`). Of a figure over time:
        what makes its rows and tables, if it has any.
    sweeps : Sweeps
        Its points.
    quantities : mapping, optional
        Quantities that declared items name, `Measured` and `Computed` ones. Default: none.
    naming : Naming, optional
        How declared figures call values and points. Default: as the sweeps have them.
    **more
        Further entries of `Paper`.

    Raises
    ------
    BadValueError
        If a declared item has a key or a name that is not known.
    ValueError
        If `items` are not those of the file, or a claim belongs to an item that is not.
    """
    key = directory.name
    about = dict(read_toml(directory, MANIFEST))
    modes = {mode: Effort(**effort) for mode, effort in about.pop("modes").items()}
    named = about.pop("items")
    kinds: dict[str, Callable[..., tuple[Cells, Evaluate]]] = {
        "tables": table_item,
        "figures": partial(figure_item, naming=naming or Naming()),
        "timelines": timeline_item,
    }
    made: dict[str, tuple[Cells, Evaluate]] = dict(items)
    for kind, declared in kinds.items():
        specs = about.pop(kind, {})
        for name, spec in specs.items():
            about_item = dict(spec)
            if like := about_item.pop("like", ""):
                refuse_unknown(f"{key}/{MANIFEST}: {kind}.{name}.like", [like], specs, "unknown")
                about_item = {**specs[like], **about_item}
            rows = [items[name]] if name in items else []
            made[name] = declared(directory, name, about_item, sweeps, quantities, *rows)
    belong = {item for spec in claims.specs.values() for item in spec.items}
    if named.keys() != made.keys() or not belong <= named.keys():
        raise ValueError(f"{key}: items of paper.toml, of the code and of claims.toml differ")
    return Paper(
        key=key,
        modes=modes,
        sweeps=sweeps,
        items=[Item(name, named[name], *made[name], claims.of(name)) for name in named],
        claims=claims.checks(),
        **about,
        **more,
    )
