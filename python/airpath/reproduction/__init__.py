"""Reproduction of published papers: published numbers and claims compared with Airpath's results.

A paper is a plug-in (`plugins`): an installed package with an entry point, or a directory.

>>> from airpath import reproduction
>>> report = reproduction.reproduce("qawla", ["table3"], mode="quick")  # doctest: +SKIP
>>> report.items[0].rows[0].relative_difference  # doctest: +SKIP

| file | contents |
| --- | --- |
| `base.py` | a paper: items, rows, claims, summaries; the report |
| `plugins.py` | installed papers, papers of a directory |
| `manifest.py` | a paper's `paper.toml`: description, citation, modes, items |
| `sweeps.py` | a paper's `sweeps.toml`: points of items and claims |
| `declared.py`, `figures.py`, `timelines.py` | items of `paper.toml`: tables, figures, series |
| `relative.py` | published numbers in figures that are relative to simulated ones |
| `spread.py` | words for values; tables with a column for each value of an axis |
| `items.py` | items in Python: cells, rows and tables, figure |
| `files.py`, `published.py` | published numbers: CSV files with units and ± |
| `compare.py` | published and computed numbers, one table for the terminal and for pages |
| `claim.py`, `claims.py` | a paper's `claims.toml`: sentences of its text, and their checks |
| `formulas.py`, `vocabulary.py`, `values.py` | declared checks: formulas over measures of points |
| `strength.py` | strength of the outcome of a claim, by resampling |
| `quantities.py` | measured and computed quantities as rows, texts and columns |
| `scoring.py`, `half_widths.py` | agreement of many rows and of their intervals |
| `tolerance.py` | tolerated difference between a number and the published number |
| `verdict.py` | count of numbers within tolerance and of claims that hold |
| `engine.py` | the points of a paper, run as one sweep |
| `session.py` | one run: each cell is simulated once |
| `run.py` | entry point: name of a paper to report |
| `render.py`, `page.py` | a report on a terminal, as a page, and as a summary page |
| `archive.py`, `overview.py` | the numbers of a report in a small file; all papers on one page |

This package does not depend on any paper.
"""

from __future__ import annotations

from airpath.reproduction.base import (
    Claim,
    Effort,
    Item,
    ItemResult,
    Mode,
    Paper,
    Report,
    Row,
    Summary,
    Table,
    Tolerance,
    Verdict,
)
from airpath.reproduction.plugins import installed_papers, load
from airpath.reproduction.run import reproduce_paper as reproduce

__all__ = [
    "Claim",
    "Effort",
    "Item",
    "ItemResult",
    "Mode",
    "Paper",
    "Report",
    "Row",
    "Summary",
    "Table",
    "Tolerance",
    "Verdict",
    "installed_papers",
    "load",
    "reproduce",
]
