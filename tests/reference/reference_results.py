"""Stored results of short runs: for each run, a fingerprint of all numbers and a few readable
numbers.

    python tests/reference/reference_results.py [NAME ...]

updates `tests/data/reference.json`, for all scenarios or the named ones, and prints the
differences.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from reference_cases import SERIES, Document, cases, write_files

import airpath as ap

FILE = Path(__file__).parents[1] / "data" / "reference.json"
REPS, SEED = 2, 1

FLOW = (
    *("id", "kind", "goodput_bps", "ip_throughput_bps", "delivered_bytes", "delivered_packets"),
    *("sent_packets", "retransmissions", "timeouts", "fast_retransmits", "ecn_reductions"),
    *("duplicate_packets", "mean_rtt_s", "mean_delay_s", "rwnd_limited_share", "start_s"),
    *("completed_at_s", "transfer_bytes"),
)
QUEUE = (
    *("name", "mean_packets", "mean_bytes", "mean_sojourn_s", "max_packets", "pmf", "arrived"),
    *("departed", "drops", "marks"),
)
LINK = (
    *("name", "utilisation", "delivered_bytes", "delivered_packets", "lost_packets"),
    *("regime_packets", "counters"),
)
"""Columns of links in the fingerprint; `FLOW` and `QUEUE` are those of flows and queues. Columns
that are added to the results later do not change the fingerprint.
"""


def fingerprint(value: Any) -> str:
    """Return a digest of a value or of bytes; all bits of a double count."""
    data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def kept(document: Document) -> dict[str, Any]:
    """Run a scenario and return the results to store. The working directory must contain the
    traces.
    """
    result = ap.simulate(ap.Scenario(**document), reps=REPS, seed=SEED, threads=1)
    tables: dict[str, tuple[str, ...]] = {"flows": FLOW, "queues": QUEUE, "links": LINK}
    found: dict[str, Any] = {
        name: fingerprint(
            [[[row.get(key) for key in keys] for row in run[name]] for run in result.replications]
        )
        for name, keys in tables.items()
    }
    found["series"] = {name: fingerprint(series(result, name)) for name in SERIES}
    runs = result.replications
    found["goodput_bps"] = [[round(flow["goodput_bps"]) for flow in run["flows"]] for run in runs]
    found["drops"] = [[sum(q["drops"].values()) for q in run["queues"]] for run in runs]
    return found


def series(result: ap.Result, name: str) -> bytes:
    """Return a recorded series of all replications."""
    columns = (result.series(name, replication=number) for number in range(REPS))
    return b"".join(
        frame[column].to_numpy().tobytes()
        for frame in columns
        for column in ("time_s", "id", "value")
    )


def read() -> dict[str, Any]:
    """Return a mapping from scenario names to stored results."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def main(names: list[str]) -> None:
    documents = cases()
    before = read() if FILE.exists() else {}
    now = {name: before[name] for name in documents if name in before}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        write_files(Path(directory))
        for name in names or documents:
            now[name] = kept(documents[name])
            if now[name] != before.get(name):
                print(name, "is new" if name not in before else "has changed")
                for key in ("goodput_bps", "drops"):
                    print(f"    {key}: {before.get(name, {}).get(key)} -> {now[name][key]}")
    lines = [f"{json.dumps(name)}: {json.dumps(now[name])}" for name in documents if name in now]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
