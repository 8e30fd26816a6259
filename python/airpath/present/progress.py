"""How far a long call is: a bar in a terminal or a notebook, or a function of the caller."""

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
    "of_replications",
    "progress_line",
    "reporting_to",
    "terminal_bar",
]

Auto = Literal["auto"]
"""A bar in notebooks and in an interactive interpreter, elsewhere nothing."""

ProgressCallback = Callable[[float, str], None]
"""Takes the finished fraction, in [0, 1], and what is being done."""

CallbackT = TypeVar("CallbackT")

_AT_ONCE_S = 0.5
"""A call that is over before has no bar in a notebook."""


_PAUSE_S = 0.1


class Paced:
    """Passes reports on, at most ten times a second.

    Parameters
    ----------
    tell : callable or None
        Takes the reports. None: nothing is reported.
    after_s : float
        Time before the first report, s. Default 0.
    """

    def __init__(self, tell: ProgressCallback | None, after_s: float = 0.0) -> None:
        self._tell = tell
        self._next_s = time.monotonic() + after_s

    def is_due(self) -> bool:
        """Return whether the next report would be passed on."""
        return self._tell is not None and time.monotonic() >= self._next_s

    def __call__(self, fraction: float, what: str) -> None:
        """Report the finished fraction, in [0, 1], and what is being done."""
        if self._tell is not None and self.is_due():
            self._next_s = time.monotonic() + _PAUSE_S
            self._tell(fraction, what)


def progress_line(progress: Any) -> str | None:
    """Return what is wrong with an argument `progress`; None if nothing is."""
    if progress is None or progress == "auto" or callable(progress):
        return None
    prefix = error_prefix("progress", progress)
    return f'{prefix}: not a function. Give one, "auto" for a bar, or None.'


@contextmanager
def reporting_to(
    progress: CallbackT | Auto | None,
    adapted: Callable[[ProgressCallback], CallbackT] | None = None,
) -> Iterator[CallbackT | None]:
    """Yield what a long call reports to, while the block runs.

    Parameters
    ----------
    progress : callable, ``"auto"`` or None
        The caller's function, a bar in a notebook or a terminal, or nothing.
    adapted : callable, optional
        Returns what takes the arguments of this call's reports and gives them to a bar. Default:
        the call reports as a `ProgressCallback`.
    """
    if progress != "auto":
        yield progress
        return
    with _bar() as tell:
        made: Any = tell if tell is None or adapted is None else adapted(tell)
        yield made


def of_replications(tell: ProgressCallback) -> Callable[[int, int, float], None]:
    """Return what takes finished and total replications and the fraction of simulated time."""

    def report(finished: int, total: int, fraction: float) -> None:
        tell(fraction, f"simulating, {finished} of {total} replications finished")

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
    """Show a bar on a terminal while the block runs; None when there is no terminal."""
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

    def tell(fraction: float, what: str) -> None:
        bar.update(task, completed=fraction, description=as_text(what))
        bar.start()

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


@contextmanager
def _notebook_bar() -> Iterator[ProgressCallback]:
    """Show a bar under a notebook's cell while the block runs; it leaves nothing behind."""
    # Without types, and not there outside notebooks.
    ipython: Any = importlib.import_module("IPython.display")
    began, shown_as = time.monotonic(), None

    def tell(fraction: float, what: str) -> None:
        nonlocal shown_as
        bar = ipython.HTML(f'<progress value="{fraction:.3f}" max="1"></progress> {escape(what)}')
        if shown_as is not None:
            shown_as.update(bar)
        elif time.monotonic() - began >= _AT_ONCE_S:
            shown_as = ipython.display(bar, display_id=True)

    try:
        yield tell
    finally:
        if shown_as is not None:
            shown_as.update({"text/html": "", "text/plain": ""}, raw=True)
