"""What every paper is made with: rows and statements, tables and pages, runs and verdicts.

| file | what |
| --- | --- |
| `base.py` | what a paper is: items, rows, statements, summaries; the report |
| `files.py`, `published.py` | published numbers: CSV files with keys, units and ±, as rows |
| `compare.py` | published numbers beside ours, one table for the terminal and for pages |
| `statements.py` | what the checks of statements share |
| `grid.py` | grids of parameters, thinned where the effort is small |
| `tolerance.py` | how far a number of ours may be from the published one |
| `verdict.py` | how many numbers and statements are met |
| `engine.py` | the only place that touches the simulator and the analytic models |
| `session.py` | one run: each cell is simulated once |
| `run.py`, `folder.py` | from a paper's name, or the folder of one, to a report |
| `render.py`, `page.py` | a report on a terminal, as a page, and as the summary of one |
| `archive.py` | the numbers of a report in a small file |

A paper imports from here, and nothing here knows a paper.
"""
