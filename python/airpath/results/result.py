"""What a simulation measured: tidy tables, intervals over replications, series, files."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath import _airpath
from airpath.errors import BadValueError
from airpath.files import output_folder, write_file
from airpath.results.capacity import Capacity
from airpath.results.export import checked_formats, table_file
from airpath.results.flow_monitor import flow_monitor_rows, flow_monitor_xml
from airpath.results.frames import frame, plain
from airpath.results.intervals import Interval, mean_interval
from airpath.results.provenance import as_comment
from airpath.results.quantities import (
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    QUEUE_QUANTITIES,
    together,
)
from airpath.results.ss import ss_frame
from airpath.results.transfers import TRANSFER_QUANTITIES, completions, transfer_groups

if TYPE_CHECKING:
    import pandas as pd

    from airpath.results.plot import Plot
    from airpath.trace import Trace

__all__ = ["ALL_FLOWS", "DROP_REASONS", "Result"]

ALL_FLOWS = "all"
"""Index of the aggregate in `Result.summary`."""

DROP_REASONS = ("overflow", "early", "channel", "retries", "stray")
"""What the values 0, 1, ... of the series ``drop`` mean."""

Columns = Mapping[str, tuple[bytes, bytes, bytes]]


class Result:
    """The replications of one simulated scenario.

    Everything is counted from the end of the warm-up on; only the time series cover the whole run.

    Attributes
    ----------
    provenance : dict
        Version, commit, command, seed, scenario: what made it.
    replications : list of dict
        The statistics of each finished replication, as the engine reports them.
    resolved : dict
        The resolved scenario.
    confidence : float
        Of every interval, in (0, 1).
    requested : int
        Replications that were asked for.
    interrupted : bool
        True when Ctrl-C ended the run before all of them were finished.
    captures : dict of str to Path
        The pcapng file of each point that was captured.
    plot : Plot
        Figures: ``result.plot.timeline()``.
    """

    def __init__(
        self,
        *,
        provenance: dict[str, Any],
        replications: list[dict[str, Any]],
        resolved: dict[str, Any],
        confidence: float,
        requested: int,
        interrupted: bool,
        recorded: Callable[[int], Columns],
        ss: Callable[[int], Mapping[str, bytes]],
        flow_monitor: Callable[[int], str],
        traces: Mapping[str, Trace],
        captures: Mapping[str, Path] | None = None,
    ) -> None:
        self.provenance = provenance
        self.replications = replications
        self.resolved = resolved
        self.confidence = confidence
        self.requested = requested
        self.interrupted = interrupted
        self._recorded = functools.lru_cache(maxsize=1)(recorded)
        self._ss = ss
        self._flow_monitor = flow_monitor
        self._traces = traces
        self.captures = dict(captures or {})

    def __repr__(self) -> str:
        name = json.dumps(self.resolved["name"], ensure_ascii=False)
        done = f"{len(self.replications)} of {self.requested} replications"
        return f"<Result of {name}: {done}, {len(self.resolved['flows'])} flows>"

    @property
    def complete(self) -> bool:
        """Whether all replications that were asked for are there."""
        return not self.interrupted and len(self.replications) == self.requested

    # --- tables ------------------------------------------------------------------------------

    def flows(self) -> pd.DataFrame:
        """Return one row per flow and replication.

        Returns
        -------
        flows : DataFrame
            `replication`, `flow`, `kind` (tcp or datagram), `start_s` and the measured
            quantities. What was not measured is NaN. Where sizes are drawn, `transfer_bytes`.
        """
        drawn = any("transfer" in flow["source"] for flow in self.resolved["flows"])
        return frame(
            {"replication": run["replication"], "flow": flow["id"]}
            | {name: flow[name] for name in ("kind", "start_s", *FLOW_QUANTITIES)}
            | ({"transfer_bytes": flow.get("transfer_bytes")} if drawn else {})
            for run in self.replications
            for flow in run["flows"]
        )

    def queues(self) -> pd.DataFrame:
        """Return one row per queue and replication; drops have one column for each reason.

        Returns
        -------
        queues : DataFrame
            `replication`, `queue`, time averages of waiting packets and bytes, `mean_sojourn_s`,
            counts of packets.
        """
        found = [
            (run["replication"], queue) for run in self.replications for queue in run["queues"]
        ]
        reasons = sorted({reason for _, queue in found for reason in queue["drops"]})
        return frame(
            {"replication": number, "queue": queue["name"]}
            | {name: queue[name] for name in QUEUE_QUANTITIES}
            | {f"drops_{reason}": queue["drops"].get(reason, 0) for reason in reasons}
            for number, queue in found
        )

    def links(self) -> pd.DataFrame:
        """Return one row per link and replication.

        Returns
        -------
        links : DataFrame
            `replication`, `link`, `utilisation` (share of time; of a trace, of its bytes), counts,
            the packets sent in each regime from 1 on, and what only a link of its kind counts.
        """
        return frame(
            {"replication": run["replication"], "link": link["name"]}
            | {name: link[name] for name in LINK_QUANTITIES}
            | {f"regime_{j}_packets": n for j, n in enumerate(link["regime_packets"], start=1)}
            | link.get("counters", {})
            for run in self.replications
            for link in run["links"]
        )

    def pmf(self, queue: str = "bottleneck") -> pd.DataFrame:
        """Return the time-weighted queue-length distribution with its intervals.

        Parameters
        ----------
        queue : str
            Which queue. Default the bottleneck's.

        Returns
        -------
        pmf : DataFrame
            `packets`, and the fraction of time with that many waiting: `mean`, `low`, `high`.

        Raises
        ------
        BadValueError
            If there is no such queue.
        """
        import pandas as pd

        by_name = self._by_name("queues")
        if by_name and queue not in by_name:
            known = ", ".join(by_name)
            raise BadValueError(f'queue "{queue}": not there. Queues of this scenario: {known}.')
        found = [run["pmf"] for run in by_name.get(queue, [])]
        length = max(map(len, found), default=0)
        padded = [[*shares, *[0.0] * (length - len(shares))] for shares in found]
        rows = [self._interval(shares) for shares in zip(*padded, strict=True)]
        return pd.DataFrame(
            {
                "packets": range(length),
                "mean": [row.mean for row in rows],
                "low": [row.low for row in rows],
                "high": [row.high for row in rows],
            }
        )

    def summary(self) -> pd.DataFrame:
        """Return means over the replications with their confidence intervals.

        Returns
        -------
        summary : DataFrame
            Indexed by flow, at the end ``"all"``: rates and counts added up, delays and RTTs
            averaged over the delivered packets. Columns in two levels, the quantity and `mean`,
            `low`, `high`: ``result.summary()["goodput_bps"]``.
        """
        import pandas as pd

        table = {
            (name, part): [getattr(row[name], part) for row in self.intervals.values()]
            for name in FLOW_QUANTITIES
            for part in ("mean", "low", "high")
        }
        index = pd.Index(list(self.intervals), name="flow", dtype=object)
        return pd.DataFrame(table, index=index)

    def jain(self) -> Interval:
        """Return Jain's fairness index of the flows' goodputs, over the replications.

        Returns
        -------
        jain : Interval
            1 when all flows get the same, 1/n when one flow gets everything.
        """
        return self._interval(
            _airpath.jain_index([flow["goodput_bps"] for flow in run["flows"]])
            for run in self.replications
        )

    def transfers(self) -> pd.DataFrame:
        """Return how long the transfers of each group took, one row per replication and group.

        Counted are the flows that started after the warm-up; those that were not complete at the
        end of the run are missing in the times, which the last of them would have made longer.

        Returns
        -------
        transfers : DataFrame
            `replication`, `group`, how many `started`, `completed` and were `unfinished`, and of
            those that completed `mean_s`, `median_s` and `p95_s` from start to the last
            acknowledgement. Without rows when no flow has a size.
        """
        return frame(
            {
                "replication": run["replication"],
                "group": group,
                **completions(self.resolved, run, members),
            }
            for run in self.replications
            for group, members in transfer_groups(self.resolved).items()
        )

    def transfer_intervals(self) -> list[dict[str, Any]]:
        """Return each group of transfers, its quantities over the replications."""
        return [
            {
                "group": group,
                **self._quantities(
                    [completions(self.resolved, run, members) for run in self.replications],
                    TRANSFER_QUANTITIES,
                ),
            }
            for group, members in transfer_groups(self.resolved).items()
        ]

    # --- series ------------------------------------------------------------------------------

    @property
    def recorded(self) -> list[str]:
        """Names of the series that the scenario records."""
        return list(self.resolved["record"]["series"])

    def series(self, name: str, replication: int = 0) -> pd.DataFrame:
        """Return a recorded series, from the start of the run.

        Parameters
        ----------
        name : str
            ``cwnd``, ``ssthresh``, ``delivered`` (bytes), ``rtt``, ``sojourn`` (s), ``queue``
            (packets waiting), ``drop`` (see `DROP_REASONS`), ``mark``, ``regime`` (from 0),
            ``seq_sent``, ``seq_received``, ``seq_dropped`` (sequence numbers, bytes), or
            ``capacity`` (bytes that a trace offers in the millisecond that ends then).
        replication : int
            Which of the finished replications, from 0. Default 0.

        Returns
        -------
        series : DataFrame
            `time_s`, `id` (the flow; of ``queue`` and ``regime`` the queue: 0 is the bottleneck's,
            1 that of the ACKs) and `value`.

        Raises
        ------
        BadValueError
            If it was not recorded, or there is no such replication.
        """
        import pandas as pd

        if name not in self.recorded:
            known = ", ".join(self.recorded) or "nothing"
            raise BadValueError(
                f'series "{name}": not recorded. Recorded is: {known}. Add it to record.series.'
            )
        self._check_finished(replication)
        if name == "capacity":
            time, value = self._offered_bytes()
            return pd.DataFrame({"time_s": time, "id": np.uint32(0), "value": value})
        time_s, ids, values = self._recorded(replication)[name]
        return pd.DataFrame(
            {
                "time_s": np.frombuffer(time_s, dtype="<f8"),
                "id": np.frombuffer(ids, dtype="<u4"),
                "value": np.frombuffer(values, dtype="<f8"),
            }
        )

    def ss(self, replication: int = 0) -> pd.DataFrame:
        """Return the state of every TCP sender at regular instants, from the start of the run.

        Parameters
        ----------
        replication : int
            Which of the finished replications, from 0. Default 0.

        Returns
        -------
        ss : DataFrame
            One row per instant and flow; columns named as ``ss -ti`` prints them.

        Raises
        ------
        BadValueError
            If ``record.ss`` was not set, or there is no such replication.
        """
        if not self.resolved["record"]["ss"]:
            raise BadValueError("ss: not recorded. Set record.ss = true.")
        self._check_finished(replication)
        return ss_frame(self._ss(replication))

    def flow_monitor(self) -> pd.DataFrame:
        """Return statistics under the names of ns-3's FlowMonitor.

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
        """Return the statistics of a replication as the XML file that ns-3 writes.

        Parameters
        ----------
        replication : int
            Which of the finished replications, from 0. Default 0.

        Raises
        ------
        BadValueError
            If ``record.flow_monitor`` was not set, or there is no such replication.
        """
        self._check_finished(replication)
        return flow_monitor_xml(self._monitored()[replication][1], self.provenance)

    def _monitored(self) -> list[tuple[int, list[dict[str, Any]]]]:
        if not self.resolved["record"]["flow_monitor"]:
            raise BadValueError("flow_monitor: not kept. Set record.flow_monitor = true.")
        return [
            (run["replication"], json.loads(self._flow_monitor(index)))
            for index, run in enumerate(self.replications)
        ]

    def _check_finished(self, replication: int) -> None:
        if not 0 <= replication < len(self.replications):
            raise BadValueError(
                f"replication = {replication}: not there. "
                f"Finished replications: {len(self.replications)}, counted from 0."
            )

    def capacity(self, replication: int = 0) -> Capacity | None:
        """Return what the bottleneck link could carry over time.

        Parameters
        ----------
        replication : int
            Which of the finished replications; it matters where the rate follows the queue.

        Returns
        -------
        capacity : Capacity or None
            None for a link whose rate follows the queue when ``regime`` was not recorded, and for
            an adaptive link, whose rate depends on the packet, too.
        """
        regimes = None
        if "regime" in self.recorded and self.replications:
            series = self.series("regime", replication)
            of_bottleneck = series[series["id"] == 0]
            regimes = (of_bottleneck["time_s"].to_numpy(), of_bottleneck["value"].to_numpy())
        return Capacity.of(self.resolved, self._traces, regimes)

    def _offered_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        link = self.resolved["bottleneck"]["link"]
        capacity = self.capacity() if "trace" in link else None
        if capacity is None:
            return np.empty(0), np.empty(0)
        step = max(1_000_000, self.resolved["record"]["interval_ns"])
        edges = np.arange(0, self.resolved["duration_ns"] + 1, step) / 1e9
        offered = np.round(np.diff(capacity.bits(edges)) / 8, 6)
        kept = offered > 0
        return edges[1:][kept], offered[kept]

    # --- figures -----------------------------------------------------------------------------

    @property
    def plot(self) -> Plot:
        """Figures of this result."""
        from airpath.results.plot import Plot

        return Plot(self)

    # --- files -------------------------------------------------------------------------------

    def to_dict(self, *, raw: bool = False) -> dict[str, Any]:
        """Return the document of ``run --json``; it holds no NaN and no infinity.

        Parameters
        ----------
        raw : bool
            With the statistics of each replication. Default False.
        """
        rows = dict(self.intervals)
        together = rows.pop(ALL_FLOWS)
        document: dict[str, Any] = {
            "provenance": self.provenance,
            "complete": self.complete,
            "summary": {
                "flows": len(rows),
                "replications": len(self.replications),
                "replications_requested": self.requested,
                "measured_s": _measured_s(self.resolved),
                **plain(together),
                "jain": self.jain().to_dict(),
            },
            "flows": [
                {"id": flow, "kind": self._kind(flow), **plain(row)} for flow, row in rows.items()
            ],
            "queues": plain(self.queue_intervals()),
            "links": plain(self.link_intervals()),
        }
        if transfers := self.transfer_intervals():
            document["transfers"] = plain(transfers)
        if raw:
            document["replications"] = self.replications
        return document

    def to_json(self, *, raw: bool = False) -> str:
        """Return `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(raw=raw), allow_nan=False)

    def save(self, folder: str | Path, *, formats: str | Sequence[str] = "csv") -> list[Path]:
        """Write everything into a folder, each file with its provenance.

        ``result.json``, ``scenario.toml`` (which gives the same run again) and the tables.

        Parameters
        ----------
        folder : path
            Made when missing.
        formats : str or sequence of str
            Of the tables: ``csv``, ``parquet`` (which needs pyarrow) or both. Default ``csv``.

        Returns
        -------
        paths : list of Path
            The files. Each was written at once, none is ever half there.

        Raises
        ------
        BadValueError
            If the folder cannot be written to, or a format not be written.
        """
        forms = checked_formats(formats)
        where = output_folder(folder)
        head = as_comment(self.provenance)
        if not self.complete:
            done = f"{len(self.replications)} of {self.requested} replications"
            head += f"# incomplete: interrupted after {done}\n"
        files = {
            "result.json": _utf8(self.to_json(raw=True) + "\n"),
            "scenario.toml": _utf8(self._scenario_file()),
        }
        for stem, table in self._tables().items():
            for form in forms:
                files[f"{stem}.{form}"] = table_file(table, form, head, self.provenance)
        if self.resolved["record"]["flow_monitor"]:
            for number, stats in self._monitored():
                xml = flow_monitor_xml(stats, self.provenance)
                files[f"flowmonitor-{number}.xml"] = xml
        paths = [where / name for name in files]
        for path, data in zip(paths, files.values(), strict=True):
            write_file(path, data)
        return paths

    def _scenario_file(self) -> str:
        about = self.provenance
        seed, reps = about["seed"], about["replications"]
        head = (
            f"# Written by airpath {about['version']} ({about['commit']}).\n"
            f"# The same run again: airpath run scenario.toml --seed {seed} --reps {reps}\n\n"
        )
        return head + str(about["scenario_toml"])

    def _tables(self) -> dict[str, pd.DataFrame]:
        import pandas as pd

        tables = {
            "summary": self._tidy_summary(),
            "flows": self.flows(),
            "queues": self.queues(),
            "links": self.links(),
            "queue-lengths": pd.concat(
                [self.pmf(name).assign(queue=name) for name in self._by_name("queues")]
                or [pd.DataFrame()]
            ),
        }
        if transfer_groups(self.resolved):
            tables["transfers"] = self.transfers()
        for name in self.recorded:
            tables |= self._of_replications(f"series-{name}", functools.partial(self.series, name))
        if self.resolved["record"]["ss"]:
            tables |= self._of_replications("ss", self.ss)
        if self.resolved["record"]["flow_monitor"]:
            tables["flowmonitor"] = self.flow_monitor()
        return tables

    def _of_replications(
        self, stem: str, table: Callable[[int], pd.DataFrame]
    ) -> dict[str, pd.DataFrame]:
        import pandas as pd

        parts = [
            table(index).assign(replication=run["replication"])
            for index, run in enumerate(self.replications)
        ]
        return {stem: pd.concat(parts)} if parts else {}

    def _tidy_summary(self) -> pd.DataFrame:
        return frame(
            {"flow": flow, "quantity": name, **value.to_dict()}
            for flow, row in self.intervals.items()
            for name, value in row.items()
        )

    # --- over replications -------------------------------------------------------------------

    def _interval(self, values: Iterable[float | None]) -> Interval:
        return mean_interval(values, self.confidence)

    @functools.cached_property
    def intervals(self) -> Mapping[int | str, Mapping[str, Interval]]:
        """Every quantity of every flow, and of ``"all"`` together, over the replications."""
        rows: dict[int | str, dict[str, Interval]] = {
            flow: {
                name: self._interval(run["flows"][flow][name] for run in self.replications)
                for name in FLOW_QUANTITIES
            }
            for flow in range(len(self.resolved["flows"]))
        }
        rows[ALL_FLOWS] = {
            name: self._interval(together(run["flows"], name) for run in self.replications)
            for name in FLOW_QUANTITIES
        }
        return rows

    def queue_intervals(self) -> list[dict[str, Any]]:
        """Return the name and every quantity of each queue, over the replications."""
        found = []
        for name, runs in self._by_name("queues").items():
            reasons = sorted({reason for queue in runs for reason in queue["drops"]})
            drops = {
                reason: self._interval(queue["drops"].get(reason, 0) for queue in runs)
                for reason in reasons
            }
            pmf = self.pmf(name)
            found.append(
                {
                    "name": name,
                    **self._quantities(runs, QUEUE_QUANTITIES),
                    "drops": drops,
                    "pmf": {part: pmf[part].tolist() for part in ("mean", "low", "high")},
                }
            )
        return found

    def link_intervals(self) -> list[dict[str, Any]]:
        """Return the name and every quantity of each link, over the replications."""
        found = []
        for name, runs in self._by_name("links").items():
            regimes = zip(*(link["regime_packets"] for link in runs), strict=True)
            found.append(
                {
                    "name": name,
                    **self._quantities(runs, LINK_QUANTITIES),
                    "regime_packets": [self._interval(counts) for counts in regimes],
                    "counters": self._quantities(
                        [link.get("counters", {}) for link in runs], runs[0].get("counters", {})
                    ),
                }
            )
        return found

    def _quantities(
        self, runs: Sequence[Mapping[str, Any]], names: Iterable[str]
    ) -> dict[str, Interval]:
        return {name: self._interval(run[name] for run in runs) for name in names}

    def _by_name(self, table: str) -> dict[str, list[Mapping[str, Any]]]:
        found: dict[str, list[Mapping[str, Any]]] = {}
        for run in self.replications:
            for entry in run[table]:
                found.setdefault(entry["name"], []).append(entry)
        return found

    def _kind(self, flow: int | str) -> str:
        kind = self.resolved["flows"][flow]["source"]["kind"]
        return "tcp" if kind == "tcp" else "datagram"


def _measured_s(resolved: Mapping[str, Any]) -> float:
    return float(resolved["duration_ns"] - resolved["warmup_ns"]) / 1e9


def _utf8(text: str) -> bytes:
    # File names may hold bytes that are no text.
    return text.encode("utf-8", "backslashreplace")
