"""ECN in ns-3 and in Airpath: designs and criteria. Results of ns-3 are in `ecn.csv`.

    VENV/bin/python ecn.py [--runs N]

Runs ns-3 into `ecn.csv`. Requires the ns3 wheel of PyPI in its interpreter, and g++.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

MARKS_BOUND, GOODPUT_BOUND, QUEUE_BOUND = 0.10, 0.015, 0.05
"""Largest relative differences between the means, written before the first run. The bounds apply to
the difference minus twice its standard error."""

FLOWS = 16
ACCESS_MS = [5 + 2 * flow for flow in range(FLOWS)]
COMMON: dict[str, Any] = {
    "flows": FLOWS,
    "cc": "TcpNewReno",
    "recovery": "TcpPrrRecovery",
    "delayedAck": 2,
    "delay": "10ms",
    "accessDelays": ",".join(f"{delay}ms" for delay in ACCESS_MS),
    "limit": 1000,
    "duration": 60,
    "warmup": 10,
    "ecn": 1,
}
RED_20 = {"minTh": 20, "maxTh": 60, "maxP": 0.1, "weight": 0.002}
RED_50 = RED_20 | {"minTh": 30, "maxTh": 90}
DESIGNS: dict[str, dict[str, Any]] = {
    "red-20": {"queue": "red", "rate": "20Mbps", **RED_20},
    "red-50": {"queue": "red", "rate": "50Mbps", **RED_50},
    "codel-20": {"queue": "codel", "rate": "20Mbps"},
    "codel-50": {"queue": "codel", "rate": "50Mbps"},
    "fq-codel-20": {"queue": "fq-codel", "rate": "20Mbps"},
    "fq-codel-50": {"queue": "fq-codel", "rate": "50Mbps"},
}
"""Base RTTs are 30 ms to 90 ms plus transmission times."""

FIELDS = ["design", "run", "goodput_bps", "queue_packets", "marks", "drops"]


def main() -> None:
    from run_ns3 import build

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=6)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as directory,
        (HERE / "ecn.csv").open("w", newline="") as file,
    ):
        program = Path(directory) / "dumbbell"
        build("dumbbell.cc", program)
        rows = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        for run in range(1, options.runs + 1):
            for name, design in DESIGNS.items():
                keys = COMMON | design | {"run": run}
                command = [str(program), *(f"--{key}={value}" for key, value in keys.items())]
                found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                found |= {"goodput_bps": sum(found["goodput_bps"]), "design": name, "run": run}
                rows.writerow(found)
                file.flush()


if __name__ == "__main__":
    main()
