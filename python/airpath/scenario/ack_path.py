"""ACK paths: the hops that ACKs traverse from the receivers back to the senders."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import ABSENT, Component, Context, Maybe, Path
from airpath.scenario.hops import STANDARD_QUEUE, Bottleneck, resolved_hop
from airpath.scenario.link import base

__all__ = ["AckPath", "Ideal", "Link", "Reverse"]


class AckPath(Component):
    """An ACK path, selected by `kind`, between `ack_access` and `return_wire` of each flow."""

    family = "an ACK path"
    key_labels = Bottleneck.key_labels


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
    aqm: QueueDisc = STANDARD_QUEUE

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
    aqm: QueueDisc = STANDARD_QUEUE
    link: Maybe[base.Link] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; a null link means a link with the bottleneck's parameters."""
        if self.link:
            return {"kind": self.kind, **resolved_hop(self, context, path)}
        queue = self.aqm.resolved(context, (*path, "aqm"))
        return {"kind": self.kind, "queue": queue, "link": None}
