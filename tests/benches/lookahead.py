"""Effect of lookahead in each example scenario, as a table in Markdown.

``python tests/benches/lookahead.py [SECONDS]`` builds the cargo example ``scenario`` and runs each
scenario with lookahead and in order of time, for SECONDS and for twice as long; the differences
exclude the creation of the scenario. Printed per delivered packet: stages removed from the event
queue and instructions, without recorded series, and the stages also with the series that the file
records. Requires valgrind.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import airpath as ap
from airpath import _airpath

EXAMPLE = Path("target/release/examples/scenario")

#: Series that the engine records; others are calculated from data known before the run.
OF_THE_ENGINE = {series["name"] for series in json.loads(_airpath.vocabulary())["series"]}


class Counts(NamedTuple):
    """Counts of a run, or the difference of two runs."""

    packets: int
    events: int
    wakeups: int
    instructions: int = 0

    def __sub__(self, other: Counts) -> Counts:
        return Counts._make(
            this_value - other_value for this_value, other_value in zip(self, other, strict=True)
        )


def run(arguments: list[str], is_counted: bool) -> Counts:
    """Run once, with callgrind if instructions are counted."""
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*(callgrind if is_counted else []), str(EXAMPLE), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = re.match(r"(\d+) packets, (\d+) events, (\d+) wake-ups", done.stdout)
    if found is None:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}")
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    packets, events, wakeups = map(int, found.groups())
    return Counts(packets, events, wakeups, int(instructions[1]) if instructions else 0)


def per_packet(
    resolved: dict[str, Any], files: dict[str, Path], seconds: float, is_counted: bool
) -> tuple[Counts, Counts]:
    """Return the cost of the second half of a run, in order and with lookahead."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "resolved.json")
        path.write_text(json.dumps(resolved))
        arguments = [str(path), *(f"{key}={file}" for key, file in files.items())]

        def second_half(*order: str) -> Counts:
            short, long = (
                run([*arguments, *order, "--seconds", str(length)], is_counted)
                for length in (seconds, 2 * seconds)
            )
            return long - short

        return second_half("--in-order"), second_half()


def row(path: Path, seconds: float) -> str:
    """Return the line of one scenario."""
    text, files = ap.load(path).resolve()
    resolved = json.loads(text)
    series = [name for name in resolved["record"]["series"] if name in OF_THE_ENGINE]
    resolved["record"]["series"] = []
    before, after = per_packet(resolved, files, seconds, is_counted=True)
    if before[:2] != after[:2]:
        raise SystemExit(f"{path}: {before} in order, {after} with lookahead")
    packets = before.packets
    resolved["record"]["series"] = series
    _, recorded = per_packet(resolved, files, seconds, is_counted=False)
    gain = 100 * (1 - after.instructions / before.instructions)
    return " | ".join(
        [
            f"| `{path.stem}`",
            f"{before.wakeups / packets:.2f}",
            f"{after.wakeups / packets:.2f}",
            f"{before.instructions / packets:,.0f}",
            f"{after.instructions / packets:,.0f}",
            f"{gain:.0f} %",
            f"{recorded.wakeups / packets:.2f} |" if series else "none |",
        ]
    )


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    build = ["cargo", "build", "--quiet", "--release", "-p", "airpath-sim", "--example", "scenario"]
    subprocess.run(build, check=True)
    print("| scenario | wake-ups in order | with lookahead | instructions in order", end="")
    print(" | with lookahead | less | wake-ups with its series |")
    print("| --- " * 7 + "|")
    for path in sorted(Path("python/airpath/examples").glob("*.toml")):
        print(row(path, seconds), flush=True)


if __name__ == "__main__":
    main()
