"""How tests wait: for an event, however long it takes on a busy machine.

A limit in a test is a guard against a hang alone, and pytest has one for all (`timeout` in
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
    """Return as soon as something has happened.

    Parameters
    ----------
    happened : callable
        Returns whether it has. It is called again and again.
    process : Popen, optional
        Whose doing it is: when it has ended, the wait is over too.

    Raises
    ------
    AssertionError
        If the process ends before.
    """
    while not happened():
        ended = process is not None and process.poll() is not None
        assert not ended or happened(), "the process ended before"
        time.sleep(0.02)
