"""Points of a sweep, assembled from tables that are checked once for each of their settings.

The axes of a sweep are grouped by the table that they change: ``bottleneck.link``, ``flows.0``.
A table is validated, and its resolved form written, once for each combination of the values of its
axes. What remains for a point are the rules between tables and the engine's check of the network.
A point that this way does not accept is made by `Base.at`, which decides, and words the problems.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from airpath.engine.flows import Flows
from airpath.engine.inputs import Inputs, Reading, read_inputs
from airpath.engine.prepared import only_emulated
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError
from airpath.scenario import Scenario
from airpath.scenario.base import Component, Model
from airpath.scenario.checking import with_types_alone
from airpath.scenario.optimum import has_optimum
from airpath.scenario.overrides import Overrides, field_of
from airpath.scenario.resolve import resolved_section
from airpath.scenario.rules import fits_together
from airpath.scenario.sections import SECTIONS
from airpath.sweeps.job import Job, Section, as_run, contents_of, job_of_sections

__all__ = ["Assembled", "Assembly", "Kept"]

_MOST_KEPT = 2**16
"""Settings of a table that are kept, some kB each."""
_AS_RUN = ("record", "capture")
"""Sections that a job has otherwise than its scenario."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Setting = tuple[tuple[str, str], ...]
"""What sets a table apart from the base's: axes, and the `key_of` of their values."""
Owner = tuple[str, ...]
"""Where a table is in a scenario: the name of a field, or that and a key or number in it."""
Changes = list[tuple[str, Any, str]]
"""Axes with their values and the `key_of` of each."""


class _NotAssembled(Exception):  # noqa: N818  (no error: the point is made in the other way)
    """The point is none that is assembled."""


class Kept(Generic[Key, Value]):
    """What was made for the first keys, and for the last one.

    Axes change in turns, so that what is full and keeps its first entries is of use, and what
    forgets the oldest would find nothing.

    Parameters
    ----------
    most : int
        How many are kept.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._first: dict[Key, Value] = {}
        self._last: dict[Key, Value] = {}

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return what was made for a key; `make` makes it for the first time."""
        for known in (self._first, self._last):
            if key in known:
                return known[key]
        made = make()
        if len(self._first) < self._most:
            self._first[key] = made
        else:
            self._last = {key: made}
        return made


@dataclass(frozen=True, slots=True)
class Assembled:
    """A point that can be run if the engine accepts it.

    Parameters
    ----------
    scenario : Scenario
        Its scenario.
    resolved : ResolvedScenario
        The same as its job has it.
    job : Job
        What is run.
    contents : mapping of str to str
        Of its files, by SHA-256.
    """

    scenario: Scenario
    resolved: ResolvedScenario
    job: Job
    contents: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Table:
    """A validated value of a field, with its setting."""

    value: Any
    setting: Hashable = ()


_NO_INPUTS = Inputs({}, {}, {}, {})

_COPY: Callable[..., Any] = BaseModel.model_copy
"""That of `Scenario` validates everything once more."""

_TAKEN_OUT = object()
"""The value of a key that an axis takes out."""


class Assembly:
    """Makes the points of a sweep whose base is a scenario.

    Parameters
    ----------
    base : Scenario
        The base.
    axes : iterable of str
        Names of all axes.
    place : str
        What begins each line about a value of an axis.
    context : mapping or None
        Validation context of the values.
    series : sequence of str
        Time series that are stored.
    reading : Reading
        What was read for earlier points.
    lost : dict
        Takes what the values of axes take from the base, a line each.
    """

    def __init__(
        self,
        base: Scenario,
        axes: Iterable[str],
        *,
        place: str,
        context: Mapping[str, Any] | None,
        series: Iterable[str],
        reading: Reading,
        lost: dict[str, None],
    ) -> None:
        self._base = base
        self._place = place
        self._context = context
        self._reading = reading
        self._lost = lost
        self._owners = _owners(base, axes)
        self._given = base.given()
        self._tables: Kept[Hashable, Any] = Kept()
        self._sections: Kept[Hashable, tuple[Section, Mapping[str, Path]]] = Kept()
        self._inputs: Kept[Hashable, Inputs] = Kept()
        self._flows: Kept[str, Flows] = Kept()
        self._same = self._sections_of_all(list(series))

    def _sections_of_all(self, series: list[str]) -> dict[str, Section]:
        """Return the sections that all points share, as jobs have them."""
        varied = {owner[0] for owner in self._owners.values() if owner is not None}
        of_base = (
            _resolved(self._base, key)
            for key, section in SECTIONS.items()
            if section.depends_on is None and section.field not in varied
        )
        same = {section.key: section for section, files in of_base if not files}
        resolved = as_run(ResolvedScenario({key: same[key].value for key in _AS_RUN}), series)
        return same | {key: Section.of(key, of) for key, of in resolved.document.items()}

    def at(self, values: Mapping[str, Any], keys: Mapping[str, str]) -> Assembled | None:
        """Return a point; None if it is not assembled.

        Parameters
        ----------
        values : mapping
            By axis.
        keys : mapping of str to str
            The `key_of` of each value.
        """
        try:
            return self._assembled(values, keys)
        except (_NotAssembled, BadValueError, ValidationError):
            return None

    def _assembled(self, values: Mapping[str, Any], keys: Mapping[str, str]) -> Assembled:
        tables = dict(self._changed(values, keys))
        scenario = self._scenario({field: table.value for field, table in tables.items()})
        if not fits_together(scenario) or any(True for _ in only_emulated(scenario)):
            raise _NotAssembled
        sections, named = [], []
        for key in SECTIONS:
            section = self._same.get(key)
            if section is None:
                section, files = self._section(key, scenario, tables)
                if files:
                    named.append((section.text, files))
            sections.append(section)
        resolved = self._resolved(sections)
        if has_optimum(resolved.document):
            raise _NotAssembled
        inputs = self._read_inputs(scenario, resolved, named) if named else _NO_INPUTS
        job = job_of_sections(scenario.name, sections, inputs)
        return Assembled(scenario, resolved, job, contents_of(inputs))

    def _scenario(self, fields: Mapping[str, Any]) -> Scenario:
        """Return the base with other values of fields, each of which is accepted."""
        copied: Scenario = _COPY(self._base, update=fields)
        return copied

    # --- tables --------------------------------------------------------------------------------

    def _changed(
        self, values: Mapping[str, Any], keys: Mapping[str, str]
    ) -> Iterator[tuple[str, _Table]]:
        """Yield the fields that the values change, and what they become."""
        changes: dict[str, dict[Owner, Changes]] = {}
        for axis, value in values.items():
            owner = self._owners[axis]
            if owner is None:
                raise _NotAssembled
            changes.setdefault(owner[0], {}).setdefault(owner, []).append((axis, value, keys[axis]))
        for field, of in changes.items():
            setting = tuple(_setting(each) for each in of.values())
            made = self._tables.get((field, setting), partial(self._field, field, of))
            if made is None:
                raise _NotAssembled
            yield field, _Table(made, setting)

    def _field(self, field: str, changes: Mapping[Owner, Changes]) -> Any:
        """Return the value of a field; None if it is not accepted."""
        if (field,) in changes:
            part = self._part((field,), changes[field,])
            return None if part is None else self._of_scenario(field, part)
        parts = {}
        for owner, of in changes.items():
            part = self._tables.get((owner, _setting(of)), partial(self._part, owner, of))
            if part is None:
                return None
            parts[owner[1]] = part
        old = getattr(self._base, field)
        if isinstance(old, list):
            return [parts.get(str(number), each) for number, each in enumerate(old)]
        kept = {} if old is None else {name: getattr(old, name) for name in old.model_fields_set}
        given = {key: part for key, part in {**kept, **parts}.items() if part is not _TAKEN_OUT}
        try:
            return self._validated(field_of(Scenario, field)[1], given)
        except ValidationError:
            return None

    def _of_scenario(self, field: str, given: Any) -> Any:
        """Return what becomes of a given value in the base; None if it is not accepted there."""
        tables = {name: getattr(self._base, name) for name in self._base.model_fields_set}
        tables = {**tables, field: given}
        if given is _TAKEN_OUT:
            del tables[field]
        try:
            made = with_types_alone(partial(Scenario.model_validate, tables, context=self._context))
        except ValidationError:
            return None
        return getattr(made, field)

    def _part(self, owner: Owner, changes: Changes) -> Any:
        """Return a table, or the value of a key, with changes; None if they are not accepted."""
        document = self._document(owner)
        overrides = Overrides(document, Scenario, self._place, self._context)
        try:
            for axis, value, _ in changes:
                overrides.put(axis, value)
            made = self._validated(*_found(document, owner))
        except (BadValueError, ValidationError):
            return None
        self._lost.update(dict.fromkeys(overrides.lost()))
        return made

    def _document(self, owner: Owner) -> dict[str, Any]:
        """Return what the base gives, of the fields next to the owner nothing."""
        field, *inside = owner
        if field not in self._given:
            return {}
        given = self._given[field]
        if inside and isinstance(given, list):
            given = [each if str(n) == inside[0] else {} for n, each in enumerate(given)]
        elif inside:
            kind = field_of(Scenario, field)[1]
            given = {key: of for key, of in given.items() if _name(kind, key) == inside[0]}
        return {field: deepcopy(given)}

    def _validated(self, kind: type[Model] | None, given: Any) -> Any:
        if kind is None or given is _TAKEN_OUT:
            return given
        if isinstance(given, list):
            return [kind.model_validate(each, context=self._context) for each in given]
        return kind.model_validate(given, context=self._context)

    # --- sections and files --------------------------------------------------------------------

    def _section(
        self, key: str, scenario: Scenario, tables: Mapping[str, _Table]
    ) -> tuple[Section, Mapping[str, Path]]:
        """Return a section of the resolved form, and the files that it names."""
        of = SECTIONS[key]
        depends_on = None if of.depends_on is None else of.depends_on(scenario)
        setting = tables[of.field].setting if of.field in tables else ()
        return self._sections.get((key, setting, depends_on), partial(_resolved, scenario, key))

    def _resolved(self, sections: Sequence[Section]) -> ResolvedScenario:
        """Return a resolved scenario; those of equal flows share one object."""
        made = ResolvedScenario({each.key: each.value for each in sections})
        flows = next(each for each in sections if each.key == "flows")
        return made.with_flows(self._flows.get(flows.text, lambda: made.flows))

    def _read_inputs(
        self,
        scenario: Scenario,
        resolved: ResolvedScenario,
        named: Iterable[tuple[str, Mapping[str, Path]]],
    ) -> Inputs:
        """Return the files of a point, read once for all that have the same sections with files."""
        files: dict[str, Path] = {}
        for _, of in named:
            for key, path in of.items():
                if files.setdefault(key, path) != path:
                    raise _NotAssembled
        return self._inputs.get(
            tuple(text for text, _ in named),
            lambda: read_inputs(scenario.file, resolved, files, self._reading),
        )


def _setting(changes: Changes) -> Setting:
    return tuple((axis, key) for axis, _, key in changes)


def _resolved(scenario: Scenario, key: str) -> tuple[Section, Mapping[str, Path]]:
    value, files = resolved_section(scenario, key)
    return Section.of(key, json.loads(json.dumps(value, allow_nan=False))), files


def _found(document: Mapping[str, Any], owner: Owner) -> tuple[type[Model] | None, Any]:
    """Return the class of an owner, and what a document gives of it."""
    field, *inside = owner
    kind, given = field_of(Scenario, field)[1], document.get(field, _TAKEN_OUT)
    if inside and isinstance(given, list):
        return kind, given[int(inside[0])]
    if inside:
        found = [of for key, of in given.items() if _name(kind, key) == inside[0]]
        return field_of(kind, inside[0])[1], found[0] if found else _TAKEN_OUT
    return kind, given


def _name(kind: type[Model] | None, key: str) -> str:
    """Return the name in Python of a key."""
    return field_of(kind, key)[0][-1]


# --- which table an axis changes ---------------------------------------------------------------


def _owners(base: Scenario, axes: Iterable[str]) -> dict[str, Owner | None]:
    """Return the table that each axis changes; None of axes whose points are not assembled.

    No table is inside of another.
    """
    axes = list(axes)
    is_renamed = any(axis.split(".")[-1] in ("flows", "name") for axis in axes)
    names = [] if is_renamed else [group.name for group in base.flows]
    found = {axis: _owner(base, axis, names) for axis in axes}
    whole = {owner for owner in found.values() if owner is not None and len(owner) == 1}
    return {
        axis: owner[:1] if owner is not None and owner[:1] in whole else owner
        for axis, owner in found.items()
    }


def _owner(base: Scenario, axis: str, names: Sequence[str | None]) -> Owner | None:
    """Return the table that an axis changes; `names` are those of the groups of flows."""
    first, *rest = axis.split(".")
    field = _name(Scenario, first)
    if field not in Scenario.model_fields or field in _AS_RUN:
        return None
    kind = field_of(Scenario, field)[1]
    if not rest or kind is None:
        return (field,)
    entries = getattr(base, field)
    if isinstance(entries, list):
        if field == "flows" and rest[0] in names:
            return (field, str(names.index(rest[0])))
        is_entry = rest[0].isdecimal() and int(rest[0]) < len(entries)
        return (field, str(int(rest[0]))) if is_entry else None
    # Keys of a component or of alternatives depend on each other.
    is_divided = not issubclass(kind, Component) and not kind.alternatives
    return (field, _name(kind, rest[0])) if is_divided else (field,)
