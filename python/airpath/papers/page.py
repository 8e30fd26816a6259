"""A reproduction as a page of the documentation.

``python -m airpath.papers.page out/qawla-full/qawla.json docs/reference/papers/qawla.md`` turns
the JSON document that ``airpath reproduce`` wrote into Markdown: one table for each item with
published numbers, every row of it, and the statements. ``make full`` does both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from airpath.files import write_file

__all__ = ["main", "page"]

HEADINGS = {
    "link_rate": "rate, Mbit/s",
    "throughput_simulation": "T simulated, Mbit/s",
    "throughput_analysis": "T analysed, Mbit/s",
    "queue_analysis": "x*, packets",
    "alpha_analysis": "α*",
}


def page(document: Mapping[str, Any]) -> str:
    """Return the page of a reproduction.

    Parameters
    ----------
    document : mapping
        What ``airpath reproduce PAPER --json`` prints.

    Returns
    -------
    page : str
        Markdown.
    """
    made = document["provenance"]
    lines = [
        f"# {document['paper']}: published numbers and ours",
        "",
        f"Made by `make full` (`{made['command']}`) with version {made['version']}, "
        f"commit {made['commit']}, seed {made['seed']}: {made['replications']} runs of "
        f"{made['duration_s']:g} s, the first {made['warmup_s']:g} s not counted; "
        f"± are {100 * made['confidence']:g} % intervals. No row is left out.",
        "",
        *_summary(document["summary"]),
    ]
    for item in document["items"]:
        published = [row for row in item["rows"] if row["published"] is not None]
        if published:
            lines += ["", f"## {item['item']}: {item['title']}", "", *_table(published)]
    lines += ["", "## What the text says", ""]
    for statement in document["statements"]:
        verdict = "holds" if statement["holds"] else "does **not** hold"
        lines.append(f"* {statement['text']} {statement['criterion']} It {verdict}.")
    return "\n".join(lines) + "\n"


def _summary(summary: Mapping[str, Any]) -> Iterator[str]:
    simulation, analysis = summary.get("simulation"), summary.get("analysis")
    if simulation:
        yield (
            f"Simulation, {simulation['cells']} cells: mean |difference| "
            f"{_percent(simulation['mean_absolute_difference'], sign=False)}, mean "
            f"{_percent(simulation['mean_difference'])}, largest "
            f"{_percent(simulation['largest_difference'])} at "
            f"{simulation['largest_difference_at']}; {simulation['within']} within 2.5 % or the "
            "combined intervals."
        )
    if analysis:
        largest = ", ".join(
            f"{HEADINGS.get(name, name).split(',')[0]} {_percent(value, sign=False)}"
            for name, value in analysis["largest_difference"].items()
        )
        yield ""
        yield (
            f"Analysis, {analysis['cells']} cells: {analysis['same_domain']} in the published "
            f"domain; largest |difference|: {largest}."
        )


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    quantities = list(dict.fromkeys(row["quantity"] for row in rows))
    keys = list(dict.fromkeys(name for row in rows for name in row["row"]))
    columns = [*keys]
    for quantity in quantities:
        columns += [f"{HEADINGS.get(quantity, quantity)}: paper", "ours", "difference"]
    has_domain = any("domain_published" in row for row in rows)
    if has_domain:
        columns += ["domain: paper", "ours"]
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    places: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        place = tuple(row["row"].get(key, "") for key in keys)
        places.setdefault(place, {})[row["quantity"]] = row
    for place, found in places.items():
        cells = [str(value) for value in place]
        for quantity in quantities:
            cells += _cells(found.get(quantity))
        if has_domain:
            analysed = next((row for row in found.values() if "domain_published" in row), {})
            cells += [analysed.get("domain_published", ""), analysed.get("domain_ours", "")]
        yield f"| {' | '.join(cells)} |"


def _cells(row: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    published = _number(row["published"])
    if row["published_ci"] is not None:
        published += f" ± {row['published_ci']:g}"
    ours = _number(row["ours"])
    if row["low"] is not None:
        ours += f" ± {(row['high'] - row['low']) / 2:.4f}"
    return published, ours, _percent(row["relative_difference"])


def _number(value: float) -> str:
    return f"{value:.4f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2e}"


def _percent(value: float | None, *, sign: bool = True) -> str:
    if value is None:
        return ""
    return f"{100 * value:+.2f} %" if sign else f"{100 * value:.2f} %"


def main(arguments: Sequence[str]) -> None:
    """Turn the JSON file named first into the Markdown file named second."""
    source, target = arguments
    document = json.loads(Path(source).read_text(encoding="utf-8"))
    write_file(Path(target), page(document).encode("utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
