"""Files of delays over time, for the schedule of a ``[[control]]`` entry.

A file is a CSV with the header ``time_s,delay_s``; lines that start with ``#`` before the header
are comments. A row sets the one-way propagation delay from its time on.
"""

from __future__ import annotations

from pathlib import Path

from airpath.errors import BadValueError
from airpath.files import LARGEST, read_text

__all__ = ["read_schedule"]

_HEADER = "time_s,delay_s"
_LONGEST_S = 1e6
_MOST_ROWS = 100_000


def read_schedule(path: Path) -> list[tuple[int, int]]:
    """Return the times and the delays of a file, ns.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Raises
    ------
    BadValueError
        If the file cannot be read or has a wrong format. The message contains the first wrong
        line.
    """
    lines = list(enumerate(read_text(path, LARGEST).removeprefix("\ufeff").splitlines(), 1))
    rows = [(number, line) for number, line in lines if line.strip()]
    while rows and rows[0][1].startswith("#"):
        rows.pop(0)
    if not rows or [key.strip() for key in rows[0][1].split(",")] != _HEADER.split(","):
        number, line = rows[0] if rows else (1, "")
        raise BadValueError(f"{path}:{number}: {line[:40]!r} is not the header. Use {_HEADER}.")
    if len(rows) == 1:
        raise BadValueError(f"{path}: no rows after the header. Use at least one.")
    if len(rows) > _MOST_ROWS + 1:
        raise BadValueError(f"{path}: {len(rows) - 1} rows. Use at most {_MOST_ROWS}.")
    points: list[tuple[int, int]] = []
    for number, line in rows[1:]:
        point = _point(f"{path}:{number}", line)
        if points and point[0] <= points[-1][0]:
            before = f"{points[-1][0] / 1e9:g}"
            raise BadValueError(
                f"{path}:{number}: time_s = {point[0] / 1e9:g}: not after the time before, "
                f"{before}. Use ascending times."
            )
        points.append(point)
    return points


def _point(place: str, line: str) -> tuple[int, int]:
    """Return the time and the delay of a row, ns."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != len(_HEADER.split(",")):
        raise BadValueError(f"{place}: {line[:40]!r}: not two numbers. Use {_HEADER}.")
    found = []
    for key, cell in zip(_HEADER.split(","), cells, strict=True):
        try:
            value = float(cell)
        except ValueError:
            raise BadValueError(f"{place}: {key} = {cell[:40]}: not a number.") from None
        if not 0 <= value <= _LONGEST_S:
            raise BadValueError(
                f"{place}: {key} = {cell[:40]}: must be from 0 to {_LONGEST_S:.0f}."
            )
        found.append(round(value * 1e9))
    return found[0], found[1]
