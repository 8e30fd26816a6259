"""Writes the conformance page from what the tests left: `make conformance` runs it.

python tests/docs/conformance_page.py RECORDS PAGE
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from conformance_sources import ScriptFile, law_sources, position, script_files

ROOT = Path(__file__).parents[2]
Record = dict[str, Any]

AREAS = [
    *("Retransmission timeout", "Congestion avoidance", "TCP throughput", "CUBIC", "HyStart"),
    "Rate samples",
    *("Pacing", "ECN", "DCTCP", "RED", "Gentle RED", "ARED", "CoDel", "PIE", "FQ-CoDel"),
    *("Queueing theory", "Links and traces", "Radio channel", "Analytic model", "Papers"),
    *("Traffic", "Statistics", "Beside ns-3"),
]
"""The order of sections; an area that is not here comes last."""


def main(records_path: str, page_path: str) -> int:
    """Write the page; say what is missing instead, if a script or a law left no record."""
    lines = Path(records_path).read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    files = script_files(ROOT)
    runs = by_script(records)
    missing = [
        f"{file.name}::{script.name}"
        for file in files
        for script in file.scripts
        if (file.name, script.name) not in runs
    ]
    compared = {record["source"] for record in records if record["kind"] == "law"}
    missing += sorted(law_sources(ROOT) - compared)
    if missing:
        print("no record of:", *missing, sep="\n    ", file=sys.stderr)
        return 1
    laws = by_area([record for record in records if record["kind"] == "law"])
    Path(page_path).write_text(page(files, runs, laws), "utf-8")
    return 0


def by_script(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """Group the runs of scripts by file and test."""
    runs: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if record["kind"] == "script":
            runs[record["file"], record["test"].split("::")[-1]].append(record)
    return runs


def by_area(laws: list[Record]) -> dict[str, list[Record]]:
    """Group comparisons by area; within one, in the order of files and of tests in them.

    Tests run at the same time, so the order of records means nothing but within a test.
    """
    laws = sorted(laws, key=lambda r: (r["file"], position(ROOT, r["file"], r["test"]), r["test"]))
    rank = {area: number for number, area in enumerate(AREAS)}
    areas = sorted({r["area"] for r in laws}, key=lambda area: (rank.get(area, len(rank)), area))
    return {area: [record for record in laws if record["area"] == area] for area in areas}


def page(
    files: list[ScriptFile],
    runs: dict[tuple[str, str], list[Record]],
    laws: dict[str, list[Record]],
) -> str:
    """Return the page."""
    version = re.search(r'^version = "(.*)"', text("Cargo.toml"), re.MULTILINE)
    assert version, "the workspace has a version"
    return text("tests/docs/conformance.md.in").format(
        version=version[1],
        commit=commit(),
        summary="\n".join(summary(files, runs, laws)),
        failures="\n".join(failures(laws)),
        files="\n".join(file_rows(files, runs)),
        scripts="\n".join(script_section(file, runs) for file in files),
        laws="\n".join(law_section(area, records) for area, records in laws.items()),
        further="\n".join(further()).rstrip(),
    )


def text(name: str) -> str:
    """Return a file of the repository."""
    return (ROOT / name).read_text("utf-8")


def commit() -> str:
    """Return the commit, and whether anything but the page differs from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--", ".", ":!docs/reference/conformance.md")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + (", changed" if changed else "")


# --- summary -----------------------------------------------------------------------------------


def summary(
    files: list[ScriptFile],
    runs: dict[tuple[str, str], list[Record]],
    laws: dict[str, list[Record]],
) -> Iterator[str]:
    """Yield the rows of the summary: scripts, each area, all comparisons."""
    scripts = [runs[file.name, script.name] for file in files for script in file.scripts]
    passed = sum(all(run["passed"] for run in played) for played in scripts)
    name = "[Packet scripts](#packet-scripts)"
    yield f"| {name} | {len(scripts)} | {passed} | {len(scripts) - passed} |"
    for area, records in laws.items():
        held = sum(record["holds"] for record in records)
        anchor = re.sub(r"[^\w\- ]", "", area.lower()).replace(" ", "-")
        yield f"| [{area}](#{anchor}) | {len(records)} | {held} | {len(records) - held} |"
    everything = [record for records in laws.values() for record in records]
    held = sum(record["holds"] for record in everything)
    yield f"| all comparisons | {len(everything)} | {held} | {len(everything) - held} |"


def failures(laws: dict[str, list[Record]]) -> Iterator[str]:
    """Yield what does not hold, or that everything does."""
    failed = [record for records in laws.values() for record in records if not record["holds"]]
    if not failed:
        yield "Everything holds."
        return
    yield "What does not hold:"
    yield ""
    for record in failed:
        found = f"{measured(record)} {record['unit']}, expected {expected(record)}"
        source = record["source"].split(":")[0]
        yield f"- {model(record['area'])}, {cell(record['what'])}: {found} ({source})"


# --- scripts -----------------------------------------------------------------------------------


def totals(played: Iterable[Record]) -> tuple[int, int, int]:
    """Return stimuli, segments and values of several runs."""
    played = list(played)
    stimuli, segments, values = (
        sum(run[key] for run in played) for key in ("stimuli", "segments", "values")
    )
    return stimuli, segments, values


def file_rows(files: list[ScriptFile], runs: dict[tuple[str, str], list[Record]]) -> Iterator[str]:
    """Yield a row for each file, and their sum."""
    everything: list[Record] = []
    for file in files:
        played = [run for script in file.scripts for run in runs[file.name, script.name]]
        everything += played
        counts = " | ".join(map(str, (len(file.scripts), *totals(played))))
        yield f"| [{file.name}](#{file.name}rs) | {cell(file.title)} | {counts} |"
    number = sum(len(file.scripts) for file in files)
    yield f"| all | | {number} | " + " | ".join(map(str, totals(everything))) + " |"


def script_section(file: ScriptFile, runs: dict[tuple[str, str], list[Record]]) -> str:
    """Return the table of a file."""
    lines = [f"### {file.name}.rs", "", file.title, ""]
    lines += ["| script | source, where one is named | stimuli | segments | values | result |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for script in file.scripts:
        played = runs[file.name, script.name]
        counts = " | ".join(map(str, totals(played)))
        result = "passes" if all(run["passed"] for run in played) else "**fails**"
        lines.append(f"| {script.sentence} | {script.sources} | {counts} | {result} |")
    return "\n".join(lines) + "\n"


# --- laws --------------------------------------------------------------------------------------


def law_section(area: str, records: list[Record]) -> str:
    """Return the tables of an area, one for each source."""
    lines = [f"### {area}", ""]
    if model(area) != area:
        lines += [f"The model: {model(area)}.", ""]
    for source, allows in dict.fromkeys((r["source"], r["allows"]) for r in records):
        lines += [f"**{cell(source)}.** Tolerance: {cell(allows)}.", ""]
        lines += ["| quantity | expected | tolerance | measured | unit | holds |"]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        for record in records:
            if (record["source"], record["allows"]) == (source, allows):
                holds = "yes" if record["holds"] else "**does not hold**"
                cells = (expected(record), tolerance(record), measured(record))
                row = [cell(record["what"]), *cells, cell(record["unit"]), holds]
                lines.append("| " + " | ".join(row) + " |")
        lines.append("")
    return "\n".join(lines)


def model(area: str) -> str:
    """Return the area, with a link to the page of its model if there is one."""
    name = f"models/{area.lower()}.md"
    exists = (ROOT / "docs" / "reference" / name).is_file()
    return f"[{area}]({name})" if exists else area


def expected(record: Record) -> str:
    """Return what was expected: a number or bounds."""
    if not isinstance(record["expected"], list):
        return number(record["expected"])
    low, high = record["expected"]
    if high is None:
        return f"{number(low)} or more"
    return f"{number(low)} to {number(high)}"


def measured(record: Record) -> str:
    """Return what was measured: a number, or the least and the greatest."""
    if not isinstance(record["measured"], list):
        return number(record["measured"])
    return " to ".join(number(value) for value in record["measured"])


def tolerance(record: Record) -> str:
    """Return by how much the measured value may differ."""
    if record["tolerance"] is None:
        return "bounds"
    [(kind, value)] = record["tolerance"].items()
    if value == 0:
        return "exact"
    return f"± {value:.4g}" if kind == "absolute" else f"± {100 * value:.4g} %"


def number(value: float) -> str:
    """Return a number with six digits, or a whole one with all."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def cell(text: str) -> str:
    """Return text that may stand in a table."""
    return text.replace("|", "\\|")


# --- what is compared elsewhere ----------------------------------------------------------------


def further() -> Iterator[str]:
    """Yield the sections on papers and on ns-3, whose tables have their own pages."""
    yield "## Papers, row by row\n"
    for archive in sorted((ROOT / "docs" / "reference" / "papers").glob("*.json")):
        paper = archive.with_suffix(".md")
        # What stands above the tables, below the line about the run.
        head = paper.read_text("utf-8").split("\n## ")[0]
        lines = [line.removeprefix("* ") for line in head.splitlines()[3:] if line]
        made = "made by `make full`; `make docs` writes every row"
        yield f"[{paper.stem}](papers/{paper.name}), {made}:\n"
        yield "\n".join(f"- {line}" for line in lines) + "\n"
    if (ROOT / "docs" / "explanation" / "ns-3.md").is_file():
        yield "## ns-3, dumbbell by dumbbell\n"
        yield "Every dumbbell, and the causes of differences: [ns-3](../explanation/ns-3.md).\n"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
