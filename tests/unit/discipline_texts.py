"""Queue disciplines in scenarios and files, and the messages about invalid ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

LINK = ap.link.Fixed(rate="10 Mbit/s")
DURATION = 'Use a number with ns, us, ms, s, min or h, for example "40 ms".'
FILE = """\
duration = "10 s"
[bottleneck]
aqm = {table}
link = {{kind = "fixed", rate = "10 Mbit/s"}}
[[flows]]
base_rtt = "40 ms"
"""


def scenario(aqm: ap.aqm.QueueDisc) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(aqm=aqm, link=LINK),
        duration="10 s",
    )


def resolved(aqm: ap.aqm.QueueDisc) -> dict[str, Any]:
    """Return the engine's description of this discipline."""
    queue: dict[str, Any] = json.loads(scenario(aqm).resolve()[0])["bottleneck"]["queue"]
    return queue


def problem(table: str) -> str:
    """Return the one problem of a file whose queue discipline is the TOML text `table`."""
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(FILE.format(table=table), place="file.toml")
    (line,) = str(caught.value).splitlines()
    return line.removeprefix("file.toml: bottleneck.aqm")
