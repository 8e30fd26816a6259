"""The command as a separate process."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import airpath
from forked import airpath_words

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Escape sequences that move the cursor of a terminal or set a colour."""

AT_ONCE_S = 5.0
"""CPU time, s, sufficient to write finished results and to exit."""

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
    """Return an environment in which `python -m airpath` finds this package."""
    return {**os.environ, "PYTHONPATH": str(Path(airpath.__file__).parents[1])}


def words(*arguments: object) -> list[str]:
    """Return the command line of a separate process."""
    return [sys.executable, "-m", "airpath", *map(str, arguments)]


class Interrupted(NamedTuple):
    """Result of a command after Ctrl-C."""

    status: int
    out: str
    err: str
    """Text on the terminal after the progress bar was removed."""
    cpu_s: float
    """CPU time from the signal to the end, s."""


class Running:
    """A running command that shows its progress on a terminal connected to standard error.

    Parameters
    ----------
    *arguments : object
        The command line, without the program name.
    """

    def __init__(self, *arguments: object) -> None:
        self._shown = b""
        self._out = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the process)
        self._terminal, child = pty.openpty()
        self._cpu = tempfile.NamedTemporaryFile("r", encoding="utf-8")  # noqa: SIM115
        settings = {"TERM": "xterm", "COLUMNS": "200", "FORKED_CPU": self._cpu.name}
        self._process = subprocess.Popen(
            airpath_words(*arguments),
            env={**os.environ, **settings},
            stdout=self._out,
            stderr=child,
        )
        os.close(child)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
        self._out.close()
        self._cpu.close()

    def wait_for(self, pattern: str) -> None:
        """Read the terminal output until it contains a pattern."""
        while not re.search(pattern, ESCAPE.sub("", self._text())):
            assert self._read(), f"it ended before {pattern!r}: {self._text()}"

    def interrupt(self) -> Interrupted:
        """Send SIGINT, as Ctrl-C does, and wait for the end."""
        self._process.send_signal(signal.SIGINT)
        while self._read():
            pass
        status = self._process.wait()
        self._out.seek(0)
        return Interrupted(
            status,
            self._out.read(),
            ESCAPE.split(self._text())[-1].replace("\r\n", "\n"),
            float(self._cpu.read()),
        )

    def _read(self) -> bool:
        try:
            read = os.read(self._terminal, 4096)
        except OSError:  # Linux, after the process has closed its side
            read = b""
        self._shown += read
        return bool(read)

    def _text(self) -> str:
        return self._shown.decode("utf-8", "replace")
