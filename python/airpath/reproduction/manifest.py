"""Makes a `Paper` from its ``paper.toml``: citation, modes, formats of quantities, items.

```toml
description = "..."             # one line, for lists
title = "..."
citation = "..."
confidence = 0.9                # of all intervals; default 0.99
published_runs = 20             # runs per published confidence interval, if any is published
decimals = {goodput = 1}        # decimal places of each quantity on pages
headings = {goodput = "rate"}   # column heading of each quantity on pages

[modes.quick]                   # the entries of Effort
replications = 4
duration_s = 60.0
warmup_s = 0.0

[items]                         # in the paper's order
fig1 = "drop-tail over the buffer size"

[figures.fig1]                  # declared items: see `declared`, `figures`, `timelines`
like = "fig2"                   # inherits the keys of fig2, and overrides these keys
...
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args

from airpath.errors import BadValueError
from airpath.reproduction.base import Effort, Item, Mode, Paper
from airpath.reproduction.claims import Claims
from airpath.reproduction.declared import table_item
from airpath.reproduction.entries import (
    COUNT,
    NUMBER,
    TABLE,
    TEXT,
    WORDS,
    Kind,
    refuse_value,
    refuse_wrong,
)
from airpath.reproduction.figures import figure_item
from airpath.reproduction.files import MANIFEST, read_toml, refuse_unknown
from airpath.reproduction.items import Cells, Evaluate
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import Sweeps
from airpath.reproduction.timelines import timeline_item

__all__ = ["paper_of"]

_PAPER: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("description", "title", "citation"), TEXT),
    "confidence": NUMBER,
    "published_runs": COUNT,
    **dict.fromkeys(("headings", "items"), WORDS),
    **dict.fromkeys(("decimals", "modes", "tables", "figures", "timelines"), TABLE),
}
_REQUIRED: Final = ("replications", "duration_s", "warmup_s")
_EFFORT: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("duration_s", "warmup_s", "resamples"), NUMBER),
    **dict.fromkeys(("replications", "grid_step"), COUNT),
    "note": TEXT,
}


def paper_of(
    directory: Path,
    claims: Claims,
    items: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Any] = MappingProxyType({}),
    naming: Naming | None = None,
    **more: Any,
) -> Paper:
    """Return a paper from its ``paper.toml``.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    claims : Claims
        Claims of the paper's text, each with a check.
    items : mapping
        Maps the key of an item to its cells and its evaluation function. Declared items
        (`declared`, `figures`, `timelines`) need no entry. If a declared figure or timeline has an
        entry, the entry is a function that returns additional rows and tables.
    sweeps : Sweeps
        Sweeps of the paper: the points that are simulated.
    quantities : mapping, optional
        Quantities that declared items use (`quantities`). Default: none.
    naming : Naming, optional
        Display names of axis values and points in declared items. Default: the values themselves.
    **more
        Further parameters of `Paper`.

    Raises
    ------
    BadValueError
        If the file or a declared item has an invalid entry. If a declared item is missing from
        ``[items]``, is also in `items`, or inherits from itself by `like`. If the keys of `items`
        differ from the items of the file. If a claim belongs to an unknown item.
    """
    key = directory.name
    place = f"{key}/{MANIFEST}"
    about = dict(read_toml(directory, MANIFEST))
    refuse_wrong(place, about, _PAPER, ("title", "citation", "modes", "items"))
    modes = _modes(f"{place}: modes", about.pop("modes"))
    named = about.pop("items")
    kinds: dict[str, Callable[..., tuple[Cells, Evaluate]]] = {
        "tables": table_item,
        "figures": figure_item,
        "timelines": timeline_item,
    }
    made: dict[str, tuple[Cells, Evaluate]] = dict(items)
    for kind, declared in kinds.items():
        specs = about.pop(kind, {})
        refuse_unknown(f"{place}: {kind}", specs, named, "not in [items]")
        refuse_wrong(f"{place}: {kind}", specs, dict.fromkeys(specs, TABLE))
        for name in specs:
            whole = _entries_of(f"{place}: {kind}", name, specs)
            rows = [items[name]] if callable(items.get(name)) and kind != "tables" else []
            if name in made and not rows:
                where = "the paper's code" if name in items else "another table of the file"
                accepted = "Leave out one of the two"
                refuse_value(f"{place}: {kind}", name, specs[name], f"{where} has it too", accepted)
            named_so = [] if kind == "timelines" else [naming or Naming()]
            made[name] = declared(directory, name, whole, sweeps, quantities, *named_so, *rows)
    belong = {item for spec in claims.specs.values() for item in spec.items}
    if named.keys() != made.keys() or not belong <= named.keys():
        apart = ", ".join(sorted({*(named.keys() ^ made.keys()), *(belong - named.keys())}))
        wrong = "items of the file, of the code and of claims.toml differ"
        raise BadValueError(f"{place}: {wrong}: {apart}.")
    return Paper(
        key=key,
        modes=modes,
        sweeps=sweeps,
        items=[Item(name, named[name], *made[name], claims.of(name)) for name in named],
        claims=claims.checks(),
        **about,
        **more,
    )


def _modes(place: str, specs: Mapping[str, Any]) -> dict[Mode, Effort]:
    refuse_wrong(place, specs, dict.fromkeys(get_args(Mode), TABLE))
    for mode, spec in specs.items():
        refuse_wrong(f"{place}.{mode}", spec, _EFFORT, _REQUIRED)
    try:
        return {mode: Effort(**specs[mode]) for mode in get_args(Mode) if mode in specs}
    except ValueError as error:
        raise BadValueError(f"{place}: {error}.") from None


def _entries_of(
    place: str, name: str, specs: Mapping[str, Any], after: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the entries of a declared item, including the entries inherited by `like`."""
    own = dict(specs[name])
    if "like" not in own:
        return own
    at = f"{place}.{name}"
    refuse_wrong(at, {"like": own["like"]}, {"like": TEXT})
    like = own.pop("like")
    refuse_unknown(f"{at}.like", [like], specs, "unknown")
    before = (*after, name)
    if like in before:
        refuse_value(at, "like", like, "leads back to itself", "Name an item that is not like it")
    return {**_entries_of(place, like, specs, before), **own}
