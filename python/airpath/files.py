"""Writes results so that no file is ever left half-written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from airpath.errors import BadValueError

__all__ = ["not_left_empty", "output_file", "output_folder", "write_file"]


def output_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder for results and try it, before any work is done.

    Parameters
    ----------
    folder : path
        Made when missing, with its parents.

    Raises
    ------
    BadValueError
        If it has no name, or cannot be made or written to.
    """
    if not os.fspath(folder):
        raise BadValueError('out = "": not a folder. Write its name, or . for the working folder.')
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        _try(path)
    except (OSError, ValueError) as error:
        raise BadValueError(
            f'out = "{path}": cannot be written to ({_reason(error)}). Give a folder that can.'
        ) from None
    return path


@contextmanager
def not_left_empty(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Remove a folder that the block made, and its parents, where nothing was written into them.

    Parameters
    ----------
    folder : path or None
        The folder, before it is made.
    """
    made = []
    if folder is not None and os.fspath(folder):
        path = Path(folder)
        with suppress(OSError, ValueError):
            made = [place for place in (path, *path.parents) if not place.exists()]
    try:
        yield
    finally:
        with suppress(OSError):
            for place in made:
                place.rmdir()


def output_file(path: Path) -> Path:
    """Check that a file can be written, before any work is done.

    Parameters
    ----------
    path : Path
        The file; its folder exists.

    Raises
    ------
    BadValueError
        If it is a folder, or its folder is missing or cannot be written to.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        _try(path.parent)
    except (OSError, ValueError) as error:
        raise BadValueError(
            f"{path}: cannot be written ({_reason(error)}). Give a file in a folder that can."
        ) from None
    return path


def write_file(path: Path, data: bytes) -> None:
    """Write a file at once: under another name first, so that it is never seen half-written.

    Parameters
    ----------
    path : Path
        The file; what stood there is replaced.
    data : bytes
        All of its content.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _try(folder: Path) -> None:
    probe = folder / f".airpath-{os.getpid()}"
    probe.touch()
    probe.unlink()


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
