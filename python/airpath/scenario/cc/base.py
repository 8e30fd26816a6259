"""Common base class of the congestion control algorithms, and their common values."""

from __future__ import annotations

from typing import Any, ClassVar

from airpath.scenario.base import Component, Context, Path
from airpath.scenario.values import choice

__all__ = ["Congestion"]

HYSTART = choice("off", "classic", "plus-plus")


class Congestion(Component):
    """A congestion control algorithm, selected by `kind`; ``cc = "reno"`` sets only the kind."""

    family = "a congestion control"
    engine_family = "congestion"
    recovery: ClassVar[str | None] = None
    """Loss recovery that the algorithm requires; None selects the recovery of the TCP profile."""
    echo: ClassVar[str | None] = None
    """ECN mode of the engine that the algorithm requires; None selects that of the profile."""
    negotiates_ecn: ClassVar[bool] = False
    """True if both endpoints negotiate ECN, as in RFC 3168."""

    obeys_price: ClassVar[bool] = False
    """True if the algorithm requires a queue that writes a price into data packets."""

    def resolved_control(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of the congestion control, with the engine's `kind`."""
        return self.resolved(context, path)

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form with the engine's `kind`."""
        return self.resolved_control(context, path)

    def in_ns3(self) -> Congestion:
        """Return the algorithm that the `kind` of this class selects with the profile `ns3`."""
        return self

    def in_linux(self) -> Congestion:
        """Return the algorithm that the `kind` of this class selects with the profile `linux`."""
        return self
