"""Replacements of the engine and of a paper's sweeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import pytest

from airpath.reproduction import Effort, Paper, Report, reproduce
from airpath.reproduction.engine import Found, Simulated, Wanted
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps

_SIMULATED = "airpath.reproduction.session.simulated"


class OneByOne:
    """An engine that computes the points one after another with `simulate_one`."""

    simulate_one: Callable[..., Simulated]
    interrupted = False
    """True if the last call of `simulate_one` ended early."""

    def __call__(
        self, wanted: Sequence[Wanted], *, progress: Any, seed: int, **_more: Any
    ) -> Found:
        self.interrupted = False
        points = []
        try:
            for number, (_, scenario, replications) in enumerate(wanted):
                if progress is not None:
                    progress(number / len(wanted), "simulating")
                points.append(self.simulate_one(scenario, replications=replications, seed=seed))
                if self.interrupted:
                    break
        except KeyboardInterrupt:
            self.interrupted = True
        points += [Simulated([])] * (len(wanted) - len(points))
        return Found(points, self.interrupted)

    def simulate(self, session: Session, cells: Sequence[Any]) -> None:
        """Simulate cells of a session."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_SIMULATED, self)
            session.simulate(cells)

    def reproduce(self, *arguments: Any, **options: Any) -> Report:
        """Return the report of `reproduce` with this engine."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_SIMULATED, self)
            return reproduce(*arguments, **options)


class Named:
    """Sweeps whose points are tuples of one name, which also replaces the scenario."""

    def scenario(self, cell: tuple[str], _effort: Effort) -> str:
        return cell[0]

    def effort_of(self, _cell: tuple[str], effort: Effort) -> Effort:
        return effort


def lasting(sweeps: Sweeps, **effort: Any) -> Sweeps:
    """Return sweeps whose points have the duration and the number of replications in `effort`."""
    found, usual = copy(sweeps), sweeps.effort_of
    changed: Any = lambda cell, mode: replace(usual(cell, mode), **effort)  # noqa: E731
    found.effort_of = changed  # type: ignore[method-assign]
    return found


def session_of(replications: dict[str, Sequence[Any]], effort: Effort, **of_paper: Any) -> Session:
    """Return a session with these replications by point; a point is a tuple of one name."""
    sweeps: Any = Named()
    made = Session(Paper("p", "", "", {}, [], sweeps, **of_paper), effort)
    cells: Any = {(name,): Simulated(runs) for name, runs in replications.items()}
    made._simulated = cells
    return made
