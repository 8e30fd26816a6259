"""Explains differences between engines by facts that the engines report.

A fact is a sentence with numbers, the affected quantities and, if known, the size of the effect. A
difference is explained if its interval contains this size. A difference that no fact affects is
listed as not explained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from airpath.comparison.answers import Answer, EngineDifference, Row
from airpath.comparison.facts import EVERYTHING, Fact
from airpath.comparison.kernel_facts import facts_of_kernel
from airpath.engine.resolved import ResolvedScenario
from airpath.solutions import FixedPoint
from airpath.solutions.base import digits

__all__ = ["facts_of", "judged"]


def facts_of(
    answers: Mapping[str, Answer], resolved: ResolvedScenario, tried: Sequence[Fact] = ()
) -> list[Fact]:
    """Return the facts that the engines report.

    Parameters
    ----------
    answers : mapping of str to Answer
        Answers by engine.
    resolved : ResolvedScenario
        The resolved scenario.
    tried : sequence of Fact
        Facts from test simulations. Default: none.
    """
    found = [*tried]
    for engine, answer in answers.items():
        if answer.result is not None:
            found += _replication_facts(engine, answer.result.advisories)
        if answer.solution is not None:
            found += _model_facts(engine, answer)
    settled = [option for fact in tried for option in fact.settles]
    emulated = answers.get("emulate")
    if emulated is not None:
        found += facts_of_kernel(emulated.result, answers.get("simulate"), resolved, settled)
    return found


def judged(rows: Sequence[Row], facts: Sequence[Fact], base: str) -> list[Row]:
    """Return the rows with a verdict for each difference.

    Parameters
    ----------
    rows : sequence of Row
        Rows with differences.
    facts : sequence of Fact
        Facts that the engines report.
    base : str
        Engine whose answer is subtracted.
    """
    return [
        row.with_differences(
            {
                engine: _judged(row.quantity.name, difference, facts, engine, base)
                for engine, difference in row.differences.items()
            }
        )
        for row in rows
    ]


def _judged(
    name: str, found: EngineDifference, facts: Sequence[Fact], engine: str, base: str
) -> EngineDifference:
    absolute = found.difference.absolute
    low, high = absolute.low, absolute.high
    if math.isnan(low):
        return replace(found, verdict="no interval", facts=())
    about = [fact for fact in facts if fact.engine in (engine, base) and fact.is_about(name)]
    if not absolute.excludes_zero:
        return replace(found, verdict="within the noise", facts=())
    sized = [fact for fact in about if name in fact.sizes]
    size = math.fsum(
        fact.sizes[name] if fact.engine == engine else -fact.sizes[name] for fact in sized
    )
    if sized and low <= size <= high:
        return replace(found, verdict="explained", facts=_codes(sized))
    if about and not _is_too_small(name, about, min(abs(low), abs(high))):
        return replace(found, verdict="related", facts=_codes(about))
    verdict = "not explained" if absolute.varies else "no interval"
    return replace(found, verdict=verdict, facts=())


def _is_too_small(name: str, about: Sequence[Fact], least: float) -> bool:
    """Return whether the largest total effect of all facts is known, and below the difference."""
    last = name.rpartition(".")[2]
    most = [abs(fact.sizes.get(name, fact.most.get(last, math.inf))) for fact in about]
    return math.fsum(most) < least


def _codes(facts: Sequence[Fact]) -> list[str]:
    return list(dict.fromkeys(fact.code for fact in facts))


# --- replications ------------------------------------------------------------------------------

_ALL_THE_SAME = "equal-replications"


def _replication_facts(engine: str, advisories: Sequence[Any]) -> Iterator[Fact]:
    """Yield the facts that make the intervals over replications invalid."""
    for advisory in advisories:
        if advisory.code == _ALL_THE_SAME:
            text = (
                "nothing random changed the flows, so that all replications are equal: intervals "
                "of 0 say nothing of how the answer varies."
            )
            yield Fact(_ALL_THE_SAME, engine, text, EVERYTHING)


# --- models ------------------------------------------------------------------------------------

_OSCILLATION = ("mean_rtt_s", "mean_sojourn_s", "mean_delay_s")


def _model_facts(engine: str, answer: Answer) -> Iterator[Fact]:
    solution = answer.solution
    assert solution is not None  # Only models are passed here.
    for warning in solution.warnings:
        yield Fact("model-warning", engine, f"{solution.model} warns: {warning}.", EVERYTHING)
    if isinstance(solution, FixedPoint):
        yield from _oscillation_facts(engine, answer, solution)


def _oscillation_facts(engine: str, answer: Answer, solution: FixedPoint) -> Iterator[Fact]:
    """Yield a fact if the mean over the windows' oscillation differs from the fixed point."""
    rate, average = solution.throughput_bps, solution.average_throughput_bps
    queue, average_queue = solution.queue_packets, solution.average_queue_packets
    if math.isclose(rate, average, rel_tol=1e-3) and abs(queue - average_queue) < 0.05:
        return
    sizes = {"queues.bottleneck.mean_packets": queue - average_queue}
    for name in ("ip_throughput_bps", "goodput_bps"):
        value = answer.quantities.get(name)
        if isinstance(value, float):
            sizes[name] = value * (1 - average / rate)
    text = (
        f"the fixed point is {digits(rate / 1e6, 4)} Mbit/s and {digits(queue)} packets; averaged "
        f"over the oscillation of the windows the model has {digits(average / 1e6, 4)} Mbit/s and "
        f"{digits(average_queue)} packets."
    )
    yield Fact("window-oscillation", engine, text, _OSCILLATION, sizes)
