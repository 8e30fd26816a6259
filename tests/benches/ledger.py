"""Time and memory of a ledger with many replications, as a table in Markdown.

``python tests/benches/ledger.py [REPLICATIONS]`` creates a ledger of artificial replications, 20
per point, packed to 700 bytes each and with three metrics, in a temporary directory. For opening,
status and export it prints the time, the processor time (more reliable on a busy machine) and the
peak memory of a separate process, excluding its start. Opening is also measured with a tenth of the
replications: its memory must not depend on their number.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from airpath import _airpath
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.runs import Run

REPS = 20
PACKED_BYTES = 700
METRICS = ("goodput_bps", "p95_sojourn_s", "jain")

WORK = {
    "open": "from airpath.sweeps.ledger import Ledger\nstart()\nLedger.open(path).close()",
    "look": "from airpath.sweeps.ledger import Ledger\nstart()\nLedger.read(path).close()",
    "status": "from airpath.cli.sweep_ledger import status\nstart()\nstatus(path)",
    "export": "from airpath.cli.sweep_ledger import export\nstart()\nexport(path, out)",
}

AROUND = """
import contextlib, io, re, sys, time
from pathlib import Path
path, out = Path(sys.argv[1]), sys.argv[2]
began = []
def start():
    began.extend([time.perf_counter(), time.process_time()])
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    exec(sys.argv[3])
took, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
most = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(took, cpu, int(most[1]) / 1024)
"""


def made(path: Path, count: int) -> float:
    """Create a ledger; return the time it took, s."""
    draw = random.Random(1)
    digests = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(count // REPS)]
    plan = Plan(
        name="bench",
        axes=["n"],
        points=[Point(n, {"n": n}, {"n": str(n)}, digest) for n, digest in enumerate(digests)],
        rule=Rule(REPS, REPS),
        seed=1,
        common_random_numbers=True,
        confidence=0.99,
        metrics=METRICS,
        engines=["simulate"],
    )
    build = (_airpath.version(), _airpath.commit())
    start = time.perf_counter()
    with Ledger.open(path) as ledger:
        ledger.set_plan(plan, {})
        for digest in digests:
            runs = [
                Run(digest, 1, n, *build, cpu_s=0.05, packed=draw.randbytes(PACKED_BYTES))
                for n in range(REPS)
            ]
            ledger.add([(run, {name: draw.random() for name in METRICS}) for run in runs])
    return time.perf_counter() - start


def measured(work: str, path: Path, out: Path) -> tuple[float, float, float]:
    """Return elapsed time (s), processor time (s) and peak memory (MiB) of an operation."""
    command = [sys.executable, "-c", AROUND, str(path), str(out), WORK[work]]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    took, cpu, memory = map(float, done.stdout.split())
    return took, cpu, memory


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        print(f"{os.cpu_count()} cores, airpath {_airpath.version()} ({_airpath.commit()})\n")
        print("| replications | MB | work | s | CPU s | MiB |")
        print("| ---: | ---: | --- | ---: | ---: | ---: |")
        for part, works in ((count // 10, ["open", "look"]), (count, list(WORK))):
            path = directory / f"{part}.sqlite"
            took = made(path, part)
            size = path.stat().st_size / 1e6
            print(f"| {part} | {size:.0f} | add, {REPS} at once | {took:.2f} | | |")
            for work in works:
                took, cpu, memory = measured(work, path, directory / "out")
                print(f"| {part} | {size:.0f} | {work} | {took:.2f} | {cpu:.2f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
