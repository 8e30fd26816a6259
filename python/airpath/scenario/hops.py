"""The hop that all flows share: the queue and the link of the bottleneck."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Context, Model, Path
from airpath.scenario.link.base import Link

__all__ = ["Bottleneck"]


class Bottleneck(Model):
    """The queue and the link that all flows share.

    Parameters
    ----------
    aqm : QueueDisc
        The queue discipline.
    link : Link
        The link that it feeds.
    """

    key_labels = {"aqm": "queue discipline", "link": "link"}

    aqm: QueueDisc = Field(examples=['"gred"'])
    link: Link = Field(examples=['{kind = "fixed", rate = "5 Mbit/s"}'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return resolved_hop(self.link, self.aqm, context, path)


def resolved_hop(link: Link, aqm: QueueDisc, context: Context, path: Path) -> dict[str, Any]:
    """Return the resolved form of a link with its queue."""
    return {
        "link": link.resolved(context, (*path, "link")),
        "queue": aqm.resolved(context, (*path, "aqm")),
        "delay_ns": int(link.propagation),
    }
