"""Statistics of a result: tables, and confidence intervals over the replications."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from airpath.arguments import check_all, error_prefix, text, word
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, show
from airpath.results.applications import APPLICATIONS, application_groups, group_quality
from airpath.results.cells import USER_QUANTITIES, jain_of_users, user_measurements
from airpath.results.delay_parts import delay_part_intervals
from airpath.results.distributions import QUANTITIES, Distribution, counts_of, default_owner
from airpath.results.fairness import comparable, jain
from airpath.results.frames import frame, interval_frame
from airpath.results.intervals import SHARE, Interval, mean_interval
from airpath.results.phases import PHASE_QUANTITIES, phase_rows
from airpath.results.quantities import (
    DRAWN,
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    QUEUE_QUANTITIES,
    bounds,
    resolution,
)
from airpath.results.stations import MAC_DELAY_UNITS, STATION_QUANTITIES, station_measurements
from airpath.results.tables import (
    TABLES,
    entries_by_name,
    flow_kind,
    group_quantities,
    name_of,
    size_class_rows,
)
from airpath.results.transfers import (
    SIZE_EDGES,
    TRANSFER_QUANTITIES,
    checked_edges,
    completions,
    transfer_groups,
)
from airpath.results.users import queues_at

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_FLOWS", "Statistics"]

ALL_FLOWS = "all"
"""Index label of the row that aggregates all flows in `Statistics.summary`."""


class Statistics:
    """Statistics of the replications of one scenario, from the end of the warm-up on.

    Attributes
    ----------
    replications : list of dict
        The statistics of each finished replication, as reported by the engine.
    resolved : ResolvedScenario
        The resolved scenario.
    confidence : float
        Confidence of every interval, in (0, 1).
    """

    def __init__(
        self, replications: list[dict[str, Any]], resolved: ResolvedScenario, confidence: float
    ) -> None:
        self.replications = replications
        self.resolved = resolved
        self.confidence = confidence

    def table(self, name: str, *, size_edges: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table with one row per replication and flow, queue, link, ...

        Quantities that were not measured are NaN. `attrs["units"]` has the units of the columns.

        Parameters
        ----------
        name : {"flows", "groups", "queues", "links", "users", "stations", "mac_delays", \
"phases", "delay_parts", "transfers", "transfer_sizes", "voice", "video", "requests"}
            ``flows``: rates, counts, delays and RTTs of each flow. ``groups``: the same quantities
            for each group of flows, and Jain's index within the group. ``queues``: time averages,
            sojourn times, drops for each reason, and marks of each queue. ``links``: utilisation,
            losses, and packets sent in each regime. ``users``: statistics of each user of a cell.
            ``stations``: statistics of each station of a TDD link. ``mac_delays``: distribution of
            the uplink delay between the MACs. ``phases``: statistics between the events of
            ``[[control]]``. ``delay_parts``: parts of the delays of each flow, by hop
            (``record.delay_parts``). ``transfers``: completion times of each group's transfers
            (flows with a size) that started after the warm-up. ``transfer_sizes``: completion times
            by size class. ``voice``: delay, losses and rating of each group's voice calls.
            ``video``: bitrate, stalls and switches of each group's video clients.
            ``requests``: load times of objects and pages. A table is empty if the scenario has no
            such objects.
        size_edges : sequence of str, optional
            Edges of the size classes of ``transfer_sizes``, ascending: ``["10 kB", "1 MB"]``.
            Default: 10 kB, 100 kB and 1 MB.

        Returns
        -------
        table : DataFrame
            Columns `replication`, the name or index of the row's flow, queue, ..., and the
            quantities that docs/reference/results.md lists.

        Raises
        ------
        BadValueError
            If there is no such table, or the edges are not valid.
        """
        check_all(word("name", name, TABLES))
        edges = _edges(name, size_edges)
        rows = TABLES[name]
        table = frame(
            size_class_rows(self.resolved, self.replications, edges)
            if edges
            else rows(self.resolved, self.replications)
        )
        if name == "mac_delays":
            units = {
                column: MAC_DELAY_UNITS[column] for column in table if column in MAC_DELAY_UNITS
            }
            table.attrs["units"] = units
        return table

    def intervals(
        self, name: str, *, size_edges: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows of a table with means and confidence intervals over the replications.

        Parameters
        ----------
        name : {"flows", "groups", "queues", "links", "users", "stations", "phases", \
"delay_parts", "transfers", "transfer_sizes", "voice", "video", "requests"}
            The table.
        size_edges : sequence of str, optional
            As in `table`.

        Returns
        -------
        intervals : list of dict
            For each row, the flow, group or other object (`flow`, `group`, `name`, ...) and an
            `Interval` for each quantity. The last row of ``flows`` is the aggregate of all flows,
            with `flow` ``"all"``. Rows of queues also have `drops` (for each reason) and `pmf`.

        Raises
        ------
        BadValueError
            If there is no such table, or it has no intervals.
        """
        check_all(word("name", name, self._intervals_of))
        if edges := _edges(name, size_edges):
            return self._size_intervals(edges)
        if name not in self._kept_intervals:
            self._kept_intervals[name] = self._intervals_of[name]()
        return [dict(row) for row in self._kept_intervals[name]]

    @functools.cached_property
    def _kept_intervals(self) -> dict[str, list[dict[str, Any]]]:
        return {}

    @property
    def _intervals_of(self) -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
        return {
            "flows": lambda: [{"flow": of, **row} for of, row in self._flow_intervals.items()],
            "groups": self._group_intervals,
            "queues": self._queue_intervals,
            "links": self._link_intervals,
            "users": self._user_intervals,
            "stations": self._station_intervals,
            "phases": self._phase_intervals,
            "delay_parts": lambda: delay_part_intervals(self.replications, "flow", self.confidence),
            "transfers": self._transfer_intervals,
            "transfer_sizes": list,
            **{name: functools.partial(self._application_intervals, name) for name in APPLICATIONS},
        }

    def summary(
        self, name: str = "flows", *, size_edges: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return means over the replications with their confidence intervals.

        Parameters
        ----------
        name, size_edges
            As in `intervals`. Default ``flows``.

        Returns
        -------
        summary : DataFrame
            The index has the flow, group or other object of each row, as in `intervals`. The last
            row of ``flows``, ``"all"``, has sums of rates and counts, means of delays and RTTs over
            the delivered packets, and quantiles over all packets. Columns have two levels: the
            quantity, then `mean`, `low` or `high`: ``result.summary()["goodput_bps"]``.

        Raises
        ------
        BadValueError
            If there is no such table, or it has no intervals.
        """
        return interval_frame(self.intervals(name, size_edges=size_edges))

    def pmf(self, queue: str | None = None) -> pd.DataFrame:
        """Return the time-weighted queue-length distribution with confidence intervals.

        Parameters
        ----------
        queue : str, optional
            Name of the queue, for example ``bottleneck/user 0``. If each user or station has a
            queue, ``bottleneck`` is the mean over these queues. Default: the bottleneck.

        Returns
        -------
        pmf : DataFrame
            Columns `packets` (number of waiting packets) and `mean`, `low`, `high` of the fraction
            of time with this number.

        Raises
        ------
        BadValueError
            If there is no such queue.
        """
        import pandas as pd

        queue = self.resolved.bottleneck.name if queue is None else queue
        of_queues = self._entries_by_name["queues"]
        names = queues_at(of_queues, queue) if isinstance(queue, str) else []
        if not names or (of_queues and names[0] not in of_queues):
            known = ", ".join(of_queues)
            raise BadValueError(
                f"queue {show(queue)}: does not exist. Queues of this scenario: {known}."
            )
        # First the mean over the queues of each replication, then intervals over the replications.
        runs = [of_queues.get(name, []) for name in names]
        rows = self._pmf([_mean_pmf(of_run) for of_run in zip(*runs, strict=True)])
        return pd.DataFrame(
            {
                "packets": range(len(rows)),
                "mean": [row.mean for row in rows],
                "low": [row.low for row in rows],
                "high": [row.high for row in rows],
            }
        )

    def distribution(self, quantity: str, of: str | None = None) -> Distribution:
        """Return the distribution of a time over packets or transfers, pooled over replications.

        Parameters
        ----------
        quantity : {"sojourn", "delay", "ack_delay", "completion_time", "slowdown", \
"object_load_time", "page_load_time"}
            ``sojourn`` times at a queue and one-way ``delay`` or ``ack_delay`` of packets require
            ``record.distributions``; ``completion_time`` and ``slowdown`` of transfers and the load
            times of objects and pages do not.
        of : str, optional
            For ``sojourn``, the name of the queue, for example ``bottleneck/user 0``. If each user
            or station has a queue, ``bottleneck`` selects all these queues. For other quantities,
            the index or name of a group of flows. The name of a group of transfers may have a size
            class, as in ``web.10kB-100kB``. Default: the bottleneck for ``sojourn``, all flows for
            other quantities.

        Returns
        -------
        distribution : Distribution
            Distribution with ``quantile``, ``quantiles`` and ``cdf``.

        Raises
        ------
        BadValueError
            If the distribution was not recorded, or there is no such quantity, queue or group.
        """
        check_all(word("quantity", quantity, QUANTITIES), None if of is None else text("of", of))
        counts = [counts_of(self.resolved, run, quantity, of) for run in self.replications]
        owner = of or default_owner(self.resolved, quantity)
        return Distribution(quantity, owner, counts, self.confidence)

    def jain(self) -> Interval:
        """Return the mean over the replications of Jain's fairness index of bulk flows' goodputs.

        Only comparable flows are included, see `airpath.results.fairness.comparable`.

        Returns
        -------
        jain : Interval
            1 if all n flows have the same goodput, 1/n if one flow has the total goodput; NaN
            without comparable flows.
        """
        return self._jain(range(len(self.resolved.flows)))

    def jain_of_users(self) -> dict[str, Interval]:
        """Return Jain's fairness index of the users' throughputs, for each cell.

        Returns
        -------
        jain : dict of str to Interval
            Maps the name of each cell to its index: 1 if all n users have the same rate, 1/n if one
            user has the total rate. Empty without cells.
        """
        users = [cell for cell, _user in user_measurements(self.replications)]
        return {
            cell: self._interval(
                (jain_of_users(run, cell) for run in self.replications), (1 / users.count(cell), 1)
            )
            for cell in dict.fromkeys(users)
        }

    # --- over replications -------------------------------------------------------------------

    def _interval(self, values: Iterable[float | None], bounds: tuple[float, float]) -> Interval:
        return mean_interval(values, self.confidence, bounds)

    def _of(self, name: str, values: Iterable[float | None]) -> Interval:
        return mean_interval(values, self.confidence, bounds(name), resolution(name))

    @functools.cached_property
    def _flow_intervals(self) -> Mapping[int | str, Mapping[str, Interval]]:
        """Intervals of all quantities of each flow, and of all flows together (``"all"``)."""
        flows = range(len(self.resolved.flows))
        rows: dict[int | str, dict[str, Interval]] = {
            flow: {
                name: self._of(name, (run["flows"][flow][name] for run in self.replications))
                for name in FLOW_QUANTITIES
            }
            for flow in flows
        }
        rows[ALL_FLOWS] = self._together(flows, None)
        return rows

    def _together(self, members: Sequence[int], group: int | None) -> dict[str, Interval]:
        runs = [group_quantities(run, members, group) for run in self.replications]
        return self._quantities(runs, FLOW_QUANTITIES)

    def _group_intervals(self) -> list[dict[str, Any]]:
        return [
            {
                "group": group,
                "flows": len(members),
                "kind": flow_kind(self.resolved.flows[members[0]]),
                "direction": self.resolved.flows[members[0]].direction,
                **name_of(self.resolved, group),
                **self._together(members, group),
                "jain": self._jain(members),
            }
            for group, members in self.resolved.flows.groups.items()
        ]

    def _jain(self, members: Sequence[int]) -> Interval:
        fair = comparable(self.resolved, members)
        values = (jain(run, fair) for run in self.replications)
        return self._interval(values, (1 / max(len(fair), 1), 1.0))

    def _queue_intervals(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for name, runs in self._entries_by_name["queues"].items():
            reasons = sorted({reason for queue in runs for reason in queue["drops"]})
            drops = {
                reason: self._of(reason, (queue["drops"].get(reason, 0) for queue in runs))
                for reason in reasons
            }
            pmf = self._pmf(runs)
            measured = [queue.get("measured", {}) for queue in runs]
            found.append(
                {
                    "name": name,
                    **self._quantities(runs, QUEUE_QUANTITIES),
                    **self._quantities(measured, measured[0]),
                    "drops": drops,
                    "pmf": {
                        part: [getattr(row, part) for row in pmf]
                        for part in ("mean", "low", "high")
                    },
                }
            )
        return found

    def _link_intervals(self) -> list[dict[str, Any]]:
        # The row of a link with a trace offset has `trace_offset_s`, a list with one value per
        # replication.
        found = []
        for name, runs in self._entries_by_name["links"].items():
            regimes = zip(*(link["regime_packets"] for link in runs), strict=True)
            counters = [link.get("counters", {}) for link in runs]
            found.append(
                {
                    "name": name,
                    **self._quantities(runs, LINK_QUANTITIES),
                    "regime_packets": [self._of("regime_packets", counts) for counts in regimes],
                    "counters": self._counters(counters),
                }
                | {key: [each[key] for each in counters] for key in DRAWN if key in counters[0]}
            )
        return found

    def _user_intervals(self) -> list[dict[str, Any]]:
        return [
            {"link": link, "user": user, **self._quantities(runs, USER_QUANTITIES)}
            for (link, user), runs in user_measurements(self.replications).items()
        ]

    def _station_intervals(self) -> list[dict[str, Any]]:
        return [
            {"link": link, "station": station, **self._quantities(runs, STATION_QUANTITIES)}
            for (link, station), runs in station_measurements(self.replications).items()
        ]

    def _phase_intervals(self) -> list[dict[str, Any]]:
        runs = [phase_rows(run, self.resolved.bottleneck.name) for run in self.replications]
        return [
            {
                **{name: same[0][name] for name in ("phase", "from_s", "until_s")},
                **self._quantities(same, PHASE_QUANTITIES),
            }
            for same in zip(*runs, strict=True)
        ]

    def _transfer_intervals(self) -> list[dict[str, Any]]:
        return [
            {
                "group": group,
                **name_of(self.resolved, group),
                **self._quantities(
                    [completions(self.resolved, run, members) for run in self.replications],
                    TRANSFER_QUANTITIES,
                ),
            }
            for group, members in transfer_groups(self.resolved).items()
        ]

    def _application_intervals(self, name: str) -> list[dict[str, Any]]:
        return [
            {
                "group": group,
                **name_of(self.resolved, group),
                **self._quantities(
                    [group_quality(run, name, members) for run in self.replications],
                    APPLICATIONS[name].quantities,
                ),
            }
            for group, members in application_groups(self.resolved, name).items()
        ]

    def _size_intervals(self, edges: Sequence[int]) -> list[dict[str, Any]]:
        rows: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
        for row in size_class_rows(self.resolved, self.replications, edges):
            rows.setdefault((row["group"], row["size_class"]), []).append(row)
        return [
            {
                "group": group,
                **name_of(self.resolved, group),
                "size_class": name,
                **self._quantities(of_class, TRANSFER_QUANTITIES),
            }
            for (group, name), of_class in rows.items()
        ]

    def _pmf(self, runs: Sequence[Mapping[str, Any]]) -> list[Interval]:
        """Return, for each queue length from 0, the share of time with this length."""
        found = [run["pmf"] for run in runs]
        length = max(map(len, found), default=0)
        padded = [[*shares, *[0.0] * (length - len(shares))] for shares in found]
        return [self._interval(shares, SHARE) for shares in zip(*padded, strict=True)]

    def _counters(self, runs: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
        """Return the intervals of link-specific counters; some replications may lack a counter."""
        names = dict.fromkeys(name for run in runs for name in run if name not in DRAWN)
        return {name: self._of(name, (run.get(name) for run in runs)) for name in names}

    def _quantities(
        self, runs: Sequence[Mapping[str, Any]], names: Iterable[str]
    ) -> dict[str, Interval]:
        return {name: self._of(name, (run[name] for run in runs)) for name in names}

    @functools.cached_property
    def _entries_by_name(self) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
        return {table: entries_by_name(self.replications, table) for table in ("queues", "links")}


def _mean_pmf(queues: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the mean of the queue-length distributions of several queues in one replication."""
    if len(queues) == 1:
        return queues[0]
    shares = zip_longest(*(queue["pmf"] for queue in queues), fillvalue=0.0)
    return {"pmf": [math.fsum(of_length) / len(queues) for of_length in shares]}


def _edges(table: str, size_edges: object) -> list[int]:
    """Return the edges of size classes, bytes; empty for a table without size classes."""
    if table == "transfer_sizes":
        return checked_edges(SIZE_EDGES if size_edges is None else size_edges)
    if size_edges is not None:
        what = 'has no effect without name = "transfer_sizes"'
        raise BadValueError(f"{error_prefix('size_edges', size_edges)}: {what}. Remove it.")
    return []
