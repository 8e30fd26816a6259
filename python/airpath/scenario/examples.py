"""Access to the example scenarios and sweeps that come with Airpath."""

from __future__ import annotations

from pathlib import Path

from airpath.errors import BadValueError, show
from airpath.scenario.base import nearest

__all__ = ["example_path", "examples", "shipped_examples"]


def shipped_examples() -> Path:
    """Return the directory of the examples; its subdirectory `traces` contains their traces."""
    return Path(__file__).parents[1] / "examples"


def examples() -> dict[str, str]:
    """Map the name of each example to its first line; sweeps come last."""
    found = {}
    for name, path in _files().items():
        line = path.read_text("utf-8").partition("\n")[0].lstrip("# ").rstrip(":.")
        found[name] = line if path.parent == shipped_examples() else f"sweep: {line}"
    return found


def example_path(name: str) -> Path:
    """Return the path of an example file.

    Parameters
    ----------
    name : str
        Name of the example without the ending ``.toml``.

    Raises
    ------
    BadValueError
        If there is no example with this name.
    """
    known = _files()
    if name not in known:
        raise BadValueError(f"{show(name)}: not an example. {nearest(name, known)}.")
    return known[name]


def _files() -> dict[str, Path]:
    directory = shipped_examples()
    paths = [*sorted(directory.glob("*.toml")), *sorted((directory / "sweeps").glob("*.toml"))]
    return {path.stem: path for path in paths}
