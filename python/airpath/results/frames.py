"""Conversion of rows to DataFrames, and of values to JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airpath.engine.vocabulary import UNITS
from airpath.results.intervals import Interval, finite

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame", "interval_frame", "plain"]

_OF = ("flow", "link", "group", "name", "user", "station", "phase", "size_class")
"""Columns that identify the rows of tables."""
_OF_PARTS = ("flow", "group", "name", "delay", "hop", "direction", "part")
"""Columns that identify the rows of a table of parts of delays."""


def plain(value: Any) -> Any:
    """Convert a value for JSON: intervals become dicts; NaN and infinity become None."""
    if isinstance(value, Interval):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return finite(value) if isinstance(value, float) else value


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a DataFrame; `attrs["units"]` maps measured quantities to their units."""
    import pandas as pd

    table = pd.DataFrame(list(rows))
    table.attrs["units"] = {name: UNITS[name] for name in table.columns if name in UNITS}
    # A column without any value, such as the RTT of datagram flows, still gets a numeric type.
    unknown = [name for name in table.columns if table[name].isna().all()]
    return table.astype(dict.fromkeys(unknown, float))


def interval_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of intervals as a DataFrame.

    The index identifies the rows (flow, link, …). Columns have two levels: the quantity, and
    `mean`, `low`, `high`. Quantities that are not a single interval are omitted.
    """
    import pandas as pd

    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    known = _OF_PARTS if "part" in names else _OF
    is_of = [name for name in known if all(isinstance(row.get(name), (int, str)) for row in rows)]
    table = {
        (name, part): [getattr(row.get(name), part, math.nan) for row in rows]
        for name in names
        if any(isinstance(row.get(name), Interval) for row in rows)
        for part in ("mean", "low", "high")
    }
    index: pd.Index[Any]
    if len(is_of) == 1:
        index = pd.Index([row[is_of[0]] for row in rows], name=is_of[0], dtype=object)
    else:
        keys = [tuple(row[name] for name in is_of) for row in rows]
        index = pd.MultiIndex.from_tuples(keys, names=is_of)
    return pd.DataFrame(table, index=index)
