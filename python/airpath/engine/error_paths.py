"""Translation of field paths in the engine's errors into keys of the scenario file."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from airpath.errors import MISSING, BadValueError, Problem, ScenarioError, show
from airpath.scenario.engine_problems import EngineProblem, name_groups, rejected
from airpath.scenario.path import hops_of, key_text

if TYPE_CHECKING:
    from airpath.engine.engine_input import EngineInput
    from airpath.engine.resolved import ResolvedScenario
    from airpath.scenario import Scenario

__all__ = ["as_written", "in_words", "problems_of", "refuse"]


def problems_of(
    scenario: Scenario, resolved: ResolvedScenario, found: list[EngineProblem]
) -> list[Problem]:
    """Convert the engine's problems to problems with keys and values of the scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario as the user wrote it.
    resolved : ResolvedScenario
        Resolved form of the scenario.
    found : list of tuple
        Problems as reported by the engine, which identifies a flow by the index of its entry.
    """
    place, given = scenario.file or scenario.name, scenario.given()
    groups = [entry.group for entry in resolved.flows.entries]
    problems = []
    for problem in name_groups(found, groups):
        made = rejected(scenario, given, problem)
        value = MISSING if made.is_missing else made.value
        problems.append(Problem(place, made.path, value, made.what, made.accepted, made.example))
    return problems


def refuse(scenario: Scenario, resolved: ResolvedScenario, engine_input: EngineInput) -> None:
    """Raise an error if the engine does not accept a scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario as the user wrote it.
    resolved : ResolvedScenario
        Resolved form of the scenario.
    engine_input : EngineInput
        Resolved form with its files.

    Raises
    ------
    ScenarioError
        If the engine does not accept the scenario. The error lists all problems found.
    BadValueError
        If a file cannot be read.
    """
    try:
        found = engine_input.problems()
    except ValueError as error:
        raise BadValueError(in_words(scenario, str(error))) from None
    if found:
        raise ScenarioError(problems_of(scenario, resolved, found))


def _group(scenario: Scenario, flow: int) -> int:
    """Return the index of the group to which a flow belongs."""
    return bisect(list(accumulate(group.count for group in scenario.flows)), flow)


def in_words(scenario: Scenario, line: str) -> str:
    """Replace the field in an error message of the engine by the key in the scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario as the user wrote it.
    line : str
        Message of the engine, which consists of a field and the problem.
    """
    place = scenario.file or scenario.name
    flow, _, key = line.removeprefix("flows.").partition(".")
    if line.startswith("flows.") and flow.isdecimal():
        # The engine counts flows; the scenario counts groups of flows.
        if scenario.file is not None and key.startswith("return_wire"):
            key = key.replace("return_wire", "return", 1)
        return f"{place}: flows.{_group(scenario, int(flow))}.{key}"
    return f"{place}: {_of_listed_hop(scenario, line)}"


def _of_listed_hop(scenario: Scenario, line: str) -> str:
    """Replace a table of the short form of a path by the key in a list of hops."""
    table, _, rest = line.partition(".")
    if not scenario.hops or table not in ("bottleneck", "ack_path"):
        return line
    hops = hops_of(scenario)
    ups = [hop.up for hop in reversed(hops) if hop.up is not None]
    side = hops[-1].down if table == "bottleneck" else next(iter(ups), None)
    places = {} if side is None else {"link": side.link_at, "aqm": side.aqm_at}
    part = next((part for part in places if rest.startswith(part)), None)
    return line if part is None else key_text(scenario, places[part]) + rest.removeprefix(part)


def _index(entries: list[Any], key: str) -> int | str:
    """Return the position of an entry of a list, by its position or name."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    return names.index(key) if key in names else int(key) if key.isdecimal() else key


def as_written(scenario: Scenario, line: str) -> str:
    """Return the message as `in_words` does, with the value in the notation of the scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario as the user wrote it.
    line : str
        Message of the engine.
    """
    line = in_words(scenario, line)
    place = f"{scenario.file or scenario.name}: "
    field, given, rest = line.removeprefix(place).partition(" = ")
    value, _, problem = rest.partition(": ")
    found: Any = scenario.given()
    for key in field.replace("return_wire", "return").split("."):
        index = _index(found, key) if isinstance(found, list) else key
        try:
            found = found[index]
        except (KeyError, IndexError, TypeError):
            return line
    if isinstance(found, dict) and found.keys() == {"kind"}:
        found = found["kind"]
    # Plain numbers have the same text in both forms; quantities, strings and tables differ.
    if not (given and value and isinstance(found, (bool, str, list, dict))):
        return line
    return f"{place}{field} = {show(found)}: {problem}"
