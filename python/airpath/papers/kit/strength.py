"""How firm a verdict is: the check of a statement on bootstrap resamples of the runs.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §6. One resample draws as
many runs as there are, with replacement; cells with equally many runs keep their pairs. Left out:
the correction for few runs (the variance of a resampled mean is n - 1 over n of the unbiased one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from airpath.papers.kit.session import Session
from airpath.papers.kit.statement import Statement, StatementSpec, Strength

__all__ = ["DRAWS", "checked"]

DRAWS: Final = 100
"""Resamples for each statement."""


def checked(
    session: Session, specs: Sequence[StatementSpec], draws: int = DRAWS
) -> list[Statement]:
    """Check statements on all runs, and on resamples of them.

    Parameters
    ----------
    session : Session
        With every cell that the statements need.
    specs : sequence of StatementSpec
        What to check.
    draws : int
        Resamples, from 1. Default 100.

    Returns
    -------
    statements : list of Statement
        In the order of `specs`. After Ctrl-C the statements whose strength was not finished have
        none, and `session.interrupted` is set.
    """
    found = [spec.check(session) for spec in specs]
    try:
        resamples = [session.resampled(draw) for draw in range(draws)]
        for number, spec in enumerate(specs):
            if not session.interrupted and _varies(session, spec):
                session.report(number / len(specs), f"resampling the runs for {spec.key}")
                held = sum(spec.check(resample).holds for resample in resamples)
                found[number] = replace(found[number], strength=Strength(held, draws))
    except KeyboardInterrupt:
        session.interrupted = True
    return found


def _varies(session: Session, spec: StatementSpec) -> bool:
    """Whether resamples differ: some cell has two runs, or the check itself is random."""
    runs = [len(session.replications(cell)) for cell in spec.cells]
    return spec.is_random and max(runs, default=2) > 1
