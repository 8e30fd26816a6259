"""Functions that make the sections (top-level keys) of a resolved scenario."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from airpath.scenario.checking import NO_FILES
from airpath.scenario.hops import HOP
from airpath.scenario.path import controlled_link, flow_paths, hops_of, resolved_path_hop

if TYPE_CHECKING:
    from airpath.scenario.base import Context, Path
    from airpath.scenario.scenario import Scenario

__all__ = ["DIVIDED", "SECTIONS", "Section", "sections_of"]


class Section(NamedTuple):
    """A section: a top-level key of the resolved scenario.

    Parameters
    ----------
    field : str
        Field of the scenario from which the section is made.
    make : callable
        Function that returns the value of the section.
    depends_on : callable or None
        Function that returns the values of other fields on which the section depends. None: the
        section depends on no other field.
    members : mapping of str to callable
        Maps keys of the section's value to functions that make these members from the field, a
        context and the path of the field. Empty: the section is made as a unit.
    """

    field: str
    make: Callable[[Scenario, Context], Any]
    depends_on: Callable[[Scenario], Hashable] | None = None
    members: Mapping[str, Callable[[Any, Context, Path], Any]] = {}

    def places(self, key: str) -> Sequence[tuple[str, ...]]:
        """Return the paths of the members in the resolved form, or the path of the section."""
        return [(key, member) for member in self.members] or [(key,)]


def _flows(scenario: Scenario, context: Context) -> list[dict[str, Any]]:
    """Return the flows; equal flows of a group become one entry with a count."""
    return [
        flow
        for index, (group, crossed) in enumerate(
            zip(scenario.flows, flow_paths(scenario), strict=True)
        )
        for flow in group.resolved_flows(crossed, context, ("flows", index))
    ]


def _hops(scenario: Scenario, context: Context) -> list[dict[str, Any]]:
    return [resolved_path_hop(hop, context) for hop in hops_of(scenario)]


def _controls(scenario: Scenario, context: Context) -> list[dict[str, Any]]:
    hops = hops_of(scenario)
    return [
        entry
        for index, change in enumerate(scenario.control)
        for entry in change.resolved_actions(
            context, ("control", index), controlled_link(change, hops)
        )
    ]


def _table(
    field: str, members: Mapping[str, Callable[[Any, Context, Path], Any]] | None = None
) -> Section:
    """Return a section for a table that does not depend on other tables."""

    def make(scenario: Scenario, context: Context) -> Any:
        table = getattr(scenario, field)
        return table and table.resolved(context, (field,))

    return Section(field, make, members=members or {})


SECTIONS: Mapping[str, Section] = {
    "name": Section("name", lambda scenario, _: scenario.name),
    "duration_ns": Section("duration", lambda scenario, _: int(scenario.duration)),
    "warmup_ns": Section("warmup", lambda scenario, _: int(scenario.warmup)),
    "flows": Section("flows", _flows, flow_paths),
    "hops": Section("hops", _hops),
    "bottleneck": _table("bottleneck", HOP),
    "ack_path": _table("ack_path"),
    "backhaul": _table("backhaul"),
    "record": _table("record"),
    "capture": _table("capture"),
    "controls": Section("control", _controls, lambda each: repr(_controls(each, NO_FILES))),
}
"""Maps keys of the resolved form, in its order, to sections; see `sections_of`."""

_SHORT_FORM = frozenset({"bottleneck", "ack_path", "backhaul"})
"""Sections of a path in its short form."""


def sections_of(scenario: Scenario) -> Mapping[str, Section]:
    """Return the sections of a scenario: its path is either a list of hops or in short form."""
    absent = _SHORT_FORM if scenario.hops else {"hops"}
    return {key: section for key, section in SECTIONS.items() if key not in absent}


DIVIDED = frozenset(section.field for section in SECTIONS.values() if section.members)
"""Fields whose sections have members. No rule involves several keys of such a field."""
