"""What the engine says of a field, in the words of who wrote the scenario."""

from __future__ import annotations

import re
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from airpath.errors import show

if TYPE_CHECKING:
    from airpath.scenario import Scenario

__all__ = ["as_written", "in_words"]


def in_words(scenario: Scenario, line: str) -> str:
    """Return what the engine does not accept, with the place of the scenario.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    line : str
        What the engine says: a field, and what is wrong with it.
    """
    place = scenario.file or scenario.name
    flow, _, key = line.removeprefix("flows.").partition(".")
    if line.startswith("flows.") and flow.isdecimal():
        # The engine counts flows, the scenario groups of them.
        last_of = list(accumulate(group.count for group in scenario.flows))
        if scenario.file is not None:
            key = re.sub("^return_wire", "return", key)
        return f"{place}: flows.{bisect(last_of, int(flow))}.{key}"
    return f"{place}: {line}"


def as_written(scenario: Scenario, line: str) -> str:
    """Return the same with what the scenario gives at the field, if it gives a text.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    line : str
        What the engine says.
    """
    line = in_words(scenario, line)
    place = f"{scenario.file or scenario.name}: "
    field, given, rest = line.removeprefix(place).partition(" = ")
    value, _, problem = rest.partition(": ")
    found: Any = scenario.given()
    for key in field.replace("return_wire", "return").split("."):
        index = int(key) if isinstance(found, list) and key.isdecimal() else key
        try:
            found = found[index]
        except (KeyError, IndexError, TypeError):
            return line
    if isinstance(found, dict) and found.keys() == {"kind"}:
        found = found["kind"]
    # Numbers read alike; quantities, words and tables do not.
    if not (given and value and isinstance(found, (bool, str, list, dict))):
        return line
    return f"{place}{field} = {show(found)}: {problem}"
