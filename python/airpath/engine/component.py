"""A component of a resolved scenario: a queue discipline, a congestion control, a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Component"]


@dataclass(frozen=True)
class Component:
    """A component with a kind and parameters in base units.

    Parameters
    ----------
    description : mapping
        ``kind`` and parameters, in the form of the engine's input.
    """

    description: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Name in the registry of the component's family."""
        return str(self.description["kind"])

    def __contains__(self, parameter: str) -> bool:
        return parameter in self.description

    def get(self, parameter: str, default: Any = None) -> Any:
        """Return a parameter, or `default` if it is absent."""
        return self.description.get(parameter, default)

    def nested(self) -> Iterator[Component]:
        """Yield the component and all components inside it."""
        yield self
        for value in self.description.values():
            if isinstance(value, Mapping):
                yield from Component(value).nested()
