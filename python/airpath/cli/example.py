"""``airpath example``: the scenarios that come with Airpath."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from airpath.cli import output
from airpath.cli.completion import example_names
from airpath.errors import BadValueError
from airpath.files import LARGEST, output_file, output_folder, read_bytes, write_files
from airpath.scenario.examples import example_path, examples, shipped_examples

__all__ = ["example"]

_FILE = re.compile(r'file = "(traces/[^"]+)"')
"""A trace that an example reads beside itself."""


def example(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Default: list them.", autocompletion=example_names),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write it here, with the traces it reads.")
    ] = None,
) -> int:
    """List the example scenarios, print one or write it to a file."""
    if name is None:
        if out is not None:
            raise BadValueError("--out: without a name. Write airpath example NAME --out FILE.")
        known = examples()
        width = max(map(len, known))
        for each, line in known.items():
            print(f"{each:<{width}}  {line}")
        return 0
    content = example_path(name).read_bytes()
    if out is None:
        sys.stdout.write(content.decode())
        return 0
    files = {_new(out): content}
    for trace in _FILE.findall(content.decode()):
        wanted = (shipped_examples() / trace).read_bytes()
        beside = Path(out).parent / trace
        if not (beside.is_file() and read_bytes(beside, LARGEST) == wanted):
            output_folder(beside.parent, "out")
            files[_new(str(beside))] = wanted
    write_files(files)
    output.written(list(files))
    return 0


def _new(out: str) -> Path:
    """Return the file to write; what stands there is somebody's work."""
    path = Path(out)
    if out:
        output_file(path)
    if not out or path.exists():
        wrong = "is there already" if out else "names no file"
        raise BadValueError(f'--out: "{out}": {wrong}. Write another name.')
    return path
