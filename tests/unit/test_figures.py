"""Figures show the measured data, and their axes and labels do not mislead.

The docstring of each test describes the former error.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath import phy
from airpath.phy.figure import per_figure
from airpath.present import lettering, style
from airpath.present.figure_files import FORMATS, checked_formats, figure_bytes, save
from airpath.results.compare import comparison_figure
from airpath.results.trace_plot import trace_figure
from airpath.scenario.units import Size

EVERYTHING = ["delivered", "queue", "sojourn", "cwnd", "drop", "regime", "mcs"]
NAME = "Kosten $5 und $7, 中文 رابط"


def scenario(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "name": NAME,
        "flows": ap.flows(2, cc="newreno", base_rtt="30 ms"),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="30 packets"),
            link=ap.link.Fixed(rate="5 Mbit/s", delay="5 ms"),
        ),
        "duration": "10 s",
        "warmup": "2 s",
        "record": {"series": EVERYTHING},
    }
    return ap.Scenario(**(keys | changes))


def run(reps: int = 2, **changes: Any) -> ap.Result:
    return ap.simulate(scenario(**changes), reps=reps)


def adaptive(**changes: Any) -> ap.Result:
    keys: dict[str, Any] = {
        "table": "airpath:802.16-ctc-vehicular-a",
        "snr_db": 26,
        "policy": {"kind": "qawla", "th_per": 0.05, "h": 100, "threshold": 20},
    }
    link = {"kind": "adaptive", **keys, **changes}
    return run(
        reps=1, bottleneck={"aqm": "gred", "link": link}, flows=ap.flows(4, base_rtt="40 ms")
    )


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return run()


def labels(axis: Any) -> list[str]:
    return [str(text) for text in axis.get_legend_handles_labels()[1]]


def curves(axis: Any) -> list[Any]:
    return [line for line in axis.lines if line.get_drawstyle() == "steps-post"]


def texts(figure: Any) -> list[str]:
    found = [figure.get_suptitle(), *(text.get_text() for text in figure.texts)]
    return [text.replace(r"\$", "$") for text in found]


# --- literal names -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_names_with_dollars_and_other_scripts_are_plotted(result: ap.Result, kind: str) -> None:
    """Regression: `$5 und $7` was shown as a formula, and each Chinese letter caused a warning."""
    for figure in (result.plot.timeline(), result.plot.pmf()):
        data = figure_bytes(figure, kind, NAME, "command $1")
        assert len(data) > 10_000
        shown = texts(figure)
        assert "Kosten $5 und $7" in shown[0]
        assert "رابط" in shown[0]
        # Either a font has the letters, or the figure has a note that no font has them.
        assert ("中文" in shown[0]) != any("no installed font has" in text for text in shown)


def test_every_text_of_the_user_is_literal(result: ap.Result) -> None:
    """Regression: labels of comparisons and names of traces were not literal."""
    both = {"_a $x$ 中": result, "b $y$": result}
    figure = comparison_figure(both, "Which $ is $ better?")
    [legend] = figure.legends
    plotted = [text.get_text().replace(r"\$", "$") for text in legend.get_texts()]
    assert [text[:4] for text in plotted] == ["_a $", "b $y"]
    figure_bytes(figure, "png", "", "")
    trace = trace_figure(ap.Trace.parse("1\n2\n", "a$b$中.trace"))
    assert "a$b$" in texts(trace)[0]
    figure_bytes(trace, "pdf", "", "")


def test_literal_text_has_no_mathematics_and_only_available_letters() -> None:
    from matplotlib import cbook

    for text in ("$x$", r"\$x$", "$", "a$$b", "100 $ or 100 €", "é ß Ω Ж ع"):
        found = style.literal(text)
        assert not cbook.is_math_text(found)
        assert found.replace(r"\$", "$") == text
    assert style.literal("two\nlines") == r"two\nlines"


def test_title_with_many_overrides_is_complete_and_overlaps_nothing() -> None:
    """Regression: overrides were cut after 60 letters, *and 7 more*."""
    changes = {
        "bottleneck.link.rate": "4 Mbit/s",
        "bottleneck.aqm.limit": "20 packets",
        "flows.0.base_rtt": "40 ms",
        "flows.0.tcp.receive_window": "100 kB",
        "flows.0.profile": "linux",
        "flows.0.cc": "cubic",
        "warmup": "3 s",
        "duration": "9 s",
    }
    plain = scenario(name="plain")
    short, long = (ap.simulate(each, reps=2) for each in (plain, plain.replace(changes)))
    assert all(f"{key} = {value}" in long.title for key, value in changes.items())
    for draw in (lambda result: result.plot.pmf(), lambda result: result.plot.timeline()):
        before, after = draw(short), draw(long)
        for figure in (before, after):
            figure.draw_without_rendering()
        assert " ".join(after.get_suptitle().split()).startswith(long.title)
        title, smaller = (text.get_window_extent() for text in after.texts)
        assert title.x1 <= after.bbox.x1
        assert title.y1 <= after.bbox.y1
        # The axes below the title move down and do not become smaller.
        assert smaller.y0 > max(axis.bbox.y1 for axis in after.axes)
        for axis_after, axis_before in zip(after.axes, before.axes, strict=True):
            assert axis_after.bbox.height > 0.95 * axis_before.bbox.height


def test_letters_missing_in_all_fonts_are_boxes_with_a_note() -> None:
    nowhere = "\ue123"  # For private use.
    assert lettering._family_with("\U00013000") in (None, *lettering._families())
    with style.style():
        figure = style.new_figure(6, 3)
        text = "a\U000e0041\U0002f800"
        plotted = style.literal(text)
        style.heading(figure, text, "subtitle")
    assert nowhere not in plotted
    figure_bytes(figure, "svg", "", "")
    if lettering.NO_GLYPH in plotted:
        assert any("no installed font has" in each for each in texts(figure))


def test_letters_missing_in_the_bold_font_cause_no_warning() -> None:
    """Regression: headings are bold; a letter that only the regular font has caused a warning."""
    from matplotlib import font_manager

    paths = [font_manager.findfont(f"{lettering.FONT}:{weight}") for weight in ("regular", "bold")]
    regular, bold = (set(font_manager.get_font(path).get_charmap()) for path in paths)
    only = sorted(point for point in regular - bold if chr(point).isprintable())
    assert len(only) > 10, "some letters must be missing in the bold font only"
    with style.style():
        figure = style.new_figure(6, 3)
        style.heading(figure, "".join(map(chr, only[:40])), "subtitle")
        figure_bytes(figure, "png", "", "")


def test_fonts_of_one_figure_do_not_affect_later_figures(result: ap.Result) -> None:
    import matplotlib as mpl

    before = mpl.rcParams["font.family"]
    result.plot.pmf()
    assert mpl.rcParams["font.family"] == before


# --- a window of time --------------------------------------------------------------------------


def test_timeline_accepts_a_time_window(result: ap.Result) -> None:
    """Regression: a run of 300 s could only be plotted completely."""
    figure = result.plot.timeline(1, window=("4 s", 5.5))
    assert [axis.get_xlim() for axis in figure.axes] == [(4.0, 5.5)] * 4
    rates, queue, wait, windows = figure.axes
    steps = {patch.get_label(): patch.get_data() for patch in rates.patches if patch.get_label()}
    values, edges, _ = steps["delivered in order (payload)"]
    assert (edges[0], edges[-1]) == (4.0, 5.5)
    series = result.series("delivered", 1).query("4 <= time_s <= 5.5")
    assert (values * np.diff(edges)).sum() * 1e6 / 8 == pytest.approx(series["value"].sum())
    # The plot of a level starts with its value at the start of the window.
    for axis in (queue, windows):
        for line in curves(axis):
            times = line.get_xdata()
            assert times[0] <= 4.0 < times[1]
            assert times[-1] <= 5.5
    assert wait.lines
    drops = result.series("drop", 1).query("4 <= time_s <= 5.5")
    assert [label for label in labels(queue) if "dropped" in label] == [
        f"dropped by the full queue: {len(drops)}"
    ] * bool(len(drops))
    [subtitle] = [text for text in texts(figure) if "replication" in text]
    assert "4 to 5.5 s of 10 s" in subtitle
    assert "whole run: goodput" in subtitle
    assert "warm-up" not in subtitle


def test_every_panel_accepts_a_time_window(result: ap.Result) -> None:
    plot = result.plot
    for draw in (plot.queue, plot.cwnd, plot.delivered, plot.delay):
        assert draw(0, ("1 s", "3 s")).axes[0].get_xlim() == (1.0, 3.0)
    assert plot.queue(window="1 s..3s").axes[0].get_xlim() == (1.0, 3.0)
    assert plot.timeline(window=("9 s", "20 s")).axes[0].get_xlim() == (9.0, 10.0)


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        (("3 s", "2 s"), "nothing of the run. Use two ascending instants from 0 to 10 s"),
        (("10 s", "20 s"), "nothing of the run"),
        (("3 s", "3 s"), "nothing of the run"),
        (("-1 s", "3 s"), "not two instants"),
        (("3", "4 s"), "not two instants"),
        ("3 s", "not two instants"),
        ("3s-4s", "not two instants"),
        ("4s..3s", "nothing of the run"),
        (("1 s", "2 s", "3 s"), "not two instants"),
        ((None, "2 s"), "not two instants"),
    ],
)
def test_invalid_time_window_is_rejected(result: ap.Result, window: Any, problem: str) -> None:
    with pytest.raises(ap.errors.BadValueError, match="window = ") as error:
        result.plot.timeline(window=window)
    assert problem in str(error.value)
    assert 'for example ("2.5 s", "5 s") or "2.5s..5s"' in str(error.value)


# --- the regime and its MCS --------------------------------------------------------------------


def test_adaptive_link_has_a_panel_of_its_mcs() -> None:
    """Regression: no panel showed the MCS of a link over time."""
    result = adaptive()
    panel = result.plot.timeline().axes[-2]
    assert panel.get_ylabel() == "share of time"
    assert labels(panel) == ["regime 1: mcs2 16qam-1/2", "regime 2: mcs4 64qam-1/2"]
    first, second = (patch.get_data() for patch in panel.patches if patch.get_label())
    # The plots of both regimes together fill the time.
    assert second.values == pytest.approx(np.ones(len(second.values)))
    series = result.series("regime").query("id == 0")
    times = np.append(series["time_s"].to_numpy(), 10.0)
    spent = float(np.sum(np.diff(times) * (series["value"].to_numpy() == 1)))
    plotted = float(np.sum((second.values - first.values) * np.diff(second.edges)))
    assert plotted == pytest.approx(spent)
    [subtitle] = [text for text in texts(result.plot.regimes()) if "replication" in text]
    counters = result.replications[0]["links"][0]["counters"]
    total = counters["mcs2_packets"] + counters["mcs4_packets"]
    assert f"mcs2 {100 * counters['mcs2_packets'] / total:.3g} %" in subtitle


def test_regimes_with_changing_mcs_are_unnamed_and_the_mcs_has_a_panel() -> None:
    """Regression: with a varying estimate, no panel showed the MCS over time."""
    result = adaptive(snr_noise_db=3)
    assert labels(result.plot.regimes().axes[0]) == ["regime 1", "regime 2"]
    panel = result.plot.timeline().axes[-1]
    assert panel.get_ylabel() == "share of MCS"
    counters = result.replications[0]["links"][0]["counters"]
    used = [f"mcs{number}" for number in range(8) if counters[f"mcs{number}_packets"]]
    assert len(used) > 3, "the run must use several MCSs"
    assert set(labels(panel)) >= set(used)
    series = result.series("mcs").query("id == 0")
    assert (series["value"].diff().iloc[1:] != 0).all()
    steps = [patch.get_data() for patch in panel.patches if patch.get_label()]
    begin = series["time_s"].iloc[0]
    plotted = sum(np.sum((s.values - s.baseline) * np.diff(s.edges)) for s in steps)
    assert plotted == pytest.approx(10.0 - begin)


def test_recorded_mcs_of_a_constant_estimate_follows_the_regimes() -> None:
    """The recorded series matches the counters: each change of regime is a change of the MCS."""
    result = adaptive()
    regimes, schemes = (result.series(name).query("id == 0") for name in ("regime", "mcs"))
    chosen = {0: 2, 1: 4}
    assert schemes["value"].iloc[0] == chosen[0]
    assert list(schemes["value"].iloc[1:]) == [chosen[int(v)] for v in regimes["value"]]
    assert list(schemes["time_s"].iloc[1:]) == list(regimes["time_s"])
    assert run(reps=1).series("mcs").empty


def test_multi_regime_panel_names_its_rates_and_a_fixed_link_has_no_panel() -> None:
    link = ap.link.DualRegime(rates=("4 Mbit/s", "6 Mbit/s"), pers=(0.0, 0.05), threshold=8)
    regimes = run(reps=1, bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=link))
    panel = regimes.plot.timeline().axes[-1]
    assert labels(panel) == ["regime 1: 4 Mbit/s", "regime 2: 6 Mbit/s"]
    fixed = run(reps=1).plot.timeline()
    assert "share of time" not in [axis.get_ylabel() for axis in fixed.axes]


@pytest.mark.parametrize(
    "policy",
    [
        {"kind": "fixed", "mcs": "mcs2"},
        {"kind": "tagla", "th_per": 0.01},
        {"kind": "optimum", "threshold": 20},
    ],
)
def test_every_policy_can_be_plotted(policy: dict[str, Any]) -> None:
    panel = adaptive(policy=policy).plot.regimes().axes[0]
    assert all(label.startswith("regime ") for label in labels(panel))


# --- curves beyond the panel, meaning of the marks ---------------------------------------------


def beyond(axis: Any) -> list[Any]:
    return [line for line in axis.lines if line.get_marker() == "^"]


def test_curve_beyond_its_panel_is_marked(result: ap.Result) -> None:
    """Regression: the rate of data delivered in one burst after a gap exceeded the panel, without a
    mark.
    """
    axis = result.plot.delivered(0).axes[0]
    steps = {patch.get_label(): patch.get_data() for patch in axis.patches if patch.get_label()}
    values, edges, _ = steps["delivered in order (payload)"]
    out = values > axis.get_ylim()[1]
    assert out.any(), "the curve must extend beyond the panel"
    [marks] = beyond(axis)
    middles = (edges[:-1] + edges[1:]) / 2
    assert list(marks.get_xdata()) == pytest.approx(list(middles[out]))
    assert f"beyond the panel, up to {values.max():.3g} Mbit/s" in labels(axis)


def test_intervals_of_few_runs_do_not_hide_the_bars() -> None:
    """Regression: with two replications, the whiskers of a bar of 3 % extended to 90 % and
    below 0.
    """
    result = run(reps=2, flows=ap.flows(2, base_rtt="30 ms", start={"uniform": ["0 s", "5 s"]}))
    axis = result.plot.pmf().axes[0]
    table = result.pmf()
    bottom, top = axis.get_ylim()
    assert bottom == 0
    assert top <= 3 * table["mean"].max() + 1e-9
    [bars] = [each for each in axis.containers if hasattr(each, "has_yerr") and each.has_yerr]
    ends = np.concatenate([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    assert ends.min() >= 0
    assert ends.max() <= 1
    assert bool(beyond(axis)) == bool(ends.max() > top)


def test_served_and_delivered_in_order_are_distinguished(result: ap.Result) -> None:
    """Both are rates of a flow: *served* counts packets at the link, *delivered in order* counts
    payload at the receiver.
    """
    found = labels(result.plot.delivered().axes[0])
    assert [label for label in found if "flow" in label] == ["served, flow 0", "served, flow 1"]
    assert "delivered in order (payload)" in found


def test_comparison_axes_start_at_zero(result: ap.Result) -> None:
    """Regression: axes were cut to the differences: two equal disciplines looked far apart."""
    plane = comparison_figure({"one": result, "other": run(reps=3)}, "title").axes[0]
    assert plane.get_ylim()[0] == 0
    assert plane.get_xlim()[1] == 0  # The better side is on the right.
    for container in plane.containers:
        for bar in container.lines[2]:
            assert min(segment.min() for segment in bar.get_segments()) >= 0


def test_down_triangle_marks_only_points_without_errors() -> None:
    """Regression: the fifth MCS had the marker of a point without errors."""
    table = phy.load("airpath:802.16-ctc-awgn")
    for panel in per_figure(table, Size(1500)).axes:
        down = [line for line in panel.lines if line.get_marker() == "v"]
        clean = [
            point["snr_db"]
            for curve in table.document["curves"]
            for point in curve["points"]
            if not point["errors"]
        ]
        assert sorted(x for line in down for x in line.get_xdata()) == sorted(clean)
        assert not beyond(panel)


# --- formats -----------------------------------------------------------------------------------


def test_figures_are_written_in_every_format(result: ap.Result, tmp_path: Path) -> None:
    """Regression: only PNG could be written."""
    paths = result.plot.save(tmp_path, figure_formats=["pdf", "svg"], window=("2 s", "4 s"))
    assert [path.name for path in paths] == [
        "queue-lengths.svg",
        "queue-lengths.pdf",
        "timeline.svg",
        "timeline.pdf",
    ]
    for path in paths:
        begin = path.read_bytes()[:100]
        assert begin.startswith(b"%PDF") if path.suffix == ".pdf" else b"<?xml" in begin
    again = result.plot.save(tmp_path / "again", figure_formats="pdf,svg", window=("2 s", "4 s"))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


def test_pdf_has_truetype_fonts(result: ap.Result) -> None:
    data = io.BytesIO()
    result.plot.pmf().savefig(data, format="pdf")
    assert b"/CIDFontType2" in data.getvalue()
    assert b"/Type3" not in data.getvalue()


def test_time_window_without_a_figure_over_time_is_rejected(tmp_path: Path) -> None:
    """Regression: the window was ignored, and the distribution of the entire run was written."""
    bare = run(record={"series": ["rtt"]})
    with pytest.raises(ap.errors.BadValueError) as caught:
        bare.plot.save(tmp_path / "x", window=("2 s", "4 s"))
    assert str(caught.value) == (
        "window: nothing is recorded that is drawn over time. "
        "Add at least one of delivered, queue, sojourn, cwnd to record.series."
    )
    assert not (tmp_path / "x").exists()


def test_invalid_formats_are_rejected(result: ap.Result, tmp_path: Path) -> None:
    assert checked_formats("pdf,png,pdf") == ["png", "pdf"]
    with pytest.raises(ap.errors.BadValueError) as error:
        result.plot.save(tmp_path / "x", figure_formats="jpg,pdf")
    assert str(error.value) == (
        'figure_formats = "jpg": not a format of figures. '
        "The nearest is png; expected one of: png, svg, pdf."
    )
    with pytest.raises(ap.errors.BadValueError, match="not a format of figures"):
        checked_formats([])
    with pytest.raises(ap.errors.BadValueError, match="nothing of the run"):
        result.plot.save(tmp_path / "x", window=("20 s", "30 s"))
    assert not (tmp_path / "x").exists()


def test_formats_of_a_figure_share_one_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> Any:
        figure = style.new_figure(4.0, 3.0)
        figure.subplots(1, 2)[1].set_ylabel("a label")
        return figure

    figure = made()
    engine = figure.get_layout_engine()
    laid_out: list[Any] = []
    execute = type(engine).execute

    def counted(self: Any, of: Any) -> None:
        laid_out.append(of)
        execute(self, of)

    monkeypatch.setattr(type(engine), "execute", counted)
    paths = save(figure, tmp_path, "f", "title", "source", FORMATS)
    assert [path.name for path in paths] == ["f.png", "f.svg", "f.pdf"]
    assert laid_out == [figure]
    assert figure.get_layout_engine() is engine
    assert paths[0].read_bytes() == figure_bytes(made(), "png", "title", "source")
