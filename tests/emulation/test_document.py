"""The document that airpath-emu receives, and the files that it refers to."""

from __future__ import annotations

from pathlib import Path

import pytest

import airpath as ap
from airpath.emulation import document
from airpath.emulation.kernel import for_commands, for_flows
from airpath.engine.prepared import prepare
from airpath.errors import BadValueError


def _document(scenario: ap.Scenario, commands: document.Commands | None) -> dict:
    made = prepare(scenario)
    kernel = (for_commands if commands else for_flows)(scenario, made.resolved)
    settings = document.EmulationSettings(7, replication=2)
    inputs = made.inputs
    files = {key: {"role": inputs.roles[key], "text": text} for key, text in inputs.texts.items()}
    return document.document_of(made.resolved, files, kernel, commands, settings)


def test_document_contains_flows(scenario: ap.Scenario) -> None:
    found = _document(scenario, None)
    assert found["scenario"]["flows"][0]["count"] == 2
    assert found["traffic"]["kind"] == "flows"
    assert [socket["flow"] for socket in found["traffic"]["sockets"]] == [0, 1]
    assert (found["seed"], found["replication"]) == (7, 2)
    assert found["kernel"]["sysctls"]["net.ipv4.tcp_sack"] == "0"
    assert found["kernel"]["mtu"] == 1500
    assert found["level"] == 0


def test_document_contains_command(scenario: ap.Scenario) -> None:
    commands = document.Commands(["ping", "x"], ["cat"], 1, 10**9)
    assert _document(scenario, commands)["traffic"] == {
        "kind": "commands",
        "client": ["ping", "x"],
        "server": ["cat"],
        "like": 1,
        "duration_ns": 10**9,
    }


def test_files_are_passed_with_their_roles(tmp_path: Path) -> None:
    trace = tmp_path / "a b\nc.trace"
    trace.write_text("1\n2\n3\n")
    link = {"kind": "trace", "file": str(trace), "delay": "5 ms"}
    flows = [{"base_rtt": "30 ms"}]
    bottleneck = {"aqm": "droptail", "link": link}
    scenario = ap.Scenario(duration="2 s", bottleneck=bottleneck, flows=flows)
    (file,) = _document(scenario, None)["files"].values()
    assert file == {"role": "mahimahi", "text": "1\n2\n3\n"}


def test_log_level_comes_from_environment() -> None:
    assert document.level({}) == 0
    assert document.level({document.LEVEL: "3"}) == 3


@pytest.mark.parametrize("text", ["", "x", "-1", "31"])
def test_invalid_log_level_is_rejected(text: str) -> None:
    with pytest.raises(BadValueError, match="AIRPATH_LEVEL = "):
        document.level({document.LEVEL: text})
