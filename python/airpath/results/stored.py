"""Recordings of a run, stored in memory or in a directory instead of in the engine."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from airpath.errors import BadValueError, one_line
from airpath.files import LARGEST, read_bytes
from airpath.results.flow_monitor import stats_of_rows
from airpath.results.ss import ss_columns
from airpath.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DOCUMENT", "SIDES", "Directory", "InMemory", "TraceFiles", "read_document"]

DOCUMENT = "result.json"
"""Name of the JSON file with the statistics and provenance of a result and its list of files."""

SIDES = ("server", "client")
"""Ends of an emulated path; also the names of the captures at these ends."""

Columns = tuple[bytes, bytes, bytes, bytes]
"""Columns of a series: times in s, IDs of flows or components, IDs of queues, values."""


@dataclass(frozen=True)
class InMemory:
    """Recordings as bytes, by index of the finished replication; used in pickles."""

    by_series: Mapping[tuple[int, str], Columns]
    by_ss: Mapping[int, Mapping[str, bytes]]
    by_monitor: Mapping[int, str]

    def series(self, index: int, name: str) -> Columns:
        """Return times, numbers and values of a series."""
        return self.by_series[index, name]

    def ss(self, index: int) -> Mapping[str, bytes]:
        """Return the columns of the senders' state."""
        return self.by_ss[index]

    def flow_monitor(self, index: int) -> str:
        """Return the flow monitor's statistics as JSON."""
        return self.by_monitor[index]


class Directory:
    """Recordings in the files of a directory, read on demand.

    Parameters
    ----------
    path : Path
        Directory of the saved result.
    numbers : sequence of int
        Indices of the finished replications.
    queues : sequence of str
        Names of the queues; the index of a name is the ID of the queue.
    """

    def __init__(self, path: Path, numbers: list[int], queues: list[str]) -> None:
        self._path = path
        self._numbers = numbers
        self._queues = queues
        self._table = functools.lru_cache(maxsize=2)(self._read)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self._path, "numbers": self._numbers, "queues": self._queues}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def series(self, index: int, name: str) -> Columns:
        """Return times, numbers and values of a series."""
        part = self._read_replication(f"series-{name}", index)
        queues = np.full(len(part), -1, dtype="<i4")
        if "queue" in part:
            for number, queue in enumerate(self._queues):
                queues[(part["queue"] == queue).to_numpy()] = number
        return (
            part["time_s"].to_numpy("<f8").tobytes(),
            part["id"].to_numpy("<u4").tobytes(),
            queues.tobytes(),
            part["value"].to_numpy("<f8").tobytes(),
        )

    def ss(self, index: int) -> Mapping[str, bytes]:
        """Return the columns of the senders' state."""
        return ss_columns(self._read_replication("ss", index).drop(columns="replication"))

    def flow_monitor(self, index: int) -> str:
        """Return the flow monitor's statistics as JSON."""
        return json.dumps(stats_of_rows(self._read_replication("flowmonitor", index)))

    def _read_replication(self, stem: str, index: int) -> pd.DataFrame:
        table = self._table(stem)
        return table[table["replication"] == self._numbers[index]]

    def _read(self, stem: str) -> pd.DataFrame:
        import pandas as pd

        for ending in ("csv", "csv.gz", "parquet"):
            path = self._path / f"{stem}.{ending}"
            if not path.is_file():
                continue
            try:
                if ending == "parquet":
                    return pd.read_parquet(path)
                # Before pandas 3, the last digit of a number is exact only with this option.
                old = int(pd.__version__.partition(".")[0]) < 3
                exact: dict[str, Any] = {"float_precision": "round_trip"} if old else {}
                table: pd.DataFrame = pd.read_csv(path, comment="#", **exact)
                return table
            except (OSError, ValueError, ImportError) as error:
                raise BadValueError(f"{path}: cannot be read: {error}") from None
        raise BadValueError(f"{self._path / stem}.csv: does not exist, nor as csv.gz or parquet.")


class TraceFiles(Mapping[str, Trace]):
    """Maps names of the traces in a result's provenance to traces, which are read on demand.

    Parameters
    ----------
    files : mapping
        Maps the name of each trace to its file and SHA-256.
    formats : mapping of str to str
        Maps the name of a link's trace to its file format.
    """

    def __init__(
        self,
        files: Mapping[str, Mapping[str, str]],
        formats: Mapping[str, Literal["mahimahi", "csv"]],
    ) -> None:
        self._files = files
        self._formats = formats

    def __getitem__(self, key: str) -> Trace:
        file, digest = self._files[key]["file"], self._files[key]["sha256"]
        data = read_bytes(Path(file), LARGEST)
        if hashlib.sha256(data).hexdigest() != digest:
            raise BadValueError(f"{file}: not the trace of this result; it was changed since.")
        return Trace.load(file, self._formats.get(key, "mahimahi"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_document(directory: Path) -> dict[str, Any]:
    """Return the content of ``result.json`` in the directory of a result.

    Raises
    ------
    BadValueError
        If the file does not exist, or is not a complete document of a result.
    """
    path = directory / DOCUMENT
    if not path.is_file():
        accepted = "Name a directory that run --out or Result.save wrote"
        raise BadValueError(f"{one_line(str(directory))}: holds no {DOCUMENT}. {accepted}.")
    try:
        document = json.loads(read_bytes(path, LARGEST))
    except ValueError as error:
        if isinstance(error, BadValueError):
            raise
        raise BadValueError(f"{path}: not JSON: {error}.") from None
    parts = ("provenance", "summary", "complete", "replications")
    missing = [key for key in parts if not isinstance(document, dict) or key not in document]
    if missing:
        raise BadValueError(f"{path}: not the document of a result: {missing[0]} is missing.")
    return dict(document)
