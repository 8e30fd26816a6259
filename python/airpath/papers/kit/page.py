"""A reproduction as Markdown.

One table for each item with published numbers, every row of it, and the statements; made from the
JSON document that ``airpath reproduce`` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airpath.papers.kit.tolerance import MARK

__all__ = ["page"]


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
        f"{made['duration_s']:g} s{_not_counted(made['warmup_s'])}; "
        f"± are {100 * made['confidence']:g} % intervals. {_sentence(made['note'])}"
        "Every published number is here. What was chosen where the paper is silent, and what is "
        "known of the differences: [the paper's notes]"
        f"(../../../python/airpath/papers/{document['paper']}/README.md).",
        "",
        *_verdict(document["verdict"]),
        "",
        *_conclusions(document["conclusions"]),
    ]
    for item in document["items"]:
        published = [row for row in item["rows"] if row["published"] is not None]
        if published:
            lines += [
                "",
                f"## {item['item']}: {item['title']}",
                "",
                *_table(published, document),
                *_tolerances(published),
            ]
    lines += ["", "## What the text says", ""]
    lines += _statements(document, of_paper=True)
    beside = list(_statements(document, of_paper=False))
    if beside:
        about = "The verdict does not count them."
        lines += ["", "## Measures of ours beside it", "", about, "", *beside]
    return "\n".join(lines) + "\n"


def _statements(document: Mapping[str, Any], *, of_paper: bool) -> Iterator[str]:
    for statement in document["statements"]:
        if statement["of_paper"] is not of_paper:
            continue
        verdict = "holds" if statement["holds"] else "does **not** hold"
        yield f"* {statement['text']} {statement['criterion']} It {verdict}."
        yield from (f"  * {line}" for line in statement["measured"])


def _not_counted(warmup_s: float) -> str:
    return f", the first {warmup_s:g} s not counted" if warmup_s else ""


def _sentence(note: str) -> str:
    return f"{note} " if note else ""


def _verdict(verdict: Mapping[str, Any]) -> Iterator[str]:
    yield f"**{verdict['text']}**"
    failed = [f"{MARK} {text}." for text in verdict["outside_text"]]
    failed += [f"Does not hold: {key}." for key in verdict["do_not_hold"]]
    if failed:
        yield ""
        yield from (f"* {line}" for line in failed)


def _tolerances(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["tolerance"] is not None:
            found.setdefault(row["quantity"], []).append(row["tolerance"]["source"])
    if found:
        each = (
            f"{quantity} {' or '.join(dict.fromkeys(sources))}"
            for quantity, sources in found.items()
        )
        yield ""
        yield f"`{MARK}` is outside its tolerance: {'; '.join(each)}."


def _conclusions(summaries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for summary in summaries:
        for line in summary["lines"]:
            yield f"* {summary['title']}: {line}."


def _table(rows: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> Iterator[str]:
    units = {row["quantity"]: row["unit"] for row in rows}
    quantities = list(units)
    keys = list(dict.fromkeys(name for row in rows for name in row["row"]))
    columns = [*keys]
    for quantity in quantities:
        heading = document["headings"].get(quantity, f"{quantity}, {units[quantity]}")
        columns += [f"{heading}: paper", "ours", "difference"]
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
            cells += _cells(found.get(quantity), document["decimals"].get(quantity, 4))
        if has_domain:
            analysed = next((row for row in found.values() if "domain_published" in row), {})
            cells += [analysed.get("domain_published", ""), analysed.get("domain_ours", "")]
        yield f"| {' | '.join(cells)} |"


def _cells(row: Mapping[str, Any] | None, decimals: int) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    published, ours, difference = _numbers(row, decimals)
    if row["within"] is False:
        # Where no difference is shown, the number itself has the mark.
        if difference:
            difference = f"**{MARK}** {difference}"
        else:
            ours = f"**{MARK}** {ours}"
    return published, ours, difference


def _numbers(row: Mapping[str, Any], decimals: int) -> tuple[str, str, str]:
    published = _number(row["published"], decimals)
    if row["published_ci"] is not None:
        published += f" ± {row['published_ci']:g}"
    if row["ours"] is None:
        return published, "not computed", ""
    ours = _number(row["ours"], decimals)
    if row["low"] is not None:
        half = (row["high"] - row["low"]) / 2
        # As many digits as the number that it belongs to.
        ours += f" ± {half:.{decimals}f}" if abs(row["ours"]) >= 0.1 else f" ± {half:.1e}"
    if row["unit"] == "%":
        return published, ours, f"{row['ours'] - row['published']:+.1f} points"
    if "difference" in row:
        published, ours = f"{row['published']:.{decimals}f}", f"{row['ours']:.{decimals}f}"
        return published, ours, f"{row['difference']:+.{decimals}f}"
    return published, ours, _percent(row["relative_difference"])


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2e}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.2f} %"
