"""Access to a component of a resolved scenario, such as a queue discipline or a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Component"]


@dataclass(frozen=True)
class Component:
    """A component of a resolved scenario: its kind, and parameters in base units.

    Parameters
    ----------
    description : mapping
        ``kind`` and parameters, in the form of the engine's input.
    """

    description: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Kind of the component, as in the registry of its family."""
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
