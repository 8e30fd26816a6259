"""Report of a comparison of engines, from the output of `airpath compare --out`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from airpath.comparison import texts
from airpath.comparison.figure import figure_of
from airpath.comparison.result import FILES
from airpath.execution import Execution
from airpath.present import figure_files
from airpath.present.tables import MARK, Tone
from airpath.report.blocks import Block, Facts, Figure, Line, Lines, Page, Section
from airpath.report.figures import inlined
from airpath.report.page import html
from airpath.report.provenance import execution_facts, made_by, provenance
from airpath.report.report_files import ReportFiles
from airpath.report.result import advisory_section, scenario_facts
from airpath.report.sorting import sortable_table
from airpath.results.provenance import source_line

if TYPE_CHECKING:
    from airpath.comparison.result import Comparison

__all__ = ["report_of_comparison"]

_FIGURE = "comparison"
_BY_ENGINE = {"simulate": "result.json", "emulate": "result.json", "solve": "solution.json"}
"""File name of the document in the directory of each engine."""


def report_of_comparison(
    comparison: Comparison, *, directory: Path | None = None, out: Path | None = None
) -> str:
    """Return a comparison's report: answers, differences and their reasons, figure, provenance.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    directory : Path, optional
        Directory of the comparison's files, for links to existing files. Default: no links.
    out : Path, optional
        Directory of the report. Default: `directory`.

    Returns
    -------
    report : str
        One HTML document. The same comparison and files give the same text.
    """
    report_files = ReportFiles(directory, out)
    made = comparison.provenance
    answers = comparison.answers
    advisories = (
        (advisory, engine) for engine, of in answers.items() for advisory in of.advisories
    )
    names = [*FILES, *(f"{engine}/{_BY_ENGINE[engine]}" for engine in answers)]
    times = (of.execution for of in answers.values() if of.execution is not None)
    more = execution_facts(Execution.total(times))
    table = sortable_table(replace(texts.table(comparison), title=""))
    sections = [
        Section("summary", "Summary", [Facts([*_engines(comparison), *_facts(comparison)])]),
        *advisory_section(advisories),
        Section("figures", "Figures", [_figure(comparison, report_files)]),
        Section("answers", "Answers of the engines", [table]),
        Section("differences", "Differences and what explains them", list(_reasons(comparison))),
        provenance(made, names, report_files, more=more, scenario="The scenario, all keys"),
    ]
    return html(
        Page(
            title=comparison.title,
            subtitle=texts.heading(comparison),
            verdict=_verdict(comparison),
            sections=sections,
            made_by=made_by(made),
        )
    )


def _verdict(comparison: Comparison) -> Line:
    reasons = _lines(comparison)
    text = " ".join(line.text for line in reasons if not line.text.startswith("["))
    details = [
        f"{MARK} {engine}: INVALID, its numbers cannot be believed."
        for engine, answer in comparison.answers.items()
        if not texts.about(answer).get("valid", True)
    ]
    if comparison.interrupted:
        details.append(f"{MARK} Interrupted: what was finished is compared.")
    details += [
        f"{MARK} Not explained: {row.quantity.title}, {engine} less {comparison.base}"
        for engine, row in comparison.not_explained()
    ]
    codes = {each.code: None for of in comparison.answers.values() for each in of.advisories}
    differ = any(
        found.verdict != "within the noise"
        for row in comparison.rows
        for found in row.differences.values()
    )
    tone: Tone = "bad" if details else "" if codes or differ else "good"
    if codes:
        details.append(f"Advisories: {', '.join(codes)}.")
    details += [
        f"{engine}: not compared: {reason}" for engine, reason in comparison.refused.items()
    ]
    return Line(text, tone, details)


def _engines(comparison: Comparison) -> Iterator[tuple[str, str]]:
    for answer in comparison.answers.values():
        engine, _, what = texts.who(answer).partition(": ")
        yield engine, what


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    confidence = f"± are {100 * comparison.confidence:g} % intervals"
    base = ("differences", f"from {comparison.base}; {confidence}")
    return [base, *scenario_facts(comparison.resolved)]


def _figure(comparison: Comparison, report_files: ReportFiles) -> Figure:
    source = source_line(comparison.provenance)
    name = f"{comparison.title}: {_FIGURE}"
    svg = figure_files.rendered(figure_of(comparison), name, source, ["svg"])["svg"]
    title = "Answers of the engines with their intervals, and differences in per cent"
    return Figure(
        title, inlined(svg, "figure-", title), links=report_files.links_of_figure(_FIGURE)
    )


def _reasons(comparison: Comparison) -> Iterator[Block]:
    lines = _lines(comparison)
    yield Lines([line for line in lines if not line.text.startswith("[")])
    facts = [line for line in lines if line.text.startswith("[")]
    if facts:
        yield Lines(facts)


def _lines(comparison: Comparison) -> list[Line]:
    """Return the explanations of differences: a line for each engine, then a line for each fact."""
    found: list[tuple[str, list[str]]] = []
    for text in texts.explanation(comparison):
        if text.startswith(" "):
            found[-1][1].append(text.strip())
        else:
            found.append((text, []))
    return [Line(text, details=details) for text, details in found]
