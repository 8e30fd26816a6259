"""Warnings about a scenario that the user should check before trusting its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from airpath.engine.queue import ResolvedQueue
from airpath.engine.resolved import ResolvedScenario
from airpath.scenario.units import Size, quote

if TYPE_CHECKING:
    from airpath.scenario import Scenario

__all__ = ["ADVISORIES", "Advisory", "Find", "find_advisories"]

_ACK_BYTES = 40
_QUEUES_OF_DATA = (
    ("forward", "bottleneck", "bottleneck"),
    ("reverse", "ack_path", "link that ACKs take"),
)
"""Direction of data, scenario table with the queue for the data, and name of the link for users."""
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


def _ecn_without_marks(_scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning if a flow negotiates ECN over a queue that does not mark."""
    for place, where, who in _without_marks(resolved, ("on", "dctcp")):
        yield Advisory(
            "ecn-without-marks",
            f"ECN is on, but nothing marks at the {where}, so it does nothing. "
            f"Set ecn = true in [{place}.aqm], for a discipline that has the key.",
            who,
        )


def _vcp_without_code(_scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for a VCP flow over a queue that writes no load code."""
    for place, where, who in _without_marks(resolved, ("vcp",)):
        yield Advisory(
            "vcp-without-code",
            f'cc = "vcp", but nothing writes a load code at the {where}: VCP takes the load for '
            f"low, and nothing but losses reduces its window. "
            f'Set {place}.aqm = {{kind = "vcp"}}.',
            who,
        )


def _without_marks(
    resolved: ResolvedScenario, uses: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Yield data queues that do not mark, with groups there whose ECN mode is in `uses`."""
    hops = {"bottleneck": resolved.bottleneck, "ack_path": resolved.ack_path}
    for way, place, where in _QUEUES_OF_DATA:
        who = [
            f"flows.{resolved.flows.group_key(group)}"
            for group, flow in resolved.flows.first_of_groups.items()
            if flow.direction == way and flow.source.tcp.ecn in uses
        ]
        queue = hops[place].queue if who else None
        if queue is not None and not queue.marks:
            yield place, where, who[0] if len(who) == 1 else f"{who[0]} and others"


def _nothing_fits(_scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Advisory]:
    """Yield a warning for queue limits in bytes that are below the size of a packet."""
    sizes: dict[str, dict[str, int]] = {"forward": {}, "reverse": {}}
    for group, flow in resolved.flows.first_of_groups.items():
        sizes[flow.direction][f"flows.{resolved.flows.group_key(group)}"] = flow.source.packet_bytes
    yield from _below(resolved.queue, "bottleneck.aqm", sizes["forward"])
    of_acks = {"the ACKs": _ACK_BYTES} if sizes["forward"] else {}
    yield from _below(resolved.ack_path.queue, "ack_path.aqm", sizes["reverse"] or of_acks)


def _below(queue: ResolvedQueue | None, place: str, sizes: Mapping[str, int]) -> Iterator[Advisory]:
    most = None if queue is None else queue.limit_bytes
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
    back = getattr(scenario.ack_path, "link", None)
    links = [("bottleneck.link", scenario.bottleneck.link, "forward"), ("ack_path.link", back, "")]
    for place, link, way in links:
        if link is None or not link.has_parity:
            continue
        carries_both = way == "forward" and back is None and resolved.ack_path.queue is not None
        sizes: dict[int, str] = {}
        for flow in resolved.flows.first_of_groups.values():
            is_ahead = flow.direction == (way or "reverse")
            if carries_both or not is_ahead:
                sizes.setdefault(flow.source.ack_bytes, "an ACK")
            if carries_both or is_ahead:
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
    hops = {"bottleneck": resolved.bottleneck, "ack_path": resolved.ack_path}
    for place, hop in hops.items():
        slots = 0.0 if hop.link is None else hop.link.slots(resolved.duration_ns)
        if slots > _MANY_SLOTS:
            slot = getattr(scenario, place).link.slot
            yield Advisory(
                "many-slots",
                f"slot = {quote(str(slot))}: {slots:.3g} slots in a "
                "replication, each of which takes up to 1 us of processor time while a user has "
                "data. Set a longer slot.",
                f"{place}.link",
            )


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
