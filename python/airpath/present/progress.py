"""Progress reports of long calls: a bar in a terminal or a notebook, or a callback."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from typing import Any, Literal, TypeVar

from airpath.arguments import error_prefix

__all__ = [
    "Auto",
    "Paced",
    "ProgressCallback",
    "progress_line",
    "replication_progress",
    "reporting_to",
    "terminal_bar",
]

Auto = Literal["auto"]
"""Value of `progress`: show a bar in notebooks and interactive interpreters only."""

ProgressCallback = Callable[[float, str], None]
"""Callback with the finished fraction, in [0, 1], and a text about the current step."""

CallbackT = TypeVar("CallbackT")

_AT_ONCE_S = 0.5
"""Time after which a bar appears in a notebook, s."""


_PAUSE_S = 0.1


class Paced:
    """Rate limiter that forwards progress reports at most ten times a second.

    Parameters
    ----------
    notify : callable or None
        Callback for the reports. None disables reports.
    after_s : float
        Time before the first report, s. Default 0.
    """

    def __init__(self, notify: ProgressCallback | None, after_s: float = 0.0) -> None:
        self._notify = notify
        self._next_s = time.monotonic() + after_s

    def is_due(self) -> bool:
        """Return whether the next report would be forwarded."""
        return self._notify is not None and time.monotonic() >= self._next_s

    def __call__(self, fraction: float, what: str) -> None:
        """Report the finished fraction, in [0, 1], and the current step."""
        if self._notify is not None and self.is_due():
            self._next_s = time.monotonic() + _PAUSE_S
            self._notify(fraction, what)


def progress_line(progress: Any) -> str | None:
    """Return a message if the value of the argument `progress` is not accepted, else None."""
    if progress is None or progress == "auto" or callable(progress):
        return None
    prefix = error_prefix("progress", progress)
    return f'{prefix}: not a function. Use one, "auto" for a bar, or None.'


@contextmanager
def reporting_to(
    progress: CallbackT | Auto | None,
    adapted: Callable[[ProgressCallback], CallbackT] | None = None,
) -> Iterator[CallbackT | None]:
    """Yield the callback to which a long call reports its progress while the block runs.

    Parameters
    ----------
    progress : callable, ``"auto"`` or None
        Function of the user, ``"auto"`` for a bar in a notebook or a terminal, or None for no
        reports.
    adapted : callable, optional
        Function that adapts the callback of the bar to the signature that this call uses. Default:
        the call uses a `ProgressCallback`.
    """
    if progress != "auto":
        yield progress
        return
    with _bar() as notify:
        made: Any = notify if notify is None or adapted is None else adapted(notify)
        yield made


def replication_progress(notify: ProgressCallback) -> Callable[[int, int, float], None]:
    """Return a callback for finished and total replications and the fraction of simulated time."""

    def report(finished: int, total: int, fraction: float) -> None:
        notify(fraction, f"simulating, {finished} of {total} replications finished")

    return report


def _bar() -> AbstractContextManager[ProgressCallback | None]:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        return _notebook_bar()
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return terminal_bar()
    return nullcontext(None)


@contextmanager
def terminal_bar() -> Iterator[ProgressCallback | None]:
    """Show a bar on a terminal while the block runs; yield its callback, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console
    from rich.markup import escape as as_text

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task("", total=1.0)

    def notify(fraction: float, what: str) -> None:
        bar.update(task, completed=fraction, description=as_text(what))
        bar.start()

    try:
        yield notify
    finally:
        if bar.live.is_started:
            bar.stop()


@contextmanager
def _notebook_bar() -> Iterator[ProgressCallback]:
    """Show a bar below a notebook cell while the block runs; remove it at the end."""
    # Imported here, because IPython is untyped and optional.
    ipython: Any = importlib.import_module("IPython.display")
    began, shown_as = time.monotonic(), None

    def notify(fraction: float, what: str) -> None:
        nonlocal shown_as
        bar = ipython.HTML(f'<progress value="{fraction:.3f}" max="1"></progress> {escape(what)}')
        if shown_as is not None:
            shown_as.update(bar)
        elif time.monotonic() - began >= _AT_ONCE_S:
            shown_as = ipython.display(bar, display_id=True)

    try:
        yield notify
    finally:
        if shown_as is not None:
            shown_as.update({"text/html": "", "text/plain": ""}, raw=True)
