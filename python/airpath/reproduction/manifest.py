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

[figures.fig1]                  # declared items: see `declared`
...
```
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from airpath.errors import BadValueError, show
from airpath.reproduction.base import Effort, Item, Paper
from airpath.reproduction.claims import Claims
from airpath.reproduction.declared import figure_item, table_item
from airpath.reproduction.files import MANIFEST, read_toml
from airpath.reproduction.items import Cells, Evaluate
from airpath.reproduction.quantities import Measured
from airpath.reproduction.sweeps import Sweeps

__all__ = ["paper_of"]


def paper_of(
    directory: Path,
    claims: Claims,
    items: Mapping[str, tuple[Cells, Evaluate]],
    sweeps: Sweeps | None = None,
    quantities: Mapping[str, Measured] = MappingProxyType({}),
    **more: Any,
) -> Paper:
    """Return a paper as its ``paper.toml`` has it.

    Parameters
    ----------
    directory : Path
        Of the paper.
    claims : Claims
        What its text says, with a check for each.
    items : mapping of str to tuple
        What each item needs simulated and how it is evaluated, by the keys of the file; without
        those that the file declares (`declared`).
    sweeps : Sweeps, optional
        They make the scenarios. Default: `more` says what does.
    quantities : mapping of str to Measured, optional
        Those that declared items name. Default: none.
    **more
        Further entries of `Paper`.

    Raises
    ------
    BadValueError
        If the file declares an item and there are no sweeps.
    ValueError
        If `items` are not those of the file, or a claim belongs to an item that is not.
    """
    key = directory.name
    about = dict(read_toml(directory, MANIFEST))
    modes = {mode: Effort(**effort) for mode, effort in about.pop("modes").items()}
    named = about.pop("items")
    kinds = {"tables": table_item, "figures": figure_item}
    for kind, declared in kinds.items():
        for name, spec in about.pop(kind, {}).items():
            if sweeps is None:
                raise BadValueError(
                    f"{key}/{MANIFEST}: {kind}.{name}.sweep = {show(spec.get('sweep', ''))}: the "
                    "paper has no sweeps. Give its Sweeps to paper_of."
                )
            items = {**items, name: declared(directory, name, spec, sweeps, quantities)}
    belong = {item for spec in claims.specs.values() for item in spec.items}
    if named.keys() != items.keys() or not belong <= named.keys():
        raise ValueError(f"{key}: items of paper.toml, of the code and of claims.toml differ")
    if sweeps is not None:
        more = {**sweeps.of_paper(), **more}
    return Paper(
        key=key,
        modes=modes,
        items=[Item(name, named[name], *items[name], claims.of(name)) for name in named],
        claims=claims.checks(),
        **about,
        **more,
    )
