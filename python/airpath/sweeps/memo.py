"""Answers about the points of a sweep, each found once for all points with equal tables.

A function gets the tables of a point through a reader, which notes those that it reads. Points with
the same settings of these tables get the same answer. So a function need not declare what it reads,
and a rule between a queue and the flows is evaluated once for all links.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

from airpath.engine.resolved import ResolvedScenario
from airpath.scenario import Scenario
from airpath.scenario.sections import DIVIDED, SECTIONS

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
"""First name of the places of sections, among those of tables."""

_MOST_KEPT = 2**16
"""Answers of a function, and settings of a table, that are kept."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Answer = TypeVar("Answer")
Owner = tuple[str, ...]
"""Where a table is in a scenario: the name of a field, or that and a key or number in it."""
Tables = Mapping[Owner, tuple[Hashable, Any]]
"""Setting and value of each table that differs between points."""
Read = Callable[[Owner], Any]
"""Returns the value of a table."""


class Kept(Generic[Key, Value]):
    """Values that were made for the first keys, and for the last one.

    Axes change in turns, so that what is full and keeps its first entries is of use, and what
    forgets the oldest would find nothing.

    Parameters
    ----------
    most : int
        Number of values that are kept.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._first: dict[Key, Value] = {}
        self._last: dict[Key, Value] = {}

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key; `make` makes it for the first time."""
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
    """A table that the function reads next, and what follows for each of its settings."""

    __slots__ = ("following", "owner")

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.following: dict[Hashable, Any] = {}


class Memo(Generic[Answer]):
    """A function of the tables of a point, with the answers that it gave.

    Parameters
    ----------
    function : callable
        Takes a reader. Its answer depends only on the values that it reads.
    read_base : callable
        Reads the tables that are the same at all points.
    most : int
        Number of answers that are kept.
    """

    def __init__(
        self, function: Callable[[Read], Answer], read_base: Read, most: int = _MOST_KEPT
    ) -> None:
        self._function = function
        self._read_base = read_base
        self._left = most
        # Branches; at their ends, answers in tuples.
        self._root: dict[Hashable, Any] = {}

    def of(self, tables: Tables) -> Answer:
        """Return the answer for a point."""
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
            # After equal values, a function reads the same table.
            branch = following.setdefault(setting, _Branch(owner))
            following, setting = branch.following, next_setting
        following[setting] = (answer,)


# --- scenarios of a reader ---------------------------------------------------------------------


def scenario_view(read: Read) -> Scenario:
    """Return a scenario whose tables are those that `read` returns."""
    return cast(Scenario, _ScenarioView(read))


class _ScenarioView:
    """A scenario; of fields whose sections have members each key is a table."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def __getattr__(self, name: str) -> Any:
        return _TableView(self._read, name) if name in DIVIDED else self._read((name,))


class _TableView:
    """A table of a scenario whose keys are tables."""

    def __init__(self, read: Read, field: str) -> None:
        self._read = read
        self._field = field

    def __getattr__(self, name: str) -> Any:
        return self._read((self._field, name))


def resolved_view(read: Read) -> ResolvedScenario:
    """Return a resolved scenario whose sections are those that `read` returns, by place."""
    return ResolvedScenario(_SectionsView(read, SECTIONS))


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
