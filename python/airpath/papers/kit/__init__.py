"""What every paper is made with: rows and statements, tables and pages, runs and verdicts.

| file | what |
| --- | --- |
| `base.py` | what a paper is: items, rows, statements, summaries; the report |
| `declared.py` | a paper's `paper.toml`: citation, modes, items |
| `files.py`, `published.py` | published numbers: CSV files with keys, units and ±, as rows |
| `settings.py` | printed tables of settings, their units checked |
| `compare.py` | published numbers beside ours, one table for the terminal and for pages |
| `statements.py` | a paper's `statements.toml`: what its text says, and how it is checked |
| `measures.py` | what is read off a simulation |
| `measured.py` | a measured quantity as rows, texts and columns; one mechanism against another |
| `scoring.py` | how near many rows are |
| `points.py`, `swept.py`, `clouds.py` | figures: means with intervals, over parameters |
| `traces.py` | one run over time, as figure and table |
| `distributions.py`, `curves.py` | figures: queue lengths with a model's point, computed curves |
| `error_rates.py`, `error_curves.py` | counted error rates, printed ones beside them, as figures |
| `adaptation.py` | link adaptation policies over SNRs and traffic, by the fixed point |
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
