"""The link of a resolved scenario; methods of the link's class depend on its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from airpath.engine.component import Component
from airpath.scenario.link.base import Link

__all__ = ["ResolvedLink"]


class ResolvedLink(Component):
    """A link with a kind and parameters."""

    @property
    def _class(self) -> type[Link]:
        found = Link.registry[self.kind]
        assert issubclass(found, Link), "the registry of links has links"
        return found

    @property
    def series(self) -> frozenset[str]:
        """Recorded series that this link writes and some other links do not."""
        return self._class.series

    @property
    def has_schemes(self) -> bool:
        """True if the link counts the packets sent with each MCS."""
        return "mcs" in self.series

    @property
    def trace(self) -> str | None:
        """Key of the link's trace; None without one."""
        return _text(self.get("trace"))

    @property
    def trace_format(self) -> Literal["mahimahi", "csv"] | None:
        """Format of the link's trace."""
        return self._class.trace_format

    @property
    def table(self) -> str | None:
        """Key of the link's error-rate table; None without one."""
        return _text(self.get("table"))

    @property
    def known_rates_bps(self) -> list[float]:
        """Bit rate of each regime; one for a constant rate, empty if unknown."""
        return self._class.known_rates_bps(self.description)

    @property
    def largest_rate_bps(self) -> float:
        """Upper bound of the bit rate; 0 if none is known."""
        return self._class.largest_rate_bps(self.description)

    @property
    def latencies_ns(self) -> tuple[int, int]:
        """Delays that each direction adds to the delay of the hop, ns."""
        return self._class.latencies_ns(self.description)

    @property
    def regime_boundaries(self) -> list[int]:
        """Queue lengths, packets, at which each further regime begins."""
        return self._class.regime_boundaries(self.description)

    def regime_labels(self, table: Callable[[], str | None]) -> list[str]:
        """Return a label of each regime, or an empty list; `table` returns the error-rate table."""
        return self._class.regime_labels(self.description, table)

    def slots(self, duration_ns: int) -> float:
        """Return the number of slots in a run; 0 without slots."""
        return self._class.slots(self.description, duration_ns)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
