"""Makes the report of a paper from the document that ``airpath reproduce --out`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from airpath.errors import AirpathError, BadValueError
from airpath.present.tables import MARK, Cell, Table, Tone
from airpath.report.blocks import (
    Block,
    Facts,
    Figure,
    Line,
    Lines,
    Links,
    Page,
    Section,
    anchor,
    cut,
)
from airpath.report.figures import data_uri, inlined
from airpath.report.page import html
from airpath.report.provenance import execution_facts, made_by, provenance
from airpath.report.report_files import ReportFiles
from airpath.report.sorting import sortable
from airpath.reproduction.archive import unpacked
from airpath.reproduction.base import Effort, Row
from airpath.reproduction.claim import Claim, Outcome
from airpath.reproduction.compare import spread
from airpath.reproduction.page import numbers
from airpath.reproduction.verdict import tolerances

__all__ = ["report_of_paper", "shown_items"]

Document = Mapping[str, Any]


def report_of_paper(
    document: Document, *, directory: Path | None = None, out: Path | None = None
) -> str:
    """Return a paper's report: published and computed numbers, claims, figures.

    Parameters
    ----------
    document : mapping
        Content of ``PAPER.json`` from ``airpath reproduce PAPER --out``, or of its archive.
    directory : Path, optional
        Directory of the figures that the document names. Default: no figures.
    out : Path, optional
        Directory of the report, for links. Default: `directory`.

    Returns
    -------
    report : str
        One HTML document. The same document and figures give the same text.

    Raises
    ------
    BadValueError
        If the document is of another kind.
    """
    try:
        return html(_page(unpacked(document), ReportFiles(directory, out)))
    except AirpathError:
        raise
    except (AttributeError, KeyError, LookupError, TypeError, ValueError):
        wrong = "not a reproduction. Use what airpath reproduce --out wrote"
        raise BadValueError(f"{wrong}.") from None


def _page(document: Document, report_files: ReportFiles) -> Page:
    made = document["provenance"]
    items = [_item(item, document, report_files) for item in document["items"]]
    sections = [
        _summary(document),
        Section("items", "Tables and figures, published and computed", (), items),
        *_claims(document),
        _provenance(document, report_files),
    ]
    return Page(
        title=f"{document['paper']}: published numbers and Airpath's",
        subtitle=str(made["paper"]),
        verdict=_verdict(document, report_files),
        sections=sections,
        made_by=made_by(made),
    )


def _verdict(document: Document, report_files: ReportFiles) -> Line:
    found = document["verdict"]
    texts = {each["claim"]: each["text"] for each in document["claims"]}
    details = [f"{MARK} Outside its tolerance: {text}." for text in found["outside_text"]]
    later = found["with_later"] or {"do_not_hold": (), "undecided": ()}
    for name, verb in (("do_not_hold", "Does not hold"), ("undecided", "Undecided")):
        keys = dict.fromkeys((*found[name], *later[name]))
        details += [f"{MARK} {verb}: {texts.get(key, '')} ({key})" for key in keys]
    unfinished = [item["item"] for item in document["items"] if not item.get("complete", True)]
    if unfinished or not document.get("complete", True):
        names = ", ".join(unfinished) or "nothing"
        details.append(f"{MARK} Interrupted. Not complete: {names}.")
    if report_files.missing:
        details.append(f"{MARK} Missing, or not a figure: {', '.join(report_files.missing)}.")
    judged = found["numbers"] + found["claims"]
    tone: Tone = "bad" if details else "good" if judged else ""
    return Line(found["text"], tone, details)


# --- summary -----------------------------------------------------------------------------------


def _summary(document: Document) -> Section:
    made = document["provenance"]
    effort = Effort(made["replications"], made["duration_s"], made["warmup_s"])
    facts = [
        ("mode", f"{made['mode']}: {effort.describe()}, seed {made['seed']}"),
        ("intervals", f"± are {100 * made['confidence']:g} % intervals"),
    ]
    if made["note"]:
        facts.append(("note", str(made["note"])))
    lines = [
        Line(f"{each['title']}: {line}.")
        for each in document["conclusions"]
        for line in each["lines"]
    ]
    blocks: list[Block] = [Facts(facts), _item_table(document)]
    return Section("summary", "Summary", blocks + ([Lines(lines)] if lines else []))


def _item_table(document: Document) -> Table:
    columns = [
        ("", name) for name in ("item", "shows", "published", "within", "outside", "Airpath")
    ]
    rows = []
    for item in document["items"]:
        published = [row for row in item["rows"] if row["published"] is not None]
        within = [row["within"] for row in published if row["within"] is not None]
        outside = len(within) - sum(within)
        rows.append(
            [
                Cell(str(item["item"])),
                Cell(str(item["title"])),
                _count(len(published)),
                _count(sum(within)),
                _count(outside, "bad" if outside else ""),
                _count(sum(row["computed"] is not None for row in item["rows"])),
            ]
        )
    note = (
        "published: numbers that the paper prints; within, outside: their tolerance; Airpath: all."
    )
    return Table("By item", columns, rows, [note])


def _count(number: int, tone: Tone = "") -> Cell:
    return Cell(str(number), number, tone or ("" if number else "quiet"))


# --- items -------------------------------------------------------------------------------------


def shown_items(document: Document, report_files: ReportFiles) -> list[Section]:
    """Return the figures and published numbers of a paper, for a page that has several papers.

    Parameters
    ----------
    document : mapping
        Content of ``PAPER.json`` from ``airpath reproduce PAPER --out``.
    report_files : ReportFiles
        Directory of the figures that the document names.
    """
    found = []
    for item in document["items"]:
        key = anchor(document["paper"], item["item"])
        rows = [row for row in map(Row.of, item["rows"]) if row.published is not None]
        tables = [replace(_published(rows, document), folded=True)] if rows else []
        blocks = [*_figures(item, key, report_files), *tables]
        if blocks:
            found.append(Section(key, f"{item['item']}: {item['title']}", blocks))
    return found


def _item(item: Document, document: Document, report_files: ReportFiles) -> Section:
    key = anchor("item", item["item"])
    blocks: list[Block] = list(_figures(item, key, report_files))
    if not item.get("complete", True):
        blocks.append(Lines([Line(f"{MARK} Interrupted: not all of it was simulated.", "bad")]))
    rows = [Row.of(row) for row in item["rows"]]
    published = [row for row in rows if row.published is not None]
    if published:
        blocks.append(_published(published, document))
    computed = [row for row in rows if row.published is None and row.computed is not None]
    if computed:
        blocks.append(_unpublished(computed, document))
    return Section(key, f"{item['item']}: {item['title']}", blocks)


def _figures(item: Document, key: str, report_files: ReportFiles) -> Iterator[Block]:
    """Yield each figure of an item once, and links to the item's other files."""
    formats: dict[str, list[str]] = {}
    # Paths in the document date from the time when the figures were written; only the names count.
    for name in (PurePath(path).name for path in item.get("figures", ())):
        formats.setdefault(PurePath(name).stem, []).append(name)
    for number, (stem, names) in enumerate(formats.items()):
        there = [name for name in names if report_files.has(name)]
        links = [report_files.link(name) for name in there]
        title = str(item["title"]) if len(formats) == 1 else f"{item['title']} ({stem})"
        drawn = {PurePath(name).suffix: name for name in reversed(there)}
        svg = _drawing(report_files, drawn.get(".svg"), f"{key}-{number}-", title)
        if svg:
            yield Figure(title, svg=svg, links=links)
        elif ".png" in drawn:
            yield Figure(title, image=data_uri(report_files.read(drawn[".png"])), links=links)
        elif links:
            yield Links(links)
        if not links and report_files.is_known:
            report_files.missing.extend(names)


def _drawing(report_files: ReportFiles, name: str | None, prefix: str, title: str) -> str:
    """Return an SVG file as markup; empty if there is no readable SVG file."""
    if name is None:
        return ""
    try:
        return inlined(report_files.read(name), prefix, title)
    except BadValueError:
        report_files.missing.append(name)
        return ""


def _published(rows: Sequence[Row], document: Document) -> Table:
    made = numbers(rows, document)
    cells = [sortable(entries) for entries in zip(*made.texts, strict=True)]
    body, notes = cut(zip(*cells, strict=True), f"{document['paper']}.json")
    sources = tolerances(rows)
    if sources:
        each = "; ".join(f"{quantity}: {source}" for quantity, source in sources)
        notes.append(f"{MARK} is outside its tolerance. {each}.")
    return Table("Published and computed", made.columns, body, [*made.notes, *notes])


def _unpublished(rows: Sequence[Row], document: Document) -> Table:
    """Return the table of numbers that the paper does not print, for example from a figure."""
    names = list(dict.fromkeys(name for row in rows for name in row.row))
    places = [sortable([str(row.row.get(name, "")) for row in rows]) for name in names]
    values = [_value(row, document["decimals"].get(row.quantity)) for row in rows]
    quantities = [Cell(row.quantity) for row in rows]
    units = [Cell("" if row.unit == "1" else row.unit) for row in rows]
    columns = [("", name) for name in (*names, "quantity", "Airpath", "unit")]
    lines = zip(*places, quantities, values, units, strict=True)
    body, notes = cut(lines, f"{document['paper']}.json")
    return Table(
        f"Computed without a published number: {len(rows)}", columns, body, notes, folded=True
    )


def _value(row: Row, decimals: int | None) -> Cell:
    value = row.computed or 0.0
    hint = "" if row.low is None or row.high is None else f"{row.low:.6g} to {row.high:.6g}"
    small = value != 0 and abs(value) < 10.0 ** -(decimals or 0)
    if decimals is None or small:
        return Cell(f"{value:.4g}", value, hint=hint)
    return Cell(spread(value, row.low, row.high, decimals), value, hint=hint)


# --- claims --------------------------------------------------------------------------------


def _claims(document: Document) -> Iterator[Section]:
    for of_paper, key, title in (
        (True, "claims", "Claims of the paper's text, checked on Airpath's numbers"),
        (False, "measures", "Further measures; the verdict does not count them"),
    ):
        found = [each for each in document["claims"] if each["of_paper"] is of_paper]
        if found:
            yield Section(key, title, [Lines([_claim(each) for each in found])])


def _claim(document: Document) -> Line:
    found = Claim.of(document)
    verdict, tone = _OUTCOMES[found.outcome]
    details = [found.criterion, *found.about(), *found.measured]
    return Line(f"{verdict}: {found.text}", tone, details)


_OUTCOMES: Final[Mapping[Outcome, tuple[str, Tone]]] = {
    "holds": ("Holds", "good"),
    "undecided": ("UNDECIDED", ""),
    "does not hold": ("DOES NOT HOLD", "bad"),
}


# --- provenance --------------------------------------------------------------------------------


def _provenance(document: Document, report_files: ReportFiles) -> Section:
    made, name = document["provenance"], f"{document['paper']}.json"
    count = len(made.get("scenarios", ()))
    more = [("scenarios", f"{count}, resolved, in {name}")] if count else []
    more += _execution(report_files)
    return provenance(made, [name], report_files, more=more)


def _execution(report_files: ReportFiles) -> list[tuple[str, str]]:
    """Return run time and machine from the ledger next to the document, if there is one."""
    from airpath.sweeps.ledger import FILE_NAME
    from airpath.sweeps.result import Sweep

    if not report_files.has(FILE_NAME):
        return []
    try:
        sweep = Sweep(report_files.path(FILE_NAME))
        return execution_facts(sweep.execution, sum(each.replications for each in sweep.sessions))
    except BadValueError:
        # A damaged ledger is ignored.
        return []
