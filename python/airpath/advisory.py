"""What the user of a scenario should know before its numbers are believed; it can still be run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from airpath.engine.flow_descriptions import FlowDescriptions, direction, grouped
from airpath.scenario.mimo import MimoLink
from airpath.scenario.units import Duration, Size, quote

if TYPE_CHECKING:
    from airpath.scenario import Scenario

__all__ = ["Advisory", "of_scenario", "packet_bytes", "payload_bytes"]

_ACK_BYTES = 40
_DATAGRAM_HEADER = 28
"""IPv4 without options (RFC 791 §3.1) and UDP (RFC 768), bytes."""
_QUEUES_OF_DATA = (
    ("forward", "bottleneck", "bottleneck"),
    ("reverse", "ack_path", "link that ACKs take"),
)
"""Which way data goes, the table of the queue that it waits in, and what people call its place."""
_MANY_SLOTS = 10**7
"""Slots of a replication, some seconds of processor time."""


@dataclass(frozen=True)
class Advisory:
    """One thing that the tables do not say.

    Parameters
    ----------
    code : str
        Which advisory it is, for programs: ``receive-window``.
    text : str
        One line for people, with what to do about it.
    place : str
        What it is about, ``flows.0`` or ``bottleneck.aqm``; empty for the whole run.
    """

    code: str
    text: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text

    def to_dict(self) -> dict[str, str]:
        """Return it as a JSON object."""
        return asdict(self)


def of_scenario(scenario: Scenario, resolved: Mapping[str, Any]) -> list[Advisory]:
    """Return what is known before the run.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    resolved : mapping
        The same resolved.
    """
    return [
        *_same_controls(scenario, resolved),
        *_nobody_marks(resolved),
        *_nobody_tells_load(resolved),
        *_nothing_fits(resolved),
        *_nothing_corrected(scenario, resolved),
        *_many_slots(resolved),
    ]


def _same_controls(scenario: Scenario, resolved: Mapping[str, Any]) -> Iterator[Advisory]:
    """Yield groups whose congestion control is the same as another one under its profile."""
    first: dict[str, tuple[int, str]] = {}
    flows = FlowDescriptions(resolved)
    for group, members in grouped(resolved).items():
        source = flows[members[0]]["source"]
        control = getattr(scenario.flows[group], "cc", None)
        if control is None or source["kind"] != "tcp":
            continue
        does = json.dumps([source["congestion"], source["options"]], sort_keys=True)
        other, name = first.setdefault(does, (group, control.kind))
        if name != control.kind:
            yield Advisory(
                "same-congestion-control",
                f"cc = {quote(control.kind)} is what flows.{other}'s {quote(name)} is: under "
                f"profile = {quote(source['options']['profile'])} both recover by "
                f"{quote(source['options']['recovery'])}. tcp = {{recovery = …}} tells them apart.",
                f"flows.{group}",
            )


def _nobody_marks(resolved: Mapping[str, Any]) -> Iterator[Advisory]:
    """Tell of ECN that is asked for over a queue that does not mark."""
    for place, where, who in _without_marks(resolved, ("on", "dctcp")):
        yield Advisory(
            "ecn-without-marks",
            f"ECN is on, but nothing marks at the {where}, so it does nothing. "
            f"Write ecn = true in [{place}.aqm], for a discipline that has the key.",
            who,
        )


def _nobody_tells_load(resolved: Mapping[str, Any]) -> Iterator[Advisory]:
    """Tell of VCP over a queue that writes no load code."""
    for place, where, who in _without_marks(resolved, ("vcp",)):
        yield Advisory(
            "vcp-without-code",
            f'cc = "vcp", but nothing writes a load code at the {where}: VCP takes the load for '
            f"low, and nothing but losses reduces its window. "
            f'Write {place}.aqm = {{kind = "vcp"}}.',
            who,
        )


def _without_marks(
    resolved: Mapping[str, Any], uses: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Yield queues of data that mark nothing, and groups there that use the ECN field so."""
    flows = FlowDescriptions(resolved)
    for way, place, where in _QUEUES_OF_DATA:
        who = [
            f"flows.{group}"
            for group, members in grouped(resolved).items()
            if direction(flows[members[0]]) == way
            and flows[members[0]]["source"].get("options", {}).get("ecn", "off") in uses
        ]
        if who and not _marks(resolved[place]["queue"]):
            yield place, where, who[0] if len(who) == 1 else f"{who[0]} and others"


def _marks(queue: Mapping[str, Any]) -> bool:
    """Say whether a discipline, or one in it, writes into the ECN field."""
    inner = [value for value in queue.values() if isinstance(value, Mapping)]
    return bool(queue.get("ecn")) or queue.get("kind") == "vcp" or any(map(_marks, inner))


def _nothing_fits(resolved: Mapping[str, Any]) -> Iterator[Advisory]:
    """Tell of a limit in bytes below the packets that come there."""
    queue, ack_path = resolved["bottleneck"]["queue"], resolved["ack_path"]
    flows = FlowDescriptions(resolved)
    sizes: dict[str, dict[str, int]] = {"forward": {}, "reverse": {}}
    for group, members in grouped(resolved).items():
        flow = flows[members[0]]
        sizes[direction(flow)][f"flows.{group}"] = packet_bytes(flow["source"])
    yield from _below(queue, "bottleneck.aqm", sizes["forward"])
    if "queue" in ack_path:
        of_acks = {"the ACKs": _ACK_BYTES} if sizes["forward"] else {}
        yield from _below(ack_path["queue"], "ack_path.aqm", sizes["reverse"] or of_acks)


def _below(queue: Mapping[str, Any], place: str, sizes: Mapping[str, int]) -> Iterator[Advisory]:
    limit = queue.get("limit")
    most = limit.get("bytes") if isinstance(limit, Mapping) else None
    refused = {who: size for who, size in sizes.items() if most is not None and size > most}
    if not refused:
        return
    largest = max(refused, key=lambda who: refused[who])
    whose = largest if len(refused) == 1 else f"{largest} and others"
    yield Advisory(
        "nothing-fits",
        f"limit = {quote(str(Size(most or 0)))} is less than a packet of {whose} "
        f"({refused[largest]} B): all of them are dropped. "
        f"Write at least {quote(f'{refused[largest]} B')}.",
        place,
    )


def _nothing_corrected(scenario: Scenario, resolved: Mapping[str, Any]) -> Iterator[Advisory]:
    """Tell of packets with parity that corrects not one symbol."""
    flows = FlowDescriptions(resolved)
    sources = [flows[members[0]] for members in grouped(resolved).values()]
    back = getattr(scenario.ack_path, "link", None)
    links = [("bottleneck.link", scenario.bottleneck.link, "forward"), ("ack_path.link", back, "")]
    for place, link, way in links:
        if not isinstance(link, MimoLink):
            continue
        carries_both = way == "forward" and back is None and "queue" in resolved["ack_path"]
        sizes: dict[int, str] = {}
        for flow in sources:
            is_ahead = direction(flow) == (way or "reverse")
            if carries_both or not is_ahead:
                sizes.setdefault(_ack_bytes(flow["source"]), "an ACK")
            if carries_both or is_ahead:
                sizes.setdefault(packet_bytes(flow["source"]), "a packet")
        for size, what in sizes.items():
            if size and link.uncorrected(size):
                rate = link.code_rate_of(size)
                yield Advisory(
                    "code-corrects-nothing",
                    f"code_rate = {rate:g} leaves {what} of {size} B without a symbol that can "
                    "be corrected. A lower rate, or small = {up_to = …, code_rate = …}, helps.",
                    place,
                )


def _many_slots(resolved: Mapping[str, Any]) -> Iterator[Advisory]:
    """Yield the cells whose slots are so short that a replication takes long."""
    for place in ("bottleneck", "ack_path"):
        link = resolved[place].get("link") or {}
        slots = resolved["duration_ns"] / link["slot_ns"] if link.get("kind") == "cell" else 0
        if slots > _MANY_SLOTS:
            yield Advisory(
                "many-slots",
                f"slot = {quote(str(Duration(link['slot_ns'])))}: {slots:.3g} slots in a "
                "replication, each of which takes up to 1 us of processor time while a user has "
                "data. Set a longer slot.",
                f"{place}.link",
            )


def _ack_bytes(source: Mapping[str, Any]) -> int:
    """Return the bytes of an ACK of a flow; 0 of one without."""
    if source["kind"] != "tcp":
        return 0
    options = source["options"]
    return int(options["header_bytes"]) + (12 if options.get("timestamps") else 0)


def packet_bytes(source: Mapping[str, Any]) -> int:
    """Return the bytes of a full IP packet of a flow.

    Parameters
    ----------
    source : mapping
        The flow's `source` in a resolved scenario.
    """
    if source["kind"] != "tcp":
        return int(source["packet_bytes"])
    options = source["options"]
    stamps = 12 if options.get("timestamps") else 0
    return int(options["mss"]) + int(options["header_bytes"]) + stamps


def payload_bytes(source: Mapping[str, Any]) -> int:
    """Return the payload bytes of a full IP packet of a flow.

    Parameters
    ----------
    source : mapping
        The flow's `source` in a resolved scenario.
    """
    if source["kind"] != "tcp":
        return max(0, packet_bytes(source) - _DATAGRAM_HEADER)
    return int(source["options"]["mss"])
