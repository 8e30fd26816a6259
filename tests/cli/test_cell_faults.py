"""Errors in scenarios with a cell or CLAMP: one line, exit status 2, and no files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airpath.scenario.examples import shipped_examples

Command = Callable[..., Any]
CELL = (shipped_examples() / "cell-clamp.toml").read_text("utf-8")
FIXED = '{kind = "fixed", rate = "5 Mbit/s"}'
INSIDE = '{kind = "clamp", a = "7 kB", inner = {kind = "clamp", a = "7 kB"}}'

FAULTS = {
    "an unknown scheduler": ("bottleneck.link.scheduler", "fair"),
    "an unknown scheduler by its kind": ("bottleneck.link.scheduler", '{kind = "fair"}'),
    "an unknown SNR process": ("bottleneck.link.snr", '{kind = "rice", mean = "6 dB"}'),
    "no attempts": ("bottleneck.link.attempts", "0"),
    "a part of an attempt": ("bottleneck.link.attempts", "1.5"),
    "a margin of 1": ("bottleneck.link.margin", "1"),
    "a margin above 1": ("bottleneck.link.margin", "1.5"),
    "a target of no loss": ("bottleneck.link.margin", "{target_loss = 0}"),
    "a target of nothing but loss": ("bottleneck.link.margin", "{target_loss = 1}"),
    "a slot of no length": ("bottleneck.link.slot", "0 s"),
    "a slot of a nanosecond": ("bottleneck.link.slot", "1 ns"),
    "a negative slot": ("bottleneck.link.slot", "-3 ms"),
    "a time constant of no length": ("bottleneck.link.scheduler.time_constant", "0 s"),
    "a time constant within a slot": ("bottleneck.link.scheduler.time_constant", "2 ms"),
    "no weight": ("bottleneck.link.users", "[{user = 0, weight = 0}]"),
    "a negative weight": ("bottleneck.link.users", "[{user = 0, weight = -1.0}]"),
    "a part of a user": ("flows.0.user", "0.5"),
    "a negative user": ("flows.0.user", "-1"),
    "a gap in the users": ("flows.3.user", "4"),
    "a user without flows": ("bottleneck.link.users", "[{user = 3, weight = 2.0}]"),
    "a user named twice": ("bottleneck.link.users", "[{user = 0}, {user = 0}]"),
    "no bandwidth": ("bottleneck.link.rate.bandwidth", "0 Hz"),
    "an unknown rate": ("bottleneck.link.rate", '{kind = "shanon", bandwidth = "1 MHz"}'),
    "an unknown HARQ": ("bottleneck.link.harq", "chased"),
    "a mean SNR without a unit": ("bottleneck.link.snr.mean", "6"),
    "a clamp queue inside a clamp queue": ("bottleneck.aqm", INSIDE),
    "a negative a": ("bottleneck.aqm.a", "-7 kB"),
    "an average over no time": ("bottleneck.aqm.time_constant", "0 s"),
    "a price that falls": ("bottleneck.aqm.b", "-1.0"),
    "a target of no delay": ("bottleneck.aqm", '{kind = "clamp", target_delay = "0 s"}'),
    "a clamp window inside a clamp window": (
        "flows.0.window",
        '{kind = "clamp", inner = {kind = "clamp"}}',
    ),
    "a tau of nothing": ("flows.0.window.tau", "0 B"),
    "an average over no packets": ("flows.0.window.average_packets", "0"),
    "a triangle out of order": (
        "flows.0.size",
        '{triangular = {smallest = "3 kB", mode = "2 kB", largest = "9 kB"}}',
    ),
    "a triangle next to its step": (
        "flows.0.size",
        '{triangular = {smallest = "1 kB", mode = "2 kB", largest = "9500 B", step = "1 kB"}}',
    ),
    "arrivals that end before they start": (
        "flows.0.arrivals",
        '{poisson = "1 /s", until = "0 s"}',
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_gives_one_line_status_2_and_no_file(
    airpath_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    key, value = FAULTS[fault]
    monkeypatch.chdir(tmp_path)
    Path("cell.toml").write_text(CELL, "utf-8")
    answer = airpath_command("run", "cell.toml", "--set", f"{key}={value}", "--out", "out")
    errors = [line for line in answer.err.splitlines() if not line.startswith("warning: --set: ")]
    assert (answer.status, answer.out) == (2, "")
    (line,) = errors
    assert f"--set: {key}" in line or f"cell.toml: {key}" in line
    assert [path.name for path in tmp_path.iterdir()] == ["cell.toml"]


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("bottleneck.link", FIXED, [f"flows.{flow}.user" for flow in range(4)]),
        ("bottleneck.aqm", "droptail", [f"flows.{flow}.window" for flow in range(4)]),
        ("flows.0.tcp.receive_window", "2900 B", ["flows.0.tcp.receive_window"]),
        ("bottleneck.aqm", "codel", [f"flows.{flow}.window" for flow in range(4)]),
    ],
)
def test_flows_beyond_the_station_count_are_named(
    airpath_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    value: str,
    named: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cell.toml").write_text(CELL, "utf-8")
    answer = airpath_command("run", "cell.toml", "--set", f"{key}={value}", "--out", "out")
    errors = [line for line in answer.err.splitlines() if not line.startswith("warning: --set: ")]
    assert (answer.status, answer.out) == (2, "")
    assert len(errors) == len(named)
    for line, flow in zip(errors, named, strict=True):
        assert flow in line
    assert [path.name for path in tmp_path.iterdir()] == ["cell.toml"]
