"""ECN against the stored results of ns-3: marks, goodput and queue of RED, CoDel and FQ-CoDel.

The designs and bounds are in `ecn.py`. Method and results: `docs/explanation/ns-3.md`.
"""

from __future__ import annotations

import csv
import importlib.util
import math
import statistics
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import airpath as ap

HERE = Path(__file__).parent


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"ns3_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ecn = _load("ecn")
BOUNDS = {
    "goodput_bps": ecn.GOODPUT_BOUND,
    "queue_packets": ecn.QUEUE_BOUND,
    "marks": ecn.MARKS_BOUND,
}
CODEL_MTU = "1499 B"
"""ns-3's CoDel may mark while one packet of 1500 B remains: `CoDelQueueDisc::OkToDrop` requires
fewer than `MinBytes` = 1500 B, RFC 8289 §5.5 at most an MTU. All packets have 1500 B, so that the
limit 1499 B has the same effect."""


def _aqm(design: dict[str, Any]) -> ap.aqm.QueueDisc:
    limit = ecn.COMMON["limit"]
    if design["queue"] == "codel":
        return ap.aqm.CoDel(limit=limit, mtu=CODEL_MTU, ecn=True)
    if design["queue"] == "fq-codel":
        return ap.aqm.FqCoDel(limit=limit, quantum="1500 B", mtu=CODEL_MTU, ecn=True)
    return ap.aqm.Red(
        limit=limit,
        min_th=design["minTh"],
        max_th=design["maxTh"],
        max_p=design["maxP"],
        weight=design["weight"],
        variant="ns",
        ecn=True,
    )


def _scenario(design: dict[str, Any]) -> ap.Scenario:
    """Return the scenario that `dumbbell.cc` builds from the same design."""
    wire: dict[str, Any] = {"rate": "1 Gbit/s"}
    flows = [
        ap.traffic.Tcp(
            cc="newreno",
            profile="ns3",
            tcp={"min_rto": "1 s", "ecn": "on"},
            access=ap.Wire(delay=f"{access} ms", **wire),
            egress=ap.Wire(**wire),
            return_wire=ap.Wire(delay=f"{access} ms", **wire),
            start={"uniform": ["0 s", "1 s"]},
        )
        for access in ecn.ACCESS_MS
    ]
    link = ap.link.Fixed(
        rate=design["rate"].replace("Mbps", " Mbit/s"), delay="10 ms", frame_overhead="2 B"
    )
    return ap.Scenario(
        flows=flows,
        bottleneck=ap.Bottleneck(aqm=_aqm(design), link=link),
        ack_path=ap.ack_path.Reverse(link=link, aqm=ap.aqm.DropTail(limit="10000 packets")),
        duration=f"{ecn.COMMON['duration']} s",
        warmup=f"{ecn.COMMON['warmup']} s",
    )


def _stored(name: str) -> dict[str, list[float]]:
    with (HERE / "ecn.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["design"] == name]
    return {quantity: [float(row[quantity]) for row in rows] for quantity in BOUNDS}


def _simulated(design: dict[str, Any]) -> dict[str, list[float]]:
    result = ap.simulate(_scenario(design), reps=4, seed=1)
    queue = result.table("queues").query("queue == 'bottleneck'")
    goodput = result.table("flows").groupby("replication")["goodput_bps"].sum()
    found = {
        "goodput_bps": goodput,
        "queue_packets": queue["mean_packets"],
        "marks": queue["marks"],
    }
    return {quantity: [float(value) for value in values] for quantity, values in found.items()}


@pytest.mark.parametrize("name", ecn.DESIGNS)
def test_marks_goodput_and_queue_are_those_of_ns3(name: str) -> None:
    """The difference of the means, less twice its standard error, is within the bounds."""
    stored, simulated = _stored(name), _simulated(ecn.DESIGNS[name])
    for quantity, bound in BOUNDS.items():
        pair = (simulated[quantity], stored[quantity])
        found, expected = (statistics.mean(values) for values in pair)
        error = math.hypot(*(statistics.stdev(v) / math.sqrt(len(v)) / expected for v in pair))
        assert abs(found / expected - 1) - 2 * error <= bound, (quantity, found, expected, error)
