"""The same scenario simulated with the kernel's settings, where a parameter has them.

A setting that the kernel does not have explains a difference only if it causes one: it is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airpath.comparison.answers import Answer
from airpath.comparison.facts import Fact
from airpath.comparison.quantities import ComparedQuantity, result_values
from airpath.errors import AirpathError, BadValueError
from airpath.results.intervals import mean_interval
from airpath.results.result import Result
from airpath.scenario import Scenario
from airpath.scenario.overrides import value_of_text

__all__ = ["fact_of", "with_kernel_settings"]

CODE = "as-the-kernel-does"


def with_kernel_settings(
    scenario: Scenario, not_applied: Sequence[Mapping[str, Any]]
) -> tuple[Scenario, dict[str, str]]:
    """Return the scenario with the kernel's way of each option that has a value for it.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    not_applied : sequence of mapping
        Settings that the kernel does not have: `flows` (groups), `option`, `kernel`.

    Returns
    -------
    scenario : Scenario
        The same one where no option has such a value.
    changed : dict of str to str
        The value of each option that was changed.
    """
    changed: dict[str, str] = {}
    for line in not_applied:
        # What follows a colon is said about the value.
        text = str(line["kernel"]).partition(":")[0].strip()
        value = value_of_text(text)
        keys = {f"flows.{group}.{line['option']}": value for group in line["flows"]}
        try:
            scenario = scenario.replace(keys)
        except BadValueError:
            continue  # The simulated sender has no such thing.
        changed[str(line["option"])] = text
    return scenario, changed


def fact_of(
    scenario: Scenario,
    emulated: Result,
    simulated: Answer,
    wanted: Sequence[ComparedQuantity],
    simulate: Callable[[Scenario], Result],
) -> Fact | None:
    """Return the fact of a simulation with the kernel's settings; None if none can be tried.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    emulated : Result
        Lists the settings that the kernel does not have.
    simulated : Answer
        Of the requested simulation.
    wanted : sequence of ComparedQuantity
        What is compared.
    simulate : callable
        Simulates a scenario with the same seed and replications.
    """
    made, changed = with_kernel_settings(
        scenario, getattr(emulated, "kernel", {}).get("not_applied", ())
    )
    if not changed:
        return None
    try:
        found = result_values(simulate(made), wanted)
    except AirpathError:
        return None
    means = {name: mean_interval(values, 0.99).mean for name, values in found.items()}
    sizes = {
        each.name: means[each.name] - simulated.interval(each, 0.99).mean
        for each in wanted
        if each.name in means and each.name in simulated.quantities
    }
    options = ", ".join(f"{name} = {value}" for name, value in changed.items())
    text = f"simulated with the kernel's settings ({options}), {_goodput(sizes)}."
    return Fact(CODE, "emulate", text, sizes=sizes, settles=tuple(changed))


def _goodput(sizes: Mapping[str, float]) -> str:
    change = sizes.get("goodput_bps", 0.0)
    return f"the goodput changes by {change / 1e6:+.3f} Mbit/s"
