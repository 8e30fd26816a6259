"""The example sweeps can be run: every point is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from airpath.scenario.examples import shipped_examples
from airpath.sweeps.description import read_sweep_file

SWEEPS = sorted((shipped_examples() / "sweeps").glob("*.toml"))
SCENARIOS = sorted(shipped_examples().glob("*.toml"))


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_point_of_an_example_is_accepted(path: Path) -> None:
    about = path.read_text("utf-8").splitlines()
    found = read_sweep_file(path)
    assert f"{len(found.plan.points)} points" in about[0]
    assert len(about) <= 20
    assert len({point.digest for point in found.plan.points}) == len(found.plan.points)


def test_first_lines_of_scenarios_are_complete_sentences() -> None:
    """Regression: `airpath example` lists them, and some ended in the middle of a sentence."""
    firsts = {path.name: path.read_text("utf-8").partition("\n")[0] for path in SCENARIOS}
    assert [name for name, line in firsts.items() if not line.endswith(".")] == []
