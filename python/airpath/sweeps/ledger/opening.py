"""Creates, opens and checks the file of a ledger, and converts errors to one-line messages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from airpath.errors import BadValueError, one_line
from airpath.files import MIB, NewFile, UnreadableError, read_bytes
from airpath.sweeps.ledger.schema import ADDED, APPLICATION_ID, FORMAT, TABLES

__all__ = ["FILE_NAME", "connected", "damaged", "ledger_file", "make", "named_errors"]

FILE_NAME = "ledger.sqlite"
"""File name in the directory of a sweep."""

_HEADER = 100
"""Length of the header of an SQLite file, bytes."""

_PATIENCE_S = 30.0
"""Time to wait for a file that another program has locked, s."""


def ledger_file(path: str | os.PathLike[str]) -> Path:
    """Return the file of a ledger, given the file or its directory."""
    place = Path(path)
    return place / FILE_NAME if place.is_dir() else place


# --- errors ------------------------------------------------------------------------------------


def damaged(path: Path, what: str) -> BadValueError:
    """Return the error about a damaged file.

    Parameters
    ----------
    path : Path
        The ledger.
    what : str
        Damaged part of the file.
    """
    return BadValueError(
        f"{one_line(str(path))}: damaged ({what}). "
        "Put a copy that is whole into its place, or give another directory."
    )


_NOT_DAMAGE = {
    "full": "cannot be written (the disk is full). What was stored before is kept.",
    "readonly": "cannot be written (read-only). Use a directory that can.",
    "locked": "another program keeps it locked. Wait until it is done.",
    "unable to open": "cannot be opened. Use a file that can be read and written.",
    "disk i/o error": "cannot be read or written (disk I/O error). What was stored is kept.",
}
"""Messages of SQLite, and the messages reported for them."""


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the system in the block into one line that names the file."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # The connection was used after it was closed.
    except (sqlite3.Error, sqlite3.Warning, OSError, MemoryError, UnicodeError) as error:
        # The message of SQLite about a damaged file may not be valid text.
        _refuse(path, error)


def _refuse(path: Path, error: Exception) -> NoReturn:
    text = " ".join(str(error).split()).lower()
    if isinstance(error, OSError):
        why = (error.strerror or text).lower()
        line = f"cannot be read or written ({why}). What was stored is kept."
        raise BadValueError(f"{one_line(str(path))}: {line}") from None
    if isinstance(error, sqlite3.OperationalError):
        for words, line in _NOT_DAMAGE.items():
            if words in text:
                raise BadValueError(f"{one_line(str(path))}: {line}") from None
    raise damaged(path, one_line(text) or "out of memory") from None


# --- opening -----------------------------------------------------------------------------------


def make(path: Path) -> None:
    """Create an empty ledger atomically: on failure, no file remains.

    Parameters
    ----------
    path : Path
        Path of the new file; no file exists there.

    Raises
    ------
    BadValueError
        If the file cannot be created, or the log of a missing ledger exists.
    """
    left = path.with_name(f"{path.name}-wal")
    if left.exists() and left.stat().st_size:
        # SQLite would apply this log to the new file.
        raise BadValueError(
            f"{one_line(str(path))}: is missing, and its log {one_line(left.name)} exists. "
            "Move the file back, or remove the log."
        )
    with suppress(OSError):
        left.unlink()
    file = NewFile(path)
    try:
        with named_errors(path), closing(_connection(file.partial, "rwc")) as made:
            made.execute("PRAGMA journal_mode = MEMORY")
            made.execute("BEGIN")
            made.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            made.execute(f"PRAGMA user_version = {FORMAT}")
            for text in TABLES.values():
                made.execute(text)
            made.execute("COMMIT")
            made.execute("PRAGMA journal_mode = WAL")
        with named_errors(path):
            file.keep()
            _settle(path.parent)
    finally:
        file.drop()


def _settle(directory: Path) -> None:
    """Flush the entries of a directory to disk."""
    place = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def connected(path: Path, *, writes: bool) -> sqlite3.Connection:
    """Open an existing ledger, after a check of its header.

    Parameters
    ----------
    path : Path
        The ledger.
    writes : bool
        True to open the ledger for writing; the structure of the file is then checked.

    Raises
    ------
    BadValueError
        If the file is not a ledger, has a newer format, is damaged, or cannot be read (or written).
    """
    _check_header(path)
    if writes and not os.access(path, os.W_OK):
        raise BadValueError(f"{one_line(str(path))}: {_NOT_DAMAGE['readonly']}")
    with named_errors(path):
        connection = _ready(path, writes)
    with _closed_on_error(connection), named_errors(path):
        missing = _check_tables(path, connection)
        if writes:
            _look_through(path, connection)
            for name in missing:
                connection.execute(TABLES[name])
    return connection


def _ready(path: Path, writes: bool) -> sqlite3.Connection:
    """Open a connection and test it. For reading, try several modes of SQLite in order."""
    if writes:
        connection = _connection(path, "rw")
        with _closed_on_error(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        return connection
    # SQLite creates files next to the ledger even for reading. If it cannot, the ledger is opened
    # as immutable, without the rows in a log.
    log = path.with_name(f"{path.name}-wal")
    can_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    for mode in (*(("rw",) if can_write else ()), "ro", "ro&immutable=1"):
        if mode.endswith("1") and log.exists() and log.stat().st_size:
            raise BadValueError(
                f"{one_line(str(path))}: cannot be read with its log in a directory that is "
                "read-only. Copy both into one that can be written to."
            )
        connection = _connection(path, mode)
        try:
            with _closed_on_error(connection):
                connection.execute("PRAGMA query_only = ON")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            if mode.endswith("1") or not any(words in str(error) for words in _CANNOT_MAKE):
                raise
            continue
        return connection
    raise AssertionError("the last way returns or raises")


_CANNOT_MAKE = ("unable to open", "readonly")
"""Messages of SQLite if it cannot create files next to the ledger."""


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    name = quote(os.fsencode(os.path.abspath(path)))  # noqa: PTH100  (keeps symbolic links)
    connection = sqlite3.connect(
        f"file:{name}?mode={mode}",
        uri=True,
        timeout=_PATIENCE_S,
        isolation_level=None,
        check_same_thread=False,
    )
    with _closed_on_error(connection):
        # A manipulated schema must cause an error, and must not execute code.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
    return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _check_header(path: Path) -> None:
    """Check the first bytes, because SQLite would create files next to another program's file."""
    try:
        head = _first_bytes(path)
    except UnreadableError as error:
        hint = "" if path.exists() else " Use the directory of a sweep, or its ledger."
        raise BadValueError(f"{error}{hint}") from None
    name = one_line(str(path))
    if not head:
        raise damaged(path, "empty")
    if not head.startswith(b"SQLite format 3\0"):
        raise BadValueError(f"{name}: not a ledger (not an SQLite file). Use another name.")
    if len(head) < _HEADER:
        raise damaged(path, f"only {len(head)} bytes")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise BadValueError(f"{name}: not a ledger (another program's file). Use another name.")
    written = int.from_bytes(head[60:64], "big")
    if written > FORMAT:
        raise BadValueError(
            f"{name}: of format {written}, which a newer airpath wrote. "
            f"This one reads format {FORMAT}."
        )
    if written != FORMAT:
        raise damaged(path, f"no format {written} exists")


def _first_bytes(path: Path) -> bytes:
    if path.is_file():
        try:
            with path.open("rb") as file:
                return file.read(_HEADER)
        except OSError as error:
            raise UnreadableError(
                str(path), f"cannot be read: {(error.strerror or str(error)).lower()}"
            ) from None
    # If the file exists, it has just been created and is still small; else this raises an error.
    return read_bytes(path, MIB)[:_HEADER]


def _check_tables(path: Path, connection: sqlite3.Connection) -> list[str]:
    """Check the tables; return the names of tables that an earlier version did not create."""
    found: dict[Any, Any] = dict(
        connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    )
    missing = [name for name in ADDED if name not in found]
    for name, text in TABLES.items():
        if name not in missing and found.get(name) != text:
            raise damaged(path, f"table {name} is not as it was made")
    return missing


def _look_through(path: Path, connection: sqlite3.Connection) -> None:
    # quick_check does not compare indexes with their tables and would not detect missing rows.
    for (line,) in connection.execute("PRAGMA integrity_check(1)"):
        if line != "ok":
            raise damaged(path, one_line(" ".join(str(line).split())))
