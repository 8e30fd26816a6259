"""Annotations of keys for type checkers, where accepted arguments and attributes differ in type.

A type checker derives the constructor of a class from its annotated keys. If the type of a key has
a `__set__`, the constructor accepts the type of its argument, and the attribute has the return type
of `__get__`. Therefore a `Duration` can be passed as ``"40 ms"``. These classes do not exist at run
time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar

__all__ = ["ABSENT", "Either", "ListOf", "Maybe", "MaybeList", "usual"]

_Held = TypeVar("_Held")
_Given = TypeVar("_Given")

ABSENT: Any = None
"""Default of an optional key."""


def usual(value: Any) -> Any:
    """Return the default of a key whose argument and attribute types differ."""
    return value


if TYPE_CHECKING:

    class Takes(Generic[_Given, _Held]):
        """A key whose argument and attribute types differ: ``"40 ms"`` becomes a `Duration`."""

        def __get__(self, owner: object, of: object) -> _Held: ...
        def __set__(self, owner: object, value: _Given) -> None: ...

    class Maybe(Generic[_Held]):
        """An optional key."""

        def __get__(self, owner: object, of: object) -> _Held | None: ...
        def __set__(
            self, owner: object, value: _Held | str | float | Mapping[str, Any] | None
        ) -> None: ...

    class Either(Generic[_Held]):
        """An optional key, for code that reads it only if it is set."""

        def __get__(self, owner: object, of: object) -> _Held: ...
        def __set__(self, owner: object, value: _Held | Mapping[str, Any] | None) -> None: ...

    class MaybeList(Generic[_Held]):
        """An optional key that accepts a list of tables."""

        def __get__(self, owner: object, of: object) -> list[_Held] | None: ...
        def __set__(
            self, owner: object, value: Sequence[_Held | Mapping[str, Any]] | None
        ) -> None: ...

    class ListOf(Generic[_Held]):
        """A key that accepts a list of tables or quantities."""

        def __get__(self, owner: object, of: object) -> list[_Held]: ...
        def __set__(
            self, owner: object, value: Sequence[_Held | str | float | Mapping[str, Any]]
        ) -> None: ...
else:

    class _OptionalList:
        def __class_getitem__(cls, item: Any) -> Any:
            return list[item] | None

    Maybe = Either = Optional
    MaybeList = _OptionalList
    ListOf = list
