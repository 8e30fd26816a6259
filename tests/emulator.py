"""Checks whether this machine can emulate in real time, with the reasons for skipped tests."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

import airpath as ap
from airpath.errors import RunError

TRIES = 3
"""Largest number of attempts until a run is valid."""

Run = TypeVar("Run")


def judged(run: Callable[[], Run], invalid: Callable[[Run], Sequence[str]]) -> Run:
    """Return a valid real-time run; skip the test if all attempts are invalid.

    A run is repeated only if its validity report states that the machine was too slow, which is
    known before the comparison. A valid run is returned regardless of its result.

    Parameters
    ----------
    run : callable
        Starts the run.
    invalid : callable
        Returns the reasons why the run is invalid; empty for a valid run.
    """
    for _ in range(TRIES):
        found = run()
        reasons = invalid(found)
        if not reasons:
            return found
    pytest.skip(f"not judged: run invalid in {TRIES} runs; in the last: {reasons[0]}")


@functools.cache
def cannot_emulate(*programs: str) -> str:
    """Return the reason why this machine cannot emulate, for example a missing program; else an
    empty text.
    """
    for program in programs:
        if shutil.which(program) is None:
            return f"{program} is not installed"
    try:
        found = ap.emulation.check()
    except RunError as error:
        return str(error)
    missing = [check for check in found["checks"] if not check["ok"]]
    return "" if found["ok"] else "; ".join(f"{c['name']}: {c['found']}" for c in missing)


@functools.cache
def has_control(name: str) -> bool:
    """Return true if the kernel supports a congestion control algorithm."""
    return any(c["name"] == name and c["ok"] for c in ap.emulation.check()["checks"])
