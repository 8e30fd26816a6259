"""Table of the states of TCP senders over time, with the column names of ``ss -ti``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "STATES", "ss_columns", "ss_frame"]

STATES = ("closed", "syn-sent", "slow-start", "avoidance", "recovery", "loss", "done")
"""Names of the states of a sender; the index is the number that the engine uses."""

COLUMNS = (
    *("time_s", "flow", "state", "cwnd", "ssthresh", "unacked", "sacked", "in_flight_bytes"),
    *("rtt_s", "rttvar_s", "rto_s", "backoff", "retrans", "bytes_acked", "delivery_rate_bps"),
    "pacing_rate_bps",
)
"""Columns in the order of the table."""

_TYPES = {"flow": "<u4", "state": "u1"}
_COUNTS = ("backoff", "retrans", "bytes_acked", "in_flight_bytes")


def ss_frame(columns: Mapping[str, bytes]) -> pd.DataFrame:
    """Convert the engine's columns to a table.

    Parameters
    ----------
    columns : mapping of str to bytes
        Maps column names to values: little-endian doubles, except the indices of flow and state.
    """
    import pandas as pd

    table = {
        name: np.frombuffer(data, dtype=_TYPES.get(name, "<f8")) for name, data in columns.items()
    }
    table |= {name: table[name].astype(np.int64) for name in _COUNTS}
    table["state"] = np.asarray(STATES, dtype=object)[table["state"]]
    return pd.DataFrame(table)


def ss_columns(frame: pd.DataFrame) -> dict[str, bytes]:
    """Convert a table of `ss_frame` back to the engine's columns."""
    numbers = {state: number for number, state in enumerate(STATES)}
    table = frame.assign(state=frame["state"].map(numbers))
    return {name: table[name].to_numpy(_TYPES.get(name, "<f8")).tobytes() for name in table.columns}
