"""Curves of a measure over another measure of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from one_by_one import OneByOne

from airpath.present import style
from airpath.reproduction import Effort, Paper
from airpath.reproduction.engine import Simulated
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.clamp.curves import Curve


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


def sweep(**runs: Sequence[tuple[float, float]]) -> tuple[Session, Curve]:
    """Return a curve of cells with these runs, in this order of the knob."""
    paper = Paper("p", "", "", {}, [], lambda cell, _effort: cell[0])
    engine: Any = Runs(runs)
    session = Session(paper, Effort(2, 1.0, 0.0), engine, seed=1)
    cells = [(name,) for name in runs]
    session.simulate(cells)
    return session, Curve("rate", cells, delay, Measured("rate", "1", rate, 1), "blue")


def test_a_curve_has_the_cells_that_were_simulated_in_order_of_their_places() -> None:
    session, curve = sweep(a=[(4.0, 1.0), (6.0, 3.0)], b=[(1.0, 2.0), (3.0, 4.0)])
    more = replace(curve, cells=[*curve.cells, ("missing",)])
    figure = style.new_figure(4.0, 3.0)
    panel = figure.subplots()
    assert more.draw(panel, session) == 3.0
    line: Any = panel.lines[0]
    assert list(line.get_xdata()) == [2000.0, 5000.0]
    assert list(line.get_ydata()) == [3.0, 2.0]


def test_a_curve_ends_at_a_place_and_has_intervals_of_enough_runs() -> None:
    session, curve = sweep(a=[(4.0, 1.0), (6.0, 3.0)], b=[(1.0, 2.0), (3.0, 4.0)])
    [point] = curve.points(session, 2000.0, 2)
    assert (point.x, point.y) == (2000.0, 3.0)
    assert point.x_half > 0
    assert point.y_half > 0
    assert curve.points(session, 2000.0, 3) == [(2000.0, 3.0, 0.0, 0.0)]
