"""What was counted: tidy tables, and intervals over replications."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from airpath.arguments import check_all, whole, word
from airpath.engine.flows import Flow
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, show
from airpath.results.fairness import comparable, jain
from airpath.results.frames import frame
from airpath.results.intervals import Interval, mean_interval
from airpath.results.phases import PHASE_QUANTITIES, phase_rows
from airpath.results.quantities import (
    DELAY_QUANTILES,
    DRAWN,
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    QUEUE_QUANTITIES,
    bounds,
    resolution,
    together,
)
from airpath.results.radio import RadioStatistics
from airpath.results.transfers import TRANSFER_QUANTITIES, completions, transfer_groups
from airpath.results.users import queues_at

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_FLOWS", "Statistics"]

ALL_FLOWS = "all"
"""Index of the aggregate in `Statistics.summary`."""


class Statistics(RadioStatistics):
    """The statistics of the replications of one scenario, from the end of the warm-up on.

    Attributes
    ----------
    replications : list of dict
        The statistics of each finished replication, as the engine reports them.
    resolved : ResolvedScenario
        The resolved scenario.
    confidence : float
        Of every interval, in (0, 1).
    """

    def __init__(
        self, replications: list[dict[str, Any]], resolved: ResolvedScenario, confidence: float
    ) -> None:
        self.replications = replications
        self.resolved = resolved
        self.confidence = confidence

    @property
    def measured_s(self) -> float:
        """Simulated time from the end of the warm-up to the end of the run, s."""
        return self.resolved.measured_ns / 1e9

    @property
    def flow_count(self) -> int:
        """How many flows the scenario has."""
        return len(self.resolved.flows)

    # --- tables ------------------------------------------------------------------------------

    def flows(self) -> pd.DataFrame:
        """Return one row per flow and replication.

        Returns
        -------
        flows : DataFrame
            `replication`, `flow`, `kind` (tcp or datagram), `direction` of the data (forward or
            reverse), `start_s` and the measured quantities. What was not measured is NaN. Where
            sizes are drawn, `transfer_bytes`; where a connection may be aborted, `aborted_at_s`.
        """
        more = self.resolved.flows.optional_quantities()
        return frame(
            {"replication": run["replication"], "flow": flow["id"], "kind": flow["kind"]}
            | {"direction": about.direction}
            | {name: flow[name] for name in ("start_s", *FLOW_QUANTITIES)}
            | {name: flow.get(name) for name in more}
            for run in self.replications
            for flow, about in zip(run["flows"], self.resolved.flows, strict=True)
        )

    def queues(self) -> pd.DataFrame:
        """Return one row per queue and replication; drops have one column for each reason.

        Returns
        -------
        queues : DataFrame
            `replication`, `queue`, time averages of waiting packets and bytes, `mean_sojourn_s`
            and the median and the 95th and 99th percentile of the same times, counts of packets,
            and what only a discipline of its kind measures.
            Of queues of cells also `mean_delay_s`, from arrival to the end of the slot that
            completes a packet, and `empty_share`, the share of time without a packet.
        """
        found = [
            (run["replication"], queue) for run in self.replications for queue in run["queues"]
        ]
        reasons = sorted({reason for _, queue in found for reason in queue["drops"]})
        return frame(
            {"replication": number, "queue": queue["name"]}
            | {name: queue[name] for name in QUEUE_QUANTITIES}
            | queue.get("measured", {})
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
            Which queue: ``bottleneck``, ``bottleneck/user 0``. Where each user or station has a
            queue, ``bottleneck`` is the mean over these. Default ``bottleneck``.

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

        by_name = self.by_name("queues")
        names = queues_at(by_name, queue) if isinstance(queue, str) else []
        if not names or (by_name and names[0] not in by_name):
            known = ", ".join(by_name)
            raise BadValueError(
                f"queue {show(queue)}: not there. Queues of this scenario: {known}."
            )
        # In each replication the mean over the queues; intervals are over the replications.
        runs = [by_name.get(name, []) for name in names]
        rows = self._pmf([_mean_pmf(of_run) for of_run in zip(*runs, strict=True)])
        return pd.DataFrame(
            {
                "packets": range(len(rows)),
                "mean": [row.mean for row in rows],
                "low": [row.low for row in rows],
                "high": [row.high for row in rows],
            }
        )

    def _pmf(self, runs: Sequence[Mapping[str, Any]]) -> list[Interval]:
        """Return the share of time with each number of packets in a queue."""
        found = [run["pmf"] for run in runs]
        length = max(map(len, found), default=0)
        padded = [[*shares, *[0.0] * (length - len(shares))] for shares in found]
        return [self._interval(shares, (0.0, 1.0)) for shares in zip(*padded, strict=True)]

    def summary(self) -> pd.DataFrame:
        """Return means over the replications with their confidence intervals.

        Returns
        -------
        summary : DataFrame
            Indexed by flow, at the end ``"all"``: rates and counts added up, delays and RTTs
            averaged over the delivered packets, quantiles those of all packets. Columns in two
            levels, the quantity and `mean`, `low`, `high`: ``result.summary()["goodput_bps"]``.
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
        """Return Jain's fairness index of the goodputs of bulk flows, over the replications.

        Only flows that can be compared count: those of `airpath.results.fairness.comparable`.

        Returns
        -------
        jain : Interval
            1 when these n flows get the same, 1/n when one gets everything; NaN without one.
        """
        return self._jain(range(self.flow_count))

    def groups(self) -> pd.DataFrame:
        """Return one row per group of flows and replication.

        Returns
        -------
        groups : DataFrame
            `replication`, `group` (from 0, in the order of the scenario), `flows` (how many),
            `kind`, `direction`, the quantities of `flows`, rates and counts added up, delays and
            RTTs averaged over the delivered packets, quantiles of the delays those of all packets
            of the group, and `jain`, Jain's index within a group of bulk flows.
        """
        fair = {
            of: comparable(self.resolved, who) for of, who in self.resolved.flows.groups.items()
        }
        return frame(
            {
                "replication": run["replication"],
                "group": group,
                "flows": len(members),
                "kind": self.kind_of(members[0]),
                "direction": self.direction_of(members[0]),
                **_of_group(run, members, group),
                "jain": jain(run, fair[group]),
            }
            for run in self.replications
            for group, members in self.resolved.flows.groups.items()
        )

    def phases(self) -> pd.DataFrame:
        """Return one row per replication and phase between the events of ``[[control]]``.

        A phase begins at the end of the warm-up or at an event, and ends at the next event or at
        the end of the run. Without events after the warm-up there are none.

        Returns
        -------
        phases : DataFrame
            `replication`, `phase` (from 0), `from_s`, `until_s`, and within the phase: goodput,
            delay, RTT and counts of all flows together, mean length, wait, arrivals, drops and
            marks of the bottleneck's queue, utilisation of its link.
        """
        return frame(
            {"replication": run["replication"], **row}
            for run in self.replications
            for row in phase_rows(run)
        )

    def phase_intervals(self) -> list[dict[str, Any]]:
        """Return each phase and its quantities over the replications."""
        runs = [phase_rows(run) for run in self.replications]
        return [
            {
                **{name: same[0][name] for name in ("phase", "from_s", "until_s")},
                **self._quantities(same, PHASE_QUANTITIES),
            }
            for same in zip(*runs, strict=True)
        ]

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

    # --- over replications -------------------------------------------------------------------

    def _interval(self, values: Iterable[float | None], bounds: tuple[float, float]) -> Interval:
        return mean_interval(values, self.confidence, bounds)

    def _of(self, name: str, values: Iterable[float | None]) -> Interval:
        return mean_interval(values, self.confidence, bounds(name), resolution(name))

    @functools.cached_property
    def intervals(self) -> Mapping[int | str, Mapping[str, Interval]]:
        """Every quantity of every flow, and of ``"all"`` together, over the replications."""
        rows: dict[int | str, dict[str, Interval]] = {
            flow: {
                name: self._of(name, (run["flows"][flow][name] for run in self.replications))
                for name in FLOW_QUANTITIES
            }
            for flow in range(self.flow_count)
        }
        rows[ALL_FLOWS] = self._together(range(self.flow_count), None)
        return rows

    def _together(self, members: Sequence[int], group: int | None) -> dict[str, Interval]:
        runs = [_of_group(run, members, group) for run in self.replications]
        return self._quantities(runs, FLOW_QUANTITIES)

    def group_intervals(self) -> list[dict[str, Any]]:
        """Return the number, size and every quantity of each flow group, over the replications."""
        return [
            {
                "group": group,
                "flows": len(members),
                "kind": self.kind_of(members[0]),
                "direction": self.direction_of(members[0]),
                **self._together(members, group),
                "jain": self._jain(members),
            }
            for group, members in self.resolved.flows.groups.items()
        ]

    def _jain(self, members: Sequence[int]) -> Interval:
        fair = comparable(self.resolved, members)
        values = (jain(run, fair) for run in self.replications)
        return self._interval(values, (1 / max(len(fair), 1), 1.0))

    def queue_intervals(self) -> list[dict[str, Any]]:
        """Return the name and every quantity of each queue, over the replications."""
        return list(self._queue_intervals)

    @functools.cached_property
    def _queue_intervals(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for name, runs in self.by_name("queues").items():
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

    def link_intervals(self) -> list[dict[str, Any]]:
        """Return the name and every quantity of each link, over the replications.

        A link whose trace does not begin at its start has `trace_offset_s`, a list by replication.
        """
        found = []
        for name, runs in self.by_name("links").items():
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

    def _counters(self, runs: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
        """Return what only a link of its kind counts; a run need not have all of it."""
        names = dict.fromkeys(name for run in runs for name in run if name not in DRAWN)
        return {name: self._of(name, (run.get(name) for run in runs)) for name in names}

    def _quantities(
        self, runs: Sequence[Mapping[str, Any]], names: Iterable[str]
    ) -> dict[str, Interval]:
        return {name: self._of(name, (run[name] for run in runs)) for name in names}

    def by_name(self, table: str) -> dict[str, list[Mapping[str, Any]]]:
        """Return the entries of ``queues`` or ``links`` of all replications, by name."""
        check_all(word("table", table, ("queues", "links")))
        return dict(self._by_name[table])

    @functools.cached_property
    def _by_name(self) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
        tables: dict[str, dict[str, list[Mapping[str, Any]]]] = {"queues": {}, "links": {}}
        for table, found in tables.items():
            for run in self.replications:
                for entry in run[table]:
                    found.setdefault(entry["name"], []).append(entry)
        return tables

    def kind_of(self, flow: int | str) -> str:
        """Return what a flow is: ``tcp`` or ``datagram``."""
        return "tcp" if self._flow(flow).source.is_tcp else "datagram"

    def direction_of(self, flow: int | str) -> str:
        """Return which way a flow's data goes: ``forward`` or ``reverse``."""
        return self._flow(flow).direction

    def _flow(self, flow: int | str) -> Flow:
        last = self.flow_count - 1
        check_all(whole("flow", flow, 0, last, f"Write a whole number from 0 to {last}"))
        return self.resolved.flows[int(flow)]


def _of_group(
    run: Mapping[str, Any], members: Sequence[int], group: int | None
) -> dict[str, float | None]:
    """Return the quantities of the flows of a group, or of all that there are."""
    flows = [run["flows"][number] for number in members]
    found = run["together"]
    if group is not None:
        found = {"all": next(of for of in found["groups"] if of["group"] == group)}
    merged = {name: found["all"][name] for name in DELAY_QUANTILES}
    return {name: together(flows, name, merged) for name in FLOW_QUANTITIES}


def _mean_pmf(queues: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the mean over queues of their distributions in one replication, as that of one."""
    if len(queues) == 1:
        return queues[0]
    shares = zip_longest(*(queue["pmf"] for queue in queues), fillvalue=0.0)
    return {"pmf": [math.fsum(of_length) / len(queues) for of_length in shares]}
