"""From what a user names to a report: a folder, a ledger, the document of a reproduction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from airpath.errors import BadValueError, one_line
from airpath.files import LARGEST, other_than_file, read_bytes
from airpath.report.paper import report_of_paper

__all__ = ["report_of"]

LEDGER = "ledger.sqlite"
"""The file of a sweep's folder that holds everything."""

_SQLITE = b"SQLite format 3\0"
"""How a ledger begins."""

_ACCEPTED = (
    "Give the PAPER.json of airpath reproduce --out, the ledger of airpath sweep --out, "
    "or the folder of one of them"
)


def report_of(source: Path, out: Path) -> str:
    """Return the report of a file or of a folder.

    Parameters
    ----------
    source : Path
        The folder or the document of a reproduced paper, the folder or the ledger of a sweep.
    out : Path
        Folder that the report will stand in, for links.

    Raises
    ------
    BadValueError
        If it is something else, or a folder with several.
    """
    file = _in_folder(source) if source.is_dir() else source
    if (file.name == LEDGER and file.exists()) or _is_ledger(file):
        from airpath.report.sweep import report_of_sweep
        from airpath.sweeps.result import load_sweep

        return report_of_sweep(load_sweep(file), out=out)
    document = _document(file)
    try:
        return report_of_paper(document, folder=file.parent, out=out)
    except BadValueError as error:
        raise BadValueError(f"{one_line(str(file))}: {error}") from None


def _in_folder(folder: Path) -> Path:
    """Return what a folder has to report on: of a paper its document, not the ledger beside it."""
    found = [path for path in sorted(folder.glob("*.json")) if _is_paper(path)]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        wrong = f"has several reports ({names}). Give one of these files"
    elif not found and (folder / LEDGER).exists():
        return folder / LEDGER
    elif not found:
        wrong = f"has nothing to report on. {_ACCEPTED}"
    else:
        return found[0]
    raise BadValueError(f"{one_line(str(folder))}: {wrong}.")


def _is_ledger(file: Path) -> bool:
    # A pipe would be waited for.
    if other_than_file(file) is not None:
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False


def _is_paper(path: Path) -> bool:
    try:
        document = json.loads(read_bytes(path, LARGEST))
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and {"paper", "items", "claims"} <= document.keys()


def _document(file: Path) -> Any:
    try:
        return json.loads(read_bytes(file, LARGEST).decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        wrong = f"not a report's source. {_ACCEPTED}"
        raise BadValueError(f"{one_line(str(file))}: {wrong}.") from None
