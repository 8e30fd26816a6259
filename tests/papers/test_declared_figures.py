"""Figures that a paper declares: rows, tables, panels, and recorded series over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

import airpath as ap
from airpath.errors import BadValueError
from airpath.present import style
from airpath.reproduction import Effort, Paper
from airpath.reproduction.base import Row, Table
from airpath.reproduction.engine import Series, Simulated
from airpath.reproduction.figures import DeclaredFigure, figure_item
from airpath.reproduction.quantities import (
    ComputedQuantity,
    MeasuredQuantity,
    PointQuantity,
    RecordedQuantity,
)
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import Sweeps

SWEEP = """
[sizes]
grid = {cc = ["cubic", "newreno"], size = [20, 10]}
series = ["queue"]

[squares]
scenario = ""
grid.size = [3, 4]

[model]
scenario = ""
grid.size = [10, 20]
"""


def link(cc: str, size: int) -> ap.Scenario:
    """Return a scenario whose name contains its axis values."""
    queue = ap.aqm.DropTail(limit=f"{size} packets")
    bottleneck = ap.Bottleneck(link=ap.link.Fixed(rate="1 Mbit/s"), aqm=queue)
    return ap.Scenario(
        name=f"{cc} {size}",
        duration="1 s",
        bottleneck=bottleneck,
        flows=[ap.traffic.Tcp(cc=cc, base_rtt="40 ms")],
    )


class Made(OneByOne):
    """An engine whose delay decreases and whose rate increases with the size."""

    def simulate_one(self, scenario: Any, **options: Any) -> Simulated:
        cc, size = scenario.name.split()
        factor = 2.0 if cc == "cubic" else 1.0
        runs = [
            {"rate": factor * int(size) + n, "delay": 40.0 / int(size)}
            for n in range(options["replications"])
        ]
        times = np.array([0.0, 0.4, 0.6, 2.0])
        series = Series(
            times, np.zeros(4, dtype=np.uint32), factor * np.array([1.0, 5.0, 2.0, 3.0])
        )
        return Simulated(runs, lambda _name, _run: series)


def halved(found: Session, cell: Any) -> float:
    """Return half of the rate of a point; NaN with 20 SDUs."""
    rate = RATE.estimate(found, cell)
    return math.nan if cell.axes["size"] == 20 or rate is None else rate.mean / 2


RATE = MeasuredQuantity("rate", "Mbit/s", lambda run: run["rate"], 1)
QUANTITIES = {
    "rate": RATE,
    "delay": MeasuredQuantity("delay", "s", lambda run: run["delay"], 1),
    "model": ComputedQuantity("model", "Mbit/s", lambda axes: axes["size"] ** 2, "g"),
    "halved": PointQuantity("halved", "Mbit/s", lambda of, cell: halved(of, cell), ".1f"),
    "recorded": RecordedQuantity("recorded", "1", lambda _runs, run, _cell: 7.0 + run, 1),
}
NAMING = Naming({"cc": {"cubic": "CUBIC", "newreno": "New Reno"}, "size": "{} SDUs"})
SPEC: dict[str, Any] = {
    "points": "sizes",
    "order": ["cc", "size"],
    "rows": ["rate"],
    "table": {"lines": {"size": "buffer"}, "across": "cc"},
    "x": "size",
    "x_name": "buffer",
    "y": "rate",
    "y_name": "rate",
    "curves": "cc",
    "panels": [{}],
}


@pytest.fixture
def sweeps(tmp_path: Path) -> Sweeps:
    (tmp_path / "sweeps.toml").write_text(SWEEP, encoding="utf-8")
    return Sweeps(tmp_path, link)


def made(sweeps: Sweeps, **more: Any) -> DeclaredFigure:
    return DeclaredFigure(Path("p"), "fig1", {**SPEC, **more}, sweeps, QUANTITIES, NAMING)


def session(sweeps: Sweeps, replications: int = 2) -> Session:
    effort = Effort(replications, 2.0, 0.0)
    found = Session(Paper("p", "", "", {}, [], sweeps), effort)
    Made().simulate(found, sweeps.cells("sizes"))
    return found


def bars(axis: Any) -> dict[str, list[tuple[float, float]]]:
    """Return a mapping from the label of each curve of a panel to its points with intervals."""
    return {
        each.get_label(): [(float(x), float(y)) for x, y in each.lines[0].get_xydata()]
        for each in axis.containers
    }


# --- published numbers that are relative to simulated ones --------------------------------------


def test_star_is_multiple_of_simulated_number_at_one_point(sweeps: Sweeps) -> None:
    star = {"of": "rate", "place": {"cc": "cubic", "size": 10}, "times": 0.5, "plus": 1.0}
    star |= {"at": 15, "label": "paper", "like": "CUBIC"}
    with style.style():
        figure = made(sweeps, panels=[{"stars": [star]}]).drawn(session(sweeps))
    assert bars(figure.axes[0])["paper"] == [(15.0, 0.5 * 20.5 + 1.0)]
    [axes_of] = [each for each in figure.axes[0].containers if each.get_label() == "paper"]
    assert axes_of.lines[0].get_color() == style.colour_of(0)


def test_band_is_between_multiples_of_simulated_numbers(sweeps: Sweeps) -> None:
    band = {"of": "rate", "place": {"cc": "newreno"}, "between": [1.0, 2.0], "label": "paper"}
    with style.style():
        figure = made(sweeps, panels=[{"bands": [band]}]).drawn(session(sweeps))
    [area] = figure.axes[0].collections[-1:]
    corners = {(float(x), float(y)) for x, y in area.get_paths()[0].vertices}
    assert {(10.0, 10.5), (10.0, 21.0), (20.0, 20.5), (20.0, 41.0)} <= corners
    assert area.get_label() == "paper"


def test_mark_may_be_a_number(sweeps: Sweeps) -> None:
    with style.style():
        figure = made(sweeps, panels=[{"marks": {"12.5": "paper"}}]).drawn(session(sweeps))
    [mark] = [line for line in figure.axes[0].lines if line.get_label() == "paper"]
    assert list(mark.get_xdata()) == [12.5, 12.5]


# --- rows and tables ---------------------------------------------------------------------------


def test_rows_are_ordered_and_lines_have_axis_values(sweeps: Sweeps) -> None:
    rows, [table] = made(sweeps).found(session(sweeps), "Fig. 1")
    assert [(row.row["cc"], row.row["size"], row.computed) for row in rows if row] == [
        ("cubic", 10, 20.5),
        ("cubic", 20, 40.5),
        ("newreno", 10, 10.5),
        ("newreno", 20, 20.5),
    ]
    assert table.title == "Fig. 1"
    assert table.columns == [("", "buffer"), ("CUBIC", "rate"), ("New Reno", "rate")]
    assert [line[0] for line in table.rows] == ["10 SDUs", "20 SDUs"]
    assert [str(text).split()[0] for text in table.rows[1][1:]] == ["40.5", "20.5"]


def test_columns_with_several_values_are_adjacent(
    sweeps: Sweeps,
) -> None:
    columns = [
        ["model", "", "model"],
        ["rate", "{}", "rate"],
        ["recorded", "{}", "recorded"],
        ["delay", "of {first}", "delay"],
    ]
    table = {**SPEC["table"], "columns": columns, "place": {"size": 10}}
    _rows, [found] = made(sweeps, table=table).found(session(sweeps), "")
    both = [(name, what) for name in ("CUBIC", "New Reno") for what in ("rate", "recorded")]
    assert found.columns[1:] == [("", "model"), *both, ("of CUBIC", "delay")]
    [line] = found.rows
    assert [str(text).split()[0] for text in line[1:]] == [
        "100",
        "20.5",
        "7.5",
        "10.5",
        "7.5",
        "4.0",
    ]


def test_table_without_a_column_axis_has_a_line_for_each_point(sweeps: Sweeps) -> None:
    table = {"by": "cc", "lines": {"size": "buffer"}}
    _rows, tables = made(sweeps, table=table).found(session(sweeps), "")
    assert [each.title for each in tables] == ["CUBIC", "New Reno"]
    assert [each.columns for each in tables] == [[("", "buffer"), ("", "rate, Mbit/s")]] * 2
    assert [len(each.rows) for each in tables] == [2, 2]


def test_points_that_are_not_simulated_have_computed_rows(sweeps: Sweeps) -> None:
    more: Any = {"rows": ["model"], "table": {"lines": {"size": ""}}, "curves": []}
    figure = made(sweeps, points="squares", order=[], **more)
    found = session(sweeps)
    assert figure.cells(found) == []
    assert [row.computed for row in figure.found(found, "")[0] if row] == [9.0, 16.0]


def test_points_that_are_not_simulated_have_values_with_labels(sweeps: Sweeps) -> None:
    naming = Naming({"size": {3: "three"}})
    spec = {"points": "squares", "rows": ["model"], "table": {"lines": {"size": ""}}}
    with pytest.raises(BadValueError) as raised:
        DeclaredFigure(Path("p"), "fig1", spec, sweeps, QUANTITIES, naming)
    place = "p/paper.toml: figures.fig1.points.size"
    assert str(raised.value) == f'{place}: "4": no value of it. Expected one of: 3.'


def test_parts_of_an_item_are_in_order(sweeps: Sweeps, tmp_path: Path) -> None:
    part = {key: SPEC[key] for key in ("points", "rows", "table")}
    titled = [{**part, "table": {**part["table"], "title": name}} for name in ("one", "two")]
    about = ({"parts": titled, "title": "t"}, sweeps, QUANTITIES, NAMING)
    cells, evaluate = figure_item(tmp_path, "fig1", *about)
    found = session(sweeps)
    assert callable(cells)
    assert len(cells(found)) == 4
    result = evaluate(found, None)
    assert [table.title for table in result.tables] == ["one", "two"]
    assert len(result.rows) == 8


def test_part_with_empty_table_keeps_its_rows(sweeps: Sweeps, tmp_path: Path) -> None:
    parts = [{"points": [{"sweep": "sizes", "size": 10}], "table": {}}, {"table": {"title": "all"}}]
    spec = {**SPEC, "title": "t", "parts": parts}
    own = Row({"cc": "reno"}, "rate", "Mbit/s", None, 1.0)
    more = lambda _session, title: ([own], [Table(title, [], [], [])])  # noqa: E731
    about = (tmp_path, "fig1", spec, sweeps, QUANTITIES, NAMING)
    result = figure_item(*about, more)[1](session(sweeps), None)
    assert [len(result.rows), result.rows[-1]] == [2 + 4 + 1, own]
    assert [table.title for table in result.tables] == ["all", "Fig. 1: t"]


def test_points_of_panels_without_part_are_simulated(sweeps: Sweeps, tmp_path: Path) -> None:
    parts = [{"points": [{"sweep": "sizes", "cc": "cubic", "size": 10}]}]
    also = [{"points": [{"sweep": "sizes", "cc": "cubic", "size": 20}], "label": "other"}]
    spec = {**SPEC, "title": "t", "points": [{"sweep": "sizes", "cc": "newreno"}], "parts": parts}
    spec["panels"] = [{"also": also}]
    cells = figure_item(tmp_path, "fig1", spec, sweeps, QUANTITIES, NAMING)[0]
    assert callable(cells)
    assert len(cells(session(sweeps))) == 4


@pytest.mark.parametrize(("whole", "count"), [(False, 2), (True, 4)])
def test_figure_without_parts_keeps_rows_without_a_number(
    whole: bool, count: int, sweeps: Sweeps, tmp_path: Path
) -> None:
    spec = {**SPEC, "rows": ["halved"], "title": "t", "whole": whole}
    evaluate = figure_item(tmp_path, "fig1", spec, sweeps, QUANTITIES, NAMING)[1]
    assert len(evaluate(session(sweeps), None).rows) == count
    empty = Session(Paper("p", "", "", {}, [], sweeps), Effort(2, 2.0, 0.0))
    assert len(evaluate(empty, None).tables) == (0 if whole else 1)


def test_titles_of_tables_by_axis_contain_its_value(sweeps: Sweeps) -> None:
    table = {"by": "cc", "lines": {"size": "buffer"}, "title": "{}: rates"}
    _rows, tables = made(sweeps, table=table).found(session(sweeps), "")
    assert [each.title for each in tables] == ["CUBIC: rates", "New Reno: rates"]


def test_column_without_value_shows_first_point_of_line(sweeps: Sweeps) -> None:
    points = [{"sweep": "sizes", "cc": "cubic"}, {"sweep": "sizes", "cc": "newreno", "size": 20}]
    columns = [["rate", "", "rate"], ["rate", "of {first}", "rate"], ["rate", "{}", "rate"]]
    table = {**SPEC["table"], "columns": columns}
    of = made(sweeps, points=list(reversed(points)), order=["size"], table=table)
    _rows, [found] = of.found(session(sweeps), "")
    means = [[text.split()[0] if text else "" for text in line[1:]] for line in found.rows]
    assert found.columns[3:] == [("CUBIC", "rate"), ("New Reno", "rate")]
    assert means == [["20.5", "20.5", "20.5", ""], ["20.5", "40.5", "40.5", "20.5"]]


@pytest.mark.parametrize(("more", "shared"), [({}, True), ({"x": "delay"}, False)])
def test_row_below_shares_abscissa_of_column(
    more: Mapping[str, Any], shared: bool, sweeps: Sweeps
) -> None:
    # The value at 20 SDUs is missing, so that a separate abscissa of the row below would end at 10.
    figure = made(sweeps, below={"y": "halved", **more}, panels=[{"by": "cc"}], curves=[])
    first, second, below_first, below_second = axes_of(figure, session(sweeps))
    both = ((first, below_first), (second, below_second))
    assert [upper.get_xlim() == lower.get_xlim() for upper, lower in both] == [shared] * 2
    names = [axis.get_xlabel() for axis in (first, below_first)]
    assert names == (["", "buffer"] if shared else ["buffer", "buffer"])


def test_row_below_may_have_separate_curves(sweeps: Sweeps) -> None:
    figure = made(sweeps, below={"curves": ["size"]})
    _, lower = axes_of(figure, session(sweeps))
    assert set(bars(lower)) == {"10 SDUs", "20 SDUs"}


# --- panels ------------------------------------------------------------------------------------


def axes_of(figure: DeclaredFigure, found: Session) -> list[Any]:
    with style.style():
        return list(figure.drawn(found).axes)


def test_panel_has_curve_for_each_value_in_axis_order(sweeps: Sweeps) -> None:
    [axis] = axes_of(made(sweeps), session(sweeps))
    assert bars(axis) == {
        "CUBIC": [(10.0, 20.5), (20.0, 40.5)],
        "New Reno": [(10.0, 10.5), (20.0, 20.5)],
    }
    assert axis.get_ylim()[0] == 0
    colours = {each.lines[0].get_color() for each in axis.containers}
    assert len(colours) == 2


def test_measured_abscissa_ends_at_the_limit(sweeps: Sweeps) -> None:
    panels = [{"x": "delay", "limits": {"xlim": [0, 3]}}]
    [axis] = axes_of(made(sweeps, panels=panels), session(sweeps))
    assert bars(axis) == {"CUBIC": [(2.0, 40.5)], "New Reno": [(2.0, 20.5)]}


@pytest.mark.parametrize(("least", "has_bars"), [(2, True), (3, False)])
def test_points_with_few_replications_have_no_intervals(
    least: int, has_bars: bool, sweeps: Sweeps
) -> None:
    [axis] = axes_of(made(sweeps, least_runs=least), session(sweeps))
    segments = axis.containers[0].lines[2][0].get_segments()
    assert [np.ptp(segment[:, 1]) > 0 for segment in segments] == [has_bars] * 2


def test_row_below_uses_last_curve(sweeps: Sweeps) -> None:
    below = {"over": True, "y_name": "over {last}", "limits": {"yscale": "log"}}
    figure = made(sweeps, below=below, limits={"xlim": [0, 30]})
    upper, lower = axes_of(figure, session(sweeps))
    assert (upper.get_yscale(), lower.get_yscale()) == ("linear", "log")
    assert upper.get_xlim() == lower.get_xlim() == (0, 30)
    assert lower.get_ylabel() == "over New Reno"
    assert list(bars(lower).values()) == [[(10.0, 20.5 / 10.5), (20.0, 40.5 / 20.5)]]


def test_computed_quantity_is_a_line_over_the_range_of_the_axis(sweeps: Sweeps) -> None:
    figure = made(sweeps, y=["model", "rate"], panels=[{"place": {"cc": "cubic"}}])
    [axis] = axes_of(figure, session(sweeps))
    [line] = [line for line in axis.lines if line.get_label() == "CUBIC"]
    x, y = line.get_data()
    assert (x[0], x[-1], len(x)) == (10, 20, 80)
    assert y == pytest.approx(np.asarray(x) ** 2)
    assert [text.get_text() for text in axis.figure.legends[0].texts] == ["CUBIC"]


def test_marks_and_levels_are_lines_with_a_text(sweeps: Sweeps) -> None:
    panels = [{"marks": {"model": "here"}, "levels": {"12": "there"}}]
    [axis] = axes_of(made(sweeps, panels=panels), session(sweeps))
    found = {line.get_label(): line.get_xydata()[0].tolist() for line in axis.lines}
    assert found["here"][0] == 100
    assert found["there"][1] == 12


def test_panels_of_an_axis_share_a_scale(sweeps: Sweeps) -> None:
    figure = made(sweeps, panels=[{"by": "cc"}], curves="cc")
    first, second = axes_of(figure, session(sweeps))
    assert [axis.get_title(loc="left") for axis in (first, second)] == ["CUBIC", "New Reno"]
    assert first.get_ylim() == second.get_ylim()


def test_other_points_are_plotted_and_simulated_without_rows(sweeps: Sweeps) -> None:
    also = [{"points": [{"sweep": "sizes", "cc": "cubic", "size": 10}], "label": "printed"}]
    points = [{"sweep": "sizes", "cc": "newreno"}]
    figure = made(sweeps, points=points, panels=[{"also": [{**also[0], "published": True}]}])
    found = session(sweeps)
    assert len(figure.cells(found)) == 3
    assert len(figure.found(found, "")[0]) == 2
    [axis] = axes_of(figure, found)
    assert bars(axis)["printed"] == [(10.0, 20.5)]
    [container] = [each for each in axis.containers if each.get_label() == "printed"]
    assert container.lines[0].get_fillstyle() == "none"


def test_other_points_of_a_computed_quantity_are_a_line(sweeps: Sweeps) -> None:
    also = [{"points": "model", "label": "model", "y": "model"}]
    [axis] = axes_of(made(sweeps, panels=[{"also": also}]), session(sweeps))
    [line] = [each for each in axis.lines if each.get_label() == "model"]
    assert line.get_xydata().tolist() == [[10.0, 100.0], [20.0, 400.0]]
    assert (line.get_linestyle(), line.get_marker()) == (":", "None")


def test_labels_are_listed_in_axis_order(sweeps: Sweeps) -> None:
    also = [{"points": [{"sweep": "sizes", "size": 10}], "x": "delay", "label": "delay"}]
    more = {"order": ["cc"], "x": "rate", "y": "size", "curves": "cc", "y_name": ""}
    figure = made(sweeps, **more, panels=[{"also": also}, {}])
    first, second = axes_of(figure, session(sweeps))
    # The sweep lists 20 SDUs first.
    assert [text.get_text() for text in first.get_yticklabels()] == ["20 SDUs", "10 SDUs"]
    assert first.get_ylim() == second.get_ylim() == (1.5, -0.5)
    assert bars(second) == {
        "CUBIC": [(20.5, 1.0), (40.5, 0.0)],
        "New Reno": [(10.5, 1.0), (20.5, 0.0)],
    }
    assert bars(first)["delay"] == [(4.0, 1.0), (4.0, 1.0)]
    shown = [axis.yaxis.get_tick_params()["labelleft"] for axis in (first, second)]
    assert shown == [True, False]


# --- computed numbers at points ----------------------------------------------------------------


def test_computed_number_may_be_missing(sweeps: Sweeps) -> None:
    found = session(sweeps)
    rows, [table] = made(sweeps, rows=["halved"]).found(found, "Fig. 1")
    assert [row.computed for row in rows if row] == [10.25, None, 5.25, None]
    assert [row[1:] for row in table.rows] == [["10.2", "5.2"], ["", ""]]
    with style.style():
        figure = made(sweeps, y="halved").drawn(found)
    assert [line.get_xydata().tolist() for line in figure.axes[0].lines] == [
        [[10.0, 10.25]],
        [[10.0, 5.25]],
    ]


def test_parts_have_keys_of_the_figure_and_own_keys(sweeps: Sweeps) -> None:
    parts = [
        {"points": [{"sweep": "sizes", "cc": cc}], "table": {"notes": [cc]}}
        for cc in ("newreno", "cubic")
    ]
    spec = {**SPEC, "title": "t", "parts": parts}
    _cells, evaluate = figure_item(Path("p"), "f", spec, sweeps, QUANTITIES, NAMING)
    result = evaluate(session(sweeps), None)
    assert [row.row["cc"] for row in result.rows] == 2 * ["newreno"] + 2 * ["cubic"]
    assert [table.notes for table in result.tables] == [["newreno"], ["cubic"]]
    assert {column[0] for table in result.tables for column in table.columns[1:]} == {
        "New Reno",
        "CUBIC",
    }
