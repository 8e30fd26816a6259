"""The command as a process of its own."""

from __future__ import annotations

import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import airpath

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""What moves the cursor of a terminal, or sets a colour."""

AT_ONCE_S = 5.0
"""CPU time, s, that suffices to write what was finished and to end."""

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


class Interrupted(NamedTuple):
    """What a command left behind after Ctrl-C."""

    status: int
    out: str
    err: str
    """What it wrote to the terminal after it took its progress bar away."""
    cpu_s: float
    """CPU time from the signal to the end, s."""


class Running:
    """A command that is running, with a terminal for standard error, on which it shows progress.

    Parameters
    ----------
    *arguments : object
        The command line, without the program.
    """

    def __init__(self, *arguments: object) -> None:
        self._shown = b""
        self._out = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the process)
        self._terminal, child = pty.openpty()
        self._process = subprocess.Popen(
            words(*arguments),
            env={**environment(), "TERM": "xterm", "COLUMNS": "200"},
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

    def wait_for(self, pattern: str) -> None:
        """Read what it shows until a pattern is found in it."""
        while not re.search(pattern, ESCAPE.sub("", self._text())):
            assert self._read(), f"it ended before {pattern!r}: {self._text()}"

    def interrupt(self) -> Interrupted:
        """Send SIGINT, as Ctrl-C does, and wait for the end."""
        children_s = _cpu_of_children_s()
        self._process.send_signal(signal.SIGSTOP)
        before_s = _cpu_s(self._process.pid)
        self._process.send_signal(signal.SIGINT)
        self._process.send_signal(signal.SIGCONT)
        while self._read():
            pass
        status = self._process.wait()
        self._out.seek(0)
        return Interrupted(
            status,
            self._out.read(),
            ESCAPE.split(self._text())[-1].replace("\r\n", "\n"),
            _cpu_of_children_s() - children_s - before_s,
        )

    def _read(self) -> bool:
        try:
            read = os.read(self._terminal, 4096)
        except OSError:  # Linux, when the process has closed its side
            read = b""
        self._shown += read
        return bool(read)

    def _text(self) -> str:
        return self._shown.decode("utf-8", "replace")


def _cpu_of_children_s() -> float:
    """CPU time of the processes that ended, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_s(pid: int) -> float:
    """CPU time of a running process so far, s."""
    file = Path(f"/proc/{pid}/stat")
    if not file.exists():
        return 0.0
    # User and system time are the 14th and 15th field; the second one may hold blanks.
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
