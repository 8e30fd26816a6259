"""Published tables that a paper declares: measured and computed columns, several tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from test_declared_figures import SWEEP, Made, link

from airpath.errors import BadValueError
from airpath.reproduction import Effort, Paper
from airpath.reproduction.compare import ColumnSet, NoteColumns, number, printed
from airpath.reproduction.declared import table_item
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.quantities import ComputedQuantity, MeasuredQuantity, PointQuantity
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import Sweeps, model_point
from airpath.reproduction.tolerance import Tolerance

PUBLISHED = """cc,size,rate_mbps,rate_half_width_mbps,model_mbps,share
cubic,20,41.0,0.5,400,
cubic,10,20.0,0.5,101,0.5
"""

NEAR = Tolerance("1 Mbit/s", absolute=1.0)
MODEL: Any = ("model", "Mbit/s", lambda axes: axes["size"] ** 2, "g")
QUANTITIES: dict[str, Any] = {
    "sizes": NoteColumns("sizes", ("printed", "computed")),
    "rate": MeasuredQuantity("rate", "Mbit/s", lambda run: run["rate"], 1, NEAR),
    "model": ComputedQuantity(
        *MODEL,
        extra=lambda _session, cell: {"printed": "large", "computed": f"of {cell.axes['size']}"},
        tolerance=NEAR,
        columns=ColumnSet("model", "M", printed(0), number(0)),
    ),
    "double": ComputedQuantity(
        "double",
        "1",
        lambda axes: 2 * axes["size"],
        ".2f",
        columns=ColumnSet("double", "twice", lambda row: f"{row.computed:.2f}", str, names=("",)),
    ),
    "share": PointQuantity(
        "share", "1", lambda _session, cell: {20: math.nan, 10: 0.25}[cell.axes["size"]], ".2f"
    ),
}
SPEC: dict[str, Any] = {
    "points": "cubic",
    "file": "table2.csv",
    "columns": {"model": "model_mbps", "share": "share", "rate": "rate_mbps"},
    "keys": {"size": "buffer"},
    "row": {"size": "size", "cc": "cc"},
    "name": "All of {cc}",
    "parts": [
        {"title": "Table {number}: rates of {cc}", "shown": ["rate"], "notes": ["A note."]},
        {"title": "Table {number}: the model", "shown": ["model", "sizes"]},
    ],
}


@pytest.fixture
def sweeps(tmp_path: Path) -> Sweeps:
    only = SWEEP.replace("[sizes]", "[cubic]").replace(', "newreno"', "")
    only += '[computed]\nscenario = ""\ngrid = {cc = ["cubic"], size = [5]}\n'
    (tmp_path / "sweeps.toml").write_text(only, encoding="utf-8")
    (tmp_path / "table2.csv").write_text(PUBLISHED, encoding="utf-8")
    (tmp_path / "paper.toml").write_text('[items]\ntable2 = "a table"\n', encoding="utf-8")
    return Sweeps(tmp_path, link)


def evaluated(sweeps: Sweeps, directory: Path, *, simulated: bool = True, **more: Any) -> Any:
    spec = {key: value for key, value in {**SPEC, **more}.items() if value is not None}
    naming = Naming({"size": "{} kB"})
    cells, evaluate = table_item(directory, "table2", spec, sweeps, QUANTITIES, naming)
    found = Session(Paper("p", "", "", {}, [], sweeps), Effort(2, 2.0, 0.0))
    if simulated:
        assert not callable(cells)
        Made().simulate(found, cells)
    return evaluate(found, None)


def test_rows_contain_measured_and_computed_numbers(sweeps: Sweeps, tmp_path: Path) -> None:
    result = evaluated(sweeps, tmp_path)
    assert result.title == "All of cubic"
    found = {(row.quantity, row.row["size"]): row for row in result.rows}
    # A number that is not computed has no row.
    assert list(found) == [
        ("model", 20),
        ("rate", 20),
        ("model", 10),
        ("share", 10),
        ("rate", 10),
    ]
    rate, model = found["rate", 20], found["model", 10]
    assert (rate.published, rate.published_ci, rate.computed) == (41.0, 0.5, 40.5)
    assert rate.extra == {"replications": 2}
    assert (model.published, model.published_ci, model.computed) == (101.0, None, 100.0)
    assert (model.low, model.within) == (None, True)
    assert model.extra == {"printed": "large", "computed": "of 10"}


def test_unpublished_numbers_have_rows_and_measured_values(sweeps: Sweeps, tmp_path: Path) -> None:
    points = ["cubic", "computed"]
    columns = {"rate": "", "model": "model_mbps"}
    more: Any = {"parts": [{"title": ""}], "columns": columns, "points": points}
    result = evaluated(sweeps, tmp_path, **more)
    assert [(row.quantity, row.row["size"], row.published) for row in result.rows] == [
        ("rate", 20, None),
        ("model", 20, 400.0),
        ("rate", 10, None),
        ("model", 10, 101.0),
        ("model", 5, None),
    ]
    [table] = result.tables
    assert table.rows[-1] == ["5 kB", "", "", "", "", "25"]


def test_tolerance_may_depend_on_the_point(sweeps: Sweeps) -> None:
    wide = lambda axes: Tolerance("its size", absolute=axes["size"])  # noqa: E731
    model = ComputedQuantity(*MODEL, tolerance=wide)
    session = Session(Paper("p", "", "", {}, [], sweeps), Effort(2, 2.0, 0.0))
    point = model_point({"size": 10})
    rows = [model.row(session, point.cell, {}, PublishedMean(at, math.nan)) for at in (92, 88)]
    assert [row.within for row in rows] == [True, False]


def test_interval_of_width_0_counts_and_empty_entry_does_not(
    sweeps: Sweeps, tmp_path: Path
) -> None:
    (tmp_path / "table2.csv").write_text(
        PUBLISHED.replace("41.0,0.5", "41.0,0").replace("20.0,0.5", "20.0,"), encoding="utf-8"
    )
    result = evaluated(sweeps, tmp_path)
    rows = [row for row in result.rows if row.quantity == "rate"]
    assert [row.published_ci for row in rows] == [0.0, None]
    rates, _ = result.tables
    assert [row[1] for row in rates.rows] == ["41.0 ± 0.0", "20.0"]


def test_each_part_is_a_table_of_some_quantities(sweeps: Sweeps, tmp_path: Path) -> None:
    rates, model = evaluated(sweeps, tmp_path).tables
    assert (rates.title, model.title) == ("Table 2: rates of cubic", "Table 2: the model")
    assert [group for group, _ in rates.columns] == ["", *3 * ["rate, Mbit/s"]]
    assert list(rates.notes) == ["Airpath: 2 runs of 2 s; ± are 99 % intervals.", "A note."]
    assert model.columns == [
        ("", "buffer"),
        ("M", "paper"),
        ("M", "Airpath"),
        ("sizes", "paper"),
        ("sizes", "Airpath"),
    ]
    assert model.rows == [
        ["20 kB", "400", "400", "large", "of 20"],
        ["10 kB", "101", "100", "large", "of 10"],
    ]
    # No number of this table was simulated.
    assert list(model.notes) == []


def test_computed_numbers_are_available_before_simulation(sweeps: Sweeps, tmp_path: Path) -> None:
    result = evaluated(sweeps, tmp_path, simulated=False)
    assert not result.complete
    assert {row.quantity for row in result.rows} == {"model", "share"}
    assert result.tables[0].rows[0][1:] == ["41.0 ± 0.5", "not simulated", ""]


def test_table_without_parts_contains_all_quantities(sweeps: Sweeps, tmp_path: Path) -> None:
    more: Any = {"parts": [{"title": "Table 2: a table"}], "name": ""}
    result = evaluated(sweeps, tmp_path, **more)
    [table] = result.tables
    assert (result.title, table.title) == ("a table", "Table 2: a table")
    assert [row[1] for row in table.rows] == ["400", "101"]


def test_table_without_points_uses_points_of_its_lines(sweeps: Sweeps, tmp_path: Path) -> None:
    result = evaluated(
        sweeps, tmp_path, points=None, columns={"model": "model_mbps"}, simulated=False
    )
    assert result.complete
    assert [(row.row["size"], row.published, row.computed) for row in result.rows] == [
        (20, 400.0, 400.0),
        (10, 101.0, 100.0),
    ]


def test_wrong_lines_of_a_table_without_points_are_rejected(sweeps: Sweeps, tmp_path: Path) -> None:
    spec = {key: value for key, value in SPEC.items() if key != "points"}
    about = (tmp_path, "table2", spec, sweeps, QUANTITIES)
    place = f"{tmp_path.name}/paper.toml: tables.table2"
    with pytest.raises(BadValueError) as raised:
        table_item(*about, Naming({"size": {10: "ten"}, "cc": {}}))
    assert str(raised.value).startswith(f'{place}.points.size: "20": no value of it. ')
    (tmp_path / "table2.csv").write_text(PUBLISHED.splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(BadValueError) as raised:
        table_item(*about, Naming())
    assert str(raised.value) == f'{place}: file = "table2.csv": has no lines. Use another file.'


def test_part_has_separate_points_lines_and_order(sweeps: Sweeps, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("cc,size,model_mbps\nreno,3,9\nreno,2,5\n", encoding="utf-8")
    own: Any = {"title": "{cc}", "file": "more.csv", "columns": {"model": "model_mbps"}}
    parts = [
        {"title": "a", "shown": ["model"]},
        {"title": "b", "shown": ["model", "share"], "order": ["size"]},
        {**own, "order": ["size"], "keys": {"cc": "by", "size": ""}, "shown": ["model", "double"]},
    ]
    only: Any = {"columns": {"model": "model_mbps"}, "parts": parts, "points": None}
    result = evaluated(sweeps, tmp_path, **only)
    # The first two parts have the same rows. Columns that are only displayed have none.
    found = [(row.row["size"], row.quantity, row.published) for row in result.rows]
    sizes = [(20, 400), (10, 101), (3, 9), (2, 5)]
    assert found == [(size, "model", published) for size, published in sizes]
    a, b, c = result.tables
    assert [row[0] for row in a.rows] == ["20 kB", "10 kB"]
    assert [row[0] for row in b.rows] == ["10 kB", "20 kB"]
    assert (c.title, c.rows) == (
        "reno",
        [["reno", "2 kB", "5", "4", "4.00"], ["reno", "3 kB", "9", "9", "6.00"]],
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"colums": {}}, ': "colums": unknown key. Expected one of: columns, file, keys, name'),
        ({"points": "sizes"}, ".points: "),
        ({"row": None}, ": row: missing. Use a table of texts"),
        ({"keys": ["size"]}, ': keys = ["size"]: not a table of texts. Use a table of texts'),
        ({"file": "table9.csv"}, ': file = "table9.csv": no such file.'),
        ({"columns": {"pace": "rate_mbps"}}, '.columns: "pace": no quantity. Expected one of: '),
        ({"columns": {"rate": "rate"}}, '.columns: "rate": no column. Expected one of: cc, model'),
        ({"row": {"size": "sise"}}, '.row: "sise": no column or axis. Expected one of: cc, model'),
        ({"keys": {"bearer": ""}}, '.keys: "bearer": no entry of row. Expected one of: cc, size.'),
        ({"points": None, "row": {"size": "sise"}}, '.row: "sise": no column. Expected one of: cc'),
        ({"name": "{sise}"}, ".name = '{sise}': \"sise\": unknown name in braces. Expected one of"),
        ({"parts": [{"title": "", "note": []}]}, '.parts: "note": unknown key. Expected one of: '),
        ({"parts": [{"notes": []}]}, ".parts: title: missing. Use a text"),
        ({"parts": [{"title": "", "shown": ["delay"]}]}, '.parts.shown: "delay": no quantity.'),
        ({"parts": [{"title": "", "order": ["sise"]}]}, '.order: "sise": no entry of row.'),
        ({"parts": [{"title": "{n"}]}, '.parts.title: "{n": no format: '),
    ],
)
def test_wrong_entries_are_rejected_when_table_is_created(
    changed: dict[str, Any], expected: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    spec = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    with pytest.raises(BadValueError) as raised:
        table_item(tmp_path, "table2", spec, sweeps, QUANTITIES, Naming())
    place = f"{tmp_path.name}/paper.toml: tables.table2"
    assert str(raised.value).startswith(f"{place}{expected}")
    assert "\n" not in str(raised.value)
