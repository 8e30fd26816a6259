"""Where trace files are looked for.

A trace is named by its path from the folder of the scenario file, or as ``traces:NAME``: a file
in the folder that the environment variable ``AIRPATH_TRACES`` names; without it in the folder
``traces`` next to the scenario file, else in ``airpath/traces`` of the user's data directory.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

__all__ = ["PREFIX", "VARIABLE", "not_found", "recorded_traces", "trace_path"]

PREFIX = "traces:"
VARIABLE = "AIRPATH_TRACES"


def recorded_traces(folder: Path | None = None) -> Path:
    """Return the folder of recorded traces; it need not exist.

    Parameters
    ----------
    folder : pathlib.Path, optional
        That of the scenario file. Default: the working folder.
    """
    folders = _folders(folder)
    return next((each for each in folders if each.is_dir()), folders[-1])


def trace_path(file: str, folder: Path | None) -> Path:
    """Return the path that `file` names; it need not exist.

    Parameters
    ----------
    file : str
        A path, or ``traces:NAME``.
    folder : pathlib.Path or None
        Where relative paths start; None is the working folder.
    """
    if not file.startswith(PREFIX):
        return (folder or Path()) / file
    paths = [each / file.removeprefix(PREFIX) for each in _folders(folder)]
    # Not Path.is_file, which raises for names that are too long.
    return next((path for path in paths if os.path.isfile(path)), paths[-1])  # noqa: PTH113


def not_found(file: str, path: Path) -> tuple[str, str]:
    """Return what is wrong with a trace that does not exist, and what to do about it."""
    if not file.startswith(PREFIX):
        return f"no such file: {path}", f'Write a path from the scenario file, or "{PREFIX}NAME"'
    where = (
        f"{recorded_traces()}, which {VARIABLE} names"
        if os.environ.get(VARIABLE)
        else f"the folder traces next to the scenario, or in {_of_user()}; {VARIABLE} is not set"
    )
    return (
        f"no file {file.removeprefix(PREFIX)} in {where}",
        "Give one that is there; Mahimahi publishes traces in the repository ravinet/mahimahi on "
        "GitHub, folder traces",
    )


def _folders(folder: Path | None) -> list[Path]:
    named = os.environ.get(VARIABLE)
    return [Path(named)] if named else [(folder or Path()) / "traces", _of_user()]


def _of_user() -> Path:
    return Path(platformdirs.user_data_dir("airpath", appauthor=False)) / "traces"
