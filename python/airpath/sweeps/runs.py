"""One finished replication: its key and its packed measurements."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airpath.results.flow_table import Column, FlowTable
from airpath.results.recordings import Columns

__all__ = ["Run", "packed", "unpacked"]

_LEVEL = 1
"""Compression level of zlib: the fastest."""


@dataclass(frozen=True)
class Run:
    """A finished replication of a job.

    Parameters
    ----------
    digest : str
        Digest of the job.
    seed : int
        Master seed.
    replication : int
        Index of the replication, from 0.
    version, commit : str
        Version and commit of the engine that ran it.
    cpu_s : float
        Processor time of the replication, s.
    packed : bytes
        Measurements; `unpacked` reads them.
    series : mapping of str to columns
        Maps the name of a recorded time series to four columns: times in s, indices of flows or
        parts, indices of queues, values.
    """

    digest: str
    seed: int
    replication: int
    version: str
    commit: str
    cpu_s: float
    packed: bytes
    series: Mapping[str, Columns] = field(default_factory=dict)

    def measured(self) -> dict[str, Any]:
        """Return the statistics as the engine reports them; the flows are a `FlowTable`."""
        return unpacked(self.packed)


def packed(document: Mapping[str, Any], is_tcp: bytes, columns: Sequence[Column]) -> bytes:
    """Return the statistics of a replication as compressed JSON.

    Parameters
    ----------
    document : mapping
        Document of the engine, without the flows.
    is_tcp, columns
        The flows in the format of `FlowTable`; columns of bytes are encoded as base64.
    """
    flows = [_text(is_tcp), [[name, of, _text(values)] for name, of, values in columns]]
    whole = {**document, "flows": flows}
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return zlib.compress(text.encode(), _LEVEL)


def unpacked(data: bytes) -> dict[str, Any]:
    """Return the statistics of a replication as the engine reports them.

    Parameters
    ----------
    data : bytes
        Data returned by `packed`.

    Raises
    ------
    ValueError
        If the data have another format.
    """
    try:
        document: dict[str, Any] = json.loads(zlib.decompress(data))
        is_tcp, columns = document["flows"]
        flows = FlowTable(
            base64.b64decode(is_tcp),
            [(name, of, base64.b64decode(values)) for name, of, values in columns],
        )
    except (zlib.error, KeyError, TypeError) as error:
        raise ValueError(f"not a packed replication: {error}") from None
    return {**document, "flows": flows}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
