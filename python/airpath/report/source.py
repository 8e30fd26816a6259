"""From what a user names to a report: a folder, a ledger, the document of a reproduction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from airpath.errors import BadValueError, one_line
from airpath.files import LARGEST, read_bytes
from airpath.report.paper import report_of_paper

__all__ = ["report_of"]

_ACCEPTED = "Give the PAPER.json of airpath reproduce --out, or its folder"


def report_of(source: Path, out: Path) -> str:
    """Return the report of a file or of a folder.

    Parameters
    ----------
    source : Path
        The folder or the document of a reproduced paper.
    out : Path
        Folder that the report will stand in, for links.

    Raises
    ------
    BadValueError
        If it is something else, or a folder with several.
    """
    file = _in_folder(source) if source.is_dir() else source
    document = _document(file)
    try:
        return report_of_paper(document, folder=file.parent, out=out)
    except BadValueError as error:
        raise BadValueError(f"{one_line(str(file))}: {error}") from None


def _in_folder(folder: Path) -> Path:
    """Return the document of a folder; a file of another kind beside it is none."""
    found = [path for path in sorted(folder.glob("*.json")) if _is_paper(path)]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        wrong = f"has several reports ({names}). Give one of these files"
    elif not found:
        wrong = f"has nothing to report on. {_ACCEPTED}"
    else:
        return found[0]
    raise BadValueError(f"{one_line(str(folder))}: {wrong}.")


def _is_paper(path: Path) -> bool:
    try:
        document = json.loads(read_bytes(path, LARGEST))
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and {"paper", "items", "statements"} <= document.keys()


def _document(file: Path) -> Any:
    try:
        return json.loads(read_bytes(file, LARGEST).decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        wrong = f"not a report's source. {_ACCEPTED}"
        raise BadValueError(f"{one_line(str(file))}: {wrong}.") from None
