"""Instructions per delivered packet, counted by callgrind, which is independent of noise.

``python tests/benches/instructions.py [WORD ...]`` builds the example ``dumbbell`` and runs it for
two durations; the difference of the counts divided by that of the packets excludes the creation of
the scenario. With words, only the rows whose names contain one of them. Requires valgrind.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path("target/release/examples/dumbbell")

#: Rest of the arguments for paced flows over one hop.
PACED = "droptail 1 down on"

#: Name, arguments with a placeholder for the duration, and the two durations in seconds. With
#: "1 BDP", the buffer holds 180 packets, the bandwidth-delay product of the mean RTT. With "no
#: loss", it holds more than the flows send.
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
    ("cubic, 1 BDP", "16 100 180 {} sack cubic", (5, 15)),
    ("cubic paced, 1 BDP", f"16 100 180 {{}} sack cubic {PACED}", (5, 15)),
    ("bbr1, 1 BDP", "16 100 180 {} sack bbr1", (5, 15)),
    ("bbr, 1 BDP", "16 100 180 {} sack bbr", (5, 15)),
    ("cubic, no loss", "16 100 20000 {} sack cubic", (5, 15)),
    ("cubic paced, no loss", f"16 100 20000 {{}} sack cubic {PACED}", (5, 15)),
    ("bbr1, no loss", "16 100 20000 {} sack bbr1", (5, 15)),
    ("bbr, no loss", "16 100 20000 {} sack bbr", (5, 15)),
    ("linux: cubic, 1 BDP", "16 100 180 {} linux cubic-linux", (5, 15)),
    ("linux: cubic paced, 1 BDP", f"16 100 180 {{}} linux cubic-linux {PACED}", (5, 15)),
    ("linux: bbr1, 1 BDP", f"16 100 180 {{}} linux bbr1 {PACED}", (5, 15)),
    ("linux: bbr, 1 BDP", f"16 100 180 {{}} linux bbr {PACED}", (5, 15)),
    ("linux: cubic, no loss", "16 100 20000 {} linux cubic-linux", (5, 15)),
    ("linux: cubic paced, no loss", f"16 100 20000 {{}} linux cubic-linux {PACED}", (5, 15)),
    ("linux: bbr1, no loss", f"16 100 20000 {{}} linux bbr1 {PACED}", (5, 15)),
    ("linux: bbr, no loss", f"16 100 20000 {{}} linux bbr {PACED}", (5, 15)),
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
    build = [
        "cargo",
        "build",
        "--quiet",
        "--locked",
        "--release",
        "-p",
        "airpath-sim",
        "--example",
        "dumbbell",
    ]
    subprocess.run(build, check=True)
    words = sys.argv[1:]
    for name, arguments, (short, long) in RUNS:
        if words and not any(word in name for word in words):
            continue
        (fewer, before), (more, after) = (count(arguments.format(s)) for s in (short, long))
        print(f"{name:34} {(more - fewer) / (after - before):8,.0f} instructions per packet")


if __name__ == "__main__":
    main()
