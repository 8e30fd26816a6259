"""The command as a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import airpath

SCENARIO = """\
duration = "4 s"
warmup = "1 s"

[bottleneck.aqm]
kind = "gred"

[bottleneck.link]
kind = "fixed"
rate = "10 Mbit/s"
delay = "5 ms"
loss = 0.001

[[flows]]
count = 2
cc = "newreno"
base_rtt = "30 ms"
start = {uniform = ["0 s", "1 s"]}
"""


def environment() -> dict[str, str]:
    """An environment in which `python -m airpath` finds this package."""
    return {**os.environ, "PYTHONPATH": str(Path(airpath.__file__).parents[1])}


def words(*arguments: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "airpath", *map(str, arguments)]
