"""Typed access to a resolved scenario, which is the input of the engine.

The document of a resolved scenario is a JSON object with quantities as integers in base units.
`airpath.scenario` creates the document, the engine reads it, and results store it. Other packages
do not read its keys directly; they use the classes of this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airpath.engine.flows import Flow, Flows
from airpath.engine.link import ResolvedLink
from airpath.engine.path import DIRECTIONS, ResolvedDirection, ResolvedHop, ResolvedPath
from airpath.engine.queue import ResolvedQueue

__all__ = ["Change", "Recording", "ResolvedScenario"]

DERIVED_SERIES = ("capacity",)
"""Series that Python computes from the trace, instead of recordings by the engine."""


@dataclass(frozen=True)
class Recording:
    """Recordings over time.

    Parameters
    ----------
    series : sequence of str
        Names of the recorded series.
    interval_ns : int
        Sampling interval of levels, ns; 0 records every change.
    distributions : sequence of str
        Packet times whose distribution is recorded.
    has_ss : bool
        True if the state of TCP senders is sampled.
    ss_interval_ns : int
        Time between two ``ss`` samples, ns.
    has_flow_monitor : bool
        True if the statistics of ns-3's FlowMonitor are recorded.
    has_delay_parts : bool
        True if the parts of the delays of packets are recorded.
    """

    series: Sequence[str]
    interval_ns: int
    distributions: Sequence[str]
    has_ss: bool
    ss_interval_ns: int
    has_flow_monitor: bool
    has_delay_parts: bool


@dataclass(frozen=True)
class Change:
    """A scheduled change of the link of a hop.

    Parameters
    ----------
    at_s : float
        Time of the change, s.
    rate_bps : int or None
        New bit rate of the link; None for a change of a station.
    user : int or None
        Index of the station; None for a change of the link's rate.
    schemes : tuple of str
        New MCSs of the station, downlink first.
    moved_db : float or None
        Change of the mean SNR of the station, dB.
    hop : str or None
        Name of the hop; None for the bottleneck.
    delay_ns : int or None
        New one-way propagation delay of the hop, ns.
    loss : float or None
        New loss probability of the link.
    length_s : float or None
        Length of an interruption, s.
    direction : str or None
        Direction of the change, ``forward`` or ``reverse``; None for the default.
    """

    at_s: float
    rate_bps: int | None
    user: int | None
    schemes: tuple[str, ...]
    moved_db: float | None
    hop: str | None = None
    delay_ns: int | None = None
    loss: float | None = None
    length_s: float | None = None
    direction: str | None = None

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Change:
        """Create a change from its resolved form."""
        action = description["action"]
        schemes = (action.get("downlink"), action.get("uplink"))
        return cls(
            description["at_ns"] / 1e9,
            action.get("rate_bps"),
            action.get("user"),
            tuple(filter(None, schemes)),
            action.get("moved_db"),
            description.get("hop"),
            action.get("delay_ns"),
            action.get("loss"),
            action["duration_ns"] / 1e9 if "duration_ns" in action else None,
            action.get("direction"),
        )


@dataclass(frozen=True)
class ResolvedScenario:
    """A resolved scenario with typed access to its values.

    Parameters
    ----------
    document : mapping
        Resolved form, as created by `Scenario.resolve` and stored with results.
    """

    document: Mapping[str, Any]

    @classmethod
    def from_json(cls, text: str) -> ResolvedScenario:
        """Parse the JSON text of a resolved scenario."""
        return cls(json.loads(text))

    def to_json(self) -> str:
        """Return the document as compact JSON."""
        return json.dumps(self.document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    # --- values --------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the scenario, for titles."""
        return str(self.document["name"])

    @property
    def duration_ns(self) -> int:
        """Simulated time, ns."""
        return int(self.document["duration_ns"])

    @property
    def warmup_ns(self) -> int:
        """Time at the start that is excluded from results, ns."""
        return int(self.document["warmup_ns"])

    @property
    def duration_s(self) -> float:
        """Simulated time, s."""
        return self.duration_ns / 1e9

    @property
    def warmup_s(self) -> float:
        """Time at the start that is excluded from results, s."""
        return self.warmup_ns / 1e9

    @property
    def measured_ns(self) -> int:
        """Simulated time after the warm-up, ns."""
        return self.duration_ns - self.warmup_ns

    @cached_property
    def flows(self) -> Flows:
        """The flows."""
        return Flows(self.document["flows"])

    @cached_property
    def path(self) -> ResolvedPath:
        """The hops of the path."""
        return ResolvedPath.of(self.document)

    @property
    def hops(self) -> Sequence[ResolvedHop]:
        """The hops, in order from the servers to the users."""
        return self.path.hops

    @cached_property
    def data_directions(self) -> Sequence[ResolvedDirection]:
        """Directions of hops that data traverse, from the servers; the bottleneck in short form."""
        if self.is_short_form:
            return [self.bottleneck]
        names = {
            each.name for flow in self.flows.entries for each in self.path.data_directions(flow)
        }
        directions = (each for hop in self.hops for each in hop.directions)
        return [each for each in directions if each.name in names]

    @property
    def is_short_form(self) -> bool:
        """True if the document has the short form of a path, False for a list of hops."""
        return self.ack_path_kind is not None

    @property
    def ack_path_kind(self) -> str | None:
        """Kind of the ACK path in the short form of a path; None for a list of hops."""
        found = self.document.get("ack_path")
        return None if found is None else str(found["kind"])

    @property
    def bottleneck(self) -> ResolvedDirection:
        """The direction of a hop that results show by default; see `ResolvedPath.bottleneck`."""
        return self.path.bottleneck

    @property
    def link(self) -> ResolvedLink:
        """The link of the bottleneck."""
        return self.bottleneck.link

    @property
    def queue(self) -> ResolvedQueue:
        """The queue discipline of the bottleneck."""
        return self.bottleneck.queue

    @cached_property
    def recording(self) -> Recording:
        """Requested recordings of the run."""
        found = self.document["record"]
        return Recording(
            tuple(found["series"]),
            int(found["interval_ns"]),
            tuple(found.get("distributions", ())),
            bool(found["ss"]),
            int(found["ss_interval_ns"]),
            bool(found["flow_monitor"]),
            bool(found.get("delay_parts", False)),
        )

    @cached_property
    def changes(self) -> Sequence[Change]:
        """Changes of hops except schedules of delays, in ascending order of time."""
        found = [each for each in self.document["controls"] if each["action"]["kind"] != "schedule"]
        return [Change.of(each) for each in sorted(found, key=lambda change: change["at_ns"])]

    @property
    def phase_starts_s(self) -> Sequence[float]:
        """Times at which phases of the statistics start, s: changes, and ends of interruptions."""
        ends = (each.at_s + each.length_s for each in self.changes if each.length_s is not None)
        return sorted({*(each.at_s for each in self.changes), *ends})

    @property
    def changes_of_bottleneck(self) -> Sequence[Change]:
        """Changes of the bottleneck's link to the users, in ascending order of time."""
        names = (None, self.path.bottleneck_hop.name)
        changes = [change for change in self.changes if change.hop in names]
        return [change for change in changes if change.direction != "reverse"]

    def links(self) -> Iterator[tuple[str, ResolvedLink]]:
        """Yield the name in results and the link of each hop; a duplex link occurs twice."""
        for direction in self.path.directions:
            yield direction.name, direction.link

    def base_rtt_s(self, flow: Flow) -> float:
        """Return the two-way propagation delay of a flow's path, s."""
        wires = (flow.access, flow.egress, flow.ack_access, flow.return_wire)
        shared_ns = sum(self.path.delay_ns(flow, direction) for direction in DIRECTIONS)
        return (sum(wire.delay_ns for wire in wires) + shared_ns) / 1e9

    # --- other scenarios -----------------------------------------------------------------------

    def replace(self, **values: Any) -> ResolvedScenario:
        """Return a copy in which keys of the document have other values."""
        return ResolvedScenario({**self.document, **values})

    def recorded(self, **values: Any) -> ResolvedScenario:
        """Return a copy in which keys of ``record`` have other values."""
        return self.replace(record={**self.document["record"], **values})

    def without_captures(self) -> ResolvedScenario:
        """Return a copy without captures."""
        return self.replace(capture={**self.document["capture"], "points": []})

    def with_congestion(self, group: int, congestion: Mapping[str, Any]) -> ResolvedScenario:
        """Return a copy in which the flows of a group have another congestion control."""
        flows = [
            {**flow, "source": {**flow["source"], "congestion": congestion}}
            if flow["group"] == group
            else flow
            for flow in self.document["flows"]
        ]
        return self.replace(flows=flows)

    def with_flows_like(self, flow: int, count: int) -> ResolvedScenario:
        """Return a copy whose flows are replaced by `count` copies of one flow."""
        return self.replace(flows=[{**self.flows[flow].description, "count": count}])

    def for_engine(self) -> ResolvedScenario:
        """Return a copy without the series that Python computes."""
        series = [name for name in self.recording.series if name not in DERIVED_SERIES]
        return self.recorded(series=series)
