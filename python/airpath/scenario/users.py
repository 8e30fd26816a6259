"""Rules for the users and stations of flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.scenario.base import Path, fault
from airpath.scenario.grant import AdaptBi, BlindBi
from airpath.scenario.link.cell import Cell
from airpath.scenario.link.stations import no_station
from airpath.scenario.link.tdd import OfdmaTdd
from airpath.scenario.members import MOST_USERS
from airpath.scenario.path import hops_of, route_of
from airpath.scenario.request import NoRequest
from airpath.scenario.traffic.source import Source

if TYPE_CHECKING:
    from airpath.scenario.path import PathHop
    from airpath.scenario.scenario import Scenario

__all__ = ["cell_faults", "client_faults", "station_faults", "stray_users"]

Fault = tuple[Path, Any, Any]


def station_faults(scenario: Scenario) -> list[Fault]:
    """Return the faults of flows whose station does not exist or never gets a grant."""
    hops = hops_of(scenario)
    found = [(hop, side.link) for hop in hops if hop.has_stations for side in hop.sides[:1]]
    for hop, link in found:
        if isinstance(link, OfdmaTdd):
            groups = _crossing(scenario, hop)
            wrong: list[Fault] = [
                (("flows", index, "user"), group.user, no_station(link.stations))
                for index, group, _ in groups
                if group.user is not None and max(_several(group.user)) >= link.stations
            ]
            return wrong or _never_granted(groups, link)
    return []


def cell_faults(scenario: Scenario) -> list[Fault]:
    """Return the faults for gaps in the indices of users, and for users without a flow."""
    hops = hops_of(scenario)
    if any(isinstance(side.link, OfdmaTdd) for hop in hops for side in hop.sides):
        return []
    wrong: list[Fault] = []
    for hop in hops:
        cells = {side.link_at: side.link for side in hop.sides if isinstance(side.link, Cell)}
        if not cells:
            continue
        groups = [(index, group) for index, group, _ in _crossing(scenario, hop)]
        if gap := _gaps(groups):
            return [gap]
        users = _users([group for _, group in groups])
        count = 1 + max((max(each) for each in users), default=-1)
        wrong += [
            (
                (*path, "users", index, "user"),
                entry.user,
                fault("no flow has this user", f"Use a number from 0 to {count - 1}"),
            )
            for path, cell in cells.items()
            for index, entry in enumerate(cell.users)
            if entry.user >= count
        ]
    return wrong


def client_faults(scenario: Scenario) -> list[Fault]:
    """Return the faults of clients whose connections would belong to different users."""
    wrong: list[Fault] = []
    for hop in hops_of(scenario):
        if any(isinstance(side.link, (Cell, OfdmaTdd)) for side in hop.sides):
            wrong += [
                (
                    ("flows", index, "requests", "connections"),
                    group.flows_per_client,
                    fault("requires user: the connections of a client belong to one user"),
                )
                for index, group, _ in _crossing(scenario, hop)
                if group.flows_per_client > 1 and group.user is None
            ]
    return wrong


def stray_users(scenario: Scenario) -> list[Fault]:
    """Return the faults of flows that have a user although they cross no link with users."""
    cells = [
        hop
        for hop in hops_of(scenario)
        if any(isinstance(side.link, (Cell, OfdmaTdd)) for side in hop.sides)
    ]
    with_users = {index for hop in cells for index, _, _ in _crossing(scenario, hop)}
    wanted = 'Use a link of kind "cell" or "ofdma-tdd", or leave this key out'
    what = "there is no cell and there are no stations"
    if cells:
        what, wanted = "the flows do not cross the link with users", "Leave this key out"
    return [
        (("flows", index, "user"), group.user, fault(what, wanted))
        for index, group in enumerate(scenario.flows)
        if group.user is not None and index not in with_users
    ]


def _crossing(scenario: Scenario, hop: PathHop) -> list[tuple[int, Source, str]]:
    """Return index, group and direction of the data of each group of flows that crosses a hop."""
    hops = hops_of(scenario)
    routes = [(n, group, route_of(group, hops)) for n, group in enumerate(scenario.flows)]
    names = [(n, group, way, [each.name for each in way.of(hops)]) for n, group, way in routes]
    return [(n, group, way.direction) for n, group, way, crossed in names if hop.name in crossed]


def _never_granted(groups: Sequence[tuple[int, Source, str]], link: OfdmaTdd) -> list[Fault]:
    """Return the faults of groups that send from stations that never get a grant."""
    grant = link.grant
    if not (isinstance(grant, (BlindBi, AdaptBi)) and isinstance(link.request, NoRequest)):
        return []
    users = _users([group for _, group, _ in groups])
    stations = [{user % link.stations for user in each} for each in users]
    ways = [way for _, _, way in groups]
    served = {
        station
        for way, of_group in zip(ways, stations, strict=True)
        if way == "forward"
        for station in of_group
    }
    wrong: list[Fault] = []
    for (index, _, way), of_group in zip(groups, stations, strict=True):
        if way == "reverse" and (never := of_group - served):
            what = (
                f"with request none and grant {grant.kind} station {min(never)} never has "
                "an uplink, for no flow sends to it"
            )
            error = fault(what, "Use another request or another grant")
            wrong.append((("flows", index, "direction"), "reverse", error))
    return wrong


def _several(user: int | Sequence[int]) -> Sequence[int]:
    return [user] if isinstance(user, int) else user


def _users(groups: Sequence[Source]) -> list[Sequence[int]]:
    """Return the users of each group. Without the key `user`, flow k belongs to user k."""
    found: list[Sequence[int]] = []
    first = 0
    for group in groups:
        own = range(first, first + group.count)
        found.append(own if group.user is None else _several(group.user))
        first += group.count
    return found


def _gaps(groups: Sequence[tuple[int, Source]]) -> Fault | None:
    """Return the first fault in the indices of users: a missing index, or too many users."""
    of_groups = zip(groups, _users([group for _, group in groups]), strict=True)
    used = sorted((user, index) for (index, _), users in of_groups for user in users)
    free, by_index = 0, dict(groups)
    for user, index in used:
        if user > free:
            named = by_index[index].user is not None
            key = "user" if named else "count"
            what = f"user {user} without a user {free}: users are numbered without gaps"
            error = fault(what, "Use every group a user, from 0 on")
            return (("flows", index, key), getattr(by_index[index], key), error)
        free = max(free, user + 1)
    if free > MOST_USERS:
        last, group = groups[-1]
        error = fault(f"{free} users", f"Use at most {MOST_USERS}; flows may share a user")
        return (("flows", last, "count"), group.count, error)
    return None
