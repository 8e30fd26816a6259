"""Published papers, their numbers beside ours.

Each paper is a folder here: its tables as CSV files, its scenarios, its items (tables and figures)
and a README that lists what is modelled, what is left out and every value that the paper leaves
open. A new paper is one folder with a `PAPER` and one line in `PAPERS`.

>>> from airpath import papers
>>> report = papers.reproduce("qawla", ["table3"], mode="quick")  # doctest: +SKIP
>>> report.items[0].rows[0].relative_difference  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Final

from airpath.errors import BadValueError, show
from airpath.papers.kit.base import (
    Effort,
    Item,
    ItemResult,
    Mode,
    Paper,
    Progress,
    Report,
    Row,
    Statement,
    Summary,
    Table,
    Tolerance,
    Verdict,
)
from airpath.papers.kit.folder import paper_in
from airpath.papers.kit.run import reproduce_paper as _reproduce_paper

__all__ = [
    "PAPERS",
    "Effort",
    "Item",
    "ItemResult",
    "Mode",
    "Paper",
    "Progress",
    "Report",
    "Row",
    "Statement",
    "Summary",
    "Table",
    "Tolerance",
    "Verdict",
    "load",
    "reproduce",
]

PAPERS: Final[Mapping[str, str]] = {
    "clamp": "Andrew, Hanly and Mukhtar 2008: CLAMP in a fading cell with a fair scheduler",
    "qawla": "Ozturk and Akar 2015: queue-aware link adaptation and its fixed-point TCP model",
    "sbd": "Alcaraz and Cerdán 2006: AQM at the RLC buffer of 3G radio bearers",
    "vcp": "Yousefi'zadeh, Habibi and Furmanski 2008: VCP and TCP/REM over MIMO fading links",
    "wimax": "Park, Hu and Kim 2009: a TDD link with requests for the uplink, grants ahead of ACKs",
}
"""Every paper by the name of its folder, with one line about it."""


def load(name: str) -> Paper:
    """Return a paper by name.

    Parameters
    ----------
    name : str
        A key of `PAPERS`, or the path of a folder that is a Python package with a `PAPER`, written
        with a slash: ``studies/qawla``. Its code is run.

    Returns
    -------
    paper : Paper
        With its items, its modes and its citation.

    Raises
    ------
    BadValueError
        If there is no such paper.
    """
    if isinstance(name, str) and "/" in name:
        return paper_in(name)
    if not isinstance(name, str) or name not in PAPERS:
        raise BadValueError(f"{show(name)}: not a paper. Accepted are {', '.join(PAPERS)}.")
    module = importlib.import_module(f"{__name__}.{name}")
    paper: Paper = module.PAPER
    return paper


reproduce = _reproduce_paper
