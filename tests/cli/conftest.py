"""Calls of the command in this process and as a separate process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import SCENARIO

from airpath.cli import main
from forked import airpath_words


class Answer(NamedTuple):
    """Result of a command."""

    status: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small scenario file in the working directory, given without its directory."""
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
    """Call the command as a separate process."""

    def call(*arguments: object) -> Answer:
        done = subprocess.run(
            airpath_words(*arguments), capture_output=True, text=True, check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call
