"""The queue discipline of a resolved scenario; its class has what depends on its kind."""

from __future__ import annotations

from collections.abc import Mapping

from airpath.engine.component import Component
from airpath.scenario.aqm.queues import QueueDisc

__all__ = ["ResolvedQueue"]


class ResolvedQueue(Component):
    """A queue discipline by its kind and parameters."""

    @property
    def marks(self) -> bool:
        """Whether it, or one in it, writes into the ECN field."""
        return any(
            component.get("ecn") or _class(component).always_marks for component in self.nested()
        )

    @property
    def ends(self) -> str | None:
        """The name of the only ends that read what it, or one in it, writes; None for all ends."""
        return next((ends for one in self.nested() if (ends := _class(one).ends)), None)

    @property
    def limit_packets(self) -> int | None:
        """The limit, packets; None if it has none or counts bytes."""
        limit = self.get("limit")
        return limit.get("packets") if isinstance(limit, Mapping) else limit

    @property
    def limit_bytes(self) -> int | None:
        """The limit, bytes; None if it has none or counts packets."""
        limit = self.get("limit")
        return limit.get("bytes") if isinstance(limit, Mapping) else None


def _class(component: Component) -> type[QueueDisc]:
    """Return the class of a kind; that of all disciplines for a plug-in and for a nested table."""
    found = QueueDisc.registry.get(component.get("kind"), QueueDisc)
    assert issubclass(found, QueueDisc), "the registry of queue disciplines has disciplines"
    return found
