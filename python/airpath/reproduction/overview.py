"""Overview of all papers: numbers within tolerance, claims by outcome, items not reproduced.

The data are in each paper's `results.json` (its last full run) and in the list *Not reproduced* of
its README. Nothing is simulated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from airpath.errors import BadValueError, show
from airpath.reproduction.archive import unpacked
from airpath.reproduction.base import Table
from airpath.reproduction.claim import CAUSES, Claim, Outcome
from airpath.reproduction.files import read_text
from airpath.reproduction.page import markdown
from airpath.reproduction.plugins import NO_PAPERS, paper_directory, papers_with
from airpath.reproduction.verdict import Tally, current

__all__ = [
    "RESULTS",
    "Overview",
    "counts",
    "kept_results",
    "lists",
    "overview_of",
    "overviews",
    "page_of_overview",
]

RESULTS: Final = "results.json"
"""Name of the file in a paper's directory that contains the archive of its last full run."""

_HEADING: Final = "## Not reproduced"


@dataclass(frozen=True)
class Overview:
    """State of the reproduction of one paper.

    Parameters
    ----------
    paper : str
        Key of the paper.
    citation : str
        Authors, title, year.
    verdict : mapping
        Counts of the last full run, as in ``reproduce --json``.
    claims : Tally
        Claims of the paper. First criteria that later criteria revise are omitted.
    missing : sequence of str
        Items of the paper that are not reproduced, each with the reason.
    """

    paper: str
    citation: str
    verdict: Mapping[str, Any]
    claims: Tally
    missing: Sequence[str]

    def causes(self) -> dict[str, int]:
        """Return the number of claims that do not hold, by cause. Key ``""``: cause not known."""
        found = [each.cause for each in self.claims.of("does not hold")]
        return {cause: found.count(cause) for cause in (*CAUSES, "") if cause in found}

    def to_dict(self) -> dict[str, Any]:
        """Return the overview as a JSON object."""
        return {
            "paper": self.paper,
            "citation": self.citation,
            "numbers": self.verdict["numbers"],
            "within": self.verdict["within"],
            "outside": list(self.verdict["outside_text"]),
            **self.claims.to_dict(),
            "do_not_hold": [
                {"claim": each.key, "text": each.text, "cause": each.cause, "why": each.why}
                for each in self.claims.of("does not hold")
            ],
            "not_reproduced": list(self.missing),
        }


def kept_results(paper: str) -> dict[str, Any]:
    """Return the stored document of a paper's last full run.

    Parameters
    ----------
    paper : str
        Name of an installed paper.

    Raises
    ------
    BadValueError
        If there is no such paper, or it has no `RESULTS`.
    """
    directory = paper_directory(paper)
    if not (directory / RESULTS).is_file():
        raise BadValueError(f"paper = {show(paper)}: has no {RESULTS} of a full run.")
    return unpacked(json.loads(read_text(directory, RESULTS)))


def overview_of(paper: str) -> Overview:
    """Return the state of a paper.

    Parameters
    ----------
    paper : str
        Name of an installed paper.
    """
    found = kept_results(paper)
    claims = [Claim.of(each) for each in found["claims"] if each["of_paper"]]
    return Overview(
        paper,
        found["provenance"]["paper"],
        found["verdict"],
        Tally(current(claims)),
        _missing(read_text(paper_directory(paper), "README.md")),
    )


def overviews(paper: str | None = None) -> list[Overview]:
    """Return the state of a paper, or of each installed paper with results.

    Raises
    ------
    BadValueError
        If there are no results.
    """
    if paper is not None:
        return [overview_of(paper)]
    names = papers_with(RESULTS)
    if not names:
        raise BadValueError(NO_PAPERS)
    return [overview_of(name) for name in names]


def _missing(readme: str) -> list[str]:
    """Return the entries of the list under *Not reproduced*, each on one line."""
    _, _, rest = readme.partition(f"\n{_HEADING}\n")
    section = rest.split("\n## ", 1)[0]
    entries = section.split("\n* ")[1:]
    return [" ".join(entry.split("\n\n", 1)[0].split()) for entry in entries]


# --- as a table, as lists and as a page ----------------------------------------------------------


def counts(papers: Sequence[Overview]) -> Table:
    """Return the table of counts, with a row for each paper."""
    columns = [
        ("", "paper"),
        ("published numbers", "within"),
        ("published numbers", "of"),
        ("claims", "hold"),
        ("claims", "undecided"),
        ("claims", "do not"),
        *(("do not hold", text) for text in (*CAUSES.values(), "cause not known")),
        ("", "not reproduced"),
    ]
    rows = [
        [
            each.paper,
            str(each.verdict["within"]),
            str(each.verdict["numbers"]),
            *(str(len(each.claims.of(outcome))) for outcome in get_args(Outcome)),
            *(str(each.causes().get(cause, 0)) for cause in (*CAUSES, "")),
            str(len(each.missing)),
        ]
        for each in papers
    ]
    note = (
        "A first criterion that a later one revises is not counted, every later one is. "
        "Undecided: fewer than 95 % of the resamples of the runs agree with one outcome."
    )
    return Table("Published numbers and claims, by paper", columns, rows, [note])


def lists(papers: Sequence[Overview]) -> dict[str, list[str]]:
    """Return a mapping from headings to lists.

    The lists contain the numbers outside their tolerance, the claims that do not hold or are
    undecided, and the items that are not reproduced.
    """
    return {
        "Published numbers outside their tolerance": [
            f"{each.paper}, {text}." for each in papers for text in each.verdict["outside_text"]
        ],
        "Claims that do not hold or are undecided": [
            f"{each.paper}, {found.key}: {found.text} {_reason(found)}"
            for each in papers
            for found in each.claims.open
        ],
        "Printed, and not reproduced": [
            f"{each.paper}, {entry}" for each in papers for entry in each.missing
        ],
    }


def _reason(found: Claim) -> str:
    if found.strength is not None and found.outcome == "undecided":
        return f"Undecided: holds in {found.strength.share:.0%} of the resamples."
    return f"Cause: {CAUSES[found.cause]}. {found.why}" if found.cause else "Cause: not known."


def page_of_overview(papers: Sequence[Overview]) -> str:
    """Return the overview as a Markdown page of the documentation."""
    table = counts(papers)
    lines = [
        "# The papers at a glance",
        "",
        "`airpath reproduce --summary` prints this page; `make generate-docs` writes it from the "
        "results of each paper's last full run.",
        "",
        *markdown(table),
        "",
        *table.notes,
        "",
    ]
    for each in papers:
        notes = f"../../../papers/airpath_papers/{each.paper}/README.md"
        citation = each.citation.rstrip(".")
        lines.append(f"* [{each.paper}]({each.paper}.md): {citation}; [notes]({notes}).")
    for heading, entries in lists(papers).items():
        lines += ["", f"## {heading}", "", *(f"* {entry}" for entry in entries or ["None."])]
    return "\n".join(lines) + "\n"
