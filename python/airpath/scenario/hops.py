"""The bottleneck hop, with queue and link, that all flows share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from pydantic import Field

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Context, Model, Path
from airpath.scenario.link.base import Link

__all__ = ["HOP", "Bottleneck", "resolved_hop"]


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


class _Hop(Protocol):
    @property
    def link(self) -> Any: ...
    @property
    def aqm(self) -> QueueDisc: ...


HOP: Mapping[str, Callable[[_Hop, Context, Path], Any]] = {
    "link": lambda hop, context, path: hop.link.resolved(context, (*path, "link")),
    "queue": lambda hop, context, path: hop.aqm.resolved(context, (*path, "aqm")),
    "delay_ns": lambda hop, _context, _path: int(hop.link.propagation),
}
"""Maps entries of a hop's resolved form to functions that compute them from link or queue."""


def resolved_hop(hop: _Hop, context: Context, path: Path) -> dict[str, Any]:
    """Return the resolved form of a link with its queue."""
    return {key: make(hop, context, path) for key, make in HOP.items()}
