"""``airpath example``: the scenarios and sweeps that are installed with Airpath."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from airpath.cli import output
from airpath.cli.completion import example_names
from airpath.errors import BadValueError
from airpath.files import LARGEST, output_directory, output_file, read_bytes, write_files
from airpath.scenario.examples import example_path, examples, shipped_examples

__all__ = ["example"]

_TRACE = re.compile(r'"(traces/[^"]+)"')
"""Relative path of a trace in a scenario, or in an axis of a sweep."""

_SCENARIO = re.compile(r'^scenario = "\.\./([^"]+)"', re.MULTILINE)
"""Scenario of a sweep, one directory up. Both files are written into the same directory."""


def example(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Example. Default: all are listed.", autocompletion=example_names
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="File to write. Files that the example reads go next to it."
        ),
    ] = None,
) -> int:
    """List the example scenarios and sweeps, print one or write it."""
    if name is None:
        if out is not None:
            raise BadValueError("--out: without a name. Use airpath example NAME --out FILE.")
        known = examples()
        width = max(map(len, known))
        for each, line in known.items():
            print(f"{each:<{width}}  {line}")
        return 0
    content = example_path(name).read_bytes()
    if out is None:
        sys.stdout.write(content.decode())
        return 0
    read = _read_by(content.decode())
    if Path(out).name in read:
        raise BadValueError(f'--out: "{out}": a file that the example reads. Use another name.')
    files = {_new(out): _SCENARIO.sub(r'scenario = "\1"', content.decode()).encode()}
    for file, wanted in read.items():
        neighbour = Path(out).parent / file
        if not (neighbour.is_file() and read_bytes(neighbour, LARGEST) == wanted):
            output_directory(neighbour.parent, "out")
            files[_new(str(neighbour), "Write the example into another directory")] = wanted
    write_files(files)
    output.written(list(files))
    return 0


def _read_by(example: str) -> dict[str, bytes]:
    """Return a mapping from relative path to content of the files that an example reads."""
    scenarios = _SCENARIO.findall(example)
    found = {file: (shipped_examples() / file).read_bytes() for file in scenarios}
    texts = [example, *(content.decode() for content in found.values())]
    for file in sorted({trace for text in texts for trace in _TRACE.findall(text)}):
        found[file] = (shipped_examples() / file).read_bytes()
    return found


def _new(out: str, fix: str = "Use another name") -> Path:
    """Return the path of the file to write; existing files are never overwritten."""
    path = Path(out)
    if out:
        output_file(path)
    if not out or path.exists():
        wrong = "is there already" if out else "names no file"
        raise BadValueError(f'--out: "{out}": {wrong}. {fix}.')
    return path
