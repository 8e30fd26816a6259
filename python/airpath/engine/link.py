"""The link of a resolved scenario. What depends on its kind is a method of the link's class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from airpath.engine.component import Component
from airpath.scenario.link.base import Link

__all__ = ["ResolvedLink"]


class ResolvedLink(Component):
    """A link by its kind and parameters."""

    @property
    def _class(self) -> type[Link]:
        found = Link.registry[self.kind]
        assert issubclass(found, Link), "the registry of links has links"
        return found

    @property
    def series(self) -> frozenset[str]:
        """Recorded series that only some links write, and this one does."""
        return self._class.series

    @property
    def has_schemes(self) -> bool:
        """Whether it counts the packets sent with each MCS."""
        return "mcs" in self.series

    @property
    def trace(self) -> str | None:
        """Key of its trace; None without one."""
        return _text(self.get("trace"))

    @property
    def trace_format(self) -> Literal["mahimahi", "csv"] | None:
        """Format of its trace."""
        return self._class.trace_format

    @property
    def table(self) -> str | None:
        """Key of its error-rate table; None without one."""
        return _text(self.get("table"))

    @property
    def known_rates_bps(self) -> list[float]:
        """Bit rate of each regime; one for a constant rate, none if it is not known."""
        return self._class.known_rates_bps(self.description)

    @property
    def largest_rate_bps(self) -> float:
        """Upper bound of the bit rate; 0 if there is none."""
        return self._class.largest_rate_bps(self.description)

    @property
    def latencies_ns(self) -> tuple[int, int]:
        """Delays of its two directions that are not the delay of the hop, ns."""
        return self._class.latencies_ns(self.description)

    @property
    def regime_boundaries(self) -> list[int]:
        """Packets waiting from which each further regime holds."""
        return self._class.regime_boundaries(self.description)

    def regime_labels(self, table: Callable[[], str | None]) -> list[str]:
        """Return a label of each regime, or none; `table` returns the text of its table."""
        return self._class.regime_labels(self.description, table)

    def slots(self, duration_ns: int) -> float:
        """Return the slots of a run; 0 without slots."""
        return self._class.slots(self.description, duration_ns)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
