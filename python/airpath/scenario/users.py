"""Rules for the users and stations of flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.scenario.base import Path, fault
from airpath.scenario.grant import AdaptBi, BlindBi
from airpath.scenario.link.base import Link
from airpath.scenario.link.cell import Cell
from airpath.scenario.link.stations import no_station
from airpath.scenario.link.tdd import OfdmaTdd
from airpath.scenario.members import MOST_USERS
from airpath.scenario.request import NoRequest
from airpath.scenario.traffic.flows import Source

if TYPE_CHECKING:
    from airpath.scenario.scenario import Scenario

__all__ = ["cell_faults", "station_faults", "stray_users"]

Fault = tuple[Path, Any, Any]


def station_faults(scenario: Scenario) -> list[Fault]:
    """Return the faults of flows whose station does not exist or never gets a grant."""
    link = scenario.bottleneck.link
    if not isinstance(link, OfdmaTdd):
        return []
    wrong: list[Fault] = [
        (("flows", index, "user"), group.user, no_station(link.stations))
        for index, group in enumerate(scenario.flows)
        if group.user is not None and max(_several(group.user)) >= link.stations
    ]
    return wrong or _never_granted(scenario.flows, link)


def cell_faults(scenario: Scenario) -> list[Fault]:
    """Return the faults for gaps in the indices of users, and for users without a flow."""
    cells = [(path, link) for path, link in _links(scenario) if isinstance(link, Cell)]
    if not cells or isinstance(scenario.bottleneck.link, OfdmaTdd):
        return []
    if gap := _gaps(scenario.flows):
        return [gap]
    count = 1 + max(max(users) for users in _users(scenario.flows))
    return [
        (
            (*path, "users", index, "user"),
            entry.user,
            fault("no flow has this user", f"Use a number from 0 to {count - 1}"),
        )
        for path, cell in cells
        for index, entry in enumerate(cell.users)
        if entry.user >= count
    ]


def stray_users(scenario: Scenario) -> list[Fault]:
    """Return the faults of flows that have a user although no link has users."""
    named = [
        (index, group.user) for index, group in enumerate(scenario.flows) if group.user is not None
    ]
    if not named or any(isinstance(link, (Cell, OfdmaTdd)) for _, link in _links(scenario)):
        return []
    wanted = 'Use a link of kind "cell" or "ofdma-tdd", or leave this key out'
    error = fault("there is no cell and there are no stations", wanted)
    return [(("flows", index, "user"), user, error) for index, user in named]


def _links(scenario: Scenario) -> list[tuple[Path, Link | None]]:
    return [
        (("bottleneck", "link"), scenario.bottleneck.link),
        (("ack_path", "link"), getattr(scenario.ack_path, "link", None)),
    ]


def _never_granted(groups: Sequence[Source], link: OfdmaTdd) -> list[Fault]:
    """Return the faults of groups that send from stations that never get a grant."""
    grant = link.grant
    if not (isinstance(grant, (BlindBi, AdaptBi)) and isinstance(link.request, NoRequest)):
        return []
    stations = [{user % link.stations for user in users} for users in _users(groups)]
    ways = [group.direction for group in groups]
    served = {
        station
        for way, of_group in zip(ways, stations, strict=True)
        if way == "forward"
        for station in of_group
    }
    wrong: list[Fault] = []
    for index, (way, of_group) in enumerate(zip(ways, stations, strict=True)):
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


def _gaps(groups: Sequence[Source]) -> Fault | None:
    """Return the first fault in the indices of users: a missing index, or too many users."""
    used = sorted((user, index) for index, users in enumerate(_users(groups)) for user in users)
    free = 0
    for user, index in used:
        if user > free:
            named = groups[index].user is not None
            key = "user" if named else "count"
            what = f"user {user} without a user {free}: users are numbered without gaps"
            error = fault(what, "Use every group a user, from 0 on")
            return (("flows", index, key), getattr(groups[index], key), error)
        free = max(free, user + 1)
    if free > MOST_USERS:
        error = fault(f"{free} users", f"Use at most {MOST_USERS}; flows may share a user")
        return (("flows", len(groups) - 1, "count"), groups[-1].count, error)
    return None
