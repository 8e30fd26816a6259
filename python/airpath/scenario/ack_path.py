"""ACK paths: the hops that ACKs traverse from the receivers back to the senders."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import ABSENT, Component, Context, Maybe, Path
from airpath.scenario.hops import Bottleneck, resolved_hop
from airpath.scenario.link import base
from airpath.scenario.units import Packets
from airpath.scenario.wires import Wire

__all__ = ["AckPath", "Ideal", "Link", "Reverse"]


class AckPath(Component):
    """An ACK path, selected by `kind`, between `ack_access` and `return_wire` of each flow."""

    family = "an ACK path"
    key_labels = Bottleneck.key_labels

    def delay(self, forward: base.Link) -> int:
        """Return the propagation delay of the ACK path, ns; `forward` is the bottleneck link."""
        return 0


class Ideal(AckPath):
    """ACKs have no shared queue, no loss and no transmission time; each flow's wires delay them."""

    kind: Literal["ideal"] = "ideal"


class Link(AckPath):
    """The ACKs of all flows share a separate link.

    Parameters
    ----------
    link : Link
        The link.
    aqm : QueueDisc
        The queue of the link. Default drop-tail with 1000 packets.
    """

    kind: Literal["link"] = "link"
    link: base.Link = Field(examples=['{kind = "fixed", rate = "5 Mbit/s"}'])
    aqm: QueueDisc = DropTail(limit=Packets(1000))

    def delay(self, forward: base.Link) -> int:
        """Return the link's delay, ns."""
        return int(self.link.delay)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return {"kind": self.kind, **resolved_hop(self, context, path)}


class Reverse(AckPath):
    """ACKs traverse the reverse direction of the bottleneck.

    Parameters
    ----------
    aqm : QueueDisc
        The queue of the reverse direction. Default drop-tail with 1000 packets.
    link : Link, optional
        The link of the reverse direction. Default: a link with the parameters of the bottleneck's
        link.
    """

    kind: Literal["reverse"] = "reverse"
    aqm: QueueDisc = DropTail(limit=Packets(1000))
    link: Maybe[base.Link] = ABSENT

    def delay(self, forward: base.Link) -> int:
        """Return the delay of the reverse direction, ns."""
        return int(self.link.delay if self.link else forward.delay_back)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; a null link means a link with the bottleneck's parameters."""
        if self.link:
            return {"kind": self.kind, **resolved_hop(self, context, path)}
        queue = self.aqm.resolved(context, (*path, "aqm"))
        return {"kind": self.kind, "queue": queue, "link": None}


def shared_delay(bottleneck: Bottleneck, ack_path: AckPath, backhaul: Wire | None) -> int:
    """Return the sum of the propagation delays of all shared hops in both directions, ns."""
    there_and_back = 2 * int(backhaul.delay) if backhaul else 0
    return int(bottleneck.link.delay) + ack_path.delay(bottleneck.link) + there_and_back
