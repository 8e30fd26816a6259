"""Replacement of `airpath-emu` for tests: the same interface, but it simulates the scenario.

The environment variable FAKE_EMU, a JSON object, changes the behaviour:


* ``validity``: entries of the validity report
* ``without``: quantities of flows that are null
* ``lines``: text that is written instead of events
* ``status``: exit immediately with this status
* ``failed``: the entries of the event ``failed``
* ``linger``: wait for a signal before the end
* ``deaf``: ignore signals
* ``command``: exit status of the command
* ``report``: text of the report
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

from airpath import _airpath
from airpath.results.flow_table import FlowTable

CHECK = {
    "ok": False,
    "checks": [
        {"name": "tun", "found": "/dev/net/tun", "ok": True},
        {"name": "cubic", "found": "absent", "ok": False, "fix": "modprobe tcp_cubic"},
    ],
}
VALIDITY = {
    "valid": True,
    "reasons": [],
    "base_rtt_s": 0.03,
    "packets": 1000,
    "lateness_p50_s": 4e-5,
    "lateness_p99_s": 1e-4,
    "lateness_max_s": 2e-4,
    "device_drops": 0,
    "refused_packets": 0,
    "ack_ratio": 0.55,
    "class": "fifo",
    "cpu_share": 0.07,
}
PROGRESS = {
    "event": "progress",
    "at_s": 1.0,
    "until_s": 4.0,
    "rate_bps": 9.7e6,
    "reverse_rate_bps": 2e5,
    "queue_packets": 12,
    "regime": None,
    "drops": 3,
    "marks": 0,
    "lateness_p99_s": 1e-4,
    "lateness_max_s": 2e-4,
}


def simulated(document: dict[str, Any]) -> Any:
    texts = {
        role: {
            name: file["text"] for name, file in document["files"].items() if file["role"] == role
        }
        for role in ("table", "snr")
    }
    return _airpath.simulate(
        json.dumps(document["scenario"]),
        {},
        document["seed"],
        document["replication"],
        1,
        1,
        None,
        None,
        texts["table"],
        None,
        texts["snr"],
    )


def option(name: str) -> int | None:
    """Return the file descriptor of a command-line option."""
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else None


def results_of(
    document: dict[str, Any], behaviour: dict[str, Any], *, commands: bool
) -> dict[str, bytes]:
    output = simulated(document)
    (replication,) = json.loads(output.replications)
    rows = [dict(row) for row in FlowTable(*output.flows(0))]
    for row in rows:
        row |= dict.fromkeys(behaviour.get("without", ()))
    report = {
        "replication": replication,
        "flows": [] if commands else rows,
        "validity": VALIDITY | behaviour.get("validity", {}),
        "kernel": {
            "release": "6.18",
            "sysctls": {"client": document["kernel"]["sysctls"]},
            "counters": {"server": {"TcpExt.TCPTimeouts": 2 + document["replication"]}},
        },
        "command": {"client": {"status": behaviour.get("command", 0)}} if commands else None,
    }
    record = document["scenario"]["record"]
    sections: dict[str, bytes] = {}
    for name in () if commands else record["series"]:
        for part, data in zip(
            ("time_s", "id", "queue", "value"), output.series(0, name), strict=True
        ):
            sections[f"series/{name}.{part}"] = data
    if record["ss"]:
        sections |= {f"ss/{name}": data for name, data in output.ss(0).items()}
    return sections | {"report.json": behaviour.get("report", json.dumps(report)).encode()}


def write(sections: dict[str, bytes]) -> None:
    with os.fdopen(option("--results") or -1, "wb") as file:
        for name, data in sections.items():
            file.write(json.dumps({"name": name, "bytes": len(data)}).encode() + b"\n" + data)
    for side in ("server", "client"):
        if (number := option(f"--{side}-capture")) is not None:
            os.write(number, struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28))


def main() -> int:
    behaviour = json.loads(os.environ.get("FAKE_EMU", "{}"))
    if sys.argv[1] == "check":
        print(behaviour["check"] if "check" in behaviour else json.dumps(CHECK))
        return 0
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        ignore = behaviour.get("deaf")
        signal.signal(
            number, signal.SIG_IGN if ignore else lambda number, _: signals.append(number)
        )
    with os.fdopen(option("--document") or -1) as file:
        document = json.load(file)
    if seen := os.environ.get("FAKE_EMU_SEEN"):
        with Path(seen).open("a") as file:
            file.write(json.dumps({"document": document, "arguments": sys.argv[2:]}) + "\n")
    with os.fdopen(option("--events") or -1, "w") as events:

        def emit(event: object) -> None:
            print(event if isinstance(event, str) else json.dumps(event), file=events, flush=True)

        if "status" in behaviour:
            print("it went wrong", file=sys.stderr)
            return int(behaviour["status"])
        for line in behaviour.get("lines", ()):
            emit(line)
        if "failed" in behaviour:
            emit({"event": "failed", **behaviour["failed"]})
            return int(behaviour["failed"].get("status", 1))
        emit({"event": "ready", "server": "100.64.0.1", "clients": [], "class": "fifo"})
        emit(PROGRESS)
        while behaviour.get("linger") and not signals:
            time.sleep(0.01)
        commands = document["traffic"]["kind"] == "commands"
        write(results_of(document, behaviour, commands=commands))
        ended: dict[str, Any] = {"event": "finished", "reason": "signal" if signals else "end"}
        if commands:
            ended["status"] = behaviour.get("command", 0)
            ended["reason"] = "signal" if signals else "command"
        emit(ended)
    return 0
