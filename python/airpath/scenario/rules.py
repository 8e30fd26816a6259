"""Rules between the tables of a scenario that the engine does not check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.scenario.ack_path import AckPath, Reverse, shared_delay
from airpath.scenario.base import Path, fault
from airpath.scenario.control import Control
from airpath.scenario.link.mimo import block_faults
from airpath.scenario.traffic.flows import Source
from airpath.scenario.units import Duration, quote
from airpath.scenario.users import cell_faults, station_faults, stray_users

if TYPE_CHECKING:
    from airpath.scenario.aqm.queues import QueueDisc
    from airpath.scenario.hops import Bottleneck
    from airpath.scenario.scenario import Scenario
    from airpath.scenario.wires import Wire

__all__ = ["RULES", "ack_path_faults", "control_faults", "faults_of_users", "flow_faults"]

Fault = tuple[Path, Any, Any]
"""Path of a value in a table, the value, and the fault."""
Tables = Mapping[str, Any]
"""Maps keys to the tables that were validated earlier; rejected tables are missing."""


def control_faults(control: Sequence[Control], tables: Tables) -> list[Fault]:
    """Return the faults of scheduled changes that the bottleneck's link does not support."""
    bottleneck = tables.get("bottleneck")
    if bottleneck is None:
        return []
    return [
        ((index, *path), *rest)
        for index, change in enumerate(control)
        for path, *rest in change.link_faults(bottleneck.link)
    ]


def ack_path_faults(ack_path: AckPath, tables: Tables) -> list[Fault]:
    """Return the faults of an ACK path that does not fit the bottleneck's link."""
    bottleneck = tables.get("bottleneck")
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
        what = f'a link of kind "{bottleneck.link.kind}" serves both directions itself'
        return [(("link",), own.document()["kind"], fault(what, "Leave this key out"))]
    return []


def flow_faults(groups: Sequence[Source], tables: Tables) -> list[Fault]:
    """Return the faults of groups of flows that do not fit the path."""
    bottleneck, ack_path, backhaul = (
        tables.get(key) for key in ("bottleneck", "ack_path", "backhaul")
    )
    if bottleneck is None or ack_path is None:
        return _same_names(groups)
    wrong: list[Fault] = []
    for index, group in enumerate(groups):
        wrong += _without_price(index, group, bottleneck, ack_path)
        wrong += _too_short(index, group, bottleneck, ack_path, backhaul)
    return [*wrong, *_same_names(groups)]


def faults_of_users(scenario: Scenario) -> list[Fault]:
    """Return the faults of users, and of links whose blocks would be too long."""
    return [each for rule in _OF_USERS for each in rule(scenario)]


def _check_blocks(scenario: Scenario) -> list[Fault]:
    link, back = scenario.bottleneck.link, getattr(scenario.ack_path, "link", None)
    links = [(("bottleneck", "link"), link), (("ack_path", "link"), back)]
    if not any(each is not None and each.has_parity for _, each in links):
        return []
    return block_faults(scenario.flows, links)


_OF_USERS = (station_faults, cell_faults, stray_users, _check_blocks)


def _without_price(
    index: int, group: Source, bottleneck: Bottleneck, ack_path: AckPath
) -> list[tuple[Path, str, Any]]:
    """Return the faults of a group that requires a price, but whose queue writes no price."""
    obeying = [
        (key, part.kind)
        for key in ("window", "cc")
        if (part := getattr(group, key, None)) is not None and getattr(part, "obeys_price", False)
    ]
    if not obeying:
        return []
    where, hop = (
        ("bottleneck.aqm", bottleneck)
        if group.direction == "forward"
        else ("ack_path.aqm", ack_path)
    )
    aqm: QueueDisc | None = getattr(hop, "aqm", None)
    if aqm is None or aqm.prices:
        return []
    what = f'{where} = "{aqm.kind}" writes no price'  # type: ignore[attr-defined]
    accepted = f'Set {where} of kind "clamp"'
    return [((index, key), kind, fault(what, accepted)) for key, kind in obeying]


def _same_names(groups: Sequence[Source]) -> list[Fault]:
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
    index: int,
    group: Source,
    bottleneck: Bottleneck,
    ack_path: AckPath,
    backhaul: Wire | None,
) -> list[tuple[Path, str, Any]]:
    takes = "the bottleneck link and the ACK path take"
    if backhaul is not None:
        takes = "the bottleneck link, the ACK path and the backhaul take"
    least = Duration(shared_delay(bottleneck, ack_path, backhaul))
    listed = isinstance(group.base_rtt, list)
    wrong: list[tuple[Path, str, Any]] = []
    given = group.base_rtt if isinstance(group.base_rtt, list) else [group.base_rtt]
    for position, base_rtt in enumerate(given):
        if base_rtt is not None and base_rtt < least:
            error = fault(f"below the {least} that {takes}", f"Use at least {quote(str(least))}")
            path: Path = (index, "base_rtt", position) if listed else (index, "base_rtt")
            wrong.append((path, str(base_rtt), error))
    return wrong


# --- rules as functions of a scenario ----------------------------------------------------------


def _check_control(scenario: Scenario) -> list[Fault]:
    return control_faults(scenario.control, {"bottleneck": scenario.bottleneck})


def _check_ack_path(scenario: Scenario) -> list[Fault]:
    return ack_path_faults(scenario.ack_path, {"bottleneck": scenario.bottleneck})


def _check_prices(scenario: Scenario) -> list[Fault]:
    groups = enumerate(scenario.flows)
    hops = scenario.bottleneck, scenario.ack_path
    return [each for index, group in groups for each in _without_price(index, group, *hops)]


def _check_delays(scenario: Scenario) -> list[Fault]:
    groups = enumerate(scenario.flows)
    hops = scenario.bottleneck, scenario.ack_path, scenario.backhaul
    return [each for index, group in groups for each in _too_short(index, group, *hops)]


def _check_names(scenario: Scenario) -> list[Fault]:
    return _same_names(scenario.flows)


RULES: Sequence[Callable[[Scenario], list[Fault]]] = (
    _check_control,
    _check_ack_path,
    _check_prices,
    _check_delays,
    _check_names,
    *_OF_USERS,
)
"""All rules between accepted tables, as functions that return faults."""
