"""Simulates the scenario with the kernel's settings, to measure their effect.

A setting that the kernel did not apply explains a difference only if it causes a difference. A
simulation with the kernel's setting tests this.
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
    """Return the scenario with the kernel's values of the options that the kernel did not apply.

    Options for which the simulator does not support the kernel's value are not changed.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the user.
    not_applied : sequence of mapping
        Settings that the kernel did not apply: `flows` (groups), `option`, `kernel`.

    Returns
    -------
    scenario : Scenario
        The changed scenario; the same object if no option was changed.
    changed : dict of str to str
        Maps each changed option to its new value.
    """
    changed: dict[str, str] = {}
    for line in not_applied:
        # The text after a colon is a comment on the value.
        text = str(line["kernel"]).partition(":")[0].strip()
        value = value_of_text(text)
        keys = {f"flows.{group}.{line['option']}": value for group in line["flows"]}
        try:
            scenario = scenario.replace(keys)
        except BadValueError:
            continue  # The simulated sender has no such value.
        changed[str(line["option"])] = text
    return scenario, changed


def fact_of(
    scenario: Scenario,
    emulated: Result,
    simulated: Answer,
    wanted: Sequence[ComparedQuantity],
    simulate: Callable[[Scenario], Result],
) -> Fact | None:
    """Simulate with the kernel's settings; return the effect as a fact, or None if impossible.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the user.
    emulated : Result
        Result of the emulation, which lists the settings that the kernel did not apply.
    simulated : Answer
        Answer of the requested simulation.
    wanted : sequence of ComparedQuantity
        Compared quantities.
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
