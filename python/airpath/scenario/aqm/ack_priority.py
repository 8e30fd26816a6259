"""ACKs ahead of all other packets, around any queue discipline."""

from __future__ import annotations

from typing import Any, Literal

from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import ABSENT, Context, Maybe, Path

__all__ = ["AckPriority"]


class AckPriority(QueueDisc):
    """ACKs ahead of the queue discipline of the other packets, under its limit.

    An ACK counts in the arrivals and the backlog of the discipline. It is dropped at the limit of
    the discipline; it is never dropped early and never marked.

    Parameters
    ----------
    aqm : QueueDisc, optional
        The discipline of all other packets, any except `AckPriority`. Default: drop-tail with its
        defaults.
    """

    kind: Literal["ack-priority"] = "ack-priority"
    aqm: Maybe[QueueDisc] = ABSENT

    @property
    def prices(self) -> bool:
        """Whether the discipline inside writes a price."""
        return self.aqm is not None and self.aqm.prices

    @property
    def puts_acks_ahead(self) -> bool:
        """True for this discipline."""
        return True

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with that of the discipline inside."""
        inside = (self.aqm or DropTail()).resolved(context, (*path, "aqm"))
        return {"kind": self.kind, "aqm": inside}
