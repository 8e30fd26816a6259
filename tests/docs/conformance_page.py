"""Write the conformance pages from the records of the tests; `make conformance` runs this script.

python tests/docs/conformance_page.py RECORDS

The script writes three files: `docs/reference/conformance-full.md` with every comparison, which is
not committed; `tests/data/conformance.json` with the counts and the failures; and the summary
`conformance.md`, which is created from this JSON file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import conformance_summary
from conformance_sources import ScriptFile, law_sources, position, script_files
from conformance_summary import Record, cell, expected, failures, in_order, measured, model

ROOT = Path(__file__).parents[2]


def main(records_path: str) -> int:
    """Write the pages. If a script or a formula has no record, print the missing names instead."""
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
    missing += sorted(law_sources(ROOT).keys() - compared)
    if missing:
        print("no record of:", *missing, sep="\n    ", file=sys.stderr)
        return 1
    laws = by_area([record for record in records if record["kind"] == "law"])
    reference = ROOT / "docs" / "reference"
    (reference / "conformance-full.md").write_text(page(files, runs, laws), "utf-8")
    conformance_summary.keep(archive(files, runs, laws))
    return conformance_summary.main()


def by_script(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """Group the records of scripts by file and test."""
    runs: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if record["kind"] == "script":
            runs[record["file"], record["test"].split("::")[-1]].append(record)
    return runs


def by_area(laws: list[Record]) -> dict[str, list[Record]]:
    """Group comparisons by area; within an area, in the order of files and tests.

    Tests run in parallel, so the order of the records is only meaningful within a test.
    """
    laws = sorted(laws, key=lambda r: (r["file"], position(ROOT, r["file"], r["test"]), r["test"]))
    areas = in_order({record["area"] for record in laws})
    return {area: [record for record in laws if record["area"] == area] for area in areas}


def archive(
    files: list[ScriptFile],
    runs: dict[tuple[str, str], list[Record]],
    laws: dict[str, list[Record]],
) -> Record:
    """Return the summary of a run: number of comparisons, number of those that hold, failures."""
    version = re.search(r'^version = "(.*)"', text("Cargo.toml"), re.MULTILINE)
    assert version, "the workspace has a version"
    scripts = [runs[file.name, script.name] for file in files for script in file.scripts]
    passed = sum(all(run["passed"] for run in played) for played in scripts)
    held = {area: sum(r["holds"] for r in records) for area, records in laws.items()}
    kept = ("area", "source", "file", "test", "what", "unit", "measured", "expected")
    return {
        "version": version[1],
        "commit": commit(),
        "scripts": {"compared": len(scripts), "hold": passed},
        "areas": {a: {"compared": len(r), "hold": held[a]} for a, r in laws.items()},
        "failures": [
            {key: record[key] for key in kept}
            for records in laws.values()
            for record in records
            if not record["holds"]
        ],
    }


def page(
    files: list[ScriptFile],
    runs: dict[tuple[str, str], list[Record]],
    laws: dict[str, list[Record]],
) -> str:
    """Return the page with every comparison."""
    found = archive(files, runs, laws)
    return text("tests/docs/conformance-full.md.in").format(
        version=found["version"],
        commit=found["commit"],
        summary="\n".join(summary(found)),
        failures="\n".join(failures(found["failures"])),
        files="\n".join(file_rows(files, runs)),
        scripts="\n".join(script_section(file, runs) for file in files),
        laws="\n".join(law_section(area, records) for area, records in laws.items()).rstrip(),
    )


def text(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text("utf-8")


def commit() -> str:
    """Return the commit, followed by *changed* if files other than generated ones differ
    from it.
    """

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    made = [f":!docs/reference/conformance.{suffix}" for suffix in ("md", "json")]
    changed = git("status", "--porcelain", "--", ".", *made)
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + (", changed" if changed else "")


# --- summary -----------------------------------------------------------------------------------


def summary(found: Record) -> Iterator[str]:
    """Yield the rows of the summary: scripts, areas, total."""

    def row(name: str, compared: int, hold: int) -> str:
        return f"| {name} | {compared} | {hold} | {compared - hold} |"

    yield row("[Packet scripts](#packet-scripts)", **found["scripts"])
    for area, counts in found["areas"].items():
        anchor = re.sub(r"[^\w\- ]", "", area.lower()).replace(" ", "-")
        yield row(f"[{area}](#{anchor})", **counts)
    yield row("all comparisons", **conformance_summary.total(found))


# --- scripts -----------------------------------------------------------------------------------


def totals(played: Iterable[Record]) -> tuple[int, int, int]:
    """Return the total numbers of stimuli, segments and values in several scripts."""
    played = list(played)
    stimuli, segments, values = (
        sum(run[key] for run in played) for key in ("stimuli", "segments", "values")
    )
    return stimuli, segments, values


def file_rows(files: list[ScriptFile], runs: dict[tuple[str, str], list[Record]]) -> Iterator[str]:
    """Yield a row for each file, and the total."""
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


# --- published formulas ------------------------------------------------------------------------


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


def tolerance(record: Record) -> str:
    """Return the allowed difference of the measured value."""
    if record["tolerance"] is None:
        return "bounds"
    [(kind, value)] = record["tolerance"].items()
    if value == 0:
        return "exact"
    return f"± {value:.4g}" if kind == "absolute" else f"± {100 * value:.4g} %"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
