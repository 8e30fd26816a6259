"""Whether this machine can emulate, and kept up with a run: the reasons why tests are skipped."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

import airpath as ap
from airpath.errors import RunError

TRIES = 3
"""Runs until one is valid, at most."""

Run = TypeVar("Run")


def judged(run: Callable[[], Run], invalid: Callable[[Run], Sequence[str]]) -> Run:
    """Return a run in real time that can be judged; skip the test where there is none.

    A run is repeated because its validity report states that the machine did not keep up, which is
    known before anything is compared. A valid one is judged, with any result.

    Parameters
    ----------
    run : callable
        Runs it.
    invalid : callable
        Returns why the run is not valid; nothing where it is.
    """
    for _ in range(TRIES):
        found = run()
        reasons = invalid(found)
        if not reasons:
            return found
    pytest.skip(f"not judged: run invalid in {TRIES} runs; in the last: {reasons[0]}")


@functools.cache
def cannot_emulate(*programs: str) -> str:
    """Return why nothing can be emulated here, or which program is missing; or nothing."""
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
    """Return whether the kernel has a congestion control."""
    return any(c["name"] == name and c["ok"] for c in ap.emulation.check()["checks"])
