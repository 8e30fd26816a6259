"""What type checkers see of the keys of a table: what a constructor takes, what an attribute holds.

A checker makes the constructor of a class from its annotated keys. A key of a type with a
`__set__` takes what that takes, and holds what its `__get__` returns; so a `Duration` can be given
as ``"40 ms"``. None of this exists when the program runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar

__all__ = ["ABSENT", "ListOf", "Maybe", "usual"]

_Held = TypeVar("_Held")
_Given = TypeVar("_Given")

ABSENT: Any = None
"""The default of a key that need not be given."""


def usual(value: Any) -> Any:
    """Return the default of a key that takes more than what it holds."""
    return value


if TYPE_CHECKING:

    class Takes(Generic[_Given, _Held]):
        """A key that takes more than what the attribute holds: ``"40 ms"`` for a `Duration`."""

        def __get__(self, owner: object, of: object) -> _Held: ...
        def __set__(self, owner: object, value: _Given) -> None: ...

    class Maybe(Generic[_Held]):
        """A key that need not be given."""

        def __get__(self, owner: object, of: object) -> _Held | None: ...
        def __set__(
            self, owner: object, value: _Held | str | float | Mapping[str, Any] | None
        ) -> None: ...

    class ListOf(Generic[_Held]):
        """A key that takes a list of tables or quantities."""

        def __get__(self, owner: object, of: object) -> list[_Held]: ...
        def __set__(
            self, owner: object, value: Sequence[_Held | str | float | Mapping[str, Any]]
        ) -> None: ...
else:
    Maybe = Optional
    ListOf = list
