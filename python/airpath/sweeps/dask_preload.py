"""Preload module of Dask's local worker processes."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(_worker: Any) -> None:
    """Ignore SIGINT. On Ctrl-C, the terminal sends it to every process; the coordinator handles it.

    Parameters
    ----------
    _worker : distributed.Worker
        The worker that starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
