"""The hops of a scenario's path, from its list of hops or from its short form.

The short form of a path consists of the tables `bottleneck`, `ack_path` and `backhaul`. Rules and
conversions read the hops only through this module, so that they apply to both forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from airpath.errors import dotted
from airpath.scenario.ack_path import Reverse
from airpath.scenario.hops import ENDS, STANDARD_QUEUE
from airpath.scenario.units import Duration
from airpath.scenario.wires import Wire

if TYPE_CHECKING:
    from airpath.scenario.aqm.queues import QueueDisc
    from airpath.scenario.base import Context, Path
    from airpath.scenario.control import Control
    from airpath.scenario.hops import Hop
    from airpath.scenario.link.base import Link
    from airpath.scenario.traffic.source import Source

__all__ = [
    "FlowPath",
    "PathHop",
    "PathTables",
    "Route",
    "Side",
    "Tables",
    "controlled_hop",
    "controlled_link",
    "flow_paths",
    "hops_of",
    "key_text",
    "links_of",
    "main_hop",
    "main_link",
    "resolved_path_hop",
    "route_of",
    "sides_by_name",
]


class Tables(Protocol):
    """The tables of a scenario that describe its path."""

    @property
    def hops(self) -> Sequence[Hop] | None:
        """The list of hops; None in the short form."""

    @property
    def bottleneck(self) -> Any:
        """In the short form, the hop of the data; None in a list of hops."""

    @property
    def ack_path(self) -> Any:
        """In the short form, the path of the ACKs."""

    @property
    def backhaul(self) -> Wire | None:
        """In the short form, the wire before the bottleneck; None without a wire."""


class PathTables(Tables, Protocol):
    """The tables of a scenario that describe its path and the flows that cross it."""

    @property
    def flows(self) -> Sequence[Source]:
        """The groups of flows."""
        ...


@dataclass(frozen=True)
class Side:
    """One direction of a hop with a link.

    Parameters
    ----------
    link : Link
        The link.
    aqm : QueueDisc
        The queue discipline.
    delay_ns : int
        One-way propagation delay after the link, ns.
    latency_ns : int
        Delay that the link itself adds, ns.
    link_at, aqm_at : tuple of str or int
        Paths of the link and of the queue discipline in the scenario.
    is_mirrored : bool
        True in reverse direction if the link describes both directions.
    """

    link: Link
    aqm: QueueDisc
    delay_ns: int
    latency_ns: int
    link_at: Path
    aqm_at: Path
    is_mirrored: bool = False


@dataclass(frozen=True)
class PathHop:
    """A hop of a path.

    Parameters
    ----------
    name : str
        Name of the hop.
    at : tuple of str or int
        Path of the hop's table in the scenario.
    down, up : Side or None
        The directions to the users and to the servers; None for an ideal direction.
    wire : Wire or None
        The wire of both directions; None for a hop with links.
    """

    name: str
    at: Path
    down: Side | None = None
    up: Side | None = None
    wire: Wire | None = None

    @property
    def reverse_name(self) -> str:
        """Name of the direction to the servers in results."""
        if self.down is None and self.up is not None:
            return self.name
        return "reverse" if self.name == "bottleneck" else f"{self.name}_reverse"

    @property
    def named_sides(self) -> list[tuple[str, Side | None]]:
        """Names in results and sides of both directions, down first."""
        return [(self.name, self.down), (self.reverse_name, self.up)]

    @property
    def sides(self) -> list[Side]:
        """The directions with a link."""
        return [side for side in (self.down, self.up) if side is not None]

    def side(self, direction: str) -> Side | None:
        """Return the side that packets in direction ``forward`` or ``reverse`` traverse."""
        return self.down if direction == "forward" else self.up

    @property
    def delay_ns(self) -> int:
        """Two-way propagation delay, ns."""
        if self.wire is not None:
            return 2 * int(self.wire.delay)
        return sum(side.delay_ns + side.latency_ns for side in self.sides)

    @property
    def has_stations(self) -> bool:
        """True if the users of the hop are stations of its link."""
        return any(side.link.has_stations for side in self.sides)


@dataclass(frozen=True)
class Route:
    """The hops that a group of flows crosses.

    Parameters
    ----------
    first, last : int
        Positions of the first and last hop, in the order of the path.
    direction : str
        Direction of the data: ``forward`` or ``reverse``.
    """

    first: int
    last: int
    direction: str

    def of(self, hops: Sequence[PathHop]) -> Sequence[PathHop]:
        """Return the crossed hops, in the order of the path."""
        return hops[self.first : self.last + 1]


@dataclass(frozen=True)
class FlowPath:
    """The part of a path that a group of flows crosses, in the form that flows need.

    Parameters
    ----------
    delay_ns : int
        Two-way propagation delay of the crossed hops, ns. Default 0.
    has_stations : bool
        True if one end of each flow is a station of a link. Default False.
    direction : str
        Direction of the data: ``forward`` or ``reverse``. Default ``forward``.
    ends : tuple of str or None
        Names of the first and the last crossed hop; None for all hops. Default None.
    """

    delay_ns: int = 0
    has_stations: bool = False
    direction: str = "forward"
    ends: tuple[str, str] | None = None


def hops_of(scenario: Tables) -> list[PathHop]:
    """Return the hops of a path, in order from the servers to the users."""
    if scenario.hops:
        return [_listed(hop, ("hops", index)) for index, hop in enumerate(scenario.hops)]
    return _short_form(scenario)


def sides_by_name(scenario: Tables) -> dict[str, Side]:
    """Return the link directions of a path by their names in results, in the order of results."""
    found: dict[str, Side] = {}
    for hop in reversed(hops_of(scenario)):
        found |= {name: side for name, side in hop.named_sides if side is not None}
    return found


def key_text(scenario: Tables, path: Path) -> str:
    """Return a path as a dotted key, in which the name of a hop replaces its position."""
    if path[0] == "hops" and scenario.hops:
        path = ("hops", scenario.hops[int(path[1])].name, *path[2:])
    return dotted(path)


def links_of(scenario: Tables) -> list[tuple[Path, Link]]:
    """Return the paths and links of all hops; a link of both directions occurs once."""
    found = {side.link_at: side.link for hop in hops_of(scenario) for side in hop.sides}
    return list(found.items())


def main_hop(hops: Sequence[PathHop]) -> PathHop | None:
    """Return the hop that controls and results name by default.

    It is the hop ``bottleneck``, or else the last hop with a link in forward direction; None
    without such a hop.
    """
    linked = [hop for hop in hops if hop.down is not None]
    return next((hop for hop in linked if hop.name == "bottleneck"), linked[-1] if linked else None)


def main_link(scenario: Tables) -> Link:
    """Return the link that results show by default, as `ResolvedPath.bottleneck` does."""
    hops = hops_of(scenario)
    hop = main_hop(hops)
    sides = hop.sides if hop is not None else [side for each in hops for side in each.sides][-1:]
    return sides[0].link


def controlled_hop(change: Control, hops: Sequence[PathHop]) -> PathHop | None:
    """Return the hop that a scheduled change concerns; None if there is no such hop.

    The engine chooses the same hop by default: the bottleneck, or else the last hop with a link.
    """
    if change.hop is not None:
        return next((hop for hop in hops if hop.name == change.hop), None)
    named = next((hop for hop in hops if hop.name == "bottleneck"), None)
    return named or next((hop for hop in reversed(hops) if hop.sides), None)


def controlled_link(change: Control, hops: Sequence[PathHop]) -> Link | None:
    """Return the link that a scheduled change concerns; None if its hop has no link."""
    hop = controlled_hop(change, hops)
    return hop.sides[0].link if hop is not None and hop.sides else None


def route_of(group: Source, hops: Sequence[PathHop]) -> Route:
    """Return the hops that a group of flows crosses; unknown names count as the ends."""
    positions: dict[str | None, int] = {
        ENDS[0]: -1,
        **{hop.name: at for at, hop in enumerate(hops)},
        ENDS[1]: len(hops),
    }
    origin, end = (positions.get(name) for name in (group.origin, group.destination))
    direction = _direction(origin, end, group.direction, len(hops))
    ends = (-1, len(hops)) if direction == "forward" else (len(hops), -1)
    given = ((origin, ends[0]), (end, ends[1]))
    first, last = sorted(default if at is None else at for at, default in given)
    return Route(max(first, 0), min(last, len(hops) - 1), direction)


def _direction(origin: int | None, end: int | None, default: str, users: int) -> str:
    """Return the direction of data between two positions; `users` is the position of the users."""
    opposite = {-1: users, users: -1}
    begin = opposite.get(end) if origin is None and end is not None else origin
    finish = opposite.get(origin) if end is None and origin is not None else end
    if begin is None or finish is None or begin == finish:
        return default
    return "forward" if begin < finish else "reverse"


def flow_paths(scenario: PathTables) -> tuple[FlowPath, ...]:
    """Return the part of the path that each group of flows of a scenario crosses."""
    hops = hops_of(scenario)
    return tuple(_flow_path(group, hops) for group in scenario.flows)


def _flow_path(group: Source, hops: Sequence[PathHop]) -> FlowPath:
    route = route_of(group, hops)
    crossed = route.of(hops)
    ends = (crossed[0].name, crossed[-1].name) if 0 < len(crossed) < len(hops) else None
    return FlowPath(
        sum(hop.delay_ns for hop in crossed),
        any(hop.has_stations for hop in crossed),
        route.direction,
        ends,
    )


def _side(
    link: Link,
    aqm: QueueDisc,
    places: tuple[Path, Path],
    delay: Duration | None = None,
    *,
    is_mirrored: bool = False,
) -> Side:
    """Return a direction of a hop; `is_mirrored`: the link describes the other direction too."""
    propagation = int(link.propagation)
    delay_ns = propagation if delay is None else int(delay)
    latency_ns = int(link.delay_back if is_mirrored else link.delay) - propagation
    return Side(link, aqm, delay_ns, latency_ns, *places, is_mirrored=is_mirrored)


def _listed(hop: Hop, at: Path) -> PathHop:
    if hop.link is None and hop.down is None and hop.up is None:
        return PathHop(hop.name, at, wire=hop.wire or Wire(delay=hop.delay or Duration(0)))
    sides: dict[str, Side] = {}
    for key in ("down", "up"):
        part = getattr(hop, key)
        link = hop.link_of(key)
        if link is None:
            continue
        own = {name: part is not None and getattr(part, name) is not None for name in _OF_SIDE}
        link_at, aqm_at = ((*at, *([key] if own[name] else []), name) for name in ("link", "aqm"))
        aqm = part.aqm if own["aqm"] else hop.aqm or STANDARD_QUEUE
        delay = part.delay if own["delay"] else hop.delay
        is_mirrored = key == "up" and hop.link is not None
        sides[key] = _side(link, aqm, (link_at, aqm_at), delay, is_mirrored=is_mirrored)
    return PathHop(hop.name, at, sides.get("down"), sides.get("up"))


_OF_SIDE = ("link", "aqm", "delay")


def _short_form(scenario: Tables) -> list[PathHop]:
    bottleneck, ack_path, backhaul = scenario.bottleneck, scenario.ack_path, scenario.backhaul
    down_at = (("bottleneck", "link"), ("bottleneck", "aqm"))
    ack_at = (("ack_path", "link"), ("ack_path", "aqm"))
    down = _side(bottleneck.link, bottleneck.aqm, down_at)
    hops, up = [], None
    if backhaul is not None:
        hops.append(PathHop("backhaul", ("backhaul",), wire=backhaul))
    own = getattr(ack_path, "link", None)
    if isinstance(ack_path, Reverse):
        up = (
            _side(bottleneck.link, ack_path.aqm, (down_at[0], ack_at[1]), is_mirrored=True)
            if own is None
            else _side(own, ack_path.aqm, ack_at)
        )
    elif own is not None:
        hops.append(PathHop("ack_path", ("ack_path",), up=_side(own, ack_path.aqm, ack_at)))
    return [*hops, PathHop("bottleneck", ("bottleneck",), down, up)]


def resolved_path_hop(hop: PathHop, context: Context) -> dict[str, Any]:
    """Return the resolved form of a hop of a list."""
    if hop.wire is not None:
        return {"name": hop.name, "wire": hop.wire.resolved(context, hop.at)}
    found: dict[str, Any] = {"name": hop.name}
    for key, side in (("down", hop.down), ("up", hop.up)):
        if side is not None:
            link = None if side.is_mirrored else side.link.resolved(context, side.link_at)
            queue = side.aqm.resolved(context, side.aqm_at)
            found[key] = {"link": link, "queue": queue, "delay_ns": side.delay_ns}
    return found
