"""Memoizes functions of a sweep's points, so that points with equal tables share one evaluation.

A function reads the tables of a point through a reader, which records the tables that were read.
Points for which these tables are equal share the result. A function therefore need not declare the
tables that it reads. For example, a rule that reads only a queue and the flows is evaluated once
for all points that differ only in their links.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

from airpath.engine.resolved import ResolvedScenario
from airpath.scenario import Scenario
from airpath.scenario.sections import DIVIDED, sections_of

__all__ = [
    "RESOLVED",
    "Kept",
    "Memo",
    "Owner",
    "Read",
    "Tables",
    "resolved_view",
    "scenario_view",
]

RESOLVED = "resolved"
"""First element of the places of sections; distinguishes them from the places of tables."""

_MOST_KEPT = 2**16
"""Largest number of stored results per function, and of stored contents per table."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Answer = TypeVar("Answer")
Owner = tuple[str, ...]
"""Place of a table in a scenario: the name of a field, optionally with a key or number in it."""
Tables = Mapping[Owner, tuple[Hashable, Any]]
"""Setting and value of each table that differs between points."""
Read = Callable[[Owner], Any]
"""Function that returns the value of a table."""


class Kept(Generic[Key, Value]):
    """Cache of the values of the first keys and of the last key.

    The axes of a sweep cycle through their values. A full cache that keeps its first entries still
    has hits; a cache that evicts the least recently used entry would have none.

    Parameters
    ----------
    most : int
        Number of stored values.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._first: dict[Key, Value] = {}
        self._last: dict[Key, Value] = {}

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key; `make` computes a missing value."""
        for known in (self._first, self._last):
            if key in known:
                return known[key]
        made = make()
        if len(self._first) < self._most:
            self._first[key] = made
        else:
            self._last = {key: made}
        return made


class _Branch:
    """Node of the memo tree: the table that the function reads next, and a child per setting."""

    __slots__ = ("following", "owner")

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.following: dict[Hashable, Any] = {}


class Memo(Generic[Answer]):
    """Memoized function of the tables of a point.

    Parameters
    ----------
    function : callable
        Function with a reader as its argument. Its result depends only on the values that it reads.
    read_base : callable
        Reads the tables that are equal at all points.
    most : int
        Largest number of stored results.
    """

    def __init__(
        self, function: Callable[[Read], Answer], read_base: Read, most: int = _MOST_KEPT
    ) -> None:
        self._function = function
        self._read_base = read_base
        self._left = most
        # Tree of branches; the leaves are results in tuples.
        self._root: dict[Hashable, Any] = {}

    def of(self, tables: Tables) -> Answer:
        """Return the result for a point."""
        found = self._root.get(None)
        while found.__class__ is _Branch:
            found = found.following.get(tables[found.owner][0])
        return found[0] if found is not None else self._find(tables)

    def _find(self, tables: Tables) -> Answer:
        settings: dict[Owner, Hashable] = {}

        def read(owner: Owner) -> Any:
            table = tables.get(owner)
            if table is None:
                return self._read_base(owner)
            settings[owner] = table[0]
            return table[1]

        answer = self._function(read)
        if self._left > 0:
            self._left -= 1
            self._keep(settings, answer)
        return answer

    def _keep(self, settings: Mapping[Owner, Hashable], answer: Answer) -> None:
        following, setting = self._root, cast(Hashable, None)
        for owner, next_setting in settings.items():
            # A function that has read equal values reads the same table next.
            branch = following.setdefault(setting, _Branch(owner))
            following, setting = branch.following, next_setting
        following[setting] = (answer,)


# --- scenarios of a reader ---------------------------------------------------------------------


def scenario_view(read: Read) -> Scenario:
    """Return a scenario that reads its tables with `read`."""
    return cast(Scenario, _ScenarioView(read))


class _ScenarioView:
    """View of a scenario; in divided fields, each key is a separate table."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def __getattr__(self, name: str) -> Any:
        return _TableView(self._read, name) if name in DIVIDED else self._read((name,))


class _TableView:
    """View of a divided field; each key is a table."""

    def __init__(self, read: Read, field: str) -> None:
        self._read = read
        self._field = field

    def __getattr__(self, name: str) -> Any:
        return self._read((self._field, name))


def resolved_view(read: Read) -> ResolvedScenario:
    """Return a resolved scenario that reads its sections with `read`, by place."""
    return ResolvedScenario(_SectionsView(read, sections_of(scenario_view(read))))


class _SectionsView(Mapping[str, Any]):
    """The sections of a resolved scenario, or the members of one."""

    def __init__(self, read: Read, keys: Mapping[str, Any], *place: str) -> None:
        self._read = read
        self._keys = keys
        self._place = place

    def __getitem__(self, key: str) -> Any:
        if not self._place and (members := self._keys[key].members):
            return _SectionsView(self._read, members, key)
        return self._read((RESOLVED, *self._place, key))

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
