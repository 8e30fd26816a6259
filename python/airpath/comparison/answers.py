"""The answers of the engines, and the rows of the table that compares them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from airpath.comparison.quantities import ComparedQuantity
from airpath.results.differences import Difference, Sample, independent_difference
from airpath.results.frames import plain
from airpath.results.intervals import Interval, mean_interval

if TYPE_CHECKING:
    from airpath.engine.advisory import Advisory
    from airpath.execution import Execution
    from airpath.results.result import Result
    from airpath.solutions import Solution

__all__ = ["Answer", "EngineDifference", "Row", "rows_of"]

VERDICTS = ("within the noise", "explained", "related", "not explained", "no interval")
"""Verdicts on a difference."""


@dataclass(frozen=True)
class Answer:
    """The results of one engine.

    Parameters
    ----------
    engine : str
        ``simulate``, ``emulate`` or ``solve``.
    result : Result or None
        Result of an engine with replications.
    solution : Solution or None
        Solution of a model.
    quantities : mapping of str to list of float, or float
        Maps the name of a quantity to its values: one value per replication (replications without a
        value are omitted), or a single float for a model.
    advisories : sequence of Advisory
        Advisories of `result`. Default: none.
    execution : Execution or None
        Execution of `result`. Default: not known.
    about : mapping, optional
        Return value of `texts.about`, for an answer that was loaded without result and
        solution.
    """

    engine: str
    result: Result | None
    solution: Solution | None
    quantities: Mapping[str, Sample]
    advisories: Sequence[Advisory] = ()
    execution: Execution | None = None
    about: Mapping[str, Any] | None = None

    def interval(self, quantity: ComparedQuantity, confidence: float) -> Interval:
        """Return the mean of a quantity with its interval; NaN if it is not reported."""
        found = self.quantities.get(quantity.name, ())
        if isinstance(found, (int, float)):
            return Interval(float(found), math.nan, math.nan, confidence, 0)
        return mean_interval(found, confidence, quantity.bounds, quantity.resolution)


@dataclass(frozen=True)
class EngineDifference:
    """Difference between the answers of an engine and of the base engine, with explaining facts.

    Parameters
    ----------
    difference : Difference
        Difference between the means of independent samples, or between a mean and a model's value.
    verdict : str
        ``within the noise``: the interval contains 0. ``explained``: the size of a reported fact
        accounts for the difference. ``related``: a reported fact affects the quantity by an unknown
        amount. ``not explained``: no fact affects it. ``no interval``: too few replications, or no
        variation.
    facts : sequence of str
        Codes of the facts that affect the difference.
    """

    difference: Difference
    verdict: str = "no interval"
    facts: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the object as a JSON object."""
        return {
            **self.difference.to_dict(),
            "verdict": self.verdict,
            "facts": list(self.facts),
        }


@dataclass(frozen=True)
class Row:
    """Quantity with the answers of the engines, and the differences from the base's answer.

    Parameters
    ----------
    quantity : ComparedQuantity
        The quantity to compare.
    answers : mapping of str to Interval
        Maps each engine that answered to its mean and interval; NaN if the engine does not report
        this quantity.
    differences : mapping of str to EngineDifference
        Maps each engine, except the base, to its difference from the base. Only engines that report
        the quantity; empty if the base does not report it.
    """

    quantity: ComparedQuantity
    answers: Mapping[str, Interval]
    differences: Mapping[str, EngineDifference] = field(default_factory=dict)

    def with_differences(self, differences: Mapping[str, EngineDifference]) -> Row:
        """Return the row with other differences."""
        return replace(self, differences=differences)

    def to_dict(self) -> dict[str, Any]:
        """Return the object as a JSON object."""
        return {
            "quantity": self.quantity.name,
            "label": self.quantity.label,
            "of": self.quantity.of,
            "unit": self.quantity.unit,
            "scale": self.quantity.scale,
            "decimals": self.quantity.decimals,
            "answers": plain(dict(self.answers)),
            "differences": {name: each.to_dict() for name, each in self.differences.items()},
        }


def rows_of(
    answers: Mapping[str, Answer], wanted: Sequence[ComparedQuantity], base: str, confidence: float
) -> list[Row]:
    """Return rows for the quantities that at least two engines report.

    Parameters
    ----------
    answers : mapping of str to Answer
        Answers by engine.
    wanted : sequence of ComparedQuantity
        Quantities in the order of the table.
    base : str
        Engine whose answer is subtracted.
    confidence : float
        Confidence level of all intervals, in (0, 1).
    """
    rows = []
    for quantity in wanted:
        means = {name: each.interval(quantity, confidence) for name, each in answers.items()}
        known = [name for name, mean in means.items() if not math.isnan(mean.mean)]
        if len(known) < 2 or _is_nothing(quantity, [means[name] for name in known]):
            continue
        differences = {}
        if base in known:
            before = answers[base].quantities[quantity.name]
            for name in known:
                if name != base:
                    after = answers[name].quantities[quantity.name]
                    differences[name] = EngineDifference(
                        independent_difference(before, after, confidence, quantity.resolution)
                    )
        rows.append(Row(quantity, means, differences))
    return rows


def _is_nothing(quantity: ComparedQuantity, means: Sequence[Interval]) -> bool:
    """Return whether the quantity is the share of ECN marks, and no engine has any marks."""
    return quantity.last == "mark_share" and all(mean.mean == 0 for mean in means)
