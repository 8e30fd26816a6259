"""State of TCP senders over time, with the names of ``ss -ti``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "STATES", "ss_columns", "ss_frame"]

STATES = ("closed", "syn-sent", "slow-start", "avoidance", "recovery", "loss", "done")
"""States of a sender, by the engine's number."""

COLUMNS = (
    *("time_s", "flow", "state", "cwnd", "ssthresh", "unacked", "sacked", "in_flight_bytes"),
    *("rtt_s", "rttvar_s", "rto_s", "backoff", "retrans", "bytes_acked", "delivery_rate_bps"),
    "pacing_rate_bps",
)
"""Columns in the order of the table."""

_TYPES = {"flow": "<u4", "state": "u1"}
_COUNTS = ("backoff", "retrans", "bytes_acked", "in_flight_bytes")


def ss_frame(columns: Mapping[str, bytes]) -> pd.DataFrame:
    """Return the engine's columns as a table.

    Parameters
    ----------
    columns : mapping of str to bytes
        Little-endian doubles, except the number of the flow and of the state.
    """
    import pandas as pd

    table = {
        name: np.frombuffer(data, dtype=_TYPES.get(name, "<f8")) for name, data in columns.items()
    }
    table |= {name: table[name].astype(np.int64) for name in _COUNTS}
    table["state"] = np.asarray(STATES, dtype=object)[table["state"]]
    return pd.DataFrame(table)


def ss_columns(frame: pd.DataFrame) -> dict[str, bytes]:
    """Return the engine's columns of a table of `ss_frame`."""
    numbers = {state: number for number, state in enumerate(STATES)}
    table = frame.assign(state=frame["state"].map(numbers))
    return {name: table[name].to_numpy(_TYPES.get(name, "<f8")).tobytes() for name in table.columns}
