"""Access to a queue discipline of a resolved scenario."""

from __future__ import annotations

from collections.abc import Mapping

from airpath.engine.component import Component
from airpath.scenario.aqm.queues import QueueDisc

__all__ = ["ResolvedQueue"]


class ResolvedQueue(Component):
    """A queue discipline of a resolved scenario."""

    @property
    def marks(self) -> bool:
        """True if the discipline, or an inner discipline, writes into the ECN field."""
        return any(
            component.get("ecn")
            or component.get("ce_threshold_ns") is not None
            or _class(component).always_marks
            for component in self.nested()
        )

    @property
    def ends(self) -> str | None:
        """Name of the TCP endpoints that the discipline requires, for messages; None for any."""
        return next((ends for one in self.nested() if (ends := _class(one).ends)), None)

    @property
    def limit_packets(self) -> int | None:
        """Limit in packets; None without a limit or with a limit in bytes."""
        limit = self.get("limit")
        return limit.get("packets") if isinstance(limit, Mapping) else limit

    @property
    def limit_bytes(self) -> int | None:
        """Limit in bytes; None without a limit or with a limit in packets."""
        limit = self.get("limit")
        return limit.get("bytes") if isinstance(limit, Mapping) else None


def _class(component: Component) -> type[QueueDisc]:
    """Return the class for the kind of a discipline; `QueueDisc` for plug-ins and nested tables."""
    found = QueueDisc.registry.get(component.get("kind"), QueueDisc)
    assert issubclass(found, QueueDisc), "the registry of queue disciplines has disciplines"
    return found
