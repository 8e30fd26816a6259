"""The statistics of the interval between two decisions of an agent."""

from __future__ import annotations

from collections.abc import Sequence
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


class Interval:
    """Statistics of one agent over one interval, as attributes with the names of `QUANTITIES`.

    In a single environment each statistic is a `float`. In a vector environment it is an array with
    one element for each environment, so that one function can serve both.

    Parameters
    ----------
    values : sequence
        A number, or an array, for each of `QUANTITIES`.
    """

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[INDEX[name]]
        except KeyError:
            raise AttributeError(
                f"{name}: unknown statistic; expected one of: {', '.join(INDEX)}"
            ) from None

    def __dir__(self) -> list[str]:
        return [*INDEX, "values"]

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"Interval({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics by name."""
        return dict(zip(INDEX, self.values, strict=True))
