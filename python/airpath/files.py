"""Reads and writes files safely: without blocking, only regular files, atomic writes.

All output goes through `NewFile`: a temporary name in the same directory, then an atomic rename.
All files that a user names are read by `read_bytes`.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from airpath.arguments import check_all, error_prefix, path_like
from airpath.errors import BadValueError, RunError, one_line

__all__ = [
    "LARGEST",
    "MIB",
    "NewFile",
    "UnreadableError",
    "new_file",
    "not_left_empty",
    "other_than_file",
    "output_directory",
    "output_file",
    "read_bytes",
    "read_text",
    "write_file",
    "write_files",
]

MIB = 1 << 20
"""One mebibyte, bytes."""

LARGEST = 1024 * MIB
"""Largest size of a file that is read (a trace), bytes."""

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def other_than_file(path: str | os.PathLike[str]) -> str | None:
    """Return the type of a path, for example ``a pipe``; None for a file or a missing path.

    Links are followed.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  (Path.stat is the same, and slower)
    except (OSError, ValueError):
        return None
    return _kind(mode)


def _is_file(path: Path) -> bool:
    """Return whether a path is a regular file; invalid names return False."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _kind(mode: int) -> str | None:
    return next((name for is_kind, name in _KINDS if is_kind(mode)), None)


# --- reading -----------------------------------------------------------------------------------


class UnreadableError(BadValueError):
    """A file that cannot be read.

    Parameters
    ----------
    place : str
        The file's name, for the message.
    why : str
        The problem, without the full stop: ``cannot be read: no such file or directory``.
    """

    def __init__(self, place: str, why: str) -> None:
        self.place = place
        self.why = why
        super().__init__(f"{one_line(place)}: {why}.")

    def __reduce__(self) -> tuple[type[UnreadableError], tuple[str, str]]:
        return type(self), (self.place, self.why)


def read_bytes(path: str | os.PathLike[str], most: int, place: str | None = None) -> bytes:
    """Return the content of a regular file.

    Parameters
    ----------
    path : path
        The file. Links are followed; pipes and devices are rejected without blocking.
    most : int
        Largest accepted size, bytes.
    place : str, optional
        Name of the file in messages. Default: its path.

    Raises
    ------
    UnreadableError
        If the file does not exist, is not a regular file, is larger than `most`, or cannot be read.
    """
    name = os.fspath(path) if place is None else place
    try:
        # Opening a pipe would block, and opening a device can have side effects.
        what = other_than_file(path)
        if what is None:
            with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as file:
                status = os.fstat(file.fileno())
                what = _kind(status.st_mode)
                # A file may grow or have an unknown size, so the number of bytes read is checked
                # too.
                size, data = status.st_size, b""
                if what is None and size <= most:
                    data = file.read(most + 1)
                    size = len(data)
    except (OSError, ValueError) as error:
        raise UnreadableError(name, f"cannot be read: {_reason(error)}") from None
    if what == "a directory":
        raise UnreadableError(name, "cannot be read: is a directory")
    if what is not None:
        raise UnreadableError(name, f"cannot be read: is {what}, not a regular file")
    if size > most:
        raise UnreadableError(name, f"larger than the {most // MIB} MiB that are accepted")
    return data


_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_text(path: str | os.PathLike[str], most: int, place: str | None = None) -> str:
    """Return the content of a regular file as a text in UTF-8.

    Parameters and errors are as in `read_bytes`.
    """
    try:
        return read_bytes(path, most, place).decode("utf-8")
    except UnicodeDecodeError as error:
        name = os.fspath(path) if place is None else place
        why = f"not a text in UTF-8 (byte {error.start + 1})"
        raise UnreadableError(name, why) from None


# --- checks before the work --------------------------------------------------------------------


def output_directory(directory: str | os.PathLike[str], argument: str = "directory") -> Path:
    """Create a directory for results and test that it is writable, before the run.

    Parameters
    ----------
    directory : path
        Directory; created with its parents if it does not exist.
    argument : str
        Name of the argument, for messages.

    Raises
    ------
    BadValueError
        If it is not a path, is empty, or cannot be created or written to.
    """
    check_all(path_like(argument, directory))
    if not os.fspath(directory):
        wrong = "not a directory. Use its name, or . for the working directory."
        raise BadValueError(f"{error_prefix(argument, directory)}: {wrong}")
    path = Path(directory)
    try:
        path.mkdir(parents=True, exist_ok=True)
        _try(path)
    except (OSError, ValueError) as error:
        what = other_than_file(path) or ("a file" if _is_file(path) else None)
        if isinstance(error, FileExistsError) and what:
            wrong = f"is {what}, not a directory. Use another name."
        else:
            wrong = f"cannot be written to ({_reason(error)}). Use a directory that can."
        raise BadValueError(f"{error_prefix(argument, path)}: {wrong}") from None
    return path


@contextmanager
def not_left_empty(directory: str | os.PathLike[str] | None) -> Iterator[None]:
    """Remove a directory and parents that the block created, if they are empty.

    Parameters
    ----------
    directory : path or None
        The directory, which may not exist yet.
    """
    made = []
    if directory is not None and os.fspath(directory):
        path = Path(directory)
        with suppress(OSError, ValueError):
            made = [place for place in (path, *path.parents) if not place.exists()]
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            for place in made:
                place.rmdir()


def output_file(path: Path) -> Path:
    """Check that a file can be written, before the run.

    Parameters
    ----------
    path : Path
        The file; its directory must exist.

    Raises
    ------
    BadValueError
        If it exists and is not a regular file, or its directory is missing or not writable.
    """
    try:
        place = _place_of(path)
        with suppress(FileNotFoundError):
            place.stat()  # Raises an error for names that cannot exist.
        _try(place.parent)
    except (OSError, ValueError) as error:
        if isinstance(error, BadValueError):
            raise
        shown = one_line(os.fspath(path))
        raise BadValueError(
            f"{shown}: cannot be written ({_reason(error)}). Use a file in a directory that can."
        ) from None
    return path


def _try(directory: Path) -> None:
    probe = _partial_in(directory)
    probe.touch()
    probe.unlink()


# --- writing -----------------------------------------------------------------------------------


class NewFile:
    """File that is written under a temporary name until it is complete.

    Parameters
    ----------
    path : Path
        The file. An existing file is replaced at the end. If it is a link, the target is replaced.

    Raises
    ------
    BadValueError
        If the path exists and is not a regular file.

    Attributes
    ----------
    path : Path
        Path of the file.
    partial : Path
        Temporary path to write to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = _place_of(path)
        self.partial = _partial_in(self._place.parent)

    def keep(self) -> None:
        """Move the file to its final path."""
        self.partial.replace(self._place)

    def drop(self) -> None:
        """Remove the temporary file, if `keep` was not called."""
        with suppress(OSError):
            self.partial.unlink()


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file atomically: it exists when the block ends, and not if the block fails.

    Parameters
    ----------
    path : Path
        The file; an existing file is replaced.

    Raises
    ------
    BadValueError
        If the path exists and is not a regular file.
    RunError
        If writing fails, for example because the disk is full.
    """
    file = NewFile(path)
    try:
        with file.partial.open("xb") as stream:
            yield stream
        file.keep()
    except OSError as error:
        raise _not_written(path, error) from None
    finally:
        file.drop()


def write_file(path: Path, data: bytes) -> None:
    """Write a complete file.

    Parameters
    ----------
    path : Path
        The file; an existing file is replaced.
    data : bytes
        Content of the file.

    Raises
    ------
    BadValueError, RunError
        As in `new_file`.
    """
    write_files({path: data})


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together; if writing one fails, no file is replaced.

    Parameters
    ----------
    contents : mapping of Path to bytes
        Contents of the files.

    Raises
    ------
    BadValueError, RunError
        As in `new_file`.
    """
    files = [NewFile(path) for path in contents]
    with ExitStack() as at_end:
        for file, data in zip(files, contents.values(), strict=True):
            at_end.callback(file.drop)
            try:
                with file.partial.open("xb") as stream:
                    stream.write(data)
                    stream.flush()
                    # Some disks report only here that they are full.
                    os.fsync(stream.fileno())
            except OSError as error:
                raise _not_written(file.path, error) from None
        for file in files:
            try:
                file.keep()
            except OSError as error:
                raise _not_written(file.path, error) from None


_NUMBERS = itertools.count()


def _partial_in(directory: Path) -> Path:
    return directory / f".airpath-{os.getpid()}-{next(_NUMBERS)}"


def _place_of(path: Path) -> Path:
    """Return the path to write: for a link, its target."""
    what = other_than_file(path)
    if what is not None:
        raise BadValueError(
            f"{path}: cannot be written (is {what}, not a regular file). Use another name."
        )
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _not_written(path: Path, error: OSError) -> RunError:
    return RunError(f"{one_line(os.fspath(path))}: cannot be written: {_reason(error)}.")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
