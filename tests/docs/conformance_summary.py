"""Write the summary of conformance, `docs/reference/conformance.md`; `make generate-docs` runs this
script.

python tests/docs/conformance_summary.py

The list of sources comes from the tests, so that a test fails while the page lacks a source. The
counts and failures come from `tests/data/conformance.json`, which the last `make conformance`
wrote.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from conformance_sources import law_sources, script_files

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
ARCHIVE = ROOT / "tests" / "data" / "conformance.json"
PAGE = REFERENCE / "conformance.md"
Record = dict[str, Any]

AREAS = [
    *("Retransmission timeout", "Congestion avoidance", "TCP throughput", "CUBIC", "HyStart"),
    "Rate samples",
    *("Pacing", "ECN", "DCTCP", "RED", "Gentle RED", "ARED", "CoDel", "PIE", "FQ-CoDel"),
    *("Queueing theory", "Links and traces", "Radio channel", "Analytic model", "Papers"),
    *("Traffic", "Statistics", "Compared with ns-3"),
]
"""Order of the areas; areas that are missing here come last."""


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")
    return 0


def archive() -> Record:
    """Return the summary of the last `make conformance`."""
    kept: Record = json.loads(ARCHIVE.read_text("utf-8"))
    return kept


def keep(found: Record) -> None:
    """Write the results of `make conformance`, with one line for each area and comparison."""
    areas = [f"{json.dumps(area)}: {json.dumps(row)}" for area, row in found["areas"].items()]
    failed = [json.dumps(record, ensure_ascii=False) for record in found["failures"]]
    head = {key: found[key] for key in ("version", "commit", "scripts")}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines += ['"areas": {', ",\n".join(areas), "},"]
    lines += ['"failures": [', ",\n".join(failed), "]"]
    ARCHIVE.write_text("\n".join(["{", *lines, "}"]) + "\n", "utf-8")


def page() -> str:
    """Return the page."""
    found = archive()
    template = (ROOT / "tests" / "docs" / "conformance.md.in").read_text("utf-8")
    scripts, everything = found["scripts"], total(found)
    return template.format(
        version=found["version"],
        commit=found["commit"],
        scripts=f"{scripts['hold']} of {scripts['compared']}",
        comparisons=f"{everything['hold']} of {everything['compared']}",
        failures="\n".join(failures(found["failures"])),
        files="\n".join(f"| {file.name} | {cell(file.title)} |" for file in script_files(ROOT)),
        areas="\n".join(area_rows(found)),
        papers=papers(),
    )


def total(found: Record) -> dict[str, int]:
    """Return the number of comparisons in all areas, and the number of those that hold."""
    rows = found["areas"].values()
    return {key: sum(row[key] for row in rows) for key in ("compared", "hold")}


def failures(failed: list[Record]) -> Iterator[str]:
    """Yield the failures, or a sentence that all comparisons hold."""
    if not failed:
        yield "Everything holds."
        return
    yield "What does not hold:"
    yield ""
    for record in failed:
        found = f"{measured(record)} {record['unit']}".rstrip() + f", expected {expected(record)}"
        source = record["source"].split(":")[0]
        yield f"- {model(record['area'])}, {cell(record['what'])}: {found} ({source})"


def area_rows(found: Record) -> Iterator[str]:
    """Yield a row for each area: its documents and its counts."""
    sources: dict[str, list[str]] = {}
    for source, area in law_sources(ROOT).items():
        sources.setdefault(area, []).append(source)
    for area in in_order(sources):
        counts = found["areas"].get(area, {"compared": 0, "hold": 0})
        cells = [model(area), cell(documents(sources[area])), counts["compared"], counts["hold"]]
        yield "| " + " | ".join(map(str, cells)) + " |"


def in_order(areas: Iterable[str]) -> list[str]:
    """Return the areas in the order of the pages."""
    rank = {area: number for number, area in enumerate(AREAS)}
    return sorted(areas, key=lambda area: (rank.get(area, len(rank)), area))


def documents(sources: list[str]) -> str:
    """Return the documents of sources, each once with its sections, separated by semicolons.

    A source consists of the document, a colon and a description.
    """
    places: dict[str, set[str]] = {}
    for source in sources:
        for part in source.split(":")[0].split("; "):
            document, *sections = re.split(r",? (?=§)", part)
            places.setdefault(document.strip(), set()).update(sections)
    named = [
        " ".join([document, ", ".join(sorted(sections, key=_numbers))]).strip()
        for document, sections in sorted(places.items(), key=lambda place: place[0].lower())
    ]
    return "; ".join(named)


def _numbers(section: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", section)]


def papers() -> str:
    """Return links to the pages of the papers, which contain their own tables."""
    found = sorted((REFERENCE / "papers").glob("*.json"))
    return ", ".join(f"[{file.stem}](papers/{file.stem}.md)" for file in found)


# --- table cells, also used by conformance_page.py
# ----------------------------------------------------------


def model(area: str) -> str:
    """Return the area, with a link to the page of its model if there is one."""
    name = f"models/{area.lower()}.md"
    return f"[{area}]({name})" if (REFERENCE / name).is_file() else area


def expected(record: Record) -> str:
    """Return the expected value: a number or bounds."""
    if not isinstance(record["expected"], list):
        return number(record["expected"])
    low, high = record["expected"]
    if high is None:
        return f"{number(low)} or more"
    return f"{number(low)} to {number(high)}"


def measured(record: Record) -> str:
    """Return the measured value: a number, or the smallest and the largest value."""
    if not isinstance(record["measured"], list):
        return number(record["measured"])
    return " to ".join(number(value) for value in record["measured"])


def number(value: float) -> str:
    """Return a number with six digits; an integer with all digits."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def cell(text: str) -> str:
    """Return text that is valid in a table cell."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
