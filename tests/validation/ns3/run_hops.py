"""Run the paths of `hops.py` in ns-3, into `hops.csv`.

    python3.11 -m venv VENV && VENV/bin/pip install ns3==3.44.post0
    VENV/bin/python run_hops.py [--only ID...] [--runs N]

Requires the ns3 wheel of PyPI in its interpreter, and g++. Existing rows are kept.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hops
from run_ns3 import HERE, build

FIELDS = ["id", "run", "cpu_s", "goodputs_bps", "queues_packets", "drops"]


def nanoseconds(milliseconds: float) -> int:
    return round(milliseconds * 1e6)


def words(path: hops.Path, run: int) -> Iterator[object]:
    """Yield the words of the input of `hops.cc`."""
    yield from (run, path.duration_s * 10**9, path.warmup_s * 10**9)
    yield from (path.recovery, path.delayed_ack, path.window)
    yield len(path.hops)
    for hop in path.hops:
        yield nanoseconds(hop.delay_ms)
        up_mbps = hop.mbps if hop.up_mbps is None else hop.up_mbps
        for mbps, loss, queue in [(hop.mbps, hop.loss, hop.queue), (up_mbps, 0, hop.up_queue)]:
            yield from (round(mbps * 1e6), loss, queue.kind, queue.limit, queue.min_th)
            yield from (queue.max_th, queue.max_p, queue.weight, int(queue.wait))
    yield sum(len(group.access_ms) for group in path.groups)
    for group in path.groups:
        for access_ms in group.access_ms:
            yield from (group.first, group.last, int(group.is_upload), group.cc)
            yield from (group.mbps * 1e6, nanoseconds(access_ms))


def result(program: Path, path: hops.Path, run: int) -> dict[str, object]:
    """Return the row of one run."""
    text = " ".join(str(word) for word in words(path, run))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([program], input=text, check=True, capture_output=True, text=True)
    cpu_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    lists = json.loads(done.stdout)
    columns = {name: " ".join(f"{value:.6g}" for value in lists[name]) for name in FIELDS[3:]}
    return {"id": path.id, "run": run, "cpu_s": f"{cpu_s:.2f}", **columns}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    selected = [path for path in hops.paths() if not options.only or path.id in options.only]
    target = HERE / "hops.csv"
    done = set()
    if target.exists():
        with target.open(encoding="utf-8") as file:
            done = {(row["id"], row["run"]) for row in csv.DictReader(file)}
    with tempfile.TemporaryDirectory() as directory, target.open("a", encoding="utf-8") as file:
        program = Path(directory) / "hops"
        build("hops.cc", program)
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for run in range(1, options.runs + 1):
            for path in selected:
                if (path.id, str(run)) not in done:
                    writer.writerow(result(program, path, run))
                    file.flush()


if __name__ == "__main__":
    main()
