"""Makes a report from a file or directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from airpath.comparison.load import DOCUMENT as COMPARISON
from airpath.comparison.load import comparison_of
from airpath.errors import AirpathError, BadValueError, one_line
from airpath.files import LARGEST, other_than_file, read_bytes
from airpath.report.comparison import report_of_comparison
from airpath.report.paper import report_of_paper
from airpath.report.result import report_of_result
from airpath.results.load import load_result
from airpath.results.stored import DOCUMENT as RESULT

__all__ = ["report_of"]

Kind = Literal["paper", "result", "comparison", ""]

LEDGER = "ledger.sqlite"
"""File in a sweep's directory that contains all its data."""

_SQLITE = b"SQLite format 3\0"
"""First bytes of a ledger."""

_ACCEPTED = (
    "Name result.json of run or emulate --out, the ledger of sweep --out, comparison.json of "
    "compare --out, PAPER.json of reproduce --out, or the directory of one of them"
)

_KEYS: Final = {
    "paper": {"paper", "items", "claims"},
    "comparison": {"provenance", "engines", "rows"},
    "result": {"provenance", "summary", "replications"},
}
"""Keys that each kind of document has."""


def report_of(source: Path, out: Path) -> str:
    """Return the report of a file or of a directory.

    Parameters
    ----------
    source : Path
        The document of a result, of a comparison or of a reproduced paper, the ledger of a sweep,
        or the directory of one of them.
    out : Path
        Directory of the report, for links.

    Raises
    ------
    BadValueError
        If the source is something else, or a directory with several documents.
    """
    file = _in_directory(source) if source.is_dir() else source
    if (file.name == LEDGER and file.exists()) or _is_ledger(file):
        from airpath.report.sweep import report_of_sweep
        from airpath.sweeps.result import load_sweep

        return report_of_sweep(load_sweep(file), out=out)
    document = _document(file)
    kind = _kind(document)
    if not kind or (kind == "result" and file.name != RESULT):
        raise BadValueError(f"{one_line(str(file))}: cannot be reported on. {_ACCEPTED}.")
    return _of_document(kind, document, file, out)


def _of_document(kind: Kind, document: Any, file: Path, out: Path) -> str:
    page: Callable[[], str]
    if kind == "result":
        result = load_result(file.parent)
        page = partial(report_of_result, result, directory=file.parent, out=out)
    else:
        try:
            if kind == "paper":
                return report_of_paper(document, directory=file.parent, out=out)
            comparison = comparison_of(document)
        except BadValueError as error:
            raise BadValueError(f"{one_line(str(file))}: {error}") from None
        page = partial(report_of_comparison, comparison, directory=file.parent, out=out)
    try:
        return page()
    except (AirpathError, AttributeError, ArithmeticError, LookupError, TypeError, ValueError):
        # An edited document can have a value of another type anywhere.
        wrong = f"not the complete document of a {kind}. Create it again"
        raise BadValueError(f"{one_line(str(file))}: {wrong}.") from None


def _in_directory(directory: Path) -> Path:
    """Return the file in a directory to make a report of; for a paper, its JSON document."""
    named = [directory / name for name in (COMPARISON, RESULT) if (directory / name).exists()]
    papers = [
        path
        for path in sorted(directory.glob("*.json"))
        if path not in named and _kind(_read(path)) == "paper"
    ]
    ledger = [directory / LEDGER] if not papers and (directory / LEDGER).exists() else []
    found = [*named, *papers, *ledger]
    if len(found) == 1:
        return found[0]
    wrong = f"has nothing to report on. {_ACCEPTED}"
    if found:
        names = ", ".join(sorted(path.name for path in found))
        wrong = f"has several sources of reports ({names}). Name one of these files"
    raise BadValueError(f"{one_line(str(directory))}: {wrong}.")


def _is_ledger(file: Path) -> bool:
    # Opening a pipe would block.
    if other_than_file(file) is not None:
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False


def _kind(document: Any) -> Kind:
    """Return the kind of a document, recognized by its keys; empty if unknown."""
    if isinstance(document, dict):
        for kind, keys in _KEYS.items():
            if keys <= document.keys():
                return kind  # type: ignore[return-value]
    return ""


def _read(path: Path) -> Any:
    try:
        return json.loads(read_bytes(path, LARGEST))
    except (ValueError, RecursionError):
        return None


def _document(file: Path) -> Any:
    try:
        return json.loads(read_bytes(file, LARGEST).decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return None
