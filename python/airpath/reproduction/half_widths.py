"""Compares the half-widths of confidence intervals printed in the paper with simulated half-widths.

The half-width for n runs is t(n) s / sqrt(n): t(n) is the quantile of Student's t distribution, s
the standard deviation of the runs. The simulated half-width is converted to the paper's number of
runs. The ratio of the two half-widths is then the ratio of two estimates of the same standard
deviation. For samples of m and n normal values, the standard deviation of the logarithm of this
ratio is sqrt(1 / (2 m - 2) + 1 / (2 n - 2)), to first order.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from airpath.reproduction.base import ItemResult, Row, Summary
from airpath.reproduction.verdict import numbers_once

if TYPE_CHECKING:
    from airpath.reproduction.session import Session

__all__ = ["half_widths"]

_BY_CHANCE = 2.576
"""A normal variate is within this number of standard deviations of its mean with 99 %."""


def half_widths(items: Sequence[ItemResult], session: Session) -> list[Summary]:
    """Compare the printed half-widths of each quantity; return an empty list if none are printed.

    Parameters
    ----------
    items : sequence of ItemResult
        Items with rows. The entry `replications` of `Row.extra` is the number of runs of a row. If
        it is missing, the session's number applies.
    session : Session
        Session of the paper; `session.paper` has the paper's number of runs and confidence level.
    """
    printed_runs = session.paper.published_runs
    by_quantity: dict[str, list[tuple[Row, float]]] = {}
    for _, row in numbers_once(items):
        ratio = _ratio(row, session)
        if ratio is not None:
            by_quantity.setdefault(row.quantity, []).append((row, ratio))
    if printed_runs is None or not by_quantity:
        return []
    lines, values = [], {}
    for quantity, found in by_quantity.items():
        ratios = [ratio for _, ratio in found]
        spread = max(_spread(row, session, printed_runs) for row, _ in found)
        near = sum(abs(math.log(ratio)) <= _BY_CHANCE * spread for ratio in ratios)
        mean = statistics.geometric_mean(ratios)
        lines.append(
            f"{quantity}: {len(ratios)} printed half-widths; simulated over printed {mean:.2f} "
            f"(geometric mean), {min(ratios):.2f} to {max(ratios):.2f}; {near} within the factor "
            f"{math.exp(_BY_CHANCE * spread):.2f} that 99 % of equal ones stay within"
        )
        values[quantity] = {
            "half_widths": len(ratios),
            "mean_ratio": mean,
            "least": min(ratios),
            "largest": max(ratios),
            "within_chance": near,
        }
    title = f"printed half-widths, of {printed_runs} runs"
    return [Summary("half_widths", title, lines, values)]


def _runs(row: Row, session: Session) -> int:
    return int(row.extra.get("replications", session.effort.replications))


def _ratio(row: Row, session: Session) -> float | None:
    """Return the simulated half-width for the paper's number of runs / the printed half-width."""
    if not row.published_ci or row.low is None or row.high is None:
        return None
    half = (row.high - row.low) / 2
    runs, printed = _runs(row, session), session.paper.published_runs
    if printed is None or runs < 2 or not half > 0:
        return None
    return half * _factor(session, printed) / _factor(session, runs) / row.published_ci


def _factor(session: Session, runs: int) -> float:
    """Return t(n) / sqrt(n), the half-width for n = `runs` values with standard deviation 1."""
    values = [0.0, 1.0] + [0.5] * (runs - 2)
    return session.interval(values).half_width / statistics.stdev(values)


def _spread(row: Row, session: Session, printed_runs: int) -> float:
    runs = _runs(row, session)
    return math.sqrt(1 / (2 * runs - 2) + 1 / (2 * printed_runs - 2))
