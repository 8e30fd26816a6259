"""Writes a reproduction as Markdown: the complete page, and its summary.

The page contains the claims, and for each item with published numbers a table of all rows. The
summary contains the counts and the failures. Both are made from the JSON document that ``airpath
reproduce`` writes, or from its archive (`archive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from airpath.present.tables import MARK
from airpath.reproduction.base import Row, Table
from airpath.reproduction.claim import Claim, Outcome
from airpath.reproduction.compare import (
    ColumnSet,
    Key,
    NoteColumns,
    absolute,
    comparison,
    percent,
    unknown,
)
from airpath.reproduction.verdict import tolerances

__all__ = ["markdown", "numbers", "page", "summary"]


def page(document: Mapping[str, Any]) -> str:
    """Return the page of a reproduction.

    Parameters
    ----------
    document : mapping
        Document that ``airpath reproduce PAPER --json`` prints.

    Returns
    -------
    page : str
        Markdown.
    """
    lines = [*_front(document, "Every published number is here.")]
    for item in document["items"]:
        published = [Row.of(row) for row in item["rows"] if row["published"] is not None]
        if published:
            lines += [
                "",
                f"## {item['item']}: {item['title']}",
                "",
                *markdown(numbers(published, document)),
                *_tolerances(published),
            ]
    lines += ["", "## What the text says", ""]
    lines += _claims(document, of_paper=True)
    measures = list(_claims(document, of_paper=False))
    if measures:
        about = "The verdict does not count them."
        lines += ["", "## Further measures", "", about, "", *measures]
    return "\n".join(lines) + "\n"


def summary(document: Mapping[str, Any]) -> str:
    """Return the summary of a reproduction: counts by item, and claims that do not hold.

    Parameters
    ----------
    document : mapping
        Document that ``airpath reproduce PAPER --json`` prints.

    Returns
    -------
    summary : str
        Markdown.
    """
    if not any(row["published"] is not None for item in document["items"] for row in item["rows"]):
        about = "The paper prints no numbers: what is compared is what its text says."
        checked_claims = _claims(document, of_paper=True)
        head = ["", "## What the text says, checked", ""]
        return "\n".join([*_front(document, about), *head, *checked_claims]) + "\n"
    whole = f"`make generate-docs` writes it next to this page, as `{document['paper']}-full.md`."
    lines = [
        *_front(document, f"This is the summary of a page with every published number; {whole}"),
        "",
        "## By item",
        "",
        "| item | shows | published numbers | within tolerance |",
        "| --- | --- | --- | --- |",
    ]
    for item in document["items"]:
        found = [row["within"] for row in item["rows"] if row["published"] is not None]
        within = [each for each in found if each is not None]
        if found:
            lines.append(f"| {item['item']} | {item['title']} | {len(found)} | {sum(within)} |")
    lines += ["", "The verdict counts a number that two items show once."]
    open_ = [found for found in _checked(document, of_paper=True) if found.outcome != "holds"]
    if open_:
        lines += ["", "## Claims that do not hold or are undecided", ""]
        lines += _listed(open_)
    return "\n".join(lines) + "\n"


def _front(document: Mapping[str, Any], about: str) -> Iterator[str]:
    """Yield the beginning of a page: provenance, verdict, conclusions."""
    made = document["provenance"]
    yield f"# {document['paper']}: published numbers and Airpath's"
    yield ""
    yield (
        f"Made by `make reproduce-full` (`{made['command']}`) with version {made['version']}, "
        f"commit {made['commit']}{_others(made)}, seed {made['seed']}: "
        f"{made['replications']} runs of {made['duration_s']:g} s{_not_counted(made['warmup_s'])}; "
        f"± are {100 * made['confidence']:g} % intervals. {_sentence(made['note'])}"
        f"{about} What was chosen where the paper is silent, and what is "
        "known of the differences: [the paper's notes]"
        f"(../../../papers/airpath_papers/{document['paper']}/README.md)."
    )
    yield ""
    yield from _verdict(document["verdict"])
    yield ""
    yield from _conclusions(document["conclusions"])


def _claims(document: Mapping[str, Any], *, of_paper: bool) -> Iterator[str]:
    yield from _listed(_checked(document, of_paper=of_paper))


def _checked(document: Mapping[str, Any], *, of_paper: bool) -> list[Claim]:
    return [Claim.of(each) for each in document["claims"] if each["of_paper"] is of_paper]


def _listed(claims: Sequence[Claim]) -> Iterator[str]:
    for claim in claims:
        about = " ".join([f"It {_OUTCOMES[claim.outcome]}.", *claim.about()])
        yield f"* {claim.text} {claim.criterion} {about}"
        yield from (f"    * {line}" for line in claim.measured)


_OUTCOMES: Final[Mapping[Outcome, str]] = {
    "holds": "holds",
    "undecided": "is **undecided**",
    "does not hold": "does **not** hold",
}


def _not_counted(warmup_s: float) -> str:
    return f", the first {warmup_s:g} s not counted" if warmup_s else ""


def _others(made: Mapping[str, Any]) -> str:
    """Return a text about reused runs of other versions; empty if no such run was used."""
    used = [
        f"{each['replications']} stored runs of commit {each['commit']}"
        for each in made.get("other_versions", ())
    ]
    return f" ({', '.join(used)})" if used else ""


def _sentence(note: str) -> str:
    return f"{note} " if note else ""


def _verdict(verdict: Mapping[str, Any]) -> Iterator[str]:
    yield f"**{verdict['text']}**"
    failed = [f"{MARK} {text}." for text in verdict["outside_text"]]
    later = verdict["with_later"] or {"do_not_hold": (), "undecided": ()}
    for name, about in (("do_not_hold", "Does not hold"), ("undecided", "Undecided")):
        keys = dict.fromkeys((*verdict[name], *later[name]))
        failed += [f"{about}: {key}." for key in keys]
    if failed:
        yield ""
        yield from (f"* {line}" for line in failed)


def _tolerances(rows: Sequence[Row]) -> Iterator[str]:
    found = tolerances(rows)
    if found:
        yield ""
        each = "; ".join(f"{quantity} {sources}" for quantity, sources in found)
        yield f"`{MARK}` is outside its tolerance: {each}."


def _conclusions(summaries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for summary in summaries:
        for line in summary["lines"]:
            yield f"* {summary['title']}: {line}."


def numbers(rows: Sequence[Row], document: Mapping[str, Any]) -> Table:
    """Return the table of published and computed numbers.

    Parameters
    ----------
    rows : sequence of Row
        Rows of one item.
    document : mapping
        Document of the reproduction, with headings and decimals.
    """
    names = dict.fromkeys(name for row in rows for name in row.row)
    shown: list[ColumnSet | NoteColumns] = [
        _shown(
            row,
            document["headings"].get(row.quantity, f"{row.quantity}, {row.unit}"),
            document["decimals"].get(row.quantity, 4),
        )
        for row in {row.quantity: row for row in rows}.values()
    ]
    if any("domain_published" in row.extra for row in rows):
        shown.append(NoteColumns("domain", ("domain_published", "domain_ours")))
    return comparison("", rows, [Key(name, name) for name in names], shown)


def _shown(row: Row, heading: str, decimals: int) -> ColumnSet:
    def published(row: Row) -> str:
        if row.computed is not None and "difference" in row.extra and row.unit != "%":
            return f"{row.published:.{decimals}f}"
        half = "" if row.published_ci is None else f" ± {row.published_ci:g}"
        return _number(row.published or 0.0, decimals) + half

    def computed(row: Row) -> str:
        value = row.computed or 0.0
        if "difference" in row.extra and row.unit != "%":
            return f"{value:.{decimals}f}"
        if row.low is None or row.high is None:
            return _number(value, decimals)
        half = (row.high - row.low) / 2
        # The half-width has the same number of decimals as the mean.
        return _number(value, decimals) + (
            f" ± {half:.{decimals}f}" if abs(value) >= 0.1 else f" ± {half:.1e}"
        )

    def difference(row: Row) -> str:
        if row.unit == "%":
            return absolute(1, " points")(row)
        return (absolute(decimals) if "difference" in row.extra else percent(2, " %"))(row)

    names = ("paper", "Airpath", "difference")
    known = unknown(computed, "not computed")
    return ColumnSet(row.quantity, heading, published, known, difference, names)


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2e}"


def markdown(table: Table) -> Iterator[str]:
    """Yield the lines of a table in Markdown, without title and notes."""
    headings, before = [], ""
    for group, name in table.headings:
        # Only the first column of a group has the group in its heading.
        headings.append(f"{group}: {name}" if group and group != before else name)
        before = group
    yield f"| {' | '.join(headings)} |"
    yield f"|{' --- |' * len(headings)}"
    for row in table.texts:
        cells = (
            f"**{MARK}**{cell.removeprefix(MARK)}" if cell.startswith(MARK) else cell
            for cell in row
        )
        yield f"| {' | '.join(cells)} |"
