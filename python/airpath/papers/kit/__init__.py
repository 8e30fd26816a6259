"""What every paper is made with: rows and statements, tables and pages, runs and verdicts.

| file | what |
| --- | --- |
| `files.py` | published numbers: reads a paper's CSV files |
| `base.py` | what a paper is: items, rows, statements, summaries; the report |
| `tolerance.py` | how far a number of ours may be from the published one |
| `verdict.py` | how many numbers and statements are met |
| `engine.py` | the only place that touches the simulator and the analytic models |
| `session.py` | one run: each cell is simulated once |
| `run.py` | from a paper's name to a report |
| `render.py`, `page.py` | a report on a terminal, and as a page |

A paper imports from here, and nothing here knows a paper.
"""
