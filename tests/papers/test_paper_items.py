"""Items that a paper defines in Python: rows, tables and figures of `item_of`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from one_by_one import OneByOne

from airpath.present import style
from airpath.reproduction.base import Row, Table
from airpath.reproduction.engine import Simulated
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import Found, called, grouped, item_of
from airpath.reproduction.plugins import load
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax import PAPER
from airpath_papers.wimax.claims import SWEEPS

CELLS = SWEEPS.cells("fig1")
STUDIES = Path(__file__).parents[2] / "papers" / "studies"
TITLE_OF_TABLE = "uplink bytes, efficiency and throughput of the three policies"
TITLE = "how two ACKs of a real run get their uplink: by contention, by piggyback"


class Empty(OneByOne):
    """An engine whose replications have no statistics."""

    def simulate_one(self, _scenario: Any, **options: Any) -> Simulated:
        return Simulated([{}] * options["replications"])


def session(*, simulated: bool) -> Session:
    made = Session(PAPER, PAPER.modes["quick"], figure_formats=["svg"])
    if simulated:
        Empty().simulate(made, CELLS)
    return made


def found(_session: Session, title: str) -> Found:
    rows = [Row({"n": n}, "delay", "s", 1.0, computed) for n, computed in enumerate((2.0, None))]
    return rows, [Table(title, [("", "n")], [["1"]])]


def draw(_session: Session) -> Any:
    figure = style.new_figure(4.0, 3.0)
    figure.subplots().plot([0, 1], [0, 1])
    return figure


@pytest.mark.parametrize("simulated", [True, False])
def test_item_has_figure_if_all_its_points_are_simulated(simulated: bool, tmp_path: Path) -> None:
    cells, evaluate = item_of(WIMAX, "fig1", CELLS, found, draw, "Why.")
    result = evaluate(session(simulated=simulated), tmp_path)
    assert cells == CELLS
    assert result.complete is simulated
    files = [tmp_path / "wimax-fig1.svg"] if simulated else []
    assert list(result.figures) == files
    assert sorted(tmp_path.iterdir()) == files
    assert result.title == result.tables[0].title == f"Fig. 1: {TITLE}"
    assert [row.row["n"] for row in result.rows] == [0]


def test_line_below_title_contains_legend_replications_and_paper(tmp_path: Path) -> None:
    figures = []

    def kept(made: Session) -> Any:
        figures.append(draw(made))
        return figures[0]

    legend = lambda made: f"Seed {made.seed}."  # noqa: E731
    _cells, evaluate = item_of(WIMAX, "fig1", CELLS, found, kept, legend)
    evaluate(session(simulated=True), tmp_path)
    [below] = [text.get_text() for text in figures[0].texts if "Seed" in text.get_text()]
    assert " ".join(below.split()) == f"Seed 1. 1 run of 3 s. {PAPER.citation}"


@pytest.mark.parametrize(
    ("given", "of_result", "of_table"),
    [
        ({}, TITLE_OF_TABLE, f"Table 1: {TITLE_OF_TABLE}"),
        ({"name": "Own"}, "Own", f"Table 1: {TITLE_OF_TABLE}"),
        ({"title": "Own"}, "Own", "Table 1: Own"),
    ],
)
def test_table_number_is_in_its_tables_only(given: Any, of_result: str, of_table: str) -> None:
    _cells, evaluate = item_of(WIMAX, "table1", [], found, **given)
    result = evaluate(session(simulated=True), None)
    assert (result.title, result.tables[0].title) == (of_result, of_table)


def test_item_without_figure_computes_no_legend(tmp_path: Path) -> None:
    """The legend and the claims below a figure may take long to compute."""
    made: list[Session] = []
    for plot in (None, draw):
        legend = lambda session: str(made.append(session))  # noqa: E731
        _cells, evaluate = item_of(WIMAX, "fig1", CELLS, found, plot, legend)
        assert evaluate(session(simulated=True), tmp_path).complete
        assert len(made) == (0 if plot is None else 1)


@pytest.mark.parametrize("simulated", [True, False])
def test_item_has_rows_and_tables_if_all_points_are_simulated(simulated: bool) -> None:
    _cells, evaluate = item_of(WIMAX, "fig1", CELLS, found, whole=True)
    result = evaluate(session(simulated=simulated), None)
    assert (len(result.rows), len(result.tables)) == ((2, 1) if simulated else (0, 0))


def test_points_are_grouped_in_the_order_of_their_keys() -> None:
    points = [Point({"n": n}, None) for n in (3, 1, 2, 4)]
    odd = {3: "odd", 1: "odd", 2: "even"}
    assert grouped(points, lambda point: odd.get(point.place["n"])) == {
        "odd": points[:2],
        "even": points[2:3],
    }


def test_items_have_the_names_of_the_paper() -> None:
    names = ("table2", "fig14", "sensitivity")
    assert [called(key, "t") for key in names] == ["Table 2: t", "Fig. 14: t", "t"]


def test_points_may_depend_on_session() -> None:
    _cells, evaluate = item_of(WIMAX, "fig1", lambda made: CELLS if made.seed == 1 else (), found)
    assert not evaluate(session(simulated=False), None).complete
    assert evaluate(session(simulated=True), None).complete


@pytest.mark.parametrize(
    "name", ["clamp", *(str(STUDIES / name) for name in ("clamp", "vcp", "wimax"))]
)
def test_items_are_evaluated_without_simulated_points(name: str) -> None:
    """This occurs after Ctrl-C. An item then contains at most the rows of its analytic models."""
    paper = load(name)
    empty = Session(paper, paper.modes["quick"])
    for item in paper.items:
        result = item.evaluate(empty, None)
        assert result.complete == (not item.cells_of(empty)), item.key
