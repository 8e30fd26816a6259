"""Style, axes, size, title and labels of figures, which all figures share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import airpath as ap
from airpath.errors import BadValueError
from airpath.present.fitting import shown_ticks
from airpath.present.style import grid_of
from engine_samples import scenario
from sweep_ledgers import plan_of, sweep_of

GRID: dict[str, list[Any]] = {
    "bottleneck.aqm": ["droptail", "gentle-red", "codel", "fq-codel", "pie"],
    "flows.0.cc": ["newreno", "cubic", "dctcp"],
    "bottleneck.link.file": ["traces:TMobile-LTE-short.down", "traces:Verizon-LTE-short.down"],
}
NUMBERS: dict[str, list[Any]] = {
    "bottleneck.link.rate": ["1 Mbit/s", "5 Mbit/s", "25 Mbit/s", "125 Mbit/s"],
    "flows.0.count": [1, 2, 4, 16],
}
METRICS = ["goodput_bps", "p95_sojourn_s"]


def measured(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
    rank = sum(of.index(values[axis]) for axis, of in {**GRID, **NUMBERS}.items() if axis in values)
    return {"goodput_bps": 4e6 * (1 + rank), "p95_sojourn_s": 0.02 * 3**rank + 1e-3 * number}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> ap.Sweep:
    return sweep_of(tmp_path_factory.mktemp("words"), plan_of(GRID, METRICS), measured)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> ap.Sweep:
    return sweep_of(tmp_path_factory.mktemp("numbers"), plan_of(NUMBERS, METRICS), measured)


@pytest.fixture(scope="module")
def result() -> ap.Result:
    series = ["delivered", "queue", "sojourn", "cwnd", "drop"]
    return ap.simulate(scenario(record={"series": series}, duration="5 s"), reps=2)


@pytest.fixture(scope="module")
def kinds(
    sweep: ap.Sweep, numbers: ap.Sweep, result: ap.Result
) -> dict[str, Callable[..., Figure]]:
    return {
        "lines of words": lambda **how: sweep.plot.lines("p95_sojourn_s", **how),
        "lines of numbers": lambda **how: numbers.plot.lines("goodput_bps", **how),
        "pareto": sweep.plot.pareto,
        "heatmap": lambda **how: numbers.plot.heatmap("p95_sojourn_s", **how),
        "ecdf": lambda **how: sweep.plot.ecdf("goodput_bps", where={"flows.0.cc": "cubic"}, **how),
        "forest": lambda **how: sweep.plot.forest("goodput_bps", **how),
        "timeline": result.plot.timeline,
        "pmf": result.plot.pmf,
        "comparison": ap.compare(scenario(), engines="simulate,solve", reps=2).figure,
        "error rates": ap.phy.load("802.16-ctc-awgn").plot,
    }


KINDS = (
    *("lines of words", "lines of numbers", "pareto", "heatmap", "ecdf", "forest", "timeline"),
    *("pmf", "comparison", "error rates"),
)


def shown_texts(figure: Figure) -> Iterator[Text]:
    """Yield the visible texts."""
    ways = [way for axes in figure.axes for way in (axes.xaxis, axes.yaxis)]
    ticks = [tick for way in ways for tick in (*way.get_major_ticks(), *way.get_minor_ticks())]
    hidden = {id(text) for tick in ticks for text in (tick.label1, tick.label2)}
    for axes in figure.axes:
        for way in (axes.xaxis, axes.yaxis) if axes.get_visible() else ():
            hidden -= {id(text) for text in shown_ticks(way)}
    for text in figure.findobj(Text):
        is_seen = text.get_visible() and (text.axes is None or text.axes.get_visible())
        if is_seen and text.get_text().strip() and id(text) not in hidden:
            yield text


def check_texts_are_inside(figure: Figure) -> None:
    figure.draw_without_rendering()
    frame = figure.bbox
    texts = list(shown_texts(figure))
    assert len(texts) > 3
    for text in texts:
        box = text.get_window_extent()
        assert frame.x0 - 1 <= box.x0 <= box.x1 <= frame.x1 + 1, text
        assert frame.y0 - 1 <= box.y0 <= box.y1 <= frame.y1 + 1, text


@pytest.mark.parametrize("kind", KINDS)
def test_figure_of_column_width_is_not_clipped(kinds: Mapping[str, Any], kind: str) -> None:
    """Regression: at 3.4 inches title and subtitle were cut, and tick labels overlapped."""
    figure = kinds[kind](style="column")
    assert figure.get_figwidth() == 3.4
    check_texts_are_inside(figure)
    for text in shown_texts(figure):
        assert 5 < text.get_fontsize() <= 9, text
        assert text.get_fontfamily()[0] == "serif", text
    for axes in figure.axes:
        for way in (axes.xaxis, axes.yaxis):
            for one, other in pairwise(shown_ticks(way)):
                if not one.get_rotation() % 90:
                    assert not one.get_window_extent().overlaps(other.get_window_extent()), one
    # A figure in the style `column` has no title, because a caption replaces the title.
    assert figure.get_suptitle() == ""


@pytest.mark.parametrize("kind", ["lines", "heatmap"])
def test_long_names_fit_into_a_figure_of_the_default_size(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Regression: the name of an axis overlapped the title and was cut; a title was cut at the
    right.
    """
    metric = "transfers.web.0B-10kB.p95_s"
    plan = plan_of(NUMBERS, [metric], name="A sweep with a NAME in wide letters: WWWWWWWW")
    sweep = sweep_of(tmp_path_factory.mktemp("long"), plan, lambda _, n: {metric: 1 + n})
    figure = getattr(sweep.plot, kind)(metric)
    assert figure.get_figwidth() > 4
    check_texts_are_inside(figure)


def test_figure_is_plotted_on_given_axes(sweep: ap.Sweep, result: ap.Result) -> None:
    figure = Figure(figsize=(6, 3))
    left, right = figure.subplots(1, 2)
    assert result.plot.cwnd(ax=right) is figure
    before = list(right.get_xticks())
    one = {"bottleneck.link.file": "traces:Verizon-LTE-short.down"}
    assert sweep.plot.lines("goodput_bps", where=one, ax=left, title="left") is figure
    # Plotting on one of the axes does not change the other.
    assert list(right.get_xticks()) == before
    assert [text.get_text() for text in left.get_xticklabels()] == GRID["bottleneck.aqm"]
    assert figure.axes == [left, right]
    assert left.get_title("left") == "left"
    assert left.get_ylabel() == "goodput, Mbit/s"
    assert left.get_legend() is not None
    assert right.get_ylabel() == "congestion\nwindow, kB"
    assert figure.get_suptitle() == ""
    assert list(figure.get_size_inches()) == [6, 3]
    with pytest.raises(BadValueError, match=r"^ax: the figure has 4 panels, not 1\."):
        result.plot.timeline(ax=left)


def test_style_and_legend_apply_to_given_axes(numbers: ap.Sweep) -> None:
    """Regression: the given axes kept their font, and their labels were cut."""
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    numbers.plot.lines("p95_sojourn_s", ax=left, style="column", title="(a)")
    numbers.plot.lines("goodput_bps", ax=right, legend=False, title="(b)")
    for text in (left.xaxis.label, left.yaxis.label, *left.get_xticklabels(), left._left_title):
        assert text.get_fontfamily()[0] == "serif"
        assert text.get_fontsize() <= 8
    assert right.yaxis.label.get_fontfamily()[0] != "serif"
    assert left.get_legend() is not None
    assert right.get_legend() is None
    check_texts_are_inside(figure)
    bare = numbers.plot.lines("goodput_bps", legend=False)
    assert bare.legends == []


def test_labels_do_not_change_other_axes(numbers: ap.Sweep) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    left.set(xlabel="number of flows", ylabel="goodput, Mbit/s")
    labels = {"number of flows": "N", "goodput, Mbit/s": "rate"}
    numbers.plot.heatmap("goodput_bps", ax=right, labels=labels)
    assert (left.get_xlabel(), left.get_ylabel()) == ("number of flows", "goodput, Mbit/s")
    texts = {text.get_text() for axes in figure.axes[1:] for text in axes.findobj(Text)}
    assert {"N", "rate"} <= texts


def test_legends_of_a_column_share_its_width(sweep: ap.Sweep) -> None:
    """Regression: each legend had one column, which made the figure too high."""
    legends = sweep.plot.pareto(style="column").legends
    assert [legend._ncols for legend in legends] == [2, 1]  # type: ignore[attr-defined]


def test_several_panels_are_plotted_on_as_many_axes(sweep: ap.Sweep) -> None:
    panels = Figure().subplots(2, 1)
    sweep.plot.pareto(ax=panels)
    titles = [axes.get_title("left") for axes in panels]
    assert titles == ["TMobile-LTE-short.down", "Verizon-LTE-short.down"]
    assert panels[0].get_ylim() == panels[1].get_ylim()
    # Two legends would overlap, so colours and markers share one.
    [legend] = panels[1].findobj(mpl.legend.Legend)
    assert legend.get_title().get_text() == "queue discipline · congestion control"
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == [*GRID["bottleneck.aqm"], *GRID["flows.0.cc"]]


def test_style_size_title_and_labels_are_applied(sweep: ap.Sweep) -> None:
    before = dict(mpl.rcParams)
    labels = {
        "bottleneck.aqm": "AQM",
        "goodput_bps": "rate",
        "newreno": "NewReno",
        "fq-codel": "FQ-CoDel",
        "Verizon-LTE-short.down": "Verizon",
    }
    figure = sweep.plot.lines(
        "goodput_bps",
        style=["ggplot", {"font.family": "monospace", "axes.titlesize": 7}],
        figsize=(5.0, 4.0),
        title="Mine",
        labels=labels,
    )
    figure.draw_without_rendering()
    assert list(figure.get_size_inches()) == [5.0, 4.0]
    assert figure.get_suptitle().strip() == "Mine"
    first = figure.axes[0]
    assert mpl.colors.to_hex(first.get_facecolor()) == "#e5e5e5"
    assert first.yaxis.label.get_fontfamily() == ["monospace"]
    assert figure.axes[1].get_title("left") == "Verizon"
    assert first.get_ylabel() == "rate, Mbit/s"
    assert figure.axes[-1].get_xlabel() == "AQM"
    assert "FQ-CoDel" in [text.get_text() for text in figure.axes[-1].get_xticklabels()]
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["NewReno", "cubic", "dctcp"]
    bare = sweep.plot.lines("goodput_bps", title=None)
    assert (bare.get_suptitle(), bare.texts) == ("", [])
    assert dict(mpl.rcParams) == before


def test_labels_apply_to_texts_of_a_result(result: ap.Result) -> None:
    figure = result.plot.cwnd(labels={"congestion window, kB": "window, kB", "flow 1": "upload"})
    [axes] = figure.axes
    assert axes.get_ylabel() == "window, kB"
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == ["flow 0", "upload"]
    with pytest.raises(BadValueError, match=r'^labels = "flow 7": not a text of this figure\.'):
        result.plot.cwnd(labels={"flow 7": "upload"})


def test_matplotlib_settings_of_the_user_are_applied(numbers: ap.Sweep) -> None:
    """Regression: a font family set in rcParams was ignored."""
    with mpl.rc_context({"font.family": ["serif"], "axes.grid": False}):
        figure = numbers.plot.lines("goodput_bps")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.yaxis.label.get_fontfamily() == ["serif"]
    assert axes.get_xticklabels()[0].get_fontfamily()[0] == "serif"
    # Settings that the user did not change have Airpath's values.
    assert not axes.spines["top"].get_visible()


@pytest.mark.parametrize(
    ("count", "most", "grid"),
    [
        (1, 4, (1, 1)),
        (3, 2, (3, 1)),
        (4, 3, (2, 2)),
        (6, 5, (2, 3)),
        (7, 4, (2, 4)),
        (5, 2, (3, 2)),
    ],
)
def test_grid_of_panels_has_no_gap_if_few_rows_suffice(
    count: int, most: int, grid: tuple[int, int]
) -> None:
    assert grid_of(count, most) == grid
