"""Common base class of the congestion control algorithms, and their common values."""

from __future__ import annotations

from collections.abc import Collection
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
    falls_back: ClassVar[bool] = False
    """True if `tcp.ecn = "on"` replaces `echo`: the algorithm then reacts as RFC 3168 requires."""
    negotiates_ecn: ClassVar[bool] = False
    """True if both endpoints negotiate ECN, as in RFC 3168."""

    obeys_price: ClassVar[bool] = False
    """True if the algorithm requires a queue that writes a price into data packets."""

    @property
    def refused_ecn(self) -> Collection[str]:
        """Values of `tcp.ecn` that contradict the algorithm."""
        if self.negotiates_ecn:
            return ("off",)
        if self.echo is not None:
            return ("on", "accurate")
        return ("accurate",) if self.obeys_price else ()

    def ecn(self, given: str | None) -> str | None:
        """Return the value of `tcp.ecn` with this algorithm, if the user has set it to `given`."""
        if given is None and self.negotiates_ecn:
            return "accurate" if self.echo == "accurate" else "on"
        return given

    def ecn_use(self, ecn: str) -> str:
        """Return the engine's ECN mode for the value `ecn` of `tcp.ecn`."""
        if self.echo is None or ecn == "accurate" or self.falls_back:
            return ecn
        return self.echo

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
