"""Handles failed writes to standard output and standard error (full disk, closed pipe)."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["OutputLostError", "guarded_streams"]


_ERRORS = "backslashreplace"
"""File names may contain invalid UTF-8, and a terminal may not support every character."""


class OutputLostError(Exception):
    """Raised if standard output cannot be written to.

    Not an `OSError`, so that no handler of file errors catches it.

    Parameters
    ----------
    error : OSError
        Error of the system.
    """

    def __init__(self, error: OSError) -> None:
        self.reader_left = isinstance(error, BrokenPipeError)
        why = (error.strerror or str(error)).lower()
        super().__init__(f"standard output: cannot be written to ({why}).")


class _Raw(io.FileIO):
    """A file descriptor that reports the first failed write, and then discards all data.

    Python flushes remaining buffers again when the process ends; this must not fail a second time.
    """

    def __init__(self, descriptor: int, lost: OSError | None, tells: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._lost = lost
        self._tells = tells

    def write(self, data: Any) -> int:
        try:
            if self._lost is not None:
                raise self._lost
            while (written := super().write(data)) is None:
                # Another process has set the descriptor to non-blocking.
                select.select([], [self.fileno()], [])
        except OSError as error:
            if self._tells:
                self._give_up(error)
                raise OutputLostError(error) from None
        except KeyboardInterrupt:
            if self._tells:
                self._give_up(InterruptedError())
            raise
        else:
            return written
        return memoryview(data).nbytes

    def _give_up(self, error: OSError) -> None:
        self._lost = error
        self._tells = False


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Make failed writes raise `OutputLostError`; on standard error they are ignored.

    Replaced streams, as in a notebook, are not changed.
    """
    before = sys.stdout, sys.stderr
    sys.stdout = _guarded(sys.stdout, sys.__stdout__, 1, tells=True)
    sys.stderr = _guarded(sys.stderr, sys.__stderr__, 2, tells=False)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def _guarded(stream: Any, own: Any, descriptor: int, tells: bool) -> Any:
    if stream is not own:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)
        return stream
    if stream is None:
        # The stream is closed. The next opened file must not get the descriptor of standard output.
        _occupy(descriptor)
        raw = _Raw(descriptor, OSError(errno.EBADF, "it is closed"), tells)
        return _text(raw, "utf-8", line_buffering=True)
    stream.flush()
    raw = _Raw(stream.fileno(), None, tells)
    # Standard error is not buffered.
    return _text(raw, stream.encoding, line_buffering=not tells or stream.isatty())


def _text(raw: _Raw, encoding: str, line_buffering: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=encoding,
        errors=_ERRORS,
        line_buffering=line_buffering,
    )


def _occupy(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        if null != descriptor:
            os.dup2(null, descriptor)
            os.close(null)
