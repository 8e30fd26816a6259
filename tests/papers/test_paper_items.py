"""Items in Python: what `item_of` makes of rows, tables and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from one_by_one import OneByOne

from airpath.present import style
from airpath.reproduction.base import Row, Table
from airpath.reproduction.declared import called
from airpath.reproduction.engine import Simulated
from airpath.reproduction.items import item_of
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax import PAPER
from airpath_papers.wimax.claims import SWEEPS

CELLS = SWEEPS.cells("fig1")
TITLE = "how two ACKs of a real run get their uplink: by contention, by piggyback"


class Empty(OneByOne):
    """An engine whose runs have no statistics."""

    def simulate_one(self, _scenario: Any, **options: Any) -> Simulated:
        return Simulated([{}] * options["replications"], interrupted=False)


def session(*, simulated: bool) -> Session:
    engine: Any = Empty()
    made = Session(PAPER, PAPER.modes["quick"], engine, seed=1, figure_formats=["svg"])
    if simulated:
        made.simulate(CELLS)
    return made


def rows(_session: Session) -> list[Row]:
    return [Row({"n": n}, "delay", "s", 1.0, ours) for n, ours in enumerate((2.0, None))]


def tables(_session: Session, heading: str) -> list[Table]:
    return [Table(heading, [("", "n")], [["1"]])]


def draw(_session: Session) -> tuple[Any, str]:
    figure = style.new_figure(4.0, 3.0)
    figure.subplots().plot([0, 1], [0, 1])
    return figure, "One run."


@pytest.mark.parametrize("simulated", [True, False])
def test_an_item_has_its_figure_if_all_its_cells_are_simulated(
    simulated: bool, tmp_path: Path
) -> None:
    cells, evaluate = item_of(WIMAX, "fig1", CELLS, rows, tables, draw)
    found = evaluate(session(simulated=simulated), tmp_path)
    assert cells == CELLS
    assert found.complete is simulated
    files = [tmp_path / "wimax-fig1.svg"] if simulated else []
    assert list(found.figures) == files
    assert sorted(tmp_path.iterdir()) == files
    assert found.title == found.tables[0].title == f"Fig. 1: {TITLE}"
    assert [row.row["n"] for row in found.rows] == [0]


def test_an_item_without_a_figure_has_the_plain_title() -> None:
    _cells, evaluate = item_of(WIMAX, "fig1", CELLS)
    found = evaluate(session(simulated=True), None)
    assert (found.title, found.rows, found.tables, found.figures) == (TITLE, [], [], [])


def test_items_are_called_as_in_the_paper() -> None:
    names = ("table2", "fig14", "sensitivity")
    assert [called(key, "t") for key in names] == ["Table 2: t", "Fig. 14: t", "t"]
