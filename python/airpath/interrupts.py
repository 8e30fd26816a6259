"""Context managers that defer or record Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Stop", "interrupts_wait", "stop_on_ctrl_c"]

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
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C raises an error."""
    pressed = threading.Event()

    def press(_number: int, _frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    with _on_ctrl_c(press):
        yield pressed.is_set


@contextmanager
def _on_ctrl_c(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle Ctrl-C while the block runs, in the main thread and if Python handles the signal."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
