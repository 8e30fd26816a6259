"""Errors in lists of hops, routes and controls of hops: one line, exit status 2, and no files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Command = Callable[..., Any]

PATH = """
duration = "4 s"
[[hops]]
name = "dsl"
link = {kind = "fixed", rate = "8 Mbit/s"}
delay = "5 ms"
[[hops]]
name = "core"
wire = {delay = "3 ms", rate = "90 Mbit/s"}
[[hops]]
name = "air"
down = {link = {kind = "fixed", rate = "6 Mbit/s"}, aqm = "codel", delay = "7 ms"}
[[flows]]
base_rtt = "40 ms"
"""
LINK = '{kind = "fixed", rate = "1 Mbit/s"}'
CELL = '{kind = "cell", slot = "3 ms", snr = {kind = "constant", mean = "20 dB"}, rate = '
CELL += '{kind = "shannon", bandwidth = "4.3 MHz", cap = "10 Mbit/s"}}'
STATIONS = '{kind = "ofdma-tdd", stations = 2, downlink_mcs = "64qam-5/6", '
STATIONS += 'uplink_mcs = "16qam-1/2"}'

FAULTS = {
    "a hop without a name": ("hops.0.name", None, "hops.0.name: missing."),
    "a name that is a number": ("hops.0.name", "3", "hops.0.name = 3: not a text."),
    "a name with a space": ("hops.0.name", '"my dsl"', "not a name of a hop."),
    "a name of an end": ("hops.0.name", '"users"', "has another meaning in flows or results."),
    "a name of a reverse direction": ("hops.0.name", '"air_reverse"', "has another meaning"),
    "a name that is used twice": ("hops.2.name", '"dsl"', "is the name of hops.0 too."),
    "no hops": ("hops", "[]", "no hops."),
    "65 hops": (
        "hops",
        "[" + ", ".join(f'{{name = "h{n}", delay = "1 ms"}}' for n in range(65)) + "]",
        "Use at most 64.",
    ),
    "a hop that is no table": ("hops.0", '"dsl"', "not a table."),
    "hops that are no list": ("hops", '"dsl"', "hops"),
    "a hop without parts": ("hops.1", '{name = "core"}', "Set link, down, up, wire or delay."),
    "a misspelt key": ("hops.0.dely", '"5 ms"', "unknown key. The nearest is delay"),
    "a misspelt key of a direction": ("hops.2.down.aqn", '"codel"', "The nearest is aqm"),
    "an unknown link": ("hops.0.link", '{kind = "dsl"}', "not a link."),
    "an unknown discipline": ("hops.0.aqm", '"codl"', "not a queue discipline."),
    "a link without a rate": ("hops.0.link", '{kind = "fixed"}', "hops.0.link.rate: missing."),
    "a rate of nothing": ("hops.2.down.link.rate", '"0 bit/s"', "hops.2.down.link.rate"),
    "a limit of nothing": ("hops.0.aqm", '{kind = "droptail", limit = 0}', "hops.0.aqm.limit"),
    "a negative delay": ("hops.0.delay", '"-5 ms"', "hops.0.delay"),
    "a delay without a unit": ("hops.0.delay", "5", "hops.0.delay = 5"),
    "a wire and a link": ("hops.1.link", LINK, "given together with a wire."),
    "a wire and a delay": ("hops.1.delay", '"1 ms"', "given together with a wire."),
    "a link of a direction and of the hop": (
        "hops.0.down",
        f"{{link = {LINK}}}",
        "given together with the link of both directions.",
    ),
    "a direction without a link": ("hops.2.up", '{aqm = "codel"}', "hops.2.up.link: missing."),
    "a delay of one direction": ("hops.2.delay", '"5 ms"', "Set down.delay"),
    "a queue without a link": (
        "hops.1",
        '{name = "core", delay = "3 ms", aqm = "codel"}',
        "there is no link that empties the queue.",
    ),
    "a delay of a link and of its hop": (
        "hops.0.link",
        '{kind = "fixed", rate = "8 Mbit/s", delay = "2 ms"}',
        "given together with the delay of the link.",
    ),
    "a cell before the last hop": ("hops.0.link", CELL, "Make it the last hop."),
    "stations before the last hop": ("hops.0.link", STATIONS, "Make it the last hop."),
    "stations in one direction": (
        "hops.2.down.link",
        STATIONS,
        "serves both directions.",
    ),
    "hops and a bottleneck": (
        "bottleneck",
        f'{{aqm = "codel", link = {LINK}}}',
        "given together with hops.",
    ),
    "hops and an ACK path": ("ack_path", '"reverse"', "given together with hops."),
    "hops and a backhaul": ("backhaul", '{delay = "1 ms"}', "given together with hops."),
    "no path": ("hops", None, "bottleneck: missing. Set bottleneck or hops"),
    "a flow from an unknown hop": ("flows.0.from", '"dls"', "no hop has this name."),
    "a flow to an unknown hop": ("flows.0.to", '"internet"', "no hop has this name."),
    "a flow from the users to the users": (
        "flows.0",
        '{from = "users", to = "users", base_rtt = "40 ms"}',
        "the flows cross no hop.",
    ),
    "a direction against the route": (
        "flows.0",
        '{from = "dsl", to = "air", direction = "reverse", base_rtt = "40 ms"}',
        "not the direction of the route.",
    ),
    "an upload over a hop without an uplink": (
        "flows.0",
        '{from = "air", to = "air", direction = "reverse", base_rtt = "40 ms"}',
        "no link for data in this direction: air.",
    ),
    "a base RTT below the delays": ("flows.0.base_rtt", '"20 ms"', "below the 23 ms"),
    "a user without a cell": ("flows.0.user", "0", "there is no cell"),
    "a user of a flow that ends before the cell": (
        "hops.2.down.link",
        CELL,
        "do not cross the link with users.",
        'flows.0={to = "dsl", user = 0, base_rtt = "40 ms"}',
    ),
    "a control of an unknown hop": (
        "control",
        '[{at = "1 s", hop = "dls", rate = "1 Mbit/s"}]',
        "no hop has this name.",
    ),
    "a control of a wire": (
        "control",
        '[{at = "1 s", hop = "core", rate = "1 Mbit/s"}]',
        "the hop has no link.",
    ),
    "only wires": (
        "hops",
        '[{name = "a", delay = "1 ms"}, {name = "b", wire = {}}]',
        "no hop has a link.",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_gives_one_line_status_2_and_no_file(
    airpath_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    key, value, expected, *others = FAULTS[fault]
    document = tomllib.loads(PATH)
    changed(document, key, value)
    for other in others:
        changed(document, *other.split("=", 1))
    monkeypatch.chdir(tmp_path)
    Path("path.toml").write_text(
        "\n".join(f"{name} = {inline(item)}" for name, item in document.items()), "utf-8"
    )
    answer = airpath_command("run", "path.toml", "--out", "out")
    assert (answer.status, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert expected in line
    assert line.startswith("path.toml: ")
    assert [path.name for path in tmp_path.iterdir()] == ["path.toml"]


def changed(document: Any, key: str, value: str | None) -> None:
    """Set a dotted key of a document to a value in TOML; None removes the key."""
    *parents, last = key.split(".")
    for parent in parents:
        document = document[int(parent)] if isinstance(document, list) else document[parent]
    place = int(last) if isinstance(document, list) else last
    if value is None:
        del document[place]
    else:
        document[place] = tomllib.loads(f"value = {value}")["value"]


def inline(value: Any) -> str:
    """Return a value as inline TOML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {inline(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)
