"""``airpath report``: one HTML file of a run, a sweep, a comparison or a reproduced paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airpath.arguments import error_prefix
from airpath.cli import output
from airpath.errors import BadValueError
from airpath.files import output_file, write_file

__all__ = ["report"]


def report(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Output of run, emulate, sweep, compare or reproduce --out: DIR or its document.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write it here.")] = Path(
        "report.html"
    ),
) -> int:
    """Write one HTML file: verdict, figures, tables, provenance.

    The file needs nothing else.
    """
    from airpath.report.source import report_of

    if out.suffix.lower() not in (".html", ".htm"):
        # Protects a data file from being overwritten after a typing error.
        wrong = "not the name of a page. Use one that ends in .html"
        raise BadValueError(f"{error_prefix('out', out)}: {wrong}.")
    output_file(out)
    text = report_of(source, out.parent)
    write_file(out, text.encode())
    output.written([out])
    return 0
