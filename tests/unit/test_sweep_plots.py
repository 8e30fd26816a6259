"""Figures of a sweep: plotted values match the tables, and unreadable figures are rejected."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import airpath as ap
from airpath.report import report_of_sweep
from airpath.results import Interval
from airpath.sweeps.plan import Rule
from airpath.sweeps.plot.limits import is_logarithmic, limits
from airpath.sweeps.plot.pareto import front
from random_examples import examples
from sweep_ledgers import plan_of, sweep_of

GRID: dict[str, list[Any]] = {
    "aqm": ["droptail", "codel", "pie"],
    "cc": ["newreno", "cubic"],
    "limit": ["50 packets", "200 packets", "100 packets"],
    "trace": ["one", "other"],
}
METRICS = ["goodput_bps", "p95_sojourn_s"]


def measured(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
    packets = int(str(values["limit"]).split()[0])
    part = {"droptail": 1.0, "codel": 0.2, "pie": 0.4}[values["aqm"]]
    rate = 4e6 + 1e3 * packets * part + 1e5 * (values["cc"] == "cubic")
    wobble = 1 + 0.01 * number
    return {"goodput_bps": rate * wobble, "p95_sojourn_s": 1e-3 * packets * part * wobble}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> ap.Sweep:
    return sweep_of(tmp_path_factory.mktemp("sweep"), plan_of(GRID, METRICS), measured)


def gids(figure: Any) -> list[str]:
    return sorted(gid for each in figure.findobj() if (gid := each.get_gid()) is not None)


def markers(axis: Any) -> dict[str, tuple[float, float]]:
    lines = [line for line in axis.lines if line.get_gid() is not None]
    return {line.get_gid(): (line.get_xdata()[0], line.get_ydata()[0]) for line in lines}


ALL = sorted(f"point-{n}" for n in range(36))


def test_lines_are_at_the_means_over_numeric_values(sweep: ap.Sweep) -> None:
    figure = sweep.plot.lines("goodput_bps")
    titles = [axis.get_title("left") for axis in figure.axes]
    assert titles == ["newreno · one", "newreno · other", "cubic · one", "cubic · other"]
    assert gids(figure) == ALL
    table = sweep.points().query("metric == 'goodput_bps'").set_index("point")
    for name, (x, y) in markers(figure.axes[2]).items():
        row = table.loc[int(name.removeprefix("point-"))]
        assert (row["cc"], row["trace"]) == ("cubic", "one")
        assert (f"{x:g} packets", y) == (row["limit"], row["mean"] * 1e-6)
    # One band for each discipline, from the least to the most packets.
    assert len(figure.axes[1].collections) == 3
    assert next(line.get_xdata()[0] for line in figure.axes[0].lines) == 50.0
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["droptail", "codel", "pie"]
    assert figure.axes[-1].get_xlabel() == "limit, packets"
    assert figure.axes[0].get_ylabel() == "goodput, Mbit/s"


def test_values_in_words_are_placed_side_by_side(sweep: ap.Sweep) -> None:
    figure = sweep.plot.lines(
        "p95_sojourn_s", "aqm", "cc", where={"trace": "one", "limit": "50 packets"}
    )
    [axis] = figure.axes
    found = markers(axis)
    assert sorted(found) == ["point-0", "point-12", "point-18", "point-24", "point-30", "point-6"]
    assert [round(found[f"point-{n}"][0], 2) for n in (0, 6, 12, 18)] == [-0.15, 0.15, 0.85, 1.15]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["droptail", "codel", "pie"]


def test_traces_are_panels_and_panels_have_one_scale(sweep: ap.Sweep) -> None:
    """Regression: traces were colours in one figure and panels in another; one of three panels was
    linear.
    """
    fixed = {"limit": "50 packets"}
    for figure in (
        sweep.plot.lines("goodput_bps", where=fixed),
        sweep.plot.pareto(where=fixed),
        sweep.plot.forest("goodput_bps", where=fixed),
        sweep.plot.ecdf("goodput_bps", where={**fixed, "cc": "cubic"}),
    ):
        assert [axis.get_title("left") for axis in figure.axes] == ["one", "other"]
        for way in ("x", "y"):
            assert len({getattr(axis, f"get_{way}scale")() for axis in figure.axes}) == 1
            assert len({getattr(axis, f"get_{way}lim")() for axis in figure.axes}) == 1


def test_axis_is_logarithmic_where_a_linear_one_makes_a_panel_flat() -> None:
    assert is_logarithmic([[1.0, 2.0], [25.0]])
    assert is_logarithmic([[9.0, 13.0], [2.1, 3.4]])
    assert not is_logarithmic([[9.0, 13.0], [8.0, math.nan]])
    assert not is_logarithmic([[0.0, 1.0], [100.0]])
    # These values differ too little for either scale.
    assert not is_logarithmic([[0.9999, 1.0], [0.5, 0.6]])
    assert not is_logarithmic([[1.0], [1.0], []])


def test_omitted_points_are_named(tmp_path: Path) -> None:
    """Regression: only four metrics were plotted; the others were omitted without a message."""
    metrics = ["goodput_bps", "retransmissions", "timeouts", "jain", "utilisation"]
    plan = plan_of({"a": [f"a{n}" for n in range(30)], "b": [1, 2, 3]}, metrics)
    found = sweep_of(tmp_path, plan, lambda *_: dict.fromkeys(metrics, 0.5), replications=0)
    plot = found.plot
    assert list(plot.defaults()) == []
    left_out = plot.left_out()
    assert {f"lines-{metric}" for metric in metrics} <= left_out.keys()
    assert left_out["lines-jain"].startswith("lines: 30 panels, one for each setting of a, are")
    page = report_of_sweep(found)
    assert f"Not drawn: {left_out['lines-jain']}" in html.unescape(page)


def test_twenty_series_get_a_panel_each_with_the_others_in_grey(tmp_path: Path) -> None:
    plan = plan_of({"n": [1, 2, 3], "cc": [f"cc{n}" for n in range(20)]}, ["utilisation"])
    sweep = sweep_of(tmp_path, plan, lambda v, _: {"utilisation": v["n"] / 4})
    figure = sweep.plot.lines("utilisation", "n", "cc")
    visible = [axis for axis in figure.axes if axis.get_visible()]
    assert len(visible) == 20
    assert all(len(markers(axis)) == 3 for axis in visible)
    assert all(len(axis.lines) == 20 + 1 + 3 for axis in visible)


def test_model_is_plotted_with_the_simulation(tmp_path: Path) -> None:
    plan = plan_of({"n": [1, 2, 3]}, ["utilisation"], engines=("simulate", "solve"))
    sweep = sweep_of(
        tmp_path,
        plan,
        lambda v, _: {"utilisation": v["n"] / 4},
        solved=lambda v: "not covered" if v["n"] == 2 else {"utilisation": v["n"] / 5},
    )
    found = markers(sweep.plot.lines("utilisation").axes[0])
    assert sorted(found) == ["point-0", "point-0-solve", "point-1", "point-2", "point-2-solve"]
    assert found["point-2-solve"] == (3.0, 0.6)


def test_single_wide_interval_does_not_flatten_the_others() -> None:
    narrow = Interval(1.0, 0.9, 1.1, 0.99, 4)
    wide = Interval(2.0, -500.0, 500.0, 0.99, 2)
    none = Interval(math.nan, math.nan, math.nan, 0.99, 0)
    assert limits([narrow, narrow, wide, none], 10.0) == pytest.approx((8.34, 20.66))
    assert limits([none], 1.0) is None
    low, high = limits([Interval(3.0, math.nan, math.nan, 0.99, 1)], 1.0) or (0, 0)
    assert low < 3.0 < high


def test_nearly_equal_means_are_not_plotted_far_apart() -> None:
    close = [Interval(mean, mean - 1, mean + 1, 0.99, 4) for mean in (8.0, 8.001)]
    low, high = limits(close, 1.0) or (0, 0)
    assert low < 7.0
    assert high > 9.0


# --- pareto ------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
@examples(50)
def test_front_consists_of_undominated_points(points: list[tuple[int, int]]) -> None:
    def is_dominated(n: int) -> bool:
        rate, delay = points[n]
        return any(r >= rate and d <= delay and (r, d) != points[n] for r, d in points)

    found = front([float(rate) for rate, _ in points], [float(delay) for _, delay in points])
    assert sorted(found) == [n for n in range(len(points)) if not is_dominated(n)]
    assert [points[n][1] for n in found] == sorted(points[n][1] for n in found)


def test_front_omits_unmeasured_points() -> None:
    assert front([1.0, np.nan, 3.0], [1.0, 0.0, np.nan]) == [0]


def test_pareto_has_a_panel_for_each_condition_and_rings_on_the_front(sweep: ap.Sweep) -> None:
    figure = sweep.plot.pareto()
    assert [axis.get_title("left") for axis in figure.axes] == ["one", "other"]
    assert gids(figure) == ALL
    axis = figure.axes[0]
    found = markers(axis)
    table = sweep.wide().set_index("point")
    assert found["point-0"] == (
        table.loc[0, "p95_sojourn_s"] * 1e3,
        table.loc[0, "goodput_bps"] * 1e-6,
    )
    rings = next(line for line in axis.lines if line.get_markersize() == 9.5)
    points = sorted(found.values())
    expected = [points[n] for n in front([y for _, y in points], [x for x, _ in points])]
    assert list(zip(rings.get_xdata(), rings.get_ydata(), strict=True)) == expected
    assert axis.get_xlim()[0] > axis.get_xlim()[1]
    titles = [legend.get_title().get_text() for legend in figure.legends]
    assert titles == ["aqm", "cc"]


# --- heat map, distributions, differences ------------------------------------------------------


def test_logarithmic_axis_has_several_tick_labels(tmp_path: Path) -> None:
    """Regression: the axis for delays from 20 to 600 ms had only the tick label 100."""
    plan = plan_of({"limit": ["2 packets", "60 packets"]}, METRICS)

    def rising(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
        packets = int(str(values["limit"]).split()[0])
        return {"goodput_bps": 1e6 + packets, "p95_sojourn_s": packets / 100 + 1e-5 * number}

    figure = sweep_of(tmp_path, plan, rising).plot.pareto(*METRICS)
    figure.canvas.draw()
    axis = figure.axes[0].xaxis
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    shown = [label.get_text() for at, label in ticks if low <= at <= high]
    assert shown == ["20", "50", "100", "200", "500"]


def test_label_of_five_hundred_letters_leaves_space_for_the_figure(tmp_path: Path) -> None:
    """Regression: the panels had no width left, with a warning of matplotlib."""
    plan = plan_of({"aqm": ["droptail " * 60, "codel"], "limit": ["1 packets"]}, METRICS)
    found = sweep_of(tmp_path, plan, lambda _, number: dict.fromkeys(METRICS, 1.0 + number))
    figure = found.plot.pareto(*METRICS)
    figure.canvas.draw()
    assert "forest-goodput_bps" in found.plot.defaults()
    assert figure.axes[0].get_position().width > 0.5


def test_heatmap_has_a_cell_with_its_number_for_each_point(sweep: ap.Sweep) -> None:
    figure = sweep.plot.heatmap("goodput_bps", "limit", "aqm")
    assert gids(figure) == ALL
    cells = figure.axes[0].patches
    assert len(cells) == 9
    texts = {text.get_position(): text.get_text() for text in figure.axes[0].texts}
    # 4 Mbit/s plus 1 kbit/s for each of the 200 packets; the replications add 1.5 % on average.
    assert texts[2, 0] == f"{4.2 * 1.015:.2f}"
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["droptail", "codel", "pie"]


def test_numbers_of_a_heatmap_have_contrast(tmp_path: Path) -> None:
    """Regression: letters on mid-grey cells were white."""
    plan = plan_of({"a": [1, 2, 3], "b": [1, 2, 3]}, ["utilisation"])
    sweep = sweep_of(tmp_path, plan, lambda v, _: {"utilisation": (v["a"] * 3 + v["b"]) / 20})
    axes = sweep.plot.heatmap("utilisation").axes[0]
    assert len(axes.texts) == len(axes.patches) == 9
    for cell, text in zip(axes.patches, axes.texts, strict=True):
        brightness = sum(
            share * part**2.2
            for share, part in zip((0.213, 0.715, 0.072), cell.get_facecolor()[:3], strict=True)
        )
        letters = {"black": 0.0, "white": 1.0}[text.get_color()]
        low, high = sorted([brightness, letters])
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_distribution_has_a_curve_for_each_point(sweep: ap.Sweep) -> None:
    figure = sweep.plot.ecdf("goodput_bps", "aqm")
    assert gids(figure) == ALL
    curve = next(line for line in figure.axes[0].lines if line.get_gid() == "point-0")
    assert list(curve.get_ydata()) == [0, 0.25, 0.5, 0.75, 1]
    assert list(curve.get_xdata())[1:] == pytest.approx([4.05 * (1 + 0.01 * n) for n in range(4)])


def test_forest_has_a_row_per_combination_of_axis_values_and_marks_significant_rows(
    sweep: ap.Sweep,
) -> None:
    figure = sweep.plot.forest("goodput_bps", compare_to="droptail")
    table = sweep.differences("aqm", "goodput_bps", "droptail").set_index("point")
    # The disciplines, which a designer selects, are compared in a panel for each trace.
    assert [axis.get_title("left") for axis in figure.axes] == ["one", "other"]
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[0] == "codel · newreno · limit 50 packets"
    assert len(labels) == 12
    for axis in figure.axes:
        found = markers(axis)
        assert len(found) == 12
        for name, (x, y) in found.items():
            row = table.loc[int(name.removeprefix("point-"))]
            assert x == pytest.approx(100 * row["relative"])
            assert row["trace"] == axis.get_title("left")
            assert labels[int(y)] == f"{row['value']} · {row['cc']} · limit {row['limit']}"
    one = {"trace": "one", "cc": "cubic"}
    panels = sweep.plot.forest("goodput_bps", "aqm", "pie", where=one).axes
    assert [axis.get_title("left") for axis in panels] == ["droptail", "codel"]


def test_forest_fills_by_the_shown_interval_and_explains_empty_rows(tmp_path: Path) -> None:
    """Regression: marks were filled by the interval of the absolute difference although the figure
    showed the relative difference, and rows without a ratio were empty without a reason.
    """
    values: dict[str, list[float | None]] = {
        "codel": [1.0, 3.0, 5.0, 7.0],
        "pie": [1.3, 3.91, 6.5, 9.1],
        "droptail": [1.0, 20.0, 9.0, 12.0],
        "red": [None] * 4,
    }
    plan = plan_of({"aqm": list(values)}, ["p95_sojourn_s"])
    sweep = sweep_of(tmp_path, plan, lambda v, n: {"p95_sojourn_s": values[v["aqm"]][n]})
    for is_relative in (True, False):
        [panel] = sweep.plot.forest("p95_sojourn_s", relative=is_relative).axes
        [pie] = [line for line in panel.lines if line.get_gid() == "point-1"]
        assert (pie.get_markerfacecolor() != "white") is is_relative
        texts = {text.get_gid(): text.get_text() for text in panel.texts}
        uncertain = {"point-2": "uncertain mean"} if is_relative else {}
        assert texts == {**uncertain, "point-3": "no value"}


# --- files, rejected input ---------------------------------------------------------------------


def test_suitable_figures_of_a_sweep_are_written(sweep: ap.Sweep, tmp_path: Path) -> None:
    paths = sweep.save(tmp_path, figure_formats="svg")
    assert [path.name for path in paths] == [
        "points.csv",
        "runs.csv",
        "pareto.svg",
        "lines-goodput_bps.svg",
        "lines-p95_sojourn_s.svg",
        "forest-goodput_bps.svg",
        "forest-p95_sojourn_s.svg",
    ]
    svg = (tmp_path / "pareto.svg").read_text("utf-8")
    assert sorted(re.findall(r'<g id="(point-\d+)">', svg)) == ALL


def test_metric_of_a_cell_queue_has_a_file(tmp_path: Path) -> None:
    metric = "queues.bottleneck/user 0.mean_sojourn_s"
    sweep = sweep_of(
        tmp_path, plan_of({"aqm": ["codel", "pie"]}, [metric]), lambda _, n: {metric: n}
    )
    names = {path.name for path in sweep.plot.save(tmp_path)}
    assert "lines-queues.bottleneck-user_0.mean_sojourn_s.png" in names
    assert set(sweep.plot.defaults()) >= {f"lines-{metric}"}


def test_ten_replications_have_a_distribution_and_two_numeric_axes_a_map(
    tmp_path: Path,
) -> None:
    plan = plan_of({"a": [1, 2, 3], "b": [1, 2, 3]}, ["utilisation"], rule=Rule(10, 10))
    sweep = sweep_of(tmp_path, plan, lambda v, n: {"utilisation": (v["a"] + n / 10) / v["b"] / 5})
    assert list(sweep.plot.defaults()) == [
        *("lines-utilisation", "heatmap-utilisation", "ecdf-utilisation")
    ]


def test_sweep_of_one_point_has_no_axis_to_plot(tmp_path: Path) -> None:
    plan = plan_of({"cc": ["cubic"]}, ["utilisation"])
    sweep = sweep_of(tmp_path, plan, lambda *_: {"utilisation": 0.5})
    assert sweep.plot.defaults() == {}
    with pytest.raises(ap.errors.BadValueError, match=r"^heatmap: needs two axes that vary"):
        sweep.plot.heatmap("utilisation")


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("lines", {"metric": "delay"}, 'metric = "delay": not a metric of the sweep.'),
        ("lines", {"metric": "goodput_bps", "over": "rate"}, 'over = "rate": not an axis'),
        ("lines", {"metric": "goodput_bps", "by": "rate"}, 'by = "rate": not an axis'),
        ("pareto", {"panels": ["rate"]}, 'panels = "rate": not an axis'),
        ("pareto", {"shape": "rate"}, 'shape = "rate": not an axis'),
        ("pareto", {"panels": "rate"}, 'panels = "rate": not an axis'),
        ("heatmap", {"metric": "goodput_bps", "x": "q"}, 'x = "q": not an axis'),
        ("ecdf", {"metric": "jain"}, 'metric = "jain": not a metric'),
        (
            "lines",
            {"metric": "goodput_bps", "where": {"cc": "vegas"}},
            'where.cc = "vegas": not a value of the axis cc. Expected one of: "newreno", "cubic".',
        ),
        ("lines", {"metric": "goodput_bps", "where": "cc"}, 'where = "cc": not a mapping.'),
        ("lines", {"metric": "goodput_bps", "where": {"q": 1}}, 'where = "q": not an axis'),
    ],
)
def test_names_missing_in_the_sweep_are_rejected_in_one_line(
    sweep: ap.Sweep, name: str, arguments: dict[str, Any], line: str
) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        getattr(sweep.plot, name)(**arguments)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_unreadably_many_values_are_rejected_in_one_line(tmp_path: Path) -> None:
    plan = plan_of({"a": [f"a{n}" for n in range(30)], "b": list(range(9))}, ["utilisation"])
    sweep = sweep_of(tmp_path, plan, lambda *_: {"utilisation": 0.5}, replications=0)
    with pytest.raises(
        ap.errors.BadValueError, match=r"^lines: 30 panels, one for each setting of a, are"
    ):
        sweep.plot.lines("utilisation", "b", "a")
    with pytest.raises(
        ap.errors.BadValueError, match=r"^ecdf: 30 curves, one for each value of a, are"
    ):
        sweep.plot.ecdf("utilisation", "a")
    with pytest.raises(
        ap.errors.BadValueError, match=r"^forest: 9 rows in 29 panels, for the settings of all"
    ):
        sweep.plot.forest("utilisation", "a", "a0")
    with pytest.raises(
        ap.errors.BadValueError, match=r"^pareto: no metric of the sweep is a rate by its"
    ):
        sweep.plot.pareto()


def test_sweep_of_models_is_plotted_without_intervals(tmp_path: Path) -> None:
    plan = plan_of({"n": [1, 2, 3], "m": [1, 2, 3]}, METRICS, engines=("solve",))
    sweep = sweep_of(
        tmp_path,
        plan,
        lambda *_: "never",
        replications=0,
        solved=lambda v: {"goodput_bps": 1e6 * v["n"], "p95_sojourn_s": 0.01 * v["m"]},
    )
    assert list(sweep.plot.defaults()) == [
        "pareto",
        *(f"{name}-{metric}" for metric in METRICS for name in ("lines", "heatmap")),
    ]
    assert markers(sweep.plot.pareto(by="n").axes[0])["point-8"] == (30.0, 3.0)
    with pytest.raises(ap.errors.BadValueError, match=r"^ecdf: nothing is simulated in this sweep"):
        sweep.plot.ecdf("goodput_bps")
