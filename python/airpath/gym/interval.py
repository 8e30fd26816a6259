"""The statistics of the interval between two decisions of an agent."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from struct import Struct
from typing import Any

from airpath import _airpath

__all__ = ["INDEX", "QUANTITIES", "ROW", "Interval"]

QUANTITIES = {name: (unit, about) for name, unit, about in _airpath.agent_quantities()}
"""Maps the name of each statistic to its unit and its definition."""
INDEX = {name: index for index, name in enumerate(QUANTITIES)}
"""Maps the name of each statistic to its position in a row."""
ROW = Struct(f"<{len(INDEX)}d")
"""Layout of the statistics of one agent."""


_make_row: Any = namedtuple  # The names of the fields are known at run time only.
_Row: Any = _make_row("_Row", tuple(INDEX))


class Interval(_Row):  # type: ignore[misc]
    """Statistics of one agent over one interval, as attributes with the names of `QUANTITIES`.

    In a single environment each statistic is a `float`. In a vector environment it is an array with
    one element for each environment, so that one function can serve both.

    Parameters
    ----------
    values : iterable
        A number, or an array, for each of `QUANTITIES`.
    """

    __slots__ = ()

    def __new__(cls, values: Iterable[Any]) -> Interval:
        """Create the statistics of an interval."""
        made: Interval = cls._make(values)
        return made

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name}: unknown statistic; expected one of: {', '.join(INDEX)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics by name."""
        return dict(zip(INDEX, self, strict=True))
