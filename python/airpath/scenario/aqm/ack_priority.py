"""Queue discipline that sends ACKs first and queues other packets in an inner discipline."""

from __future__ import annotations

from typing import Any, Literal

from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import ABSENT, Context, Maybe, Path

__all__ = ["AckPriority"]


class AckPriority(QueueDisc):
    """Priority for ACKs: a separate ACK queue is served first; both queues share one limit.

    The inner discipline queues all other packets. It counts ACKs in its arrivals and its backlog.
    An ACK that would exceed the limit of the inner discipline is dropped. No ACK is dropped early
    or marked.

    Parameters
    ----------
    aqm : QueueDisc, optional
        The queue discipline of all other packets, any except `AckPriority`. Default: drop-tail with
        its defaults.
    """

    kind: Literal["ack-priority"] = "ack-priority"
    aqm: Maybe[QueueDisc] = ABSENT

    @property
    def prices(self) -> bool:
        """True if the inner discipline writes a price."""
        return self.aqm is not None and self.aqm.prices

    @property
    def puts_acks_ahead(self) -> bool:
        """True for this discipline."""
        return True

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the resolved form of the inner discipline."""
        inside = (self.aqm or DropTail()).resolved(context, (*path, "aqm"))
        return {"kind": self.kind, "aqm": inside}
