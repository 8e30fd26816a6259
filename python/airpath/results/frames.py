"""Rows as a DataFrame, and values as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airpath.engine.vocabulary import UNITS
from airpath.results.intervals import Interval, finite

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame", "plain"]


def plain(value: Any) -> Any:
    """Return intervals as JSON objects, and what is not a number as None."""
    if isinstance(value, Interval):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return finite(value) if isinstance(value, float) else value


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a table; `attrs["units"]` has the units of what the engine measured."""
    import pandas as pd

    table = pd.DataFrame(list(rows))
    table.attrs["units"] = {name: UNITS[name] for name in table.columns if name in UNITS}
    # A quantity that nothing has, such as the RTT of datagrams, is still a column of numbers.
    unknown = [name for name in table.columns if table[name].isna().all()]
    return table.astype(dict.fromkeys(unknown, float))
