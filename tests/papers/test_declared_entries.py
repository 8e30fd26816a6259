"""Invalid entries of declared figures: a one-line error when the paper is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_declared_figures import NAMING, QUANTITIES, SPEC, SWEEP, link, made, session
from test_declared_timelines import TIMELINE

from airpath.errors import BadValueError
from airpath.reproduction import Paper
from airpath.reproduction.claims import Claims
from airpath.reproduction.figures import DeclaredFigure
from airpath.reproduction.items import item_of
from airpath.reproduction.manifest import paper_of
from airpath.reproduction.sweeps import Sweeps
from airpath.reproduction.timelines import timeline_item


@pytest.fixture
def sweeps(tmp_path: Path) -> Sweeps:
    (tmp_path / "sweeps.toml").write_text(SWEEP, encoding="utf-8")
    return Sweeps(tmp_path, link)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"points": None}, ": points: missing. Use a sweep, or a list of sweeps and tables"),
        ({"points": [{"cc": "cubic"}]}, ': points = [{cc = "cubic"}]: not a sweep, or a list of'),
        ({"points": [{"sweep": "sizes", "cc": "x"}]}, "there are no such points."),
        (
            {"points": "sises"},
            'sweeps.toml: "sises": no sweep. Expected one of: sizes, ',
        ),
        ({"points": [{"sweep": 7}]}, ": points = [{sweep = 7}]: not a sweep, or a list of"),
        (
            {"points": [{"sweep": "sizes", "c": 1}]},
            '.toml: sizes: "c": no axis of this sweep.',
        ),
        (
            {"points": [{"sweep": "sizes", "cc": ["cubic", "x"]}]},
            '.points: cc = "x": no point has it.',
        ),
        ({"panels": [{"place": {"size": [10, 11]}}]}, ".panels.place: size = 11: no point has it."),
        ({"points": [{"grid": {"size": [3]}}]}, ": points = [{grid = {size = [3]}}]: not a sweep"),
        ({"order": ["sise"]}, '.order: "sise": no axis of its points. Expected one of: cc, size.'),
        ({"rows": None}, ": rows: missing. Use a list of texts"),
        ({"rows": ["ratte"]}, '.rows: "ratte": no quantity. Expected one of: delay, halved, model'),
        ({"row": {"size": "sise"}}, '.row: "sise": no axis of its points. Expected one of: cc'),
        ({"table": {"lines": {}, "accross": "cc"}}, '.table: "accross": unknown key.'),
        ({"table": {"by": "cc"}}, ".table: lines: missing. Use a table of texts"),
        ({"table": {"lines": {"sise": ""}}}, '.table.lines: "sise": no axis of its points.'),
        ({"table": {"lines": {}, "across": "c"}}, '.table.across: "c": no axis of its points.'),
        ({"table": {"lines": {}, "by": "c"}}, '.table.by: "c": no axis of its points.'),
        (
            {"table": {"lines": {}, "place": {"size": 30}}},
            ".table: place = {size = 30}: no such point",
        ),
        (
            {"table": {"lines": {}, "columns": [["size", "", ""]]}},
            '.table.columns: "size": no quantity.',
        ),
        ({"table": {"lines": {}, "columns": [["rate", ""]]}}, '.table: columns = [["rate", ""]]:'),
        ({"table": {"lines": {}, "columns": [["rate", "{x}", ""]]}}, ".table.columns = '{x}': "),
        (
            {"table": {"lines": {}, "title": "{}"}},
            ".table.title = '{}': \"\": unknown name in braces.",
        ),
        ({"panel": []}, ': "panel": unknown key.'),
        ({"panels": [{"colour": "red"}]}, '.panels: "colour": unknown key. Expected one of: also'),
        ({"panels": [{"place": {"cc": "reno"}}]}, '.panels: place = {cc = "reno"}: no such point'),
        ({"panels": [{"place": {"c": 1}}]}, '.panels.place: "c": no axis of its points.'),
        ({"panels": [{"by": "c"}]}, '.panels.by: "c": no axis of its points.'),
        ({"panels": [{"marks": {"pace": ""}}]}, '.panels.marks: "pace": no quantity that is'),
        ({"panels": [{"levels": {"pace": ""}}]}, '.panels.levels: "pace": not a number.'),
        ({"panels": [{"limits": {"xlimit": [0]}}]}, '.panels.limits: "xlimit": unknown key.'),
        ({"x": "sise"}, '.panels.x: "sise": no axis of its points. Expected one of: cc, delay'),
        ({"y": ["pace"]}, '.panels.y: "pace": no quantity.'),
        ({"x": "delay", "y": "sise"}, '.panels.y: "sise": no axis of its points.'),
        ({"y_name": None}, ".panels: y_name: missing. Use a text"),
        ({"y_name": "{lst}"}, ".panels.y_name = '{lst}': \"lst\": unknown name in braces."),
        ({"label": "r = {r}"}, ".panels.label = 'r = {r}': \"r\": unknown name in braces."),
        ({"curves": ["c|d"]}, '.panels.curves: "c|d": no axis of its points.'),
        ({"panels": [{"also": [{"points": "sizes"}]}]}, ".panels.also: label: missing."),
        (
            {"panels": [{"also": [{"points": "sizes", "label": "", "y": "pace"}]}]},
            '.panels.also.y: "pace": no quantity.',
        ),
        (
            {"panels": [{"also": [{"points": "sizes", "label": "", "marker": "q"}]}]},
            '.panels.also.marker: "q": no marker.',
        ),
        ({"panels": [{}, {}], "enlarged": True}, ": enlarged = true: has 2 panels."),
        ({"heights": [1, 2]}, ": heights = [1, 2]: not one for each row. Use 1, one for each"),
    ],
)
def test_wrong_entries_are_rejected_when_figure_is_created(
    changed: Mapping[str, Any], expected: str, sweeps: Sweeps
) -> None:
    assert_rejected(sweeps, changed, expected)


def assert_rejected(sweeps: Sweeps, changed: Mapping[str, Any], expected: str) -> None:
    spec = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    with pytest.raises(BadValueError) as raised:
        DeclaredFigure(Path("p"), "fig1", spec, sweeps, QUANTITIES, NAMING)
    message = str(raised.value)
    assert message.startswith("p/paper.toml: figures.fig1")
    assert expected in message
    assert "\n" not in message


STAR: dict[str, Any] = {"of": "rate", "at": 10, "place": {"cc": "cubic", "size": 10}}
BAND: dict[str, Any] = {"of": "rate", "between": [1.0, 2.0], "label": "paper"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"below": {"by": "cc"}}, '.below: "by": unknown key. Expected one of: also, bands'),
        ({"below": {"y": "pace"}}, '.below.y: "pace": no quantity.'),
        ({"below": {"y_name": "{lst}"}}, ".below.y_name = '{lst}': \"lst\": unknown name"),
        ({"below": {"x": "sise"}}, '.below.x: "sise": no axis of its points.'),
        ({"below": {"levels": {"a": ""}}}, '.below.levels: "a": not a number.'),
        ({"below": {"stars": [{**STAR, "of": "pace"}]}}, '.below.stars.of: "pace": no quantity.'),
        ({"stars": [{**STAR, "off": 1}]}, '.panels.stars: "off": unknown key. Expected one of:'),
        ({"stars": [{**STAR, "at": "10"}]}, '.panels.stars: at = "10": not a number.'),
        ({"stars": [{"of": "rate"}]}, ".panels.stars: at: missing. Use a number"),
        ({"stars": [{**STAR, "of": "pace"}]}, '.panels.stars.of: "pace": no quantity.'),
        (
            {"stars": [{**STAR, "place": {"size": 10}}]},
            ".panels.stars: place = {size = 10}: 2 points of the panel match. Use values of",
        ),
        ({"stars": [{**STAR, "place": {"size": 1}}]}, "place = {size = 1}: 0 points of the panel"),
        ({"stars": [{**STAR, "place": {"c": 1}}]}, '.panels.stars.place: "c": no axis of its'),
        ({"stars": [{**STAR, "like": "reno"}]}, '.panels.stars.like: "reno": no label of a curve.'),
        ({"bands": [{**BAND, "times": 1}]}, '.panels.bands: "times": unknown key. Expected one'),
        ({"bands": [{**BAND, "between": [1]}]}, ".panels.bands: between = [1]: not a list of 2"),
        ({"bands": [{"of": "rate", "label": ""}]}, ".panels.bands: between: missing."),
        ({"bands": [{**BAND, "place": {"size": 1}}]}, "place = {size = 1}: 0 points of the panel"),
        ({"bands": [BAND], "x": "delay"}, '.panels.x: "delay": no axis of its points.'),
    ],
)
def test_wrong_rows_below_stars_and_bands_are_rejected(
    changed: Mapping[str, Any], expected: str, sweeps: Sweeps
) -> None:
    assert_rejected(sweeps, changed, expected)


def test_two_points_in_a_table_cell_are_rejected_by_name(sweeps: Sweeps) -> None:
    table = {"lines": {}, "across": "size"}
    with pytest.raises(BadValueError) as raised:
        made(sweeps, order=[], table=table)
    assert str(raised.value).startswith(
        'p/paper.toml: figures.fig1.table: across = "size": two points have one line and one '
        'column: {scenario = "link", cc = "cubic", size = 20} and '
        '{scenario = "link", cc = "newreno", size = 20}. Name more axes in lines'
    )


# --- over time ----------------------------------------------------------------------------

CURVE: dict[str, Any] = {"series": "queue", "colour": "blue", "label": ""}
STEPS: dict[str, Any] = {"times": [0, 1], "values": [2.0], "colour": "blue", "label": ""}


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (
            {**CURVE, "kind": "stars"},
            '.kind: "stars": unknown value. Expected one of: band, ',
        ),
        ({**CURVE, "color": "red"}, ': "color": unknown key. Expected one of: colour, factor'),
        ({**CURVE, "colour": "pink"}, '.colour: "pink": no colour. Expected one of: black, blue'),
        ({"series": "queue", "colour": "blue"}, ": label: missing. Use a text"),
        ({**CURVE, "series": "cwnd"}, '.series: "cwnd": not recorded. Expected one of: queue.'),
        ({**CURVE, "place": {"cc": "x"}}, ': place = {cc = "x"}: no such point.'),
        ({**CURVE, "place": {"c": "x"}}, '.place: "c": no axis of its points.'),
        ({**STEPS, "values": []}, ": values = []: not one for each step. Use 1, one between"),
        ({**STEPS, "factor": 2.0}, ': "factor": unknown key.'),
    ],
)
def test_wrong_entries_of_a_curve_are_rejected(
    curve: Mapping[str, Any], expected: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    changed = {"panels": [{"y_name": "", "curves": [curve]}]}
    assert_timeline_rejected(sweeps, tmp_path, changed, f".panels.curves{expected}")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"points": []}, ": points = []: there are no points."),
        ({"panels": [{"curves": [CURVE]}]}, ".panels: y_name: missing. Use a text"),
        ({"panels": [{"y_name": "", "curves": []}]}, ".panels: curves = []: empty."),
        (
            {"panels": [{"y_name": "", "curves": [CURVE], "title": "{pace}"}]},
            ".panels.title = '{pace}': \"pace\": unknown name in braces. Expected one of: delay",
        ),
        (
            {"panels": [{"y_name": "", "curves": [CURVE], "title": "{rate:q}"}]},
            '.panels.title: "{rate:q}": no format: ',
        ),
        ({"heights": [1]}, ": heights = [1]: not one for each panel. Use 2"),
        ({"events": {"late": ""}}, '.events: "late": not a number.'),
    ],
)
def test_wrong_entries_of_a_timeline_are_rejected(
    changed: Mapping[str, Any], expected: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    assert_timeline_rejected(sweeps, tmp_path, changed, expected)


def assert_timeline_rejected(
    sweeps: Sweeps, directory: Path, changed: Mapping[str, Any], expected: str
) -> None:
    with pytest.raises(BadValueError) as raised:
        timeline_item(directory, "fig1", {**TIMELINE, **changed}, sweeps, QUANTITIES)
    assert str(raised.value).startswith(f"{directory.name}/paper.toml: timelines.fig1{expected}")
    assert "\n" not in str(raised.value)


# --- several items ---------------------------------------------------------------------------

MANIFEST = """
title = "T"
citation = "C"
[modes.quick]
replications = 2
duration_s = 2.0
warmup_s = 0.0
[items]
fig1 = "one"
fig2 = "two"
fig3 = "three"
[figures.fig3]
like = "fig2"
legend = "three"
[figures.fig2]
like = "fig1"
rows = ["delay"]
[figures.fig1]
points = "sizes"
rows = ["rate"]
table.lines = {cc = "", size = ""}
"""


def read(sweeps: Sweeps, directory: Path, text: str, **items: Any) -> Paper:
    (directory / "paper.toml").write_text(text, encoding="utf-8")
    (directory / "claims.toml").write_text("", encoding="utf-8")
    return paper_of(directory, Claims(directory, {}), items, sweeps, QUANTITIES, NAMING)


def test_like_may_refer_to_item_with_like(sweeps: Sweeps, tmp_path: Path) -> None:
    paper = read(sweeps, tmp_path, MANIFEST)
    found = session(sweeps)
    quantities = [{row.quantity for row in item.evaluate(found, None).rows} for item in paper.items]
    assert quantities == [{"rate"}, {"delay"}, {"delay"}]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('points = "sizes"', 'like = "fig3"', 'fig1: like = "fig3": leads back to itself. Name'),
        ('like = "fig1"', 'like = "fig9"', 'fig2.like: "fig9": unknown. Expected one of: fig1'),
        ('like = "fig1"', "like = 1", "fig2: like = 1: not a text."),
        ('fig2 = "two"', "", ': "fig2": not in [items]. Expected one of: fig1, fig3.'),
    ],
)
def test_items_with_like_are_checked(
    old: str, new: str, expected: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    with pytest.raises(BadValueError) as raised:
        read(sweeps, tmp_path, MANIFEST.replace(old, new))
    place = f"{tmp_path.name}/paper.toml: figures"
    message = str(raised.value)
    assert message.startswith(place)
    assert message.removeprefix(place).removeprefix(".").startswith(expected)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('title = "T"', 'titel = "T"', '"titel": unknown key. Expected one of: citation, '),
        ('citation = "C"', "", "citation: missing. Use a text"),
        ('citation = "C"', "citation = 7", "citation = 7: not a text."),
        ("[modes.quick]", "[modes.quik]", 'modes: "quik": unknown key. Expected one of: default,'),
        ("duration_s = 2.0", "duration = 2.0", 'modes.quick: "duration": unknown key.'),
        ("duration_s = 2.0", "", "modes.quick: duration_s: missing. Use a number"),
        (
            "replications = 2",
            "replications = 0",
            "modes.quick: replications = 0: not a number from",
        ),
        ("warmup_s = 0.0", "warmup_s = 2.0", "modes: Effort("),
    ],
)
def test_wrong_entries_of_the_file_are_rejected(
    old: str, new: str, expected: str, sweeps: Sweeps, tmp_path: Path
) -> None:
    assert old in MANIFEST
    with pytest.raises(BadValueError) as raised:
        read(sweeps, tmp_path, MANIFEST.replace(old, new))
    assert str(raised.value).startswith(f"{tmp_path.name}/paper.toml: {expected}")
    assert "\n" not in str(raised.value)


def test_declared_item_that_code_also_creates_is_rejected(sweeps: Sweeps, tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(MANIFEST, encoding="utf-8")
    own = item_of(tmp_path, "fig1", [], lambda _session, _title: ([], []))
    with pytest.raises(BadValueError, match=r"figures: fig1 = .*: the paper's code has it too\. "):
        read(sweeps, tmp_path, MANIFEST, fig1=own)


def test_item_declared_by_two_tables_is_rejected(sweeps: Sweeps, tmp_path: Path) -> None:
    twice = MANIFEST + '[timelines.fig1]\npoints = "sizes"\n'
    with pytest.raises(BadValueError, match=r"timelines: fig1 = .*: another table of the file has"):
        read(sweeps, tmp_path, twice)
