"""Waiting in tests for an event, regardless of the load of the machine.

A time limit in a test only prevents a hang; pytest has one for all tests (`timeout` in
`pyproject.toml`).
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

__all__ = ["wait_until"]


def wait_until(
    happened: Callable[[], object], process: subprocess.Popen[Any] | None = None
) -> None:
    """Return when an event has happened.

    Parameters
    ----------
    happened : callable
        Returns true if the event has happened. Called repeatedly.
    process : Popen, optional
        Process that causes the event. The wait ends when the process ends.

    Raises
    ------
    If the process ends before the event.
        If the process ends before.
    """
    while not happened():
        ended = process is not None and process.poll() is not None
        assert not ended or happened(), "the process ended before"
        time.sleep(0.02)
