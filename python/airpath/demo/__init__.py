"""Demonstration, ``python -m airpath.demo``: an LTE link, a fading cell, quick runs of papers.

```
  examples.py: simulated links ------┐
                                     ├--> airpath.report.demonstration --> OUT/index.html
  papers.py: airpath reproduce ------┘
```

The terminal shows a table of each part. ``OUT/demo`` has the figures, and the papers with their
ledgers. A second call reuses all replications of the papers.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from airpath.cli import output
from airpath.demo.examples import fading_cell, lte_link
from airpath.demo.papers import reproduced, summary
from airpath.files import output_directory, write_file
from airpath.present.progress import terminal_bar
from airpath.present.terminal import print_table
from airpath.report.demonstration import report_of_demonstration
from airpath.reproduction import installed_papers
from airpath.reproduction.plugins import INSTALL
from airpath.scenario.examples import shipped_examples

__all__ = ["DIRECTORY", "NEXT_STEPS", "PAGE", "main"]

DIRECTORY: Final = "demo"
"""Directory of all files except the page, in the directory of the page."""

PAGE: Final = "index.html"

NEXT_STEPS: Final = {
    "write an example scenario": "airpath example synthetic-newreno-gred --out my.toml",
    "run it": "airpath run my.toml --out out/my",
    "run it with another queue discipline": "airpath run my.toml --set bottleneck.aqm=codel",
    "write an example sweep": "airpath example aqm-grid --out grid.toml",
    "run its 200 points": "airpath sweep grid.toml --out out/grid",
    "run a paper at full length": "airpath reproduce qawla --full --out out/qawla",
    "print the last full runs": "airpath reproduce --summary",
}
"""Commands by description."""


def main(out: str = "out", examples: Path | None = None) -> int:
    """Run the demonstration.

    Parameters
    ----------
    out : str
        Directory of ``index.html``; created if missing.
    examples : Path, optional
        Directory of the example scenarios. Default: the scenarios installed with Airpath.

    Returns
    -------
    status : int
        Always 0.

    Raises
    ------
    BadValueError
        If `out` cannot be written to.
    RunError
        If the reproduction of a paper fails.
    KeyboardInterrupt
        After Ctrl-C. Finished replications of the papers are kept.
    """
    began = time.monotonic()
    console = output.console()
    page = output_directory(out, "out") / PAGE
    directory = output_directory(page.parent / DIRECTORY, "out")
    examples = examples or shipped_examples()
    papers = list(installed_papers())
    parts = ["An LTE link", "a fading cell", f"quick runs of {len(papers)} papers"]
    console.print(f"{', '.join(parts)}: up to three minutes on two cores. Then open {page}.")
    with terminal_bar() as tell:
        made = [lte_link(examples, directory, console, tell)]
    print_table(made[0].table, console)
    made.append(fading_cell(examples, directory))
    print_table(made[1].table, console)
    if not papers:
        text = f"\nNo papers are installed. {INSTALL} adds their tables and figures."
        console.print(text, markup=False)
    with terminal_bar() as tell:
        documents = reproduced(papers, directory, tell)
    of_papers = [summary(documents)] if documents else []
    for table in of_papers:
        print_table(table, console, comparison=True)
    text = report_of_demonstration(made, of_papers, documents, NEXT_STEPS, directory, page.parent)
    write_file(page, text.encode())
    console.print(f"\n{page} has all figures and tables. {time.monotonic() - began:.0f} s.")
    console.print("\n[bold]Try next[/bold]")
    for what, command in NEXT_STEPS.items():
        console.print(f"  {what:<38}{command}", soft_wrap=True)
    return 0
