"""Context managers that defer or record Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["Stop", "interrupts_wait", "stop_on_ctrl_c", "until"]

T = TypeVar("T")
Stop = Callable[[], bool]
"""Function that returns whether Ctrl-C was pressed."""


@contextmanager
def interrupts_wait(*, however_often: bool = False) -> Iterator[None]:
    """Defer Ctrl-C until the end of the block.

    The signal is raised again at the end of the block.

    Parameters
    ----------
    however_often
        Whether further signals are deferred too. Otherwise, a second one raises `KeyboardInterrupt`
        immediately.
    """
    waiting: list[int] = []

    def hold(number: int, _frame: Any) -> None:
        if waiting and not however_often:
            raise KeyboardInterrupt
        waiting.append(number)

    with _on_ctrl_c(hold):
        yield
    if waiting:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def stop_on_ctrl_c() -> Iterator[Stop]:
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C raises an error.

    A block within such a block shares its Ctrl-C: the functions of both blocks return the same.
    """
    outer = signal.getsignal(signal.SIGINT)
    if isinstance(outer, _Press) and _is_main_thread():
        yield outer.pressed.is_set
        return
    press = _Press()
    with _on_ctrl_c(press):
        yield press.pressed.is_set


def until(stop: Stop, items: Iterable[T]) -> Iterator[T]:
    """Yield the items; raise `KeyboardInterrupt` in front of the first after Ctrl-C."""
    for item in items:
        if stop():
            raise KeyboardInterrupt
        yield item


class _Press:
    """Signal handler that records the first Ctrl-C and raises an error at the second."""

    def __init__(self) -> None:
        self.pressed = threading.Event()

    def __call__(self, _number: int, _frame: Any) -> None:
        if self.pressed.is_set():
            raise KeyboardInterrupt
        self.pressed.set()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _on_ctrl_c(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle Ctrl-C while the block runs, in the main thread and if Python handles the signal."""
    if not _is_main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
