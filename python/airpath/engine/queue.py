"""The queue discipline of a resolved scenario; its class has the properties of its kind."""

from __future__ import annotations

from collections.abc import Mapping

from airpath.engine.component import Component
from airpath.scenario.aqm.queues import QueueDisc

__all__ = ["ResolvedQueue"]


class ResolvedQueue(Component):
    """A queue discipline with a kind and parameters."""

    @property
    def marks(self) -> bool:
        """True if the discipline, or one inside it, writes into the ECN field."""
        return any(
            component.get("ecn") or _class(component).always_marks for component in self.nested()
        )

    @property
    def ends(self) -> str | None:
        """Name of the only endpoints that read the values written here; None for all endpoints."""
        return next((ends for one in self.nested() if (ends := _class(one).ends)), None)

    @property
    def limit_packets(self) -> int | None:
        """Limit, packets; None without a limit or with a limit in bytes."""
        limit = self.get("limit")
        return limit.get("packets") if isinstance(limit, Mapping) else limit

    @property
    def limit_bytes(self) -> int | None:
        """Limit, bytes; None without a limit or with a limit in packets."""
        limit = self.get("limit")
        return limit.get("bytes") if isinstance(limit, Mapping) else None


def _class(component: Component) -> type[QueueDisc]:
    """Return the class of a kind; `QueueDisc` for a plug-in and for a nested table."""
    found = QueueDisc.registry.get(component.get("kind"), QueueDisc)
    assert issubclass(found, QueueDisc), "the registry of queue disciplines has disciplines"
    return found
