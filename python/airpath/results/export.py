"""Export of tables to files (CSV, compressed CSV, Parquet, LaTeX) with their provenance.

Files are written in pieces, so that the complete text is never in memory and Ctrl-C can interrupt
the export.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from airpath import _airpath
from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.files import new_file, write_file
from airpath.present.latex import latex
from airpath.scenario.base import nearest

if TYPE_CHECKING:
    import pandas as pd

    from airpath.present.tables import Table

__all__ = ["FORMATS", "LATEX", "checked_formats", "write_latex", "write_table"]

LATEX = "latex"
"""Name of the format for the tables that the terminal shows, as LaTeX source."""

FORMATS = ("csv", "csv.gz", "parquet", LATEX)
"""Formats of tables."""


def checked_formats(formats: str | Sequence[str]) -> list[str]:
    """Return the formats without duplicates, in the order of `FORMATS`.

    Parameters
    ----------
    formats : str or sequence of str
        Names of formats. A single string may have several names, separated by commas.

    Raises
    ------
    BadValueError
        If a format is unknown, no format is given, or pyarrow is missing.
    """
    names: list[Any] = [formats]
    if isinstance(formats, str):
        names = formats.split(",")
    elif isinstance(formats, Iterable):
        names = list(formats)
    bad = [name for name in names if not isinstance(name, str) or name not in FORMATS]
    if bad or not names:
        raise BadValueError(
            "\n".join(
                f"{error_prefix('formats', name)}: not a format of tables. "
                f"{nearest(name if isinstance(name, str) else '', FORMATS)}."
                for name in bad or [""]
            )
        )
    if "parquet" in names and importlib.util.find_spec("pyarrow") is None:
        raise BadValueError(
            f"{error_prefix('formats', 'parquet')}: needs pyarrow. "
            'Install it with: pip install "airpath[parquet]"'
        )
    return [name for name in FORMATS if name in names]


def write_table(
    path: Path, parts: Iterable[pd.DataFrame], form: str, head: str, about: Mapping[str, Any]
) -> None:
    """Write a table to a file in parts. Ctrl-C can interrupt the export between writes.

    Parameters
    ----------
    path : Path
        Path of the file. An existing file is replaced when the new one is complete.
    parts : iterable of DataFrame
        At least one part of the table. All parts have the same columns and one row per observation.
    form : str
        One of `FORMATS`, except ``latex``.
    head : str
        Comment lines at the beginning of a CSV file.
    about : mapping
        Provenance of the run, for the metadata of Parquet files.

    Raises
    ------
    BadValueError, RunError
        If the file cannot be written.
    """
    with new_file(path) as file:
        if form == "parquet":
            _write_parquet(file, parts, about)
        elif form == "csv":
            _write_csv(file, parts, head)
        else:
            # Omit file name and time from the header, so that equal rows give equal bytes.
            with gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as compressed:
                _write_csv(cast(BinaryIO, compressed), parts, head)


def write_latex(path: Path, tables: Iterable[Table], head: str) -> None:
    """Write tables as LaTeX source, each in a ``table`` environment with its title as caption.

    Parameters
    ----------
    path : Path
        The file.
    tables : iterable of Table
        The tables.
    head : str
        Comment lines that begin with ``#``.

    Raises
    ------
    BadValueError, RunError
        If the file cannot be written.
    """
    comment = "".join(f"%{line[1:]}" for line in head.splitlines(keepends=True))
    parts = [comment, *(latex(table, caption=table.title) for table in tables)]
    write_file(path, _utf8("\n".join(parts)))


_ROWS = 100_000
"""Number of rows per write, which takes some hundredths of a second."""

_COMPRESSION = 5
"""zlib level. It takes half the time of the usual levels 6 to 9; files are slightly larger."""


def _slices(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for start in range(0, len(table), _ROWS):
        yield table.iloc[start : start + _ROWS]


# --- CSV -----------------------------------------------------------------------------------------


def _write_csv(file: BinaryIO, parts: Iterable[pd.DataFrame], head: str) -> None:
    file.write(_utf8(head))
    for number, part in enumerate(parts):
        if number == 0:
            file.write(b",".join(map(_field, part.columns)) + b"\n")
        for rows in _slices(part):
            file.write(_airpath.csv_rows([_column(rows[name]) for name in rows.columns]))


def _column(values: pd.Series) -> tuple[str, bytes, list[bytes]]:
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        named = [_field(text) for text in values.cat.categories]
        return "text", values.cat.codes.to_numpy().astype("<i8").tobytes(), named
    array = values.to_numpy()
    if array.dtype == np.float64:
        return "f8", array.astype("<f8").tobytes(), []
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return "i8", array.astype("<i8").tobytes(), []
    numbers, texts = pd.factorize(array)
    return "text", numbers.astype("<i8").tobytes(), [_field(text) for text in texts]


def _field(value: object) -> bytes:
    text = str(value)
    if any(sign in text for sign in ',"\r\n'):
        text = '"' + text.replace('"', '""') + '"'
    return _utf8(text)


def _utf8(text: str) -> bytes:
    # File names may contain bytes that are not valid text.
    return text.encode("utf-8", "backslashreplace")


# --- Parquet -------------------------------------------------------------------------------------


def _write_parquet(file: BinaryIO, parts: Iterable[pd.DataFrame], about: Mapping[str, Any]) -> None:
    import pyarrow.parquet as pq

    tables = map(_arrow, parts)
    first = next(tables)
    schema = first.schema.with_metadata({b"airpath": json.dumps(about).encode()})
    with pq.ParquetWriter(file, schema) as writer:
        for table in chain([first], tables):
            for start in range(0, max(len(table), 1), _ROW_GROUP):
                rows = table.slice(start, _ROW_GROUP)
                writer.write_table(rows.cast(schema))


_ROW_GROUP = 5 * _ROWS
"""Rows per row group, the unit of compression and lookup in Parquet."""


def _arrow(table: pd.DataFrame) -> Any:
    import pyarrow as pa

    # A Parquet column has one type: if a column has flow numbers and "all", convert all to text.
    mixed = [
        name
        for name in table.columns
        if table[name].dtype == object and {int, str} <= set(map(type, table[name]))
    ]
    return pa.Table.from_pandas(table.astype(dict.fromkeys(mixed, str)), preserve_index=False)
