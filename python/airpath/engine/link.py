"""Access to a link of a resolved scenario; the class of its kind computes the properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from airpath.engine.component import Component
from airpath.scenario.link.base import Link

__all__ = ["ResolvedLink"]


class ResolvedLink(Component):
    """A link of a resolved scenario."""

    @property
    def _class(self) -> type[Link]:
        found = Link.registry[self.kind]
        assert issubclass(found, Link), "the registry of links has links"
        return found

    @property
    def series(self) -> frozenset[str]:
        """Link-specific series that can be recorded for this link."""
        return self._class.series

    @property
    def has_schemes(self) -> bool:
        """True if the link counts the packets sent with each MCS."""
        return "mcs" in self.series

    @property
    def trace(self) -> str | None:
        """Name of the link's trace in the resolved scenario; None without a trace."""
        return _text(self.get("trace"))

    @property
    def trace_format(self) -> Literal["mahimahi", "csv"] | None:
        """File format of the link's trace; None without a trace."""
        return self._class.trace_format

    @property
    def table(self) -> str | None:
        """Name of the link's error-rate table in the resolved scenario; None without a table."""
        return _text(self.get("table"))

    @property
    def known_rates_bps(self) -> list[float]:
        """Bit rate of each regime: one element for a constant rate, empty if unknown."""
        return self._class.known_rates_bps(self.description)

    @property
    def largest_rate_bps(self) -> float:
        """Upper bound of the bit rate; 0 if no bound is known."""
        return self._class.largest_rate_bps(self.description)

    @property
    def latencies_ns(self) -> tuple[int, int]:
        """Forward and reverse delay that the link adds to the delay of the hop, ns."""
        return self._class.latencies_ns(self.description)

    @property
    def regime_boundaries(self) -> list[int]:
        """Queue length, packets, at which each regime after the first begins."""
        return self._class.regime_boundaries(self.description)

    def regime_labels(self, table: Callable[[], str | None]) -> list[str]:
        """Return the label of each regime; see `Link.regime_labels`."""
        return self._class.regime_labels(self.description, table)

    def slots(self, duration_ns: int) -> float:
        """Return the number of slots in a run; 0 without slots."""
        return self._class.slots(self.description, duration_ns)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
