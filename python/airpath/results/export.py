"""Tables as files: CSV and Parquet, each with its provenance."""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.errors import BadValueError
from airpath.scenario.base import nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "checked_formats", "table_file"]

FORMATS = ("csv", "parquet")
"""What tables can be written as."""


def checked_formats(formats: str | Sequence[str]) -> list[str]:
    """Return the formats, each once, in the order of `FORMATS`.

    Parameters
    ----------
    formats : str or sequence of str
        Names; a text has commas between them.

    Raises
    ------
    BadValueError
        If one is unknown or none is given, or if pyarrow is missing.
    """
    names = formats.split(",") if isinstance(formats, str) else list(formats)
    bad = [name for name in names if name not in FORMATS]
    if bad or not names:
        raise BadValueError(
            "\n".join(
                f'format = "{name}": not a format of tables. {nearest(name, FORMATS)}.'
                for name in bad or [""]
            )
        )
    if "parquet" in names and importlib.util.find_spec("pyarrow") is None:
        raise BadValueError(
            'format = "parquet": needs pyarrow. Install it with: pip install "airpath[parquet]"'
        )
    return [name for name in FORMATS if name in names]


def table_file(table: pd.DataFrame, form: str, head: str, about: Mapping[str, Any]) -> bytes:
    """Return a table as the content of a file.

    Parameters
    ----------
    table : DataFrame
        In long form, one row per observation.
    form : str
        One of `FORMATS`.
    head : str
        Lines of comment in front of a CSV.
    about : mapping
        The provenance, for the metadata of Parquet.
    """
    if form == "parquet":
        return _parquet(table, about)
    text = head + table.to_csv(index=False, lineterminator="\n")
    # File names may hold bytes that are no text.
    return text.encode("utf-8", "backslashreplace")


def _parquet(table: pd.DataFrame, about: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A column of Parquet has one type: the flows of a summary and "all" are texts.
    kinds = {name: set(map(type, table[name])) for name in table.columns}
    texts = {name: str for name, types in kinds.items() if {int, str} <= types}
    made = pa.Table.from_pandas(table.astype(texts), preserve_index=False)
    note = json.dumps(about).encode()
    data = io.BytesIO()
    pq.write_table(made.replace_schema_metadata({b"airpath": note}), data)
    return data.getvalue()
