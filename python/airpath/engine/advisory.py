"""Warnings about a scenario that the user should check before trusting its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from airpath.engine.flows import Source
from airpath.engine.path import DIRECTIONS, ResolvedDirection
from airpath.engine.queue import ResolvedQueue
from airpath.engine.resolved import ResolvedScenario
from airpath.scenario.path import key_text, sides_by_name
from airpath.scenario.units import Size, quote

if TYPE_CHECKING:
    from airpath.scenario import Scenario
    from airpath.scenario.link.base import Link

__all__ = ["ADVISORIES", "Advisory", "Find", "find_advisories"]

_ACK_BYTES = 40
_MANY_SLOTS = 10**7
"""Number of slots per replication from which a run takes some seconds of CPU time."""


@dataclass(frozen=True)
class Advisory:
    """A warning about a scenario or a result, in addition to the result tables.

    Parameters
    ----------
    code : str
        Identifier of the kind of warning, for scripts: ``receive-window``.
    text : str
        One-line message for users, with a fix.
    place : str
        Key in the scenario to which the warning applies: ``flows.0``, ``flows.web`` or
        ``bottleneck.aqm``. Empty for the entire run.
    """

    code: str
    text: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text

    def to_dict(self) -> dict[str, str]:
        """Return the warning as a dict for JSON."""
        return asdict(self)


def find_advisories(scenario: Scenario, resolved: ResolvedScenario) -> list[Advisory]:
    """Return the warnings that are known before the run.

    Parameters
    ----------
    scenario : Scenario
        The scenario as the user wrote it.
    resolved : ResolvedScenario
        Resolved form of the scenario.
    """
    return [each for find in ADVISORIES for each in find(scenario, resolved)]


def _same_controls(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for groups with different `cc` but equal algorithms due to the profile."""
    first: dict[str, tuple[int, str]] = {}

    def key(group: int) -> str:
        return f"flows.{resolved.flows.group_key(group)}"

    for group, flow in resolved.flows.first_of_groups.items():
        source, control = flow.source, getattr(scenario.flows[group], "cc", None)
        if control is None or not source.is_tcp:
            continue
        other, name = first.setdefault(source.sender, (group, control.kind))
        if name != control.kind:
            yield Advisory(
                "same-congestion-control",
                f"cc = {quote(control.kind)} is what {key(other)}'s {quote(name)} is: under "
                f"profile = {quote(source.tcp.profile)} both recover by "
                f"{quote(source.tcp.recovery)}. tcp = {{recovery = …}} distinguishes them.",
                key(group),
            )


def _ecn_without_marks(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning if a flow negotiates ECN over queues that do not mark."""

    def is_classic(source: Source) -> bool:
        return source.tcp.ecn in ("on", "accurate", "dctcp") and not _sends_ect1(source)

    for key, where, who in _without_marks(scenario, resolved, is_classic):
        yield Advisory(
            "ecn-without-marks",
            f"ECN is on, but nothing marks at the {where}, so it does nothing. "
            f"Set ecn = true in [{key}], for a discipline that has the key.",
            who,
        )
    for key, where, who in _without_marks(scenario, resolved, _sends_ect1):
        yield Advisory(
            "ecn-without-marks",
            f'cc = "prague" sends ECT(1), but nothing marks at the {where}, so that only losses '
            f'reduce its window. Set {key} = {{kind = "dualpi2"}}.',
            who,
        )


def _sends_ect1(source: Source) -> bool:
    """Return whether the flow is Prague with accurate feedback; without it, Prague is Reno."""
    return source.tcp.ecn == "accurate" and source.congestion.kind == "prague"


def _vcp_without_code(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for a VCP flow over queues that write no load code."""
    for key, where, who in _without_marks(scenario, resolved, lambda one: one.tcp.ecn == "vcp"):
        yield Advisory(
            "vcp-without-code",
            f'cc = "vcp", but nothing writes a load code at the {where}: VCP takes the load for '
            f"low, and nothing but losses reduces its window. "
            f'Set {key} = {{kind = "vcp"}}.',
            who,
        )


def _without_marks(
    scenario: Scenario, resolved: ResolvedScenario, applies: Callable[[Source], bool]
) -> Iterator[tuple[str, str, str]]:
    """Yield the key of a queue, its place, and the TCP groups for which `applies` is true.

    No queue that the data of these groups traverse marks; the yielded queue is the last of them.
    """
    who: dict[tuple[str, str], list[str]] = {}
    flows = resolved.flows.first_of_groups
    for way in DIRECTIONS:
        for group, flow in flows.items():
            if flow.direction != way or not flow.source.is_tcp or not applies(flow.source):
                continue
            queues = resolved.path.data_directions(flow)
            if queues and not any(each.queue.marks for each in queues):
                key = (queues[-1].name, _where(queues))
                who.setdefault(key, []).append(f"flows.{resolved.flows.group_key(group)}")
    sides = sides_by_name(scenario)
    for (name, where), groups in who.items():
        others = groups[0] if len(groups) == 1 else f"{groups[0]} and others"
        yield key_text(scenario, sides[name].aqm_at), where, others


def _where(queues: Sequence[ResolvedDirection]) -> str:
    """Return the place of queues as text."""
    if len(queues) > 1:
        return f"hops {', '.join(each.name for each in queues)}"
    name = queues[0].name
    if name in ("reverse", "ack_path"):
        return "link that ACKs take"
    return name if name == "bottleneck" else f"hop {name}"


def _nothing_fits(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for queue limits in bytes that are below the size of a packet."""
    sizes: dict[str, dict[str, int]] = {}
    acked: set[str] = set()
    for group, flow in resolved.flows.first_of_groups.items():
        who = f"flows.{resolved.flows.group_key(group)}"
        for each in resolved.path.data_directions(flow):
            sizes.setdefault(each.name, {})[who] = flow.source.packet_bytes
        acked.update(each.name for each in resolved.path.ack_directions(flow))
    sides = sides_by_name(scenario)
    for each in resolved.path.directions:
        of_acks = {"the ACKs": _ACK_BYTES} if each.name in acked else {}
        place = key_text(scenario, sides[each.name].aqm_at)
        yield from _below(each.queue, place, sizes.get(each.name) or of_acks)


def _below(queue: ResolvedQueue, place: str, sizes: Mapping[str, int]) -> Iterator[Advisory]:
    most = queue.limit_bytes
    refused = {who: size for who, size in sizes.items() if most is not None and size > most}
    if not refused:
        return
    largest = max(refused, key=lambda who: refused[who])
    whose = largest if len(refused) == 1 else f"{largest} and others"
    yield Advisory(
        "nothing-fits",
        f"limit = {quote(str(Size(most or 0)))} is less than a packet of {whose} "
        f"({refused[largest]} B): all of them are dropped. "
        f"Use at least {quote(f'{refused[largest]} B')}.",
        place,
    )


def _nothing_corrected(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for packets whose parity is too small to correct a symbol."""
    for place, link, names in _links(scenario):
        if not link.has_parity:
            continue
        sizes: dict[int, str] = {}
        for flow in resolved.flows.first_of_groups.values():
            if names & {each.name for each in resolved.path.ack_directions(flow)}:
                sizes.setdefault(flow.source.ack_bytes, "an ACK")
            if names & {each.name for each in resolved.path.data_directions(flow)}:
                sizes.setdefault(flow.source.packet_bytes, "a packet")
        for size, what in sizes.items():
            rate = link.uncorrected_code_rate(size) if size else None
            if rate is not None:
                yield Advisory(
                    "code-corrects-nothing",
                    f"code_rate = {rate:g} leaves {what} of {size} B without a symbol that can "
                    "be corrected. A lower rate, or small = {up_to = …, code_rate = …}, helps.",
                    place,
                )


def _many_slots(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for links whose short slots make a replication slow."""
    links = {each.name: each.link for each in resolved.path.directions}
    for place, link, names in _links(scenario):
        slots = links[min(names)].slots(resolved.duration_ns)
        if slots > _MANY_SLOTS:
            yield Advisory(
                "many-slots",
                f"slot = {quote(str(link.slot))}: {slots:.3g} slots in a "  # type: ignore[attr-defined]
                "replication, each of which takes up to 1 us of processor time while a user has "
                "data. Set a longer slot.",
                place,
            )


def _links(scenario: Scenario) -> Iterator[tuple[str, Link, set[str]]]:
    """Yield the key and the link of each description of a link, and the directions that use it."""
    found: dict[str, tuple[Link, set[str]]] = {}
    for name, side in sides_by_name(scenario).items():
        found.setdefault(key_text(scenario, side.link_at), (side.link, set()))[1].add(name)
    yield from ((key, link, names) for key, (link, names) in found.items())


Find = Callable[["Scenario", ResolvedScenario], Iterator[Advisory]]
"""Function that yields the warnings of one kind."""

ADVISORIES: Sequence[Find] = (
    _same_controls,
    _ecn_without_marks,
    _vcp_without_code,
    _nothing_fits,
    _nothing_corrected,
    _many_slots,
)
"""Functions that find warnings, in the order in which the warnings are shown."""
