"""Options that several commands share: type, help and completion of each.

A command sets the default: ``reps: Reps = 10``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airpath.cli import completion

__all__ = [
    "AcceptVersion",
    "Confidence",
    "FigureFormats",
    "Formats",
    "Json",
    "MaybeConfidence",
    "MaybeReps",
    "MaybeSeed",
    "Out",
    "OutFile",
    "OutSolution",
    "Parts",
    "Plot",
    "Reps",
    "Scenario",
    "Seed",
    "Set",
    "Threads",
]

Scenario = Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")]

Set = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value of the scenario file.",
        autocompletion=completion.settings,
    ),
]

Parts = Annotated[
    list[Path],
    typer.Option(
        "--parts",
        metavar="FILE.py",
        help="Python file with parts, in addition to those of the scenario file.",
    ),
]

_REPS = "Independent replications."
Reps = Annotated[int, typer.Option("--reps", help=_REPS)]
MaybeReps = Annotated[
    int | None,
    typer.Option("--reps", help=f"{_REPS} Default: 1; for a sweep, the value in its file."),
]

MostReps = Annotated[
    int | None,
    typer.Option("--reps", help=f"{_REPS} Default: the mode's; a larger number has no effect."),
]

_SEED = "Master seed."
Seed = Annotated[int, typer.Option("--seed", help=_SEED)]
MaybeSeed = Annotated[
    int | None, typer.Option("--seed", help=f"{_SEED} Default: the value in the file, or 1.")
]

Threads = Annotated[
    int | None, typer.Option("--threads", help="Worker threads. Default: one for each core.")
]

_CONFIDENCE = "Confidence of the intervals."
Confidence = Annotated[float, typer.Option("--confidence", help=_CONFIDENCE)]
MaybeConfidence = Annotated[
    float | None, typer.Option("--confidence", help=f"{_CONFIDENCE} Default: 0.99.")
]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

Out = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="Write tables, figures and documents here."),
]
OutSolution = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="Write solution.json and the trajectory here."),
]
OutFile = Annotated[
    str | None,
    typer.Option("--out", metavar="FILE.json|DIR", help="Write the document and its figure here."),
]

Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="csv,csv.gz,parquet,latex",
        help="Formats of the tables in --out. Default: csv.",
        autocompletion=completion.formats,
    ),
]

Plot = Annotated[
    bool | None, typer.Option("--plot/--no-plot", help="Draw figures in --out. Default: yes.")
]

FigureFormats = Annotated[
    str | None,
    typer.Option(
        "--figure-format",
        metavar="png,pdf,svg",
        help="Formats of the figures. Default: png; of reproduce png,svg.",
    ),
]

AcceptVersion = Annotated[
    bool, typer.Option("--accept-version", help="Accept, or keep, results of other versions.")
]
