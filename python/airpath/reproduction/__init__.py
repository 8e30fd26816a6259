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
| `relative.py` | bands and stars in figures: published numbers as multiples of simulated numbers |
| `spread.py` | display names of axis values; tables with one column per value of an axis |
| `names.py` | display names of congestion control algorithms and queue disciplines |
| `items.py` | items defined in Python: cells, rows and tables, figure |
| `files.py`, `published.py` | published numbers: CSV files with units and half-widths (±) |
| `compare.py` | tables of published and computed numbers, for the terminal and for pages |
| `claim.py`, `claims.py` | a paper's `claims.toml`: claims of the paper's text, and their checks |
| `formulas.py`, `vocabulary.py`, `values.py` | declared checks: formulas over measures of points |
| `strength.py` | share of bootstrap resamples in which a claim holds |
| `quantities.py` | measured and computed quantities, and their rows, texts and table columns |
| `scoring.py`, `half_widths.py` | agreement of many rows; agreement of confidence intervals |
| `tolerance.py` | accepted difference between a computed and the published number |
| `verdict.py` | number of rows within tolerance, number of claims that hold |
| `engine.py` | runs the points of a paper as one sweep |
| `session.py` | the simulations of one `reproduce` call; each cell is simulated once |
| `run.py` | entry point: takes the name of a paper, returns a report |
| `render.py`, `page.py` | prints a report on a terminal, and as Markdown page and summary |
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
