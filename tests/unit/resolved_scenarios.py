"""Small scenarios in their resolved form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import airpath as ap

ROOT = Path(__file__).parents[2]
BULK: dict[str, Any] = json.loads((ROOT / "crates/tcp/src/profiles.json").read_text("utf-8"))["rfc"]
"""The TCP parameters of a flow of the profile ``rfc``."""
LINK = ap.FixedLink(rate="5 Mbit/s", delay="2.5 ms")


def scenario(**keys: Any) -> ap.Scenario:
    given = {
        "flows": ap.flows(base_rtt="40 ms"),
        "bottleneck": ap.Bottleneck(aqm=ap.Gred(), link=LINK),
        "duration": "300 s",
    }
    return ap.Scenario(**(given | keys))


def resolved(**keys: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scenario(**keys).resolve()[0])
    return found
