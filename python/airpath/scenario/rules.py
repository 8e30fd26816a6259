"""Rules between the tables of a scenario that the engine does not check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from airpath.errors import dotted
from airpath.scenario.ack_path import AckPath, Reverse
from airpath.scenario.base import Path, fault, nearest
from airpath.scenario.control import Control
from airpath.scenario.hops import ENDS
from airpath.scenario.link.cell import Cell
from airpath.scenario.link.mimo import block_faults
from airpath.scenario.path import controlled_hop, hops_of, links_of, route_of
from airpath.scenario.traffic.source import Source
from airpath.scenario.units import Duration, quote
from airpath.scenario.users import cell_faults, client_faults, station_faults, stray_users

if TYPE_CHECKING:
    from airpath.scenario.hops import Bottleneck, Hop
    from airpath.scenario.link.base import Link
    from airpath.scenario.path import PathHop, Tables
    from airpath.scenario.scenario import Scenario

__all__ = [
    "RULES",
    "ack_path_faults",
    "control_faults",
    "faults_of_users",
    "flow_faults",
    "hop_faults",
    "place_of",
    "same_names",
]

Fault = tuple[Path, Any, Any]
"""Path of a value in a table, the value, and the fault."""


def control_faults(
    control: Sequence[Control], path: Tables, duration: Duration | None
) -> list[Fault]:
    """Return the faults of scheduled changes that the hops of a path do not support.

    `duration` is the duration of the run; None if it was rejected.
    """
    hops = hops_of(path)
    wrong: list[Fault] = []
    for index, change in enumerate(control):
        if change.hop is not None and change.hop not in [hop.name for hop in hops]:
            wrong.append(((index, "hop"), change.hop, _unknown_hop(change.hop, hops)))
            continue
        found = change.hop_faults(controlled_hop(change, hops))
        wrong += [((index, *key), *rest) for key, *rest in found]
    wrong += _overlapping_interruptions(control, hops)
    wrong += _second_schedules(control, hops)
    return wrong if duration is None else [*wrong, *_late_ends(control, duration)]


def _late_ends(control: Sequence[Control], duration: Duration) -> list[Fault]:
    """Return the interruptions that start in the run and end after it."""
    found = [(index, change.at, change.interruption) for index, change in enumerate(control)]
    return [
        (
            (index, "interruption"),
            str(length),
            fault("ends after the run", f"Use at most {quote(str(Duration(duration - at)))}"),
        )
        for index, at, length in found
        if at is not None and length is not None and at < duration < at + length
    ]


def _second_schedules(control: Sequence[Control], hops: Sequence[PathHop]) -> list[Fault]:
    """Return the entries that set the delay of a hop which has a schedule already."""
    scheduled: dict[tuple[str, str], int] = {}
    wrong: list[Fault] = []
    for index, change in enumerate(control):
        hop = controlled_hop(change, hops)
        if hop is None or change.schedule is None:
            continue
        ways = ("forward", "reverse") if change.direction is None else (change.direction,)
        first = min((scheduled.get((hop.name, way), index) for way in ways), default=index)
        scheduled.update({(hop.name, way): index for way in ways})
        if first < index:
            error = fault(f"control.{first} has a schedule of this hop", "Use one schedule")
            wrong.append(((index, "schedule"), change.schedule, error))
    return wrong


def _overlapping_interruptions(control: Sequence[Control], hops: Sequence[PathHop]) -> list[Fault]:
    """Return the interruptions of a hop that start before an earlier one ends."""
    spans = []
    for index, change in enumerate(control):
        hop = controlled_hop(change, hops)
        for direction in ("forward", "reverse"):
            span = change.interrupts(direction)
            if span is not None and hop is not None:
                spans.append((hop.name, direction, *span, index))
    spans.sort()
    late: dict[int, int] = {}
    latest: dict[tuple[str, str], int] = {}
    for name, direction, began_ns, ended_ns, index in spans:
        before_ns = latest.get((name, direction), 0)
        if began_ns < before_ns:
            late[index] = max(before_ns, late.get(index, 0))
        latest[name, direction] = max(before_ns, ended_ns)
    what = "before the end of the interruption before it"
    return [
        ((index, "at"), str(control[index].at), fault(what, f"Use at least {Duration(ended_ns)}"))
        for index, ended_ns in sorted(late.items())
    ]


def _unknown_hop(name: str, hops: Sequence[PathHop], *ends: str) -> Any:
    return fault("no hop has this name", nearest(name, [*(hop.name for hop in hops), *ends]))


def ack_path_faults(ack_path: AckPath, bottleneck: Bottleneck | None) -> list[Fault]:
    """Return the faults of an ACK path that does not fit the bottleneck; None if it is unknown."""
    own = getattr(ack_path, "link", None)
    is_reverse = isinstance(ack_path, Reverse)
    if bottleneck is not None and bottleneck.link.has_stations and not is_reverse:
        what = f'a link of kind "{bottleneck.link.document()["kind"]}" carries the ACKs itself'
        error = fault(what, 'Set ack_path = {kind = "reverse"}')
        return [(("kind",), ack_path.document()["kind"], error)]
    if own is not None and own.has_stations:
        what = f'a link of kind "{own.document()["kind"]}" serves both directions'
        error = fault(what, "Make it the bottleneck's link, or write another one")
        return [(("link",), own.document()["kind"], error)]
    if is_reverse and own is not None and bottleneck is not None and bottleneck.link.is_duplex:
        what = f'a link of kind "{_kind(bottleneck.link)}" serves both directions itself'
        return [(("link",), own.document()["kind"], fault(what, "Leave this key out"))]
    return []


def place_of(path: Tables, name: str, part: str = "") -> Path | None:
    """Return the place of a part of a hop in the scenario; None for other names.

    Parameters
    ----------
    path : Tables
        The tables of the path.
    name : str
        Name of a hop, or of its reverse direction, in results.
    part : str
        ``link`` or ``aqm``. Default: the hop itself.
    """
    for hop in hops_of(path) if path.hops or path.bottleneck else []:
        names = {hop.name: hop.down or hop.up, hop.reverse_name: hop.up}
        if name in names:
            side = names[name]
            parts = {"link": side.link_at, "aqm": side.aqm_at} if side is not None else {}
            return parts.get(part, (*hop.at, *([part] if part else [])))
    return None


def hop_faults(hops: Sequence[Hop]) -> list[Fault]:
    """Return the faults of a list of hops: equal names, and links with users before the end."""
    wrong: list[Fault] = []
    names = [hop.name for hop in hops]
    for index, hop in enumerate(hops):
        if (first := names.index(hop.name)) < index:
            error = fault(f"is the name of hops.{first} too", "Use another name")
            wrong.append(((index, "name"), hop.name, error))
        for key, part in (("down", hop.down), ("up", hop.up)):
            link = None if part is None else part.link
            if link is not None and link.has_stations:
                what = f'a link of kind "{_kind(link)}" serves both directions'
                error = fault(what, "Set it as the link of the hop")
                wrong.append(((index, key, "link"), _kind(link), error))
        wrong += _users_before_the_end(index, hop, len(hops) - 1)
    if hops and not any(hop.link_of(key) for hop in hops for key in ("down", "up")):
        error = fault("no hop has a link", "Use a link in at least one hop, not only wires")
        wrong.append(((), [hop.name for hop in hops], error))
    return wrong


def _users_before_the_end(index: int, hop: Hop, last: int) -> list[Fault]:
    """Return a fault for a link with users, unless its hop is the last one."""
    if index == last:
        return []
    parts: list[tuple[Path, Link | None]] = [((), hop.link)]
    parts += [((key,), hop.link_of(key)) for key in ("down", "up")]
    for path, link in parts:
        if link is not None and (link.has_stations or isinstance(link, Cell)):
            error = fault("its users are behind it, but other hops follow", "Make it the last hop")
            return [((index, *path, "link"), _kind(link), error)]
    return []


def _kind(link: Link) -> str:
    return str(link.document()["kind"])


def flow_faults(groups: Sequence[Source], path: Tables) -> list[Fault]:
    """Return the faults of groups of flows that do not fit the path."""
    hops = hops_of(path)
    wrong: list[Fault] = []
    for index, group in enumerate(groups):
        no_route = _route_faults(index, group, hops)
        wrong += no_route or [
            *_without_price(index, group, hops),
            *_too_short(index, group, hops, is_short_form=not path.hops),
        ]
    return [*wrong, *same_names(groups)]


def _route_faults(index: int, group: Source, hops: Sequence[PathHop]) -> list[Fault]:
    """Return the faults of the ends of a route."""
    names = [hop.name for hop in hops]
    ends = {"from": group.origin, "to": group.destination}
    if unknown := [(key, end) for key, end in ends.items() if end not in (None, *names, *ENDS)]:
        return [((index, key), end, _unknown_hop(str(end), hops, *ENDS)) for key, end in unknown]
    if group.origin is not None and group.origin == group.destination in ENDS:
        error = fault("the flows cross no hop", f"Use another end, such as {quote(names[0])}")
        return [((index, "to"), group.destination, error)]
    route = route_of(group, hops)
    is_given = "direction" in group.model_fields_set and set(ends.values()) != {None}
    if is_given and group.direction != route.direction:
        error = fault("not the direction of the route", "Remove it, or exchange from and to")
        return [((index, "direction"), group.direction, error)]
    crossed = route.of(hops)
    if all(hop.wire is None and hop.side(route.direction) is None for hop in crossed):
        key = "from" if group.origin is not None else "to"
        listed = ", ".join(hop.name for hop in crossed)
        error = fault(f"no link for data in this direction: {listed}", "Use another end")
        return [((index, key), ends[key], error)] if ends[key] is not None else []
    return []


def faults_of_users(scenario: Scenario) -> list[Fault]:
    """Return the faults of users, and of links whose blocks would be too long."""
    return [each for rule in _OF_USERS for each in rule(scenario)]


def _check_blocks(scenario: Scenario) -> list[Fault]:
    links = links_of(scenario)
    if not any(link.has_parity for _, link in links):
        return []
    return block_faults(scenario.flows, links)


_OF_USERS = (client_faults, station_faults, cell_faults, stray_users, _check_blocks)


def _without_price(index: int, group: Source, hops: Sequence[PathHop]) -> list[Fault]:
    """Return the faults of a group that requires a price, but whose queues write no price."""
    obeying = [
        (key, part.kind)
        for key in ("window", "cc")
        if (part := getattr(group, key, None)) is not None and getattr(part, "obeys_price", False)
    ]
    route = route_of(group, hops)
    sides = [side for hop in route.of(hops) if (side := hop.side(route.direction)) is not None]
    if not obeying or not sides or any(side.aqm.prices for side in sides):
        return []
    where, aqm = dotted(sides[-1].aqm_at), sides[-1].aqm
    what = f'{where} = "{aqm.kind}" writes no price'  # type: ignore[attr-defined]
    accepted = f'Set {where} of kind "clamp"'
    return [((index, key), kind, fault(what, accepted)) for key, kind in obeying]


def same_names(groups: Sequence[Source]) -> list[Fault]:
    """Return a fault for each group that has the name of an earlier group."""
    names = [group.name for group in groups]
    return [
        (
            (index, "name"),
            name,
            fault(f"is the name of flows.{names.index(name)} too", "Use another name"),
        )
        for index, name in enumerate(names)
        if name is not None and names.index(name) < index
    ]


def _too_short(
    index: int, group: Source, hops: Sequence[PathHop], *, is_short_form: bool
) -> list[Fault]:
    takes = "the hops of the route take"
    if is_short_form and group.origin is None and group.destination is None:
        takes = "the bottleneck link and the ACK path take"
        if hops[0].wire is not None:
            takes = "the bottleneck link, the ACK path and the backhaul take"
    least = Duration(sum(hop.delay_ns for hop in route_of(group, hops).of(hops)))
    listed = isinstance(group.base_rtt, list)
    wrong: list[Fault] = []
    given = group.base_rtt if isinstance(group.base_rtt, list) else [group.base_rtt]
    for position, base_rtt in enumerate(given):
        if base_rtt is not None and base_rtt < least:
            error = fault(f"below the {least} that {takes}", f"Use at least {quote(str(least))}")
            path: Path = (index, "base_rtt", position) if listed else (index, "base_rtt")
            wrong.append((path, str(base_rtt), error))
    return wrong


# --- rules as functions of a scenario ----------------------------------------------------------


def _check_control(scenario: Scenario) -> list[Fault]:
    return control_faults(scenario.control, scenario, scenario.duration)


def _check_ack_path(scenario: Scenario) -> list[Fault]:
    return [] if scenario.hops else ack_path_faults(scenario.ack_path, scenario.bottleneck)


def _check_hops(scenario: Scenario) -> list[Fault]:
    return hop_faults(scenario.hops or [])


def _check_flows(scenario: Scenario) -> list[Fault]:
    return flow_faults(scenario.flows, scenario)


RULES: Sequence[Callable[[Scenario], list[Fault]]] = (
    _check_control,
    _check_ack_path,
    _check_hops,
    _check_flows,
    *_OF_USERS,
)
"""All rules between accepted tables, as functions that return faults."""
