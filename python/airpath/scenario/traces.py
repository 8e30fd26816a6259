"""Lookup of trace files.

A scenario names a trace either by its path from the directory of the scenario file, or as
``traces:NAME``. The latter is a file in the directory that the environment variable
``AIRPATH_TRACES`` names. If the variable is not set, the file is in the directory ``traces`` next
to the scenario file, or in ``airpath/traces`` of the user's data directory.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

__all__ = ["PREFIX", "VARIABLE", "not_found", "recorded_traces", "trace_path"]

PREFIX = "traces:"
VARIABLE = "AIRPATH_TRACES"


def recorded_traces(directory: Path | None = None) -> Path:
    """Return the directory of recorded traces. It may not exist.

    Parameters
    ----------
    directory : pathlib.Path, optional
        Directory of the scenario file. Default: the working directory.
    """
    directories = _directories(directory)
    return next((each for each in directories if each.is_dir()), directories[-1])


def trace_path(file: str, directory: Path | None) -> Path:
    """Return the path of a trace. The file may not exist.

    Parameters
    ----------
    file : str
        A path, or ``traces:NAME``.
    directory : pathlib.Path or None
        Directory from which relative paths start; None is the working directory.
    """
    if not file.startswith(PREFIX):
        return (directory or Path()) / file
    paths = [each / file.removeprefix(PREFIX) for each in _directories(directory)]
    # Path.is_file would raise an error for names that are too long.
    return next((path for path in paths if os.path.isfile(path)), paths[-1])  # noqa: PTH113


def not_found(file: str, path: Path) -> tuple[str, str]:
    """Return the problem and the fix for a trace that does not exist."""
    if not file.startswith(PREFIX):
        return f"no such file: {path}", f'Use a path from the scenario file, or "{PREFIX}NAME"'
    where = (
        f"{recorded_traces()}, which {VARIABLE} names"
        if os.environ.get(VARIABLE)
        else f"the directory traces next to the scenario, or in {_user_directory()}; "
        f"{VARIABLE} is not set"
    )
    return (
        f"no file {file.removeprefix(PREFIX)} in {where}",
        "Use an existing file; Mahimahi publishes traces in the repository ravinet/mahimahi on "
        "GitHub, directory traces",
    )


def _directories(directory: Path | None) -> list[Path]:
    named = os.environ.get(VARIABLE)
    return [Path(named)] if named else [(directory or Path()) / "traces", _user_directory()]


def _user_directory() -> Path:
    return Path(platformdirs.user_data_dir("airpath", appauthor=False)) / "traces"
