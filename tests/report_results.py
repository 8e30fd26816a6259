"""A short run and a short comparison in their directories, for tests of their reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import airpath as ap
from airpath.comparison import compare
from airpath.comparison.engines import Comparison

__all__ = ["write_comparison", "write_result"]


def _scenario(**keys: Any) -> ap.Scenario:
    given: dict[str, Any] = {
        "name": "short",
        "flows": ap.flows(2, base_rtt="40 ms", start={"uniform": ["0 s", "1 s"]}),
        "bottleneck": ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="4 Mbit/s")),
        "duration": "3 s",
        "warmup": "1 s",
    }
    return ap.Scenario(**(given | keys))


def write_result(directory: Path, **keys: Any) -> Path:
    """Write a run with two replications. Return its directory.

    Parameters
    ----------
    directory : Path
        Target directory.
    **keys
        Keys of the scenario.
    """
    ap.simulate(_scenario(**keys), reps=2).save(directory)
    return directory


def write_comparison(directory: Path) -> Path:
    """Write a comparison of a simulation and a model. Return its directory."""
    found = compare(_scenario(), engines="simulate,solve", reps=3)
    made = Comparison(
        provenance=found.provenance,
        resolved=found.resolved,
        confidence=found.confidence,
        answers=found.answers,
        refused={"emulate": "no TUN device here."},
        wanted=[row.quantity for row in found.rows],
    )
    made.save(directory, figure_formats=None)
    for engine, answer in found.answers.items():
        if answer.result is not None:
            answer.result.save(directory / engine)
    return directory
