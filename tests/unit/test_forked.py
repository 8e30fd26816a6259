"""Fork server of the tests: signals and paths."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forked import ForkServer

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def pausing() -> Iterator[Path]:
    """Return a program that waits for a signal."""
    server = ForkServer({"pausing": "signal:pause"})
    yield server.directory / "pausing"
    server.close()


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_pending_at_start_reaches_the_program(pausing: Path, number: signal.Signals) -> None:
    def send_to_itself() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        os.kill(os.getpid(), number)

    ended = subprocess.run([pausing], preexec_fn=send_to_itself)

    assert ended.returncode == -number


def test_interpreter_path_may_contain_blanks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "with blanks" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    server = ForkServer({"nothing": "builtins:int"})

    ended = subprocess.run([server.directory / "nothing"])
    server.close()

    assert ended.returncode == 0
