"""Errors in scenarios with a TDD link: one line, exit status 2, and no files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airpath.scenario.examples import shipped_examples

Command = Callable[..., Any]
EXAMPLE = shipped_examples() / "wimax-download.toml"

FAULTS = {
    "no stations": ("bottleneck.link.stations", "0"),
    "too many stations": ("bottleneck.link.stations", "1001"),
    "a station that does not exist": ("flows.0.user", "1"),
    "an ideal ACK path": ("ack_path.kind", "ideal"),
    "a link of the ACKs' own": ("ack_path.link", '{kind = "fixed", rate = "1 Mbit/s"}'),
    "an uplink MCS in the downlink": ("bottleneck.link.downlink_mcs", "16qam-3/4"),
    "a downlink MCS in the uplink": ("bottleneck.link.uplink_mcs", "64qam-2/3"),
    "no MCS": ("bottleneck.link.uplink_mcs", "bpsk-1/2"),
    "maps as large as the frame": ("bottleneck.link.map_overhead", "420"),
    "maps beyond the frame with a burst": ("bottleneck.link.map_overhead", "{per_burst = 400}"),
    "a grant larger than the frame": ("bottleneck.link.grant.size", "1051 B"),
    "a grant of nothing": ("bottleneck.link.grant.size", "0 B"),
    "symbols beyond 47": ("bottleneck.link.uplink_symbols", "19"),
    "symbols without a slot": ("bottleneck.link.downlink_symbols", "2"),
    "a delay pair reversed": ("bottleneck.link.request.delay", '["50 ms", "25 ms"]'),
    "a piggyback pair reversed": ("bottleneck.link.request.piggyback", '["5 ms", "0 s"]'),
    "collisions always": ("bottleneck.link.request.collision", "1"),
    "an error of 1": ("bottleneck.link.harq.error", "1"),
    "an error above 1": ("bottleneck.link.harq.error", "1.5"),
    "no attempts": ("bottleneck.link.harq.attempts", "0"),
    "processes": ("bottleneck.link.harq.processes", "8"),
    "no codes": ("bottleneck.link.request", '{kind = "ranging", codes = 0}'),
    "a back-off reversed": ("bottleneck.link.request", '{kind = "ranging", backoff = [64, 2]}'),
    "a frame of 0": ("bottleneck.link.frame", "0 s"),
    "piggyback without requests": (
        "bottleneck.link.request",
        '{kind = "none", piggyback = "0 s"}',
    ),
    "an unknown request": ("bottleneck.link.request", "polling"),
    "an unknown grant": ("bottleneck.link.grant", "tri-bi"),
    "an unknown instant of a grant": ("bottleneck.link.grant.when", "later"),
    "an unknown scheduler": ("bottleneck.link.scheduler", "fair"),
    "a period within a frame": (
        "bottleneck.link.request",
        '{kind = "scheduling-request", period = "1 ms"}',
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_gives_one_line_status_2_and_no_file(
    airpath_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    key, value = FAULTS[fault]
    monkeypatch.chdir(tmp_path)
    Path("tdd.toml").write_text(EXAMPLE.read_text("utf-8"), "utf-8")
    answer = airpath_command("run", "tdd.toml", "--set", f"{key}={value}", "--out", "out")
    errors = [line for line in answer.err.splitlines() if not line.startswith("warning: --set: ")]
    assert (answer.status, answer.out) == (2, "")
    (line,) = errors
    assert f"--set: {key}" in line or f"tdd.toml: {key}" in line
    assert [path.name for path in tmp_path.iterdir()] == ["tdd.toml"]


def test_upload_needs_the_reverse_direction(
    airpath_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = EXAMPLE.read_text("utf-8")
    Path("tdd.toml").write_text(text.replace('ack_path = {kind = "reverse"}', ""), "utf-8")
    answer = airpath_command("run", "tdd.toml", "--set", "flows.0.direction=reverse")
    assert (answer.status, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert "ack_path.kind" in line
