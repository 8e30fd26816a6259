"""``airpath list``: the available components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from airpath import phy
from airpath.cli import completion, options, output
from airpath.errors import BadValueError, show
from airpath.reproduction import installed_papers
from airpath.reproduction.plugins import NO_PAPERS
from airpath.scenario.components import FAMILIES
from airpath.solutions import Solution

__all__ = ["KINDS", "components", "list_components"]


def _classes(family: Any) -> Callable[[], dict[str, str]]:
    def listed() -> dict[str, str]:
        return {name: _first_line(component) for name, component in family.registry.items()}

    return listed


def _first_line(component: type) -> str:
    line = (component.__doc__ or "").strip().partition("\n")[0].rstrip(".").replace("`", "")
    # "Reno: the congestion control ..." begins with its name, which the list already shows.
    head, colon, rest = line.partition(": ")
    return rest if colon and head == component.__name__ else line


def _schemes() -> dict[str, str]:
    return {
        mcs["name"]: f"{mcs['label']}, blocks of {mcs['block_bytes']} bytes, "
        f"{mcs['rate_bps'] / 1e6:g} Mbit/s"
        for mcs in phy.components().mcss
    }


KINDS: dict[str, Callable[[], dict[str, str]]] = {
    **{name: _classes(family) for name, family in FAMILIES.items()},
    "fading": lambda: dict(phy.components().channels),
    "mcs": _schemes,
    "table": phy.shipped,
    "model": _classes(Solution),
    "paper": installed_papers,
}
"""Maps a kind of component to the function that lists its components."""


def components(kind: str) -> dict[str, str]:
    """Return a mapping from the names of the components of a kind to one-line descriptions.

    Raises
    ------
    BadValueError
        If the kind is unknown.
    """
    if kind not in KINDS:
        raise BadValueError(
            f"{show(kind)}: not a kind of component. Expected one of: {', '.join(KINDS)}."
        )
    return KINDS[kind]()


def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help=f"Kind of component: {', '.join(KINDS)}. Default: all.",
            autocompletion=completion.kinds,
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List what there is to choose from, one line each."""
    found = {name: components(name) for name in (KINDS if kind is None else [kind])}
    if json:
        output.print_json(found)
        return 0
    for name, members in found.items():
        if kind is None:
            print(f"{name}:")
        indent = "  " if kind is None else ""
        width = max(map(len, members), default=0)
        for member, line in members.items():
            print(f"{indent}{member:<{width}}  {line}")
        if not members:
            print(f"{indent}{NO_PAPERS}")
    return 0
