"""Assembles the points of a sweep from scenario tables that are validated only once.

The axes of a sweep are grouped by the scenario table that they change, for example
``bottleneck.link`` or ``flows.0``. A table is validated once for each combination of the values of
its axes. The resolved form, the rules between tables and the advisories are computed once for each
combination of the tables that they read. Only the engine's check of the network is done for each
point. If a point cannot be assembled here, `Base.at` makes its scenario, decides whether the point
is valid, and reports the problems.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from airpath.engine.advisory import ADVISORIES, Advisory, Find
from airpath.engine.inputs import Inputs, Reading, read_inputs
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError
from airpath.scenario import Scenario
from airpath.scenario.base import Component, Model
from airpath.scenario.checking import with_types_alone
from airpath.scenario.optimum import has_optimum
from airpath.scenario.overrides import Overrides, field_of
from airpath.scenario.part_files import used_parts
from airpath.scenario.resolve import resolved_section
from airpath.scenario.rules import RULES
from airpath.scenario.sections import DIVIDED, SECTIONS, sections_of
from airpath.sweeps.job import Job, Section, as_run, contents_of, job_of_sections
from airpath.sweeps.memo import (
    RESOLVED,
    Kept,
    Memo,
    Owner,
    Read,
    Tables,
    resolved_view,
    scenario_view,
)

__all__ = ["Assembled", "Assembly"]

_AS_RUN = ("record", "capture")
"""Sections that differ between a job and its scenario."""

Answer = TypeVar("Answer")
Setting = tuple[tuple[str, str], ...]
"""Identifies the content of a table: the axes that change it, each with `key_of` its value."""
Changes = list[tuple[str, Any, str]]
"""List of changes of a table: axis, value, and `key_of` the value."""
Named = tuple[Section, Mapping[str, Path]]
"""A section, and the files to which it refers."""


class _NotAssembled(Exception):  # noqa: N818  (no error: `Base.at` makes the point)
    """Raised if the point cannot be assembled."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A point whose tables are valid; the engine has not checked its network yet.

    Parameters
    ----------
    tables : mapping
        Tables of the point, including the tables of the resolved form.
    job : Job
        Job of the point.
    contents : mapping of str to str
        Contents of the job's files, by SHA-256.
    """

    tables: Tables
    job: Job
    contents: Mapping[str, str]


_NO_INPUTS = Inputs({}, {}, {}, {})

_TAKEN_OUT = object()
"""Value of a key that an axis removes."""


class Assembly:
    """Factory for the points of a sweep whose base is a scenario.

    Parameters
    ----------
    base : Scenario
        The base.
    axes : iterable of str
        Names of all axes.
    place : str
        Prefix of each line about a value of an axis.
    context : mapping or None
        Validation context of the values.
    series : sequence of str
        Time series that are stored.
    reading : Reading
        Files that were read for earlier points.
    lost : dict
        Receives one line for each key of the base that axis values remove.
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
        self._used = sections_of(base)
        self._place = place
        self._context = context
        self._reading = reading
        self._lost = lost
        self._owners = _owners(base, axes)
        self._given = base.given()
        self._kept: Kept[Hashable, Any] = Kept()
        self._inputs: Kept[Hashable, Inputs] = Kept()
        self._varied = {owner[0] for owner in self._owners.values() if owner is not None}
        self._of_base: Tables = {
            owner: ((), self._read_base(owner))
            for field in self._varied
            for owner in _tables_of(field)
        }
        self._same = self._sections_of_all(list(series))
        self._sections = [
            (self._same.get(place), (RESOLVED, *place), self._section(place))
            for key, section in self._used.items()
            for place in section.places(key)
        ]
        self._rules = [self._memo(_is_followed, rule) for rule in RULES]
        self._has_optimum = self._memo(_has_optimum)
        self._advisories = [self._memo(_advisories, find) for find in ADVISORIES]

    def _memo(self, function: Callable[..., Answer], *arguments: Any) -> Memo[Answer]:
        return Memo(partial(function, *arguments), self._read_base)

    def _read_base(self, owner: Owner) -> Any:
        """Return a table of the base, or a section that all points share."""
        if owner[0] == RESOLVED:
            return self._same[owner[1:]].value
        return attrgetter(".".join(owner))(self._base)

    def _sections_of_all(self, series: list[str]) -> dict[Owner, Section]:
        """Return the sections that all points share, as in a job, by their place."""
        of_base = (
            _resolved(place, self._read_base)
            for key, section in self._used.items()
            if section.depends_on is None and section.field not in self._varied
            for place in section.places(key)
        )
        same = {section.place: section for section, files in of_base if not files}
        resolved = as_run(ResolvedScenario({key: same[key,].value for key in _AS_RUN}), series)
        return same | {(key,): Section.of((key,), of) for key, of in resolved.document.items()}

    def at(self, values: Mapping[str, Any], keys: Mapping[str, str]) -> Assembled | None:
        """Return a point; None if it cannot be assembled.

        Parameters
        ----------
        values : mapping
            Values by axis.
        keys : mapping of str to str
            `key_of` of each value, by axis.
        """
        try:
            return self._assembled(values, keys)
        except (_NotAssembled, BadValueError, ValidationError):
            return None

    def _assembled(self, values: Mapping[str, Any], keys: Mapping[str, str]) -> Assembled:
        tables = {**self._of_base}
        tables.update(self._changed(values, keys))
        if not all(rule.of(tables) for rule in self._rules):
            raise _NotAssembled
        sections, named = [], []
        for section, owner, make in self._sections:
            if section is None:
                section, files = make(tables)
                tables[owner] = (section, section.value)
                if files:
                    named.append((section.text, files))
            sections.append(section)
        if self._has_optimum.of(tables):
            raise _NotAssembled
        if any(used_parts({"": section.value}) for section in sections):
            raise _NotAssembled  # The files of parts do not belong to a section.
        inputs = self._read_inputs(tables, named) if named else _NO_INPUTS
        job = job_of_sections(self._reader(tables)(("name",)), sections, inputs)
        return Assembled(tables, job, contents_of(inputs))

    def advisories(self, of: Assembled) -> list[Advisory]:
        """Return the advisories on the scenario of a point."""
        return [each for memo in self._advisories for each in memo.of(of.tables)]

    def _reader(self, tables: Tables) -> Read:
        return lambda owner: tables[owner][1] if owner in tables else self._read_base(owner)

    # --- tables --------------------------------------------------------------------------------

    def _changed(
        self, values: Mapping[str, Any], keys: Mapping[str, str]
    ) -> Iterator[tuple[Owner, tuple[Hashable, Any]]]:
        """Yield the tables that the values change, each with its setting and its new value."""
        changes: dict[str, dict[Owner, Changes]] = {}
        for axis, value in values.items():
            owner = self._owners[axis]
            if owner is None:
                raise _NotAssembled
            changes.setdefault(owner[0], {}).setdefault(owner, []).append((axis, value, keys[axis]))
        for field, of in changes.items():
            if field not in DIVIDED:
                yield (field,), self._accepted(field, of)
            elif (field,) in of:
                setting, table = self._accepted(field, of)
                for owner in _tables_of(field):
                    yield owner, (setting, getattr(table, owner[1]))
            else:
                for owner, own in of.items():
                    setting = _setting(own)
                    part = self._kept.get((owner, setting), partial(self._part, owner, own))
                    if part is None or part is _TAKEN_OUT or owner not in self._of_base:
                        raise _NotAssembled
                    yield owner, (setting, part)

    def _accepted(self, field: str, of: Mapping[Owner, Changes]) -> tuple[Hashable, Any]:
        """Return the setting and the changed value of a field."""
        setting = tuple(map(_setting, of.values()))
        made = self._kept.get((field, setting), partial(self._field, field, of))
        if made is None:
            raise _NotAssembled
        return setting, made

    def _field(self, field: str, changes: Mapping[Owner, Changes]) -> Any:
        """Return the value of a field; None if it is not accepted."""
        if (field,) in changes:
            part = self._part((field,), changes[field,])
            return None if part is None else self._validated_field(field, part)
        parts = {}
        for owner, of in changes.items():
            part = self._kept.get((owner, _setting(of)), partial(self._part, owner, of))
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

    def _validated_field(self, field: str, given: Any) -> Any:
        """Return a value of a field after validation in the base; None if it is not accepted."""
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
        """Return the explicitly set keys of the base, limited to the owner's field or table."""
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

    def _section(self, place: Owner) -> Callable[[Tables], Named]:
        """Return the function that makes a section of a point and lists its files."""
        of = SECTIONS[place[0]]
        make = partial(_resolved, place)
        if of.depends_on is None:
            return self._memo(make).of
        depends_on = self._memo(_dependence, of.depends_on)
        owner = (of.field,)

        def get(tables: Tables) -> Named:
            setting = tables[owner][0] if owner in tables else ()
            key = (place, setting, depends_on.of(tables))
            return self._kept.get(key, partial(make, self._reader(tables)))  # type: ignore[no-any-return]

        return get

    def _read_inputs(
        self, tables: Tables, named: Iterable[tuple[str, Mapping[str, Path]]]
    ) -> Inputs:
        """Return the files of a point; points with the same sections share one read."""
        files: dict[str, Path] = {}
        for _, of in named:
            for key, path in of.items():
                if files.setdefault(key, path) != path:
                    raise _NotAssembled
        resolved = resolved_view(self._reader(tables))
        return self._inputs.get(
            tuple(text for text, _ in named),
            lambda: read_inputs(self._base.file, resolved, files, self._reading),
        )


def _setting(changes: Changes) -> Setting:
    return tuple((axis, key) for axis, _, key in changes)


def _is_followed(rule: Callable[[Scenario], Iterable[Any]], read: Read) -> bool:
    return not any(True for _ in rule(scenario_view(read)))


def _has_optimum(read: Read) -> bool:
    return has_optimum(scenario_view(read))


def _advisories(find: Find, read: Read) -> list[Advisory]:
    return list(find(scenario_view(read), resolved_view(read)))


def _dependence(depends_on: Callable[[Scenario], Hashable], read: Read) -> Hashable:
    return depends_on(scenario_view(read))


def _resolved(place: Owner, read: Read) -> Named:
    value, files = resolved_section(scenario_view(read), place)
    plain = json.loads(json.dumps(value, allow_nan=False))
    return Section.of(place, plain, list(SECTIONS[place[0]].members)), files


def _found(document: Mapping[str, Any], owner: Owner) -> tuple[type[Model] | None, Any]:
    """Return the class of an owner, and its value in a document."""
    field, *inside = owner
    kind, given = field_of(Scenario, field)[1], document.get(field, _TAKEN_OUT)
    if inside and isinstance(given, list):
        return kind, given[int(inside[0])]
    if inside:
        found = [of for key, of in given.items() if _name(kind, key) == inside[0]]
        return field_of(kind, inside[0])[1], found[0] if found else _TAKEN_OUT
    return kind, given


def _name(kind: type[Model] | None, key: str) -> str:
    """Return the Python name of a key."""
    return field_of(kind, key)[0][-1]


# --- which table an axis changes ---------------------------------------------------------------

_WITH_NAMES = ("flows", "hops")
"""Lists whose entries have names."""


def _tables_of(field: str) -> list[Owner]:
    """Return the tables of a field that functions read separately."""
    if field not in DIVIDED:
        return [(field,)]
    kind = field_of(Scenario, field)[1]
    assert kind is not None  # It is divided.
    return [(field, name) for name in kind.model_fields]


def _owners(base: Scenario, axes: Iterable[str]) -> dict[str, Owner | None]:
    """Return a mapping from each axis to the table that it changes.

    The table is None if points with this axis cannot be assembled. No table contains another table.
    """
    axes = list(axes)
    is_renamed = any(axis.split(".")[-1] in (*_WITH_NAMES, "name") for axis in axes)
    names = {
        field: [] if is_renamed else [entry.name for entry in getattr(base, field) or ()]
        for field in _WITH_NAMES
    }
    found = {axis: _owner(base, axis, names) for axis in axes}
    whole = {owner for owner in found.values() if owner is not None and len(owner) == 1}
    return {
        axis: owner[:1] if owner is not None and owner[:1] in whole else owner
        for axis, owner in found.items()
    }


def _owner(base: Scenario, axis: str, names: Mapping[str, Sequence[str | None]]) -> Owner | None:
    """Return the table that an axis changes; `names` are the names of the entries of lists."""
    first, *rest = axis.split(".")
    field = _name(Scenario, first)
    if field not in Scenario.model_fields or field in _AS_RUN:
        return None
    if field not in {section.field for section in sections_of(base).values()}:
        return None  # The value changes the form of the path.
    kind = field_of(Scenario, field)[1]
    if not rest or kind is None:
        return (field,)
    entries = getattr(base, field)
    if isinstance(entries, list):
        of_field = names.get(field, [])
        if rest[0] in of_field:
            return (field, str(of_field.index(rest[0])))
        is_entry = rest[0].isdecimal() and int(rest[0]) < len(entries)
        return (field, str(int(rest[0]))) if is_entry else None
    # Keys of a component or of alternatives depend on each other.
    is_divided = not issubclass(kind, Component) and not kind.alternatives
    return (field, _name(kind, rest[0])) if is_divided else (field,)
