"""Measures the strength of a claim's outcome on bootstrap resamples of the runs.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §6. A resample of n runs
consists of n runs, sampled with replacement. Runs stay paired across cells with the same number of
runs. The variance of a resampled mean is (n - 1) / n times the unbiased variance; this is not
corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from airpath.reproduction.claim import Claim, ClaimCheck, Strength
from airpath.reproduction.session import Session

__all__ = ["checked"]


def checked(session: Session, specs: Sequence[ClaimCheck]) -> list[Claim]:
    """Check claims on all runs, and on each of `Effort.resamples` resamples.

    Parameters
    ----------
    session : Session
        Session with all cells that the claims need.
    specs : sequence of ClaimCheck
        Claims to check.

    Returns
    -------
    claims : list of Claim
        Claims in the order of `specs`. After Ctrl-C, the claims have no strength, and
        `session.interrupted` is True.
    """
    found = [spec.check(session) for spec in specs]
    draws = session.effort.resamples
    varying = [number for number, spec in enumerate(specs) if _varies(session, spec)]
    if session.interrupted or not varying or not draws:
        return found
    held: Counter[int] = Counter()
    try:
        for draw in range(draws):
            session.report(draw / draws, "checking the claims on resamples")
            resample = session.resampled(draw)
            for number in varying:
                held[number] += specs[number].check(resample).holds
    except KeyboardInterrupt:
        session.interrupted = True
        return found
    for number in varying:
        found[number] = replace(found[number], strength=Strength(held[number], draws))
    return found


def _varies(session: Session, spec: ClaimCheck) -> bool:
    """Return whether resamples can differ: the check is random and a cell has at least 2 runs."""
    runs = [len(session.replications(cell)) for cell in spec.cells]
    return spec.is_random and max(runs, default=2) > 1
