"""What Dask's worker processes on this machine load when they start."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(_worker: Any) -> None:
    """Leave Ctrl-C to the coordinator: a terminal sends it to every process.

    Parameters
    ----------
    _worker : distributed.Worker
        The worker that starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
