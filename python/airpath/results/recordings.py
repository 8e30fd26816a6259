"""Recordings of a result: time series, TCP sender states, flow monitor, link capacity."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.arguments import check_all, whole
from airpath.engine.vocabulary import AT_QUEUES, DROP_REASONS, SERIES_UNITS
from airpath.errors import BadValueError, show
from airpath.results.capacity import Capacity
from airpath.results.flow_monitor import flow_monitor_rows, flow_monitor_xml
from airpath.results.frames import frame
from airpath.results.ss import ss_frame
from airpath.results.statistics import Statistics
from airpath.results.stored import InMemory

if TYPE_CHECKING:
    import pandas as pd

    from airpath.engine.resolved import ResolvedScenario
    from airpath.trace import Trace

__all__ = ["DROP_REASONS", "Columns", "Recordings", "check_finished"]

Columns = tuple[bytes, bytes, bytes, bytes]
"""Columns of a series: times in s, IDs of flows or components, IDs of queues, values."""

_SOURCES = ("_recorded", "_ss", "_flow_monitor")


def _with_unit(columns: Mapping[str, Any], unit: str) -> pd.DataFrame:
    """Return the columns of a series as a DataFrame; `attrs["units"]` has their units."""
    import pandas as pd

    table = pd.DataFrame(columns)
    table.attrs["units"] = {"time_s": "s", "value": unit}
    return table


def _remembering(recorded: Callable[[int, str], Columns]) -> Callable[[int, str], Columns]:
    return functools.lru_cache(maxsize=4)(recorded)


def check_finished(replications: Sequence[Mapping[str, Any]], replication: int) -> None:
    """Check that the replication with an index among the finished replications (from 0) exists.

    Raises
    ------
    BadValueError
        If there is no such replication.
    """
    runs = len(replications)
    accepted = f"Finished replications: {runs}, counted from 0"
    # The upper limit is checked below.
    check_all(whole("replication", replication, -math.inf, None, accepted))
    if not 0 <= replication < runs:
        raise BadValueError(f"replication = {replication}: does not exist. {accepted}.")


class Recordings(Statistics):
    """Statistics and recordings of a run. Recordings include the warm-up."""

    provenance: dict[str, Any]

    def __init__(
        self,
        replications: list[dict[str, Any]],
        resolved: ResolvedScenario,
        confidence: float,
        *,
        recorded: Callable[[int, str], Columns],
        ss: Callable[[int], Mapping[str, bytes]],
        flow_monitor: Callable[[int], str],
        traces: Mapping[str, Trace],
    ) -> None:
        super().__init__(replications, resolved, confidence)
        self._recorded = _remembering(recorded)
        self._ss = ss
        self._flow_monitor = flow_monitor
        self._traces = traces

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: all recordings, without the engine object."""
        record, runs = self.resolved.recording, range(len(self.replications))
        names = [name for name in self.resolved.recording.series if name != "capacity"]
        stored = InMemory(
            {(index, name): self._recorded(index, name) for index in runs for name in names},
            {index: self._ss(index) for index in runs if record.has_ss},
            {index: self._flow_monitor(index) for index in runs if record.has_flow_monitor},
        )
        return {key: value for key, value in vars(self).items() if key not in _SOURCES} | {
            "stored": stored
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        stored = state.pop("stored")
        vars(self).update(state)
        self._recorded = _remembering(stored.series)
        self._ss, self._flow_monitor = stored.ss, stored.flow_monitor

    def series(self, name: str, replication: int = 0) -> pd.DataFrame:
        """Return a recorded series, from the start of the run.

        Parameters
        ----------
        name : str
            ``cwnd``, ``ssthresh``, ``delivered`` (bytes), ``rtt``, ``sojourn`` (s), ``queue``
            (packets waiting), ``drop`` (see `DROP_REASONS`), ``mark``, ``regime``, ``mcs`` (indices
            from 0), ``seq_sent``, ``seq_received``, ``seq_dropped`` (sequence numbers, bytes), or
            ``capacity`` (bytes that a trace can carry in the millisecond that ends at this time).
        replication : int
            Index of the finished replication, from 0. Default 0.

        Returns
        -------
        series : DataFrame
            Columns `time_s`, `id` and `value`. `id` is the flow. For ``queue``, ``regime`` and
            ``mcs``, `id` is the queue: 0 for the bottleneck, 1 for the ACK path; in a list of hops,
            from the users to the servers, the forward direction of each hop first. ``queue``,
            ``sojourn``, ``drop``, ``mark`` and ``seq_dropped`` also have a column `queue`, the name
            of the queue. It has no value for packets that were dropped outside a queue.

        Raises
        ------
        BadValueError
            If the series was not recorded, or there is no such replication.
        """
        import pandas as pd

        if not isinstance(name, str) or name not in self.resolved.recording.series:
            known = ", ".join(self.resolved.recording.series) or "nothing"
            raise BadValueError(
                f"series {show(name)}: not recorded. Recorded is: {known}. Add it to record.series."
            )
        check_finished(self.replications, replication)
        if name == "capacity":
            time, value = self._offered_bytes(replication)
            return _with_unit({"time_s": time, "id": np.uint32(0), "value": value}, "bytes")
        time_s, ids, queues, values = self._recorded(replication, name)
        columns: dict[str, Any] = {
            "time_s": np.frombuffer(time_s, dtype="<f8"),
            "id": np.frombuffer(ids, dtype="<u4"),
        }
        if name in AT_QUEUES:
            names = [queue["name"] for queue in self.replications[replication]["queues"]]
            numbers = np.frombuffer(queues, dtype="<i4")
            columns["queue"] = pd.Categorical.from_codes(numbers, categories=pd.Index(names))
        columns["value"] = np.frombuffer(values, dtype="<f8")
        return _with_unit(columns, SERIES_UNITS[name])

    def ss(self, replication: int = 0) -> pd.DataFrame:
        """Return the state of every TCP sender at regular intervals, from the start of the run.

        Parameters
        ----------
        replication : int
            Index of the finished replication, from 0. Default 0.

        Returns
        -------
        ss : DataFrame
            One row per instant and flow; the columns have the names of ``ss -ti``.

        Raises
        ------
        BadValueError
            If ``record.ss`` was not set, or there is no such replication.
        """
        if not self.resolved.recording.has_ss:
            raise BadValueError("ss: not recorded. Set record.ss = true.")
        check_finished(self.replications, replication)
        return ss_frame(self._ss(replication))

    def flow_monitor(self) -> pd.DataFrame:
        """Return flow statistics under the names that ns-3's FlowMonitor uses.

        Returns
        -------
        flow_monitor : DataFrame
            One row per replication, flow and direction; times in seconds.

        Raises
        ------
        BadValueError
            If ``record.flow_monitor`` was not set.
        """
        return frame(flow_monitor_rows(self._monitored()))

    def flow_monitor_xml(self, replication: int = 0) -> bytes:
        """Return the flow statistics of a replication in the XML format of ns-3's FlowMonitor.

        Parameters
        ----------
        replication : int
            Index of the finished replication, from 0. Default 0.

        Raises
        ------
        BadValueError
            If ``record.flow_monitor`` was not set, or there is no such replication.
        """
        check_finished(self.replications, replication)
        return flow_monitor_xml(self._monitored()[replication][1], self.provenance)

    def _monitored(self) -> list[tuple[int, list[dict[str, Any]]]]:
        """Return pairs of the index of a replication and its flow monitor counters."""
        if not self.resolved.recording.has_flow_monitor:
            raise BadValueError("flow_monitor: not kept. Set record.flow_monitor = true.")
        return [
            (run["replication"], json.loads(self._flow_monitor(index)))
            for index, run in enumerate(self.replications)
        ]

    def capacity(self, replication: int = 0) -> Capacity | None:
        """Return the capacity of the bottleneck link over time.

        Parameters
        ----------
        replication : int
            Index of the finished replication, from 0. The capacity differs between replications
            only if the rate depends on the queue, or if the trace starts at a random time.

        Returns
        -------
        capacity : Capacity or None
            The capacity. For TDD links, it is the capacity of the downlink slots, including
            headers. None for a link whose rate depends on the queue if ``regime`` was not recorded,
            for an adaptive link (its rate depends on the packet), for a cell, and for a TDD link
            whose stations differ.

        Raises
        ------
        BadValueError
            If there is no such replication.
        """
        if self.replications:
            check_finished(self.replications, replication)
        regimes = None
        if "regime" in self.resolved.recording.series and self.replications:
            series = self.series("regime", replication)
            of_bottleneck = series[series["id"] == self.resolved.path.bottleneck_id]
            regimes = (of_bottleneck["time_s"].to_numpy(), of_bottleneck["value"].to_numpy())
        offset_s = self._trace_offset_s(replication)
        return Capacity.of(self.resolved, self._traces, regimes, offset_s)

    def _trace_offset_s(self, replication: int) -> float:
        for link in self.replications[replication]["links"] if self.replications else ():
            if link["name"] == self.resolved.bottleneck.name:
                return float(link.get("counters", {}).get("trace_offset_s", 0.0))
        return 0.0

    def _offered_bytes(self, replication: int) -> tuple[np.ndarray, np.ndarray]:
        has_trace = self.resolved.link.trace is not None
        capacity = self.capacity(replication) if has_trace else None
        if capacity is None:
            return np.empty(0), np.empty(0)
        step = max(1_000_000, self.resolved.recording.interval_ns)
        edges = np.arange(0, self.resolved.duration_ns + 1, step) / 1e9
        offered = np.round(np.diff(capacity.bits(edges)) / 8, 6)
        kept = offered > 0
        return edges[1:][kept], offered[kept]
