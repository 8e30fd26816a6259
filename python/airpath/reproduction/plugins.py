"""Finds papers: installed papers by entry point, other papers by directory.

A distribution declares its papers in its ``pyproject.toml``. The directory of a paper contains
``paper.toml`` (see `manifest`). Listing reads its `description` and does not run the paper's code:

```toml
[project.entry-points."airpath.papers"]
qawla = "airpath_papers.qawla:PAPER"
```
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from airpath.errors import BadValueError, one_line, show
from airpath.reproduction.base import Paper
from airpath.reproduction.files import MANIFEST, read_toml

__all__ = [
    "GROUP",
    "INSTALL",
    "NO_PAPERS",
    "installed_papers",
    "load",
    "paper_directory",
    "papers_with",
]

GROUP: Final = "airpath.papers"
"""Name of the group of entry points."""

INSTALL: Final = "pip install 'airpath[papers]'"
"""Command that installs the papers of the Airpath project."""

NO_PAPERS: Final = f"no papers are installed. Run {INSTALL}, or use the directory of a paper."


def installed_papers() -> dict[str, str]:
    """Return a mapping from the name of each installed paper to its description.

    A missing description is an empty string. The code of the papers is not run.
    """
    return {name: _description(entry) for name, entry in sorted(_entries().items())}


def load(name: str) -> Paper:
    """Import and return a paper; this runs the paper's code.

    Parameters
    ----------
    name : str
        Name of an installed paper, for example ``qawla``. Or the path of a directory that is a
        Python package with a `PAPER`; the path must contain a slash, as in
        ``papers/studies/qawla``. Modules in a directory use relative imports: ``from .scenarios
        import simulated``.

    Returns
    -------
    paper : Paper
        The paper, with items, modes and citation.

    Raises
    ------
    BadValueError
        If there is no such paper, two distributions have a paper of this name, or the paper's code
        raises an exception.
    """
    if isinstance(name, str) and "/" in name:
        return _paper_in(name)
    entry = _entry(name)
    paper = _run(name, entry.load)
    if not isinstance(paper, Paper):
        raise BadValueError(f"{show(name)}: not a paper: {entry.value} is not a Paper.")
    return paper


def papers_with(file: str) -> list[str]:
    """Return the names of the installed papers whose directory contains this file."""
    found = {name: _directory(entry) for name, entry in sorted(_entries().items())}
    return [name for name, place in found.items() if place is not None and (place / file).is_file()]


def paper_directory(name: str) -> Path:
    """Return the directory of an installed paper; runs no code of the paper.

    Raises
    ------
    BadValueError
        If there is no such paper.
    """
    entry = _entry(name)
    directory = _directory(entry)
    if directory is None:
        raise BadValueError(f"{show(name)}: not a paper: {entry.module} is not a package.")
    return directory


def _entries() -> dict[str, EntryPoint]:
    """Return a mapping from the name of each paper to its entry point.

    Raises
    ------
    BadValueError
        If two distributions have papers of the same name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            both = " and ".join(sorted(map(_distribution, (other, entry))))
            raise BadValueError(f"paper = {show(entry.name)}: is in {both}. Uninstall one of them.")
    return found


def _distribution(entry: EntryPoint) -> str:
    """Return the name of the distribution of an entry point, or the value of the entry point."""
    return entry.value if entry.dist is None else entry.dist.name


def _entry(name: Any) -> EntryPoint:
    found = _entries()
    if isinstance(name, str) and name in found:
        return found[name]
    expected = f"unknown value; expected one of: {', '.join(sorted(found))}."
    raise BadValueError(f"paper = {show(name)}: {expected if found else NO_PAPERS}")


def _description(entry: EntryPoint) -> str:
    directory = _directory(entry)
    try:
        return "" if directory is None else str(read_toml(directory, MANIFEST)["description"])
    except (OSError, ValueError, KeyError):
        return ""


def _directory(entry: EntryPoint) -> Path | None:
    """Return the directory of a paper's package; None if importing its parent packages fails."""
    try:
        spec = importlib.util.find_spec(entry.module)
    except Exception:
        return None
    places = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(places))) if places else None


def _paper_in(directory: str) -> Paper:
    """Return the paper of a directory."""
    name = "airpath_paper_" + re.sub(r"\W", "_", str(Path(directory).resolve()))
    found = sys.modules.get(name)
    if found is None:
        file = Path(directory, "__init__.py")
        spec = importlib.util.spec_from_file_location(
            name, file, submodule_search_locations=[str(file.parent.resolve())]
        )
        loader = None if spec is None else spec.loader
        if not file.is_file() or spec is None or loader is None:
            wrong = "not the directory of a paper: it has no __init__.py"
            raise BadValueError(f"{show(directory)}: {wrong}.")
        found = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            _run(directory, partial(loader.exec_module, found))
        except BadValueError:
            del sys.modules[name]
            raise
    paper = getattr(found, "PAPER", None)
    if not isinstance(paper, Paper):
        raise BadValueError(
            f"{show(directory)}: not the directory of a paper: its __init__.py has no PAPER."
        )
    return paper


def _run(name: str, code: Callable[[], Any]) -> Any:
    try:
        return code()
    except BadValueError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(str(error)).rstrip('.')}."
        raise BadValueError(f"{show(name)}: its code fails: {reason}") from error
