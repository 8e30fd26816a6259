"""Plot the pictures of the pages: `python tests/docs/figures.py`; `make generate-docs` runs it.

Equal versions of Airpath and matplotlib give identical files. Each picture contains its inputs in
the field `Source`; a test compares them with the pages.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import markdown_pages

import airpath as ap
from airpath.present.figure_files import figure_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[2]
QUEUES: dict[str, Any] = {
    "drop-tail": {"kind": "droptail", "limit": "500 packets"},
    "RED": {"kind": "red", "limit": "500 packets", "min_th": "20 packets", "max_th": "60 packets"},
    "PIE": {"kind": "pie", "limit": "500 packets"},
    "CoDel": {"kind": "codel", "limit": "500 packets"},
    "FQ-CoDel": {"kind": "fq-codel", "limit": "500 packets"},
}
ALGORITHMS = {"Reno": "reno", "CUBIC": "cubic"}
TITLE = "Four downloads over a fading LTE link: goodput and queueing delay"


def read_me_scenario() -> tuple[str, str]:
    """Return the command of README.md that creates the trace, and its scenario file."""
    found = list(markdown_pages.blocks((ROOT / "README.md").read_text("utf-8")))
    scenario = next(block.text for block in found if block.language == "toml")
    lines = [
        line for block in found if block.language == "console" for line in block.text.split("\n")
    ]
    return next(line[2:] for line in lines if line.startswith("$ airpath trace generate")), scenario


def lte_comparison_source() -> str:
    """Return the inputs of the picture of README.md, as JSON."""
    command, scenario = read_me_scenario()
    parts = {"trace": command, "scenario": scenario, "queues": QUEUES, "cc": ALGORITHMS}
    return json.dumps(parts, ensure_ascii=False)


def lte_comparison() -> Figure:
    """Sweep the scenario of README.md over queue disciplines and congestion control algorithms."""
    command, text = read_me_scenario()
    with tempfile.TemporaryDirectory() as directory:
        program = "import airpath.cli, sys; sys.exit(airpath.cli.main())"
        script = f'exec {command.replace("airpath", """"$0" -c "$1" """, 1)}'
        subprocess.run(
            ["sh", "-c", script, sys.executable, program],
            cwd=directory,
            check=True,
            capture_output=True,
        )
        file = Path(directory, "lte.toml")
        file.write_text(text, "utf-8")
        scenario = ap.load(file)

        def path(queue: str, cc: str) -> ap.Scenario:
            values = {"bottleneck.aqm": QUEUES[queue], "flows.0.cc": ALGORITHMS[cc]}
            return scenario.replace(values)

        sweep = ap.sweep(
            path,
            grid={"queue": list(QUEUES), "cc": list(ALGORITHMS)},
            reps=8,
            metrics=["goodput_bps", "p95_sojourn_s"],
            progress=None,
        )
    return sweep.plot.pareto(
        title=TITLE,
        figsize=(7.2, 4.2),
        labels={"queue": "queue discipline", "cc": "congestion control algorithm"},
    )


PICTURES: dict[str, tuple[str, Callable[[], Figure], Callable[[], str]]] = {
    "docs/img/lte-comparison.png": (TITLE, lte_comparison, lte_comparison_source),
}
"""Mapping from the path of each picture to its title, plot function and source."""


if __name__ == "__main__":
    for name, (title, draw, source) in PICTURES.items():
        file = ROOT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(figure_bytes(draw(), "png", title, source()))
