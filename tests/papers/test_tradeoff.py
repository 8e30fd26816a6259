"""Measures over another measure of a sweep: interpolation between its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from one_by_one import OneByOne

from airpath.present import style
from airpath.reproduction import Effort, Paper
from airpath.reproduction.engine import Simulated
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.clamp.tradeoff import Curve, Tradeoff


class Runs(OneByOne):
    """An engine that gives each cell pairs of a place and a rate, one for each run."""

    def __init__(self, runs: Mapping[str, Sequence[tuple[float, float]]]) -> None:
        self.runs = runs

    def simulate_one(self, scenario: str, **_options: Any) -> Simulated:
        found = [{"delay": delay, "rate": rate} for delay, rate in self.runs[scenario]]
        return Simulated(found, False)


def delay(replication: Mapping[str, Any]) -> float:
    return float(replication["delay"])


def rate(replication: Mapping[str, Any]) -> float:
    return float(replication["rate"])


def sweep(**runs: Sequence[tuple[float, float]]) -> tuple[Session, Tradeoff]:
    """Return a sweep of cells with these runs, in this order of the knob."""
    paper = Paper("p", "", "", ("name",), {}, [], lambda cell, _effort: cell[0])
    engine: Any = Runs(runs)
    session = Session(paper, Effort(2, 1.0, 0.0), engine, seed=1)
    cells = [(name,) for name in runs]
    session.simulate(cells)
    return session, Tradeoff(cells, delay)


def test_a_measure_at_a_place_lies_between_its_neighbours() -> None:
    session, tradeoff = sweep(a=[(1.0, 10.0), (3.0, 30.0)], b=[(4.0, 50.0)], c=[(8.0, 70.0)])
    assert tradeoff.places(session) == [2.0, 4.0, 8.0]
    assert tradeoff.at(session, 2.0, rate) == 20.0
    assert tradeoff.at(session, 3.0, rate) == pytest.approx(35.0)
    assert tradeoff.at(session, 7.0, rate) == pytest.approx(65.0)
    assert tradeoff.at(session, 8.0, rate) == 70.0
    assert tradeoff.spacing(session) == 2.0


def test_a_knob_that_turns_back_is_followed_by_place() -> None:
    session, tradeoff = sweep(a=[(2.0, 1.0)], b=[(6.0, 9.0)], c=[(4.0, 5.0)])
    assert tradeoff.at(session, 5.0, rate) == pytest.approx(7.0)
    assert tradeoff.between(session, 3.0, 6.0) == [("c",), ("b",)]


@pytest.mark.parametrize("place", [1.9, 8.1])
def test_a_place_outside_the_sweep_is_refused(place: float) -> None:
    session, tradeoff = sweep(a=[(2.0, 1.0)], c=[(8.0, 2.0)])
    with pytest.raises(ValueError, match="outside the sweep, which goes from 2 to 8"):
        tradeoff.at(session, place, rate)


def test_a_curve_has_the_cells_that_were_simulated_in_order_of_their_places() -> None:
    session, tradeoff = sweep(a=[(4.0, 1.0), (6.0, 3.0)], b=[(1.0, 2.0), (3.0, 4.0)])
    more = Tradeoff([*tradeoff.cells, ("missing",)], delay)
    figure = style.new_figure(4.0, 3.0)
    panel = figure.subplots()
    Curve("rate", more, Measured("rate", "1", rate, 1), "blue").draw(panel, session, 1e3)
    line = panel.lines[0]
    assert list(line.get_xdata()) == [2000.0, 5000.0]
    assert list(line.get_ydata()) == [3.0, 2.0]
