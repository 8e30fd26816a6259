"""The example scenarios that come with Airpath."""

from __future__ import annotations

from pathlib import Path

from airpath.errors import BadValueError, show
from airpath.scenario.base import nearest

__all__ = ["example_path", "examples", "shipped_examples"]


def shipped_examples() -> Path:
    """Return the folder of the examples; the traces that they read are in its folder `traces`."""
    return Path(__file__).parents[1] / "examples"


def examples() -> dict[str, str]:
    """Return the examples by name, with the first line about each."""
    found = {}
    for path in sorted(shipped_examples().glob("*.toml")):
        line = path.read_text("utf-8").partition("\n")[0]
        found[path.stem] = line.lstrip("# ").rstrip(":.")
    return found


def example_path(name: str) -> Path:
    """Return the file of an example.

    Parameters
    ----------
    name : str
        Without the ending ``.toml``.

    Raises
    ------
    BadValueError
        If there is none such.
    """
    known = examples()
    if name not in known:
        raise BadValueError(f"{show(name)}: not an example. {nearest(name, known)}.")
    return shipped_examples() / f"{name}.toml"
