"""Hops of a path: links with queues in one or both directions, or wires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field, PlainValidator, model_validator
from typing_extensions import Self

from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import (
    ABSENT,
    Context,
    Maybe,
    Model,
    Path,
    as_missing,
    fault,
    faults_at,
)
from airpath.scenario.link.base import Link
from airpath.scenario.members import entry_name
from airpath.scenario.units import Duration, Packets
from airpath.scenario.wires import Wire

__all__ = ["ENDS", "HOP", "STANDARD_QUEUE", "Bottleneck", "Hop", "HopDirection", "resolved_hop"]

ENDS = ("servers", "users")
"""The two ends of a path, in the order of its hops."""

_RESERVED = (
    *(*ENDS, "all", "reverse", "sender", "receiver", "ingress", "acks"),
    *("access", "egress", "ack_access", "return"),
)
"""Names with another meaning in flows, results and captures."""

STANDARD_QUEUE = DropTail(limit=Packets(1000))
"""Queue discipline of a hop without the key `aqm`."""


class Bottleneck(Model):
    """The queue and the link that all flows share.

    Parameters
    ----------
    aqm : QueueDisc
        The queue discipline.
    link : Link
        The link that the queue feeds.
    """

    key_labels = {"aqm": "queue discipline", "link": "link"}

    aqm: QueueDisc = Field(examples=['"gred"'])
    link: Link = Field(examples=['{kind = "fixed", rate = "5 Mbit/s"}'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return resolved_hop(self, context, path)


class _LinkWithQueue(Protocol):
    @property
    def link(self) -> Any: ...
    @property
    def aqm(self) -> QueueDisc: ...


HOP: Mapping[str, Callable[[_LinkWithQueue, Context, Path], Any]] = {
    "link": lambda hop, context, path: hop.link.resolved(context, (*path, "link")),
    "queue": lambda hop, context, path: hop.aqm.resolved(context, (*path, "aqm")),
    "delay_ns": lambda hop, _context, _path: int(hop.link.propagation),
}
"""Maps entries of a hop's resolved form to functions that compute them from link or queue."""


def resolved_hop(hop: _LinkWithQueue, context: Context, path: Path) -> dict[str, Any]:
    """Return the resolved form of a link with its queue."""
    return {key: make(hop, context, path) for key, make in HOP.items()}


def _hop_name(value: Any) -> str:
    name = entry_name(value, "a hop", '"backhaul"')
    if name in _RESERVED or name.endswith("_reverse"):
        raise fault("has another meaning in flows or results", "Use another name", '"backhaul"')
    return name


if TYPE_CHECKING:
    HopName = str
else:
    HopName = Annotated[str, PlainValidator(_hop_name)]


class HopDirection(Model):
    """One direction of a hop, for values that differ from the other direction.

    Parameters
    ----------
    link : Link, optional
        The link. Default: the `link` of the hop.
    aqm : QueueDisc, optional
        The queue discipline. Default: the `aqm` of the hop.
    delay : Duration, optional
        One-way propagation delay after the link, from 0. Default: the `delay` of the hop.
    """

    key_labels = Bottleneck.key_labels

    link: Maybe[Link] = ABSENT
    aqm: Maybe[QueueDisc] = ABSENT
    delay: Maybe[Duration] = ABSENT


class Hop(Model):
    """A hop of a path: a link with queues in one or both directions, or a wire.

    A direction without a link is ideal: packets in this direction skip the hop. A hop with a
    `delay` and without a link only delays packets.

    Parameters
    ----------
    name : str
        Name of the hop in results, routes and controls: letters, digits, ``-`` and ``_``. It is
        unique in the scenario.
    link : Link, optional
        The link of both directions. Each direction has its own link with these parameters, except
        for kinds of links that serve both directions themselves. Default: the links of `down` and
        `up`.
    aqm : QueueDisc
        The queue discipline of both directions. Default drop-tail with 1000 packets.
    delay : Duration, optional
        One-way propagation delay of each direction, from 0. It excludes a `delay` of the link.
        Default: the delay of the link.
    down, up : HopDirection, optional
        Values of the direction from the servers to the users, and from the users to the servers.
    wire : Wire, optional
        A wire in both directions, instead of links.
    """

    key_labels = {**Bottleneck.key_labels, "down": "downlink", "up": "uplink"}

    name: HopName = Field(examples=['"backhaul"'])
    link: Maybe[Link] = ABSENT
    aqm: Maybe[QueueDisc] = ABSENT
    delay: Maybe[Duration] = ABSENT
    down: Maybe[HopDirection] = ABSENT
    up: Maybe[HopDirection] = ABSENT
    wire: Maybe[Wire] = ABSENT

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        wrong = self._wire_faults() if self.wire is not None else self._link_faults()
        if wrong:
            raise faults_at(*wrong)
        return self

    def _wire_faults(self) -> list[tuple[Path, Any, Any]]:
        keys = ("link", "aqm", "delay", "down", "up")
        given = [key for key in keys if getattr(self, key) is not None]
        error = fault("given together with a wire", "Set either wire or links")
        return [((key,), _shown(getattr(self, key)), error) for key in given]

    def _link_faults(self) -> list[tuple[Path, Any, Any]]:
        sides = [(key, side) for key in ("down", "up") if (side := getattr(self, key)) is not None]
        if self.link is not None:
            error = fault("given together with the link of both directions", "Set one of them")
            return [
                ((key, "link"), _shown(side.link), error)
                for key, side in sides
                if side.link is not None
            ] or self._delay_faults()
        linked = [key for key, side in sides if side.link is not None]
        without = [key for key, side in sides if side.link is None]
        if without:
            missing = as_missing(fault("missing", "Set a link of this direction or of the hop"))
            return [((key, "link"), None, missing) for key in without]
        if not linked and self.delay is None:
            missing = as_missing(fault("missing", "Set link, down, up, wire or delay"))
            return [(("link",), None, missing)]
        if not linked and self.aqm is not None:
            error = fault("there is no link that empties the queue", "Set a link, or remove aqm")
            return [(("aqm",), _shown(self.aqm), error)]
        if len(linked) == 1 and self.delay is not None:
            error = fault(
                f"the hop has a link only in direction {linked[0]}",
                f"Set {linked[0]}.delay, and a separate hop with a delay for the other direction",
            )
            return [(("delay",), str(self.delay), error)]
        return self._delay_faults()

    def _delay_faults(self) -> list[tuple[Path, Any, Any]]:
        """Return the faults of delays that are set at a link and at its hop."""
        error = fault("given together with the delay of the link", "Set one of them")
        delayed = [
            key
            for key in ("down", "up")
            if (link := self.link_of(key)) is not None and link.propagation > 0
        ]
        parts = [("down", self.down), ("up", self.up)]
        places: list[tuple[Path, Any]] = [((), self)] if delayed else []
        places += [((key,), part) for key, part in parts if part is not None and key in delayed]
        return [
            ((*path, "delay"), str(part.delay), error)
            for path, part in places
            if part.delay is not None
        ]

    def link_of(self, direction: str) -> Link | None:
        """Return the link of the direction ``down`` or ``up``; None for an ideal direction."""
        side = getattr(self, direction)
        return self.link if side is None or side.link is None else side.link


def _shown(value: Any) -> Any:
    return value.document() if isinstance(value, Model) else str(value)
