"""Rules between the tables of a scenario, as far as the engine does not check them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.scenario.ack_path import AckPath, Reverse, shared_delay
from airpath.scenario.base import Path, fault
from airpath.scenario.control import Control
from airpath.scenario.link.mimo import block_faults
from airpath.scenario.traffic.flows import Source
from airpath.scenario.units import Duration, quote
from airpath.scenario.users import user_faults

if TYPE_CHECKING:
    from airpath.scenario.aqm.queues import QueueDisc
    from airpath.scenario.hops import Bottleneck
    from airpath.scenario.scenario import Scenario

__all__ = ["ack_path_faults", "control_faults", "faults_of_users", "fits_together", "flow_faults"]

Fault = tuple[Path, Any, Any]
"""Where in a table, the value there, and what is wrong with it."""
Tables = Mapping[str, Any]
"""The tables before one, by their keys; a table that was not accepted is missing."""


def fits_together(scenario: Scenario) -> bool:
    """Return whether tables, each of which is accepted, follow the rules between them."""
    tables = {key: getattr(scenario, key) for key in ("bottleneck", "ack_path", "backhaul")}
    return not (
        control_faults(scenario.control, tables)
        or ack_path_faults(scenario.ack_path, tables)
        or flow_faults(scenario.flows, tables)
        or faults_of_users(scenario)
    )


def control_faults(control: Sequence[Control], tables: Tables) -> list[Fault]:
    """Return the changes that the bottleneck's link does not take."""
    bottleneck = tables.get("bottleneck")
    if bottleneck is None:
        return []
    return [
        ((index, *path), *rest)
        for index, change in enumerate(control)
        for path, *rest in change.link_faults(bottleneck.link)
    ]


def ack_path_faults(ack_path: AckPath, tables: Tables) -> list[Fault]:
    """Return what of an ACK path does not fit the bottleneck's link."""
    bottleneck = tables.get("bottleneck")
    own = getattr(ack_path, "link", None)
    is_reverse = isinstance(ack_path, Reverse)
    if bottleneck is not None and bottleneck.link.has_stations and not is_reverse:
        what = f'a link of kind "{bottleneck.link.document()["kind"]}" carries the ACKs itself'
        error = fault(what, 'Write ack_path = {kind = "reverse"}')
        return [(("kind",), ack_path.document()["kind"], error)]
    if own is not None and own.has_stations:
        what = f'a link of kind "{own.document()["kind"]}" serves both directions'
        error = fault(what, "Make it the bottleneck's link, or write another one")
        return [(("link",), own.document()["kind"], error)]
    if is_reverse and own is not None and bottleneck is not None and bottleneck.link.is_duplex:
        what = f'a link of kind "{bottleneck.link.kind}" serves both directions itself'
        return [(("link",), own.document()["kind"], fault(what, "Leave this key out"))]
    return []


def flow_faults(groups: Sequence[Source], tables: Tables) -> list[Fault]:
    """Return what of groups of flows does not fit the path."""
    bottleneck, ack_path, backhaul = (
        tables.get(key) for key in ("bottleneck", "ack_path", "backhaul")
    )
    if bottleneck is None or ack_path is None:
        return _same_names(groups)
    takes = "the bottleneck link and the ACK path take"
    if backhaul is not None:
        takes = "the bottleneck link, the ACK path and the backhaul take"
    least = Duration(shared_delay(bottleneck, ack_path, backhaul))
    wrong: list[Fault] = []
    for index, group in enumerate(groups):
        wrong += _without_price(index, group, bottleneck, ack_path)
        wrong += _too_short(index, group, least, takes)
    return [*wrong, *_same_names(groups)]


def faults_of_users(scenario: Scenario) -> list[Fault]:
    """Return what is wrong with users and with blocks that flows share."""
    link, back = scenario.bottleneck.link, getattr(scenario.ack_path, "link", None)
    links = [(("bottleneck", "link"), link), (("ack_path", "link"), back)]
    return [
        *user_faults(scenario.flows, link, scenario.ack_path),
        *block_faults(scenario.flows, links),
    ]


def _without_price(
    index: int, group: Source, bottleneck: Bottleneck, ack_path: AckPath
) -> list[tuple[Path, str, Any]]:
    """Return what of the group needs a price on the way of its data, where no queue writes one."""
    where, hop = (
        ("bottleneck.aqm", bottleneck)
        if group.direction == "forward"
        else ("ack_path.aqm", ack_path)
    )
    aqm: QueueDisc | None = getattr(hop, "aqm", None)
    if aqm is None or aqm.prices:
        return []
    return [
        (
            (index, key),
            part.kind,
            fault(
                f'{where} = "{aqm.kind}" writes no price',  # type: ignore[attr-defined]
                f'Write {where} of kind "clamp"',
            ),
        )
        for key in ("window", "cc")
        if (part := getattr(group, key, None)) is not None and getattr(part, "obeys_price", False)
    ]


def _same_names(groups: Sequence[Source]) -> list[Fault]:
    """Return the names of groups that an earlier group has."""
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
    index: int, group: Source, least: Duration, takes: str
) -> list[tuple[Path, str, Any]]:
    listed = isinstance(group.base_rtt, list)
    wrong: list[tuple[Path, str, Any]] = []
    given = group.base_rtt if isinstance(group.base_rtt, list) else [group.base_rtt]
    for position, base_rtt in enumerate(given):
        if base_rtt is not None and base_rtt < least:
            error = fault(f"below the {least} that {takes}", f"Write at least {quote(str(least))}")
            path: Path = (index, "base_rtt", position) if listed else (index, "base_rtt")
            wrong.append((path, str(base_rtt), error))
    return wrong
