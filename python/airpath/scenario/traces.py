"""Where trace files are looked for.

A trace is named by its path from the folder of the scenario file, or as ``traces:NAME``: a file
in the folder that the environment variable ``AIRPATH_TRACES`` names, else in ``../shared/traces``
beside the project (the nearest folder upwards whose ``pyproject.toml`` is Airpath's, else the
working folder).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["PREFIX", "VARIABLE", "not_found", "recorded_traces", "trace_path"]

PREFIX = "traces:"
VARIABLE = "AIRPATH_TRACES"
_OUR_NAME = re.compile(r"""^name\s*=\s*["']airpath["']\s*$""", re.MULTILINE)


def recorded_traces() -> Path:
    """Return the folder of recorded traces; it need not exist."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    here = Path.cwd()
    project = next((folder for folder in (here, *here.parents) if _is_airpath(folder)), here)
    return project.parent / "shared" / "traces"


def trace_path(file: str, folder: Path | None) -> Path:
    """Return the path that `file` names; it need not exist.

    Parameters
    ----------
    file : str
        A path, or ``traces:NAME``.
    folder : pathlib.Path or None
        Where relative paths start; None is the working folder.
    """
    if file.startswith(PREFIX):
        return recorded_traces() / file.removeprefix(PREFIX)
    return (folder or Path()) / file


def not_found(file: str, path: Path) -> tuple[str, str]:
    """Return what is wrong with a trace that does not exist, and what to do about it."""
    if not file.startswith(PREFIX):
        return f"no such file: {path}", f'Write a path from the scenario file, or "{PREFIX}NAME"'
    folder = recorded_traces()
    where = (
        f"{folder}, which {VARIABLE} names"
        if os.environ.get(VARIABLE)
        else f"{folder}; {VARIABLE} is not set"
    )
    return (
        f"no file {file.removeprefix(PREFIX)} in {where}",
        f"Mahimahi publishes its traces in the repository ravinet/mahimahi on GitHub, folder "
        f"traces; put them into a folder and name it in {VARIABLE}",
    )


def _is_airpath(folder: Path) -> bool:
    try:
        return bool(_OUR_NAME.search((folder / "pyproject.toml").read_text("utf-8")))
    except (OSError, ValueError):
        return False
