"""`airpath.reproduction`: a table from a CSV file, in the terminal and on a page."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from airpath.present.terminal import print_table
from airpath.reproduction.base import Row, Table
from airpath.reproduction.claims import known
from airpath.reproduction.compare import (
    ColumnSet,
    Key,
    NoteColumns,
    absolute,
    comparison,
    number,
    percent,
    printed,
)
from airpath.reproduction.files import read_records
from airpath.reproduction.page import markdown
from airpath.reproduction.tolerance import Tolerance
from airpath.results.intervals import Interval

TABLE = """# A comment.
bearer,aqm,goodput_kbps,goodput_half_width_kbps,delay_s,seen
384,sbd,294.5,5.6,0.55,often
64,red,52.5,0.8,,once
"""

NEAR = Tolerance("5 %", relative=0.05)
SHOWN = (
    ColumnSet(
        "goodput", "G", printed(1), number(1), percent(1), ("paper", "Airpath", "diff %", "near")
    ),
    NoteColumns("", ("seen",), ("seen",)),
    ColumnSet("delay", "D", printed(2), number(2)),
)
KEYS = (Key("bearer", "bearer"), Key("aqm", "by", str.upper))


class Line(NamedTuple):
    """A line of `TABLE`."""

    bearer: int
    mean: float
    delay_s: float | None
    seen: str


def test_table_is_read_as_named_tuples_with_field_types(tmp_path: Path) -> None:
    (tmp_path / "table9.csv").write_text(TABLE)
    found = read_records(tmp_path, "table9.csv", Line, {"mean": "goodput_kbps"})
    assert found == [Line(384, 294.5, 0.55, "often"), Line(64, 52.5, None, "once")]
    assert [type(each) for each in found[0]] == [int, float, float, str]


@pytest.fixture
def published() -> list[Row]:
    """Return the rows of two points, without simulated numbers."""
    rows = []
    for place, goodput, half, delay, seen in (
        ({"bearer": 384, "aqm": "sbd"}, 294.5, 5.6, 0.55, "often"),
        ({"bearer": 64, "aqm": "red"}, 52.5, 0.8, None, "once"),
    ):
        of, extra = (place, "goodput", "kbit/s"), {"seen": seen}
        rows.append(Row(*of, goodput, None, half, tolerance=NEAR, extra=extra))
        rows.append(Row(place, "delay", "s", delay, None, extra=extra))
    return rows


def compared(published: list[Row]) -> Table:
    goodput, _, low, _ = published
    filled = [
        goodput.with_computed(Interval(300.0, 298.0, 302.0, 0.99, 4)),
        low.with_computed(
            Interval(60.0, float("nan"), float("nan"), 0.99, 1), extra={"seen": "never"}
        ),
    ]
    # An entry without a simulated number is at its place in the paper's table. It is replaced by an
    # entry with a number.
    return comparison("Table 9", [*published, *filled], KEYS, SHOWN, ["A note."])


def test_published_numbers_are_next_to_simulated_ones(published: list[Row]) -> None:
    table = compared(published)
    assert table.columns == [
        ("", "bearer"),
        ("", "by"),
        ("G", "paper"),
        ("G", "Airpath"),
        ("G", "diff %"),
        ("G", "near"),
        ("", "seen"),
        ("D", "paper"),
        ("D", "Airpath"),
    ]
    first = ["384", "SBD", "294.5 ± 5.6", "300.0 ± 2.0", "+1.9", "yes"]
    second = ["64", "RED", "52.5 ± 0.8", "60.0", "! +14.3", "NO"]
    assert table.rows == [
        [*first, "often", "0.55", "not simulated"],
        [*second, "never", "", "not simulated"],
    ]
    assert table.notes == ["A note."]


def test_simulated_number_is_marked_if_no_difference_is_shown() -> None:
    row = Row({"n": 1}, "x", "1", 1.0, 2.0, tolerance=NEAR)
    plain = ColumnSet("x", "", printed(1), number(1))
    assert comparison("", [row], (), [plain]).rows == [["1.0", "! 2.0"]]
    difference = ColumnSet(
        "x", "", printed(1), number(1), absolute(1), ("paper", "computed", "diff")
    )
    assert comparison("", [row], (), [difference]).rows == [["1.0", "2.0", "! +1.0"]]


def test_terminal_and_page_show_the_same_table(published: list[Row]) -> None:
    """Regression test: each paper formatted each published table twice, with separate code."""
    table = compared(published)
    console = Console(file=io.StringIO(), width=200)
    print_table(table, console, comparison=True)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    page = list(markdown(table))
    assert (
        page[0]
        == "| bearer | by | G: paper | Airpath | diff % | near | seen | D: paper | Airpath |"
    )
    assert "**!** +14.3" in page[3]
    for cell in (cell for row in table.rows for cell in row):
        assert cell in shown
        assert cell.removeprefix("! ") in "\n".join(page)


def test_row_is_unchanged_by_json() -> None:
    row = Row(
        {"n": 1}, "x", "1", 1.0, 2.0, 0.1, 1.9, 2.1, NEAR, {"domain": "R1", "difference": 1.0}
    )
    again = Row.of(row.to_dict())
    assert again.within is row.within is False
    assert again.relative_difference == row.relative_difference
    same: Any = {**again.to_dict(), "tolerance": None}
    assert same == {**row.to_dict(), "tolerance": None}


class Runs:
    """A session with two replications of one point."""

    def estimate(self, cell: Any, value: Any) -> Interval | None:
        return Interval(value({"x": 1.5}), 1.0, 2.0, 0.99, 2) if cell == (1,) else None


def test_mean_of_point_without_simulation_is_rejected() -> None:
    runs: Any = Runs()
    assert known(runs, (1,), lambda run: run["x"]).mean == 1.5
    with pytest.raises(ValueError, match="all its cells"):
        known(runs, (2,), lambda run: run["x"])
