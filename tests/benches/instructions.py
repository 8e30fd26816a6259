"""Instructions per delivered packet, counted by callgrind, which is independent of noise.

``python tests/benches/instructions.py`` builds the example ``dumbbell`` and runs it for two
durations; the difference of the counts divided by that of the packets excludes the creation of the
scenario. Requires valgrind.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

EXAMPLE = Path("target/release/examples/dumbbell")

#: Name, arguments with a placeholder for the duration, and the two durations in seconds.
RUNS = [
    ("dumbbell-16", "16 100 100 {} newreno", (5, 15)),
    ("dumbbell-16-sack", "16 100 100 {} sack", (5, 15)),
    ("dumbbell-16-sack, 2 hops", "16 100 100 {} sack reno droptail 2", (5, 15)),
    ("dumbbell-16-sack, both ways", "16 100 100 {} sack reno droptail 1 both", (5, 15)),
    ("dumbbell-16-sack, 2 hops both ways", "16 100 100 {} sack reno droptail 2 both", (5, 15)),
    ("dumbbell-16-cubic-fqcodel", "16 100 100 {} sack cubic fq-codel", (5, 15)),
    ("dumbbell-16-rem", "16 100 100 {} newreno reno rem", (5, 15)),
    ("dumbbell-16-vcp", "16 100 100 {} newreno reno vcp", (5, 15)),
    ("dumbbell-16-ack-priority", "16 100 100 {} newreno reno ack-priority", (5, 15)),
    ("dumbbell-1000-sack", "1000 1000 1000 {} sack", (2, 4)),
]


def count(arguments: str) -> tuple[int, int]:
    """Return the instructions and delivered packets of one run."""
    with tempfile.TemporaryDirectory() as directory:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out"]
        done = subprocess.run(
            [*command, str(EXAMPLE), *arguments.split()], check=True, capture_output=True, text=True
        )
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    packets = re.match(r"(\d+) packets", done.stdout)
    if not instructions or not packets:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return int(instructions[1]), int(packets[1])


def main() -> None:
    """Print a line for each run."""
    build = ["cargo", "build", "--quiet", "--release", "-p", "airpath-sim", "--example", "dumbbell"]
    subprocess.run(build, check=True)
    for name, arguments, (short, long) in RUNS:
        (fewer, before), (more, after) = (count(arguments.format(s)) for s in (short, long))
        print(f"{name:34} {(more - fewer) / (after - before):8,.0f} instructions per packet")


if __name__ == "__main__":
    main()
