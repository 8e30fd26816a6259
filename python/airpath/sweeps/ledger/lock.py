"""File lock that admits one coordinator at a time. It is released if the coordinator dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from airpath.errors import BadValueError, one_line

__all__ = ["Lock", "coordinator_of"]

_TRIES = 10
_PAUSE_S = 0.02
"""Pause between two attempts, s. A retry is needed because `coordinator_of` briefly locks."""

_HELD: WeakSet[Lock] = WeakSet()


class Lock:
    """Exclusive right to write a ledger, held from construction until `release`.

    Parameters
    ----------
    ledger : Path
        The ledger; the lock file has the same name with the suffix ``.lock``.

    Raises
    ------
    BadValueError
        If another coordinator holds the lock, or the lock file cannot be created.
    """

    def __init__(self, ledger: Path) -> None:
        self._path = _lock_file(ledger)
        for last in (*(False,) * (_TRIES - 1), True):
            try:
                self._file = _locked(self._path)
                break
            except BlockingIOError:
                if last:
                    raise _refused(ledger, self._path) from None
                time.sleep(_PAUSE_S)
            except OSError as error:
                why = (error.strerror or str(error)).lower()
                raise BadValueError(
                    f"{one_line(str(self._path))}: cannot be locked ({why}). "
                    "Use a directory that can be written to, on a disk with locks."
                ) from None
        _HELD.add(self)
        with suppress(OSError):  # On a full disk, the lock file stays empty; the lock still works.
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._file >= 0:
            with suppress(OSError):
                self._path.unlink()
            self.forget()

    def forget(self) -> None:
        """Close the file without releasing the lock: in a forked child, the parent owns it."""
        with suppress(OSError):
            os.close(self._file)
        self._file = -1
        _HELD.discard(self)


def coordinator_of(ledger: Path) -> int | None:
    """Return the ID of the process that is writing a ledger; None if no process is writing it.

    Parameters
    ----------
    ledger : Path
        The ledger.

    Returns
    -------
    process : int or None
        Process ID; 0 if it is unknown.
    """
    path = _lock_file(ledger)
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(path)
    except OSError:
        return None
    finally:
        os.close(file)
    return None


def _lock_file(ledger: Path) -> Path:
    return ledger.with_name(f"{ledger.name}.lock")


def _locked(path: Path) -> int:
    """Return the open and locked file at `path`."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder may have just removed the file.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), path.stat()):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _holder(path: Path) -> int:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return 0


def _refused(ledger: Path, path: Path) -> BadValueError:
    process = _holder(path)
    who = f"process {process}" if process else "another process"
    return BadValueError(
        f"{one_line(str(ledger))}: is being written by {who}. "
        "Wait until it is done, or give another directory."
    )


def _in_child() -> None:
    for lock in list(_HELD):
        lock.forget()


# A forked worker that outlives its coordinator would otherwise keep the lock.
os.register_at_fork(after_in_child=_in_child)
