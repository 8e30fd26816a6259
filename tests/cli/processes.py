"""The command as a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import airpath


def environment() -> dict[str, str]:
    """An environment in which `python -m airpath` finds this package."""
    return {**os.environ, "PYTHONPATH": str(Path(airpath.__file__).parents[1])}


def words(*arguments: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "airpath", *map(str, arguments)]
