"""Access to the hops of a resolved scenario, from its list of hops or from its short form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airpath.engine.flows import Flow, Wire
from airpath.engine.link import ResolvedLink
from airpath.engine.queue import ResolvedQueue

__all__ = ["DIRECTIONS", "ResolvedDirection", "ResolvedHop", "ResolvedPath", "opposite"]

DIRECTIONS = ("forward", "reverse")
"""Directions of data: to the users, and to the servers."""


@dataclass(frozen=True)
class ResolvedDirection:
    """One direction of a hop: a queue and a link.

    Parameters
    ----------
    name : str
        Name in results.
    description : mapping
        Resolved form of the direction.
    is_mirrored : bool
        True in reverse direction if the link describes both directions. Default False.
    """

    name: str
    description: Mapping[str, Any]
    is_mirrored: bool = False

    @cached_property
    def link(self) -> ResolvedLink:
        """The link."""
        return ResolvedLink(self.description["link"])

    @cached_property
    def queue(self) -> ResolvedQueue:
        """The queue discipline."""
        return ResolvedQueue(self.description["queue"])

    @property
    def delay_ns(self) -> int:
        """One-way propagation delay after the link, ns."""
        return int(self.description.get("delay_ns") or 0)

    @property
    def total_delay_ns(self) -> int:
        """One-way propagation delay, with the delay that the link itself adds, ns."""
        forward_ns, reverse_ns = self.link.latencies_ns
        return self.delay_ns + (reverse_ns if self.is_mirrored else forward_ns)


@dataclass(frozen=True)
class ResolvedHop:
    """A hop of a path.

    Parameters
    ----------
    name : str
        Name of the hop.
    forward, reverse : ResolvedDirection or None
        The directions to the users and to the servers; None for an ideal direction.
    wire : Wire or None
        The wire of both directions; None for a hop with links.
    """

    name: str
    forward: ResolvedDirection | None = None
    reverse: ResolvedDirection | None = None
    wire: Wire | None = None

    def direction(self, direction: str) -> ResolvedDirection | None:
        """Return the direction ``forward`` or ``reverse``; None if it has no link."""
        return self.forward if direction == "forward" else self.reverse

    @property
    def directions(self) -> list[ResolvedDirection]:
        """The directions with a link, forward first."""
        return [each for each in (self.forward, self.reverse) if each is not None]

    @property
    def by_name(self) -> dict[str, ResolvedDirection]:
        """The directions with a link as ``down`` and ``up``."""
        found = {"down": self.forward, "up": self.reverse}
        return {key: each for key, each in found.items() if each is not None}

    def delay_ns(self, direction: str) -> int:
        """Return the one-way propagation delay in a direction, ns."""
        if self.wire is not None:
            return self.wire.delay_ns
        found = self.direction(direction)
        return 0 if found is None else found.total_delay_ns

    def name_of(self, direction: str) -> str:
        """Return the name of a direction in results, also for a wire."""
        found = self.direction(direction)
        if found is not None:
            return found.name
        return self.name if direction == "forward" else _reverse_name(self.name)


@dataclass(frozen=True)
class ResolvedPath:
    """The hops of a path.

    Parameters
    ----------
    hops : sequence of ResolvedHop
        The hops, in order from the servers to the users.
    """

    hops: Sequence[ResolvedHop]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ResolvedPath:
        """Create the path from a resolved scenario."""
        listed = document.get("hops")
        return cls(list(_short_form(document) if listed is None else map(_listed, listed)))

    @cached_property
    def bottleneck(self) -> ResolvedDirection:
        """The direction of a hop that controls and results show by default.

        It is the forward direction of the hop ``bottleneck``, or else of the last hop with a link
        in this direction. If no hop has such a link, it is the last link in reverse direction.
        """
        for way in DIRECTIONS:
            linked = [hop for hop in self.hops if hop.direction(way) is not None]
            named = (hop for hop in linked if hop.name == "bottleneck")
            found = next(named, linked[-1] if linked else None)
            if found is not None:
                return next(each for each in (found.direction(way),) if each is not None)
        raise AssertionError("a scenario has a link")

    @cached_property
    def bottleneck_hop(self) -> ResolvedHop:
        """The hop of `bottleneck`."""
        return next(hop for hop in self.hops if self.bottleneck in hop.directions)

    @cached_property
    def directions(self) -> Sequence[ResolvedDirection]:
        """The link directions of all hops, in the order of results."""
        return [each for hop in reversed(self.hops) for each in hop.directions]

    @cached_property
    def queue_names(self) -> Sequence[str]:
        """Names in results of the links with queues, in order; includes wires with a limit."""
        found: list[str] = []
        for hop in reversed(self.hops):
            if hop.wire is not None and hop.wire.is_limited:
                found += [hop.name_of(direction) for direction in DIRECTIONS]
            found += [each.name for each in hop.directions]
        return found

    @property
    def bottleneck_id(self) -> int:
        """Index of the bottleneck among the links in results."""
        return self.queue_names.index(self.bottleneck.name)

    def crossed(self, flow: Flow) -> Sequence[ResolvedHop]:
        """Return the hops that a flow crosses, in order from the servers to the users."""
        if flow.hops is None:
            return self.hops
        names = [hop.name for hop in self.hops]
        first, last = map(names.index, flow.hops)
        return self.hops[first : last + 1]

    def data_directions(self, flow: Flow) -> list[ResolvedDirection]:
        """Return the link directions that the data of a flow traverse, in this order."""
        return _traversed(self.crossed(flow), flow.direction)

    def ack_directions(self, flow: Flow) -> list[ResolvedDirection]:
        """Return the link directions that the ACKs of a flow traverse, in this order."""
        return _traversed(self.crossed(flow), opposite(flow.direction))

    def delay_ns(self, flow: Flow, direction: str) -> int:
        """Return the propagation delay of the hops that a flow crosses, in a direction, ns."""
        return sum(hop.delay_ns(direction) for hop in self.crossed(flow))


def opposite(direction: str) -> str:
    """Return the opposite of the direction ``forward`` or ``reverse``."""
    return DIRECTIONS[1 - DIRECTIONS.index(direction)]


def _traversed(hops: Sequence[ResolvedHop], direction: str) -> list[ResolvedDirection]:
    in_order = hops if direction == "forward" else hops[::-1]
    return [each for hop in in_order if (each := hop.direction(direction)) is not None]


def _reverse_name(name: str) -> str:
    return "reverse" if name == "bottleneck" else f"{name}_reverse"


def _listed(hop: Mapping[str, Any]) -> ResolvedHop:
    name, down, up = str(hop["name"]), hop.get("down"), hop.get("up")
    if (wire := hop.get("wire")) is not None:
        return ResolvedHop(name, wire=Wire.of(wire))
    return ResolvedHop(
        name, down and ResolvedDirection(name, down), up and _reverse(name, down, up)
    )


def _reverse(name: str, down: Mapping[str, Any] | None, up: Mapping[str, Any]) -> ResolvedDirection:
    if down is None:
        return ResolvedDirection(name, up)
    own = up.get("link") is not None
    delay_ns = up.get("delay_ns")
    if delay_ns is None and not own:
        delay_ns = down.get("delay_ns")
    description = {**up, "link": up["link"] if own else down["link"], "delay_ns": delay_ns}
    return ResolvedDirection(_reverse_name(name), description, is_mirrored=not own)


_IDEAL: Mapping[str, Any] = {"kind": "ideal"}


def _short_form(document: Mapping[str, Any]) -> Iterator[ResolvedHop]:
    bottleneck, ack_path = document["bottleneck"], document.get("ack_path", _IDEAL)
    if (wire := document.get("backhaul")) is not None:
        yield ResolvedHop("backhaul", wire=Wire.of(wire))
    if ack_path["kind"] == "link":
        yield ResolvedHop("ack_path", reverse=ResolvedDirection("ack_path", ack_path))
    is_reverse = ack_path["kind"] == "reverse"
    reverse = _reverse("bottleneck", bottleneck, ack_path) if is_reverse else None
    yield ResolvedHop("bottleneck", ResolvedDirection("bottleneck", bottleneck), reverse)
