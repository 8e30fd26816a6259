"""One way to call the command in this process and one to call it as a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import environment, words

from airpath.cli import main

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


class Answer(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small scenario file in the working folder, named without its folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SCENARIO)
    return Path("small.toml")


@pytest.fixture
def airpath_command(capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command inside this process."""

    def call(*arguments: object) -> Answer:
        status = main([str(argument) for argument in arguments])
        return Answer(status, *capsys.readouterr())

    return call


@pytest.fixture
def airpath_process() -> Call:
    """Call the command as a process of its own."""

    def call(*arguments: object, **settings: object) -> Answer:
        done = subprocess.run(
            words(*arguments),
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            **settings,  # type: ignore[call-overload]
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call
