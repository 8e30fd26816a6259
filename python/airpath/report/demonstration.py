"""Page of the demonstration: all its tables and figures, and suggested next commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from airpath.present.tables import Table
from airpath.report.blocks import Facts, Figure, Line, Lines, Links, Page, Section
from airpath.report.figures import data_uri, inlined
from airpath.report.page import html
from airpath.report.paper import shown_items
from airpath.report.provenance import made_by
from airpath.report.report_files import ReportFiles
from airpath.report.sorting import sortable_table
from airpath.reproduction.run import REPORT
from airpath.results.provenance import build

__all__ = ["Example", "report_of_demonstration"]


@dataclass(frozen=True)
class Example:
    """Results of example scenarios.

    Parameters
    ----------
    key : str
        Anchor of the example on the page.
    table : Table
        Table of the numbers; its title is the section's title.
    figures : mapping of str to str
        Titles of the figures, by the stem of their files.
    """

    key: str
    table: Table
    figures: Mapping[str, str]


def report_of_demonstration(
    examples: Sequence[Example],
    papers: Sequence[Table],
    documents: Mapping[str, Mapping[str, Any]],
    next_steps: Mapping[str, str],
    directory: Path,
    out: Path,
) -> str:
    """Return the page as one HTML document.

    Parameters
    ----------
    examples : sequence of Example
        The simulated examples.
    papers : sequence of Table
        Summaries of the papers.
    documents : mapping of str to mapping
        Content of ``PAPER.json`` from ``airpath reproduce --out``, by paper.
    next_steps : mapping of str to str
        Commands by description.
    directory : Path
        Directory of the examples' figures, with a subdirectory for each paper.
    out : Path
        Directory of the page, for links.
    """
    files = ReportFiles(directory, out)
    sections = [
        *(_example(each, files) for each in examples),
        *(Section("papers", each.title, [replace(each, title="")]) for each in papers),
        *(
            _paper(document, ReportFiles(directory / key, out))
            for key, document in documents.items()
        ),
        Section("next", "Try next", [Facts(list(next_steps.items()))]),
    ]
    text = f"{len(examples)} simulated examples and {len(documents)} reproduced papers."
    return html(
        Page(
            title="Airpath: demonstration",
            subtitle="TCP over wireless links: simulated examples and quick runs of papers.",
            verdict=Line(text),
            sections=sections,
            made_by=made_by(build()),
        )
    )


def _example(example: Example, report_files: ReportFiles) -> Section:
    table = replace(sortable_table(example.table), title="")
    figures = [_figure(stem, title, report_files) for stem, title in example.figures.items()]
    return Section(example.key, example.table.title, [table, *figures])


def _figure(stem: str, title: str, report_files: ReportFiles) -> Figure:
    """Return a figure as SVG, or as PNG if the PNG is smaller, as for a long series."""
    links = report_files.links_of_figure(stem)
    svg = inlined(report_files.read(f"{stem}.svg"), f"{stem}-", title)
    image = data_uri(report_files.read(f"{stem}.png"))
    if len(image) < len(svg):
        return Figure(title, image=image, links=links)
    return Figure(title, svg=svg, links=links)


def _paper(document: Mapping[str, Any], report_files: ReportFiles) -> Section:
    key, made = document["paper"], document["provenance"]
    details = [str(made["paper"]), *([str(made["note"])] if made["note"] else [])]
    about = Lines([Line(document["verdict"]["text"], details=details)])
    links = Links([report_files.link(name) for name in (REPORT, f"{key}.json")])
    return Section(key, f"Paper: {key}", [about, links], shown_items(document, report_files))
