"""Exceptions of compiled methods of parts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["catch_exceptions", "take_exception"]

_raised: dict[int, BaseException] = {}
"""Maps the thread to the exception that a compiled method has raised on it."""
_lock = threading.Lock()
_runs = 0
_previous: Any = sys.unraisablehook


@contextmanager
def catch_exceptions() -> Iterator[None]:
    """Store the exceptions of compiled methods, which numba reports to `sys.unraisablehook`."""
    global _runs, _previous
    with _lock:
        if _runs == 0:
            _previous, sys.unraisablehook = sys.unraisablehook, _store
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if _runs == 0 and sys.unraisablehook is _store:
                sys.unraisablehook = _previous


def _store(unraisable: sys.UnraisableHookArgs) -> None:
    is_compiled = isinstance(unraisable.object, str) and "numba" in unraisable.object
    if is_compiled and unraisable.exc_value is not None:
        error = unraisable.exc_value.with_traceback(unraisable.exc_traceback)
        _raised[threading.get_ident()] = error
    else:
        _previous(unraisable)


def take_exception() -> BaseException | None:
    """Return the exception that a compiled method has raised on this thread, and forget it."""
    return _raised.pop(threading.get_ident(), None)
