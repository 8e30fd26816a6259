"""A replacement of airpath-emu with the same interface."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.cli import main
from airpath.emulation import process
from forked import ForkServer

SCENARIO: dict[str, Any] = {
    "duration": "4 s",
    "warmup": "1 s",
    "bottleneck": {
        "aqm": "gred",
        "link": {"kind": "fixed", "rate": "10 Mbit/s", "delay": "5 ms"},
    },
    "flows": [{"count": 2, "cc": "newreno", "base_rtt": "30 ms"}],
    "record": {"series": ["queue", "cwnd"], "ss": True},
}


@pytest.fixture
def scenario() -> ap.Scenario:
    return ap.Scenario(**SCENARIO)


@pytest.fixture(scope="session")
def fake_program() -> Iterator[Path]:
    """Return the replacement as an executable file."""
    server = ForkServer({"airpath-emu": "fake_program:main"})
    yield server.directory / "airpath-emu"
    server.close()


@pytest.fixture
def fake(
    fake_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Replace airpath-emu; keyword arguments change the behaviour of the replacement."""
    seen = tmp_path / "seen"
    monkeypatch.setenv(process.PROGRAM, shutil.copy(fake_program, tmp_path))
    monkeypatch.setenv("FAKE_EMU_SEEN", str(seen))
    for patience in ("_CHECK_S", "_LAST_WORDS_S", "_PATIENCE_S"):
        monkeypatch.setattr(process, patience, 1000)  # independent of the load of the machine

    def write_answer(**otherwise: object) -> Path:
        monkeypatch.setenv("FAKE_EMU", json.dumps(otherwise))
        return seen

    write_answer()
    return write_answer


@pytest.fixture
def command(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Call `airpath emulate` in this process, with a scenario file in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(ap.Scenario(**SCENARIO).to_toml())

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        return (main(["emulate", *arguments]), *capfd.readouterr())

    return call
