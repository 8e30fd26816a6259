"""Figures of a result: they show the measured values."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from component_samples import sample
from matplotlib.patches import StepPatch

import airpath as ap
from airpath.present import style
from airpath.results.compare import comparison_figure, sojourn_times
from airpath.results.trace_plot import trace_figure

EVERYTHING = ["capacity", "delivered", "queue", "sojourn", "cwnd", "drop", "regime"]


def run(reps: int = 2, **changes: Any) -> ap.Result:
    keys: dict[str, Any] = {
        "name": "for figures",
        "flows": ap.flows(2, cc="newreno", base_rtt="30 ms", start={"uniform": ["0 s", "1 s"]}),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="30 packets"),
            link=ap.link.Fixed(rate="5 Mbit/s", delay="5 ms"),
        ),
        "duration": "10 s",
        "warmup": "2 s",
        "record": {"series": EVERYTHING},
    }
    return ap.simulate(ap.Scenario(**(keys | changes)), reps=reps)


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return run()


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before


def labels(axis: Any) -> list[str]:
    return [str(text) for text in axis.get_legend_handles_labels()[1]]


def steps(axis: Any) -> list[Any]:
    return [each.get_data().values for each in axis.patches if isinstance(each, StepPatch)]


def test_timeline_has_a_panel_for_each_recorded_quantity(result: ap.Result) -> None:
    figure = result.plot.timeline()
    assert [axis.get_ylabel() for axis in figure.axes] == [
        "rate, Mbit/s",
        "queue length, packets",
        "sojourn time, ms",
        "congestion\nwindow, kB",
    ]
    assert figure.axes[-1].get_xlabel() == "time, s"
    assert labels(figure.axes[0]) == [
        "capacity of the link",
        "served, flow 0",
        "served, flow 1",
        "delivered in order (payload)",
        *(label for label in labels(figure.axes[0]) if label.startswith("beyond the panel")),
    ]


def test_timeline_plots_recorded_series_only() -> None:
    figure = run(record={"series": ["queue"]}).plot.timeline()
    assert [axis.get_ylabel() for axis in figure.axes] == ["queue length, packets"]


def test_timeline_without_series_is_rejected_with_the_series_to_record() -> None:
    with pytest.raises(ap.errors.BadValueError) as error:
        run(record={"series": []}).plot.timeline()
    assert str(error.value) == (
        "timeline: nothing is recorded that is drawn over time. "
        "Add at least one of delivered, queue, sojourn, cwnd to record.series."
    )


def test_plotted_rates_equal_the_measured_rates(result: ap.Result) -> None:
    axis = result.plot.delivered(1).axes[0]
    steps = {patch.get_label(): patch.get_data() for patch in axis.patches if patch.get_label()}
    values, edges, _ = steps["delivered in order (payload)"]
    series = result.series("delivered", 1)
    assert (values * np.diff(edges)).sum() * 1e6 / 8 == pytest.approx(series["value"].sum())
    offered, _, _ = steps["capacity of the link"]
    assert offered == pytest.approx(np.full(len(offered), 5.0))
    used, _, _ = steps["served, flow 1"]
    packet = 1500 * 8 / 0.05 / 1e6  # rate of one packet in a bin of 50 ms, Mbit/s
    assert (used <= offered + 2 * packet).all()


def test_plotted_queue_equals_the_recorded_queue(result: ap.Result) -> None:
    axis = result.plot.queue(0).axes[0]
    plotted = axis.lines[0].get_ydata()
    assert list(plotted) == result.series("queue", 0).query("id == 0")["value"].tolist()
    drops = result.series("drop", 0)
    assert f"dropped by the full queue: {len(drops)}" in labels(axis)


def test_plotted_windows_equal_the_recorded_windows(result: ap.Result) -> None:
    axis = result.plot.cwnd(1).axes[0]
    curves = [line for line in axis.lines if line.get_drawstyle() == "steps-post"]
    for flow, line in enumerate(curves):
        recorded = result.series("cwnd", 1).query(f"id == {flow}")["value"]
        assert list(line.get_ydata()) == pytest.approx((recorded / 1e3).tolist())


def test_plotted_distribution_equals_the_measured_distribution(result: ap.Result) -> None:
    axis = result.plot.pmf().axes[0]
    pmf = result.pmf()
    heights = [bar.get_height() for bar in axis.containers[0]]
    assert heights == pytest.approx(pmf["mean"].tolist()[: len(heights)])
    assert axis.get_xlabel() == "packets waiting"


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_regimes_and_the_model_are_marked() -> None:
    link = ap.link.DualRegime(rates=("4 Mbit/s", "6 Mbit/s"), pers=(0.0, 0.05), threshold=8)
    regimes = run(bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=link))
    solution = ap.solve(ap.Scenario.model_validate(regime_scenario(link)))
    axis = regimes.plot.pmf(solution=solution).axes[0]
    assert "regime 1: 4 Mbit/s" in labels(axis)
    assert "regime 2: 6 Mbit/s, from 8 packets on" in labels(axis)
    assert labels(axis)[0].startswith("model: ")


def regime_scenario(link: ap.link.MultiRegime) -> dict[str, Any]:
    return {
        "flows": ap.flows(2, cc="newreno", base_rtt="30 ms"),
        "bottleneck": ap.Bottleneck(aqm=ap.aqm.Gred(), link=link),
        "duration": "10 s",
    }


def marks(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.texts]


def test_threshold_is_plotted_if_it_is_constant() -> None:
    def plotted(aqm: ap.aqm.QueueDisc) -> list[str]:
        link = ap.link.Fixed(rate="5 Mbit/s", delay="5 ms")
        result = run(reps=1, bottleneck=ap.Bottleneck(aqm=aqm, link=link))
        return marks(result.plot.queue().axes[0])

    row = ap.aqm.SbdRow(rate="2 Mbit/s", min_th=10, reaction_time="1 s")
    assert plotted(ap.aqm.Sbd(min_th=20)) == ["limit", "lower threshold"]
    assert plotted(ap.aqm.Sbd(min_th=20, by_rate=[row])) == ["limit"]


def test_rate_changes_are_marked() -> None:
    changes = [{"at": f"{at} s", "rate": rate} for at, rate in ((4, "1 Mbit/s"), (6, "0 bit/s"))]
    top, *others = run(reps=1, control=changes).plot.timeline().axes
    assert marks(top) == ["1 Mbit/s", "0 bit/s"]
    for axis in (top, *others):
        at_s = [float(line.get_xdata()[0]) for line in axis.lines if line.get_linestyle() == ":"]
        assert at_s == [4.0, 6.0]
    assert all("Mbit/s" not in text for axis in others for text in marks(axis))


def test_labels_of_simultaneous_and_close_changes_do_not_overlap() -> None:
    """Regression: two simultaneous events had two labels at the same position."""
    rates = {4: (1, 2), 4.1: (3,), 6: (4,), 9.9: (5,)}
    changes = [
        {"at": f"{at} s", "rate": f"{rate} Mbit/s"} for at, each in rates.items() for rate in each
    ]
    figure = run(reps=1, control=changes).plot.timeline()
    top = figure.axes[0]
    expected = ["1 Mbit/s, then 2 Mbit/s", "3 Mbit/s", "4 Mbit/s", "5 Mbit/s"]
    assert marks(top) == expected
    figure.draw_without_rendering()
    written = [text for text in top.texts if text.get_text() in expected]
    boxes = [text.get_window_extent() for text in written]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(box.x1 <= top.get_window_extent().x1 for box in boxes)
    assert sum(line.get_linestyle() == ":" for line in top.lines) == len(rates)


def test_queue_without_series_is_plotted_as_distribution() -> None:
    figure = run(record={"series": []}).plot.queue()
    assert figure.axes[0].get_xlabel() == "packets waiting"


def test_many_flows_are_plotted_as_one_line() -> None:
    many = run(reps=1, flows=ap.flows(12, base_rtt="30 ms", start={"uniform": ["0 s", "1 s"]}))
    assert "served, all 12 flows" in labels(many.plot.timeline().axes[0])


def test_thinned_recording_has_the_sojourn_time_of_every_packet(result: ap.Result) -> None:
    """Regression: with an interval, the sojourn times of only one packet per second were shown, and
    the curve *served* was missing.
    """
    thinned = run(record={"series": EVERYTHING, "interval": "1 s"})
    assert thinned.series("sojourn").equals(result.series("sojourn"))
    assert len(thinned.series("queue")) < len(result.series("queue")) / 100
    panels = [each.plot.timeline().axes for each in (thinned, result)]
    for thinned_panel, full_panel in zip(*panels, strict=True):
        if thinned_panel.get_ylabel() in ("rate, Mbit/s", "sojourn time, ms"):
            assert labels(thinned_panel) == labels(full_panel)
            for thinned_step, full_step in zip(
                steps(thinned_panel), steps(full_panel), strict=True
            ):
                assert np.array_equal(thinned_step, full_step, equal_nan=True)


def test_thinned_queue_is_plotted_at_zero_after_it_empties() -> None:
    """Regression: the queue length at the start of a burst was plotted until the next burst,
    seconds later.
    """
    bursts = ap.flows(base_rtt="30 ms", on_off={"burst": "20 kB", "off": "3 s"})
    record = {"series": ["queue"], "interval": "100 ms"}
    thinned, full = (run(1, flows=bursts, record=keys) for keys in (record, {"series": ["queue"]}))
    [curve] = [line for line in thinned.plot.queue().axes[0].lines if len(line.get_xdata()) > 2]
    times, plotted = (np.asarray(data, dtype=float) for data in curve.get_data())
    exact = full.series("queue")
    ends = np.arange(0.1, 10, 0.1) - 1e-9
    levels = [
        values[np.searchsorted(at, ends, side="right") - 1]
        for at, values in ((times, plotted), (exact["time_s"], exact["value"].to_numpy()))
    ]
    assert np.array_equal(*levels)
    assert np.mean(levels[0] == 0) > 0.9


@pytest.mark.parametrize("timestamps", [False, True])
def test_service_series_has_the_bytes_of_its_packets(timestamps: bool) -> None:
    """Regression: the 12 bytes of timestamps were missing."""
    tcp = {"timestamps": timestamps, "mss": "500 B"}
    one = run(reps=1, flows=ap.flows(base_rtt="30 ms", tcp=tcp), warmup="0 s")
    axis = one.plot.delivered().axes[0]
    [served] = [patch for patch in axis.patches if patch.get_label() == "served, flow 0"]
    values, edges, _ = served.get_data()  # type: ignore[attr-defined]
    plotted = (values * np.diff(edges)).sum() * 1e6 / 8
    assert plotted == pytest.approx(one.table("links")["delivered_bytes"][0], rel=0.003)


def test_idle_scenario_can_be_plotted() -> None:
    idle = run(flows=ap.flows(base_rtt="30 ms", start="9.999 s"), warmup="0 s")
    idle.plot.timeline()
    idle.plot.pmf()


def test_saved_figures_are_png(result: ap.Result, tmp_path: Path) -> None:
    paths = result.plot.save(tmp_path)
    assert [path.name for path in paths] == ["queue-lengths.png", "timeline.png"]
    for path in paths:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        assert b"airpath" in data


def test_comparison_shows_every_result(result: ap.Result) -> None:
    figure = comparison_figure({"one": result, "other": run(reps=3)}, "title")
    goodput = result.intervals("flows")[-1]["goodput_bps"].mean / 1e6
    assert figure.axes[0].containers[0].lines[0].get_ydata()[0] == pytest.approx(goodput)
    curves = [line for line in figure.axes[1].lines if len(line.get_xdata()) > 2]
    assert len(curves) == 2
    with pytest.raises(ap.errors.BadValueError, match="9 results: too many"):
        comparison_figure({str(n): result for n in range(9)}, "title")


def test_sojourn_times_start_at_the_end_of_warmup(result: ap.Result) -> None:
    found = sojourn_times(result, 0)
    mean = result.replications[0]["queues"][0]["mean_sojourn_s"]
    assert found.mean() == pytest.approx(mean, rel=0.01)
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("text", ["1\n", "0\n0\n30000\n", "1\n" * 50 + "2\n" * 3])
def test_every_trace_can_be_plotted(text: str) -> None:
    figure = trace_figure(ap.Trace.parse(text, "directory/short.trace"))
    assert figure.axes[0].get_ylabel() == "rate, Mbit/s"


def test_figures_need_no_display_and_do_not_change_pyplot() -> None:
    script = (
        "import sys, airpath as ap\n"
        "result = ap.simulate(ap.Scenario(flows=ap.flows(base_rtt='20 ms'), duration='2 s',\n"
        "    bottleneck=ap.Bottleneck(aqm='gred', link=ap.link.Fixed(rate='1 Mbit/s'))), reps=1)\n"
        "figure = result.plot.pmf()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib.pyplot as plt\n"
        "plt.switch_backend('agg')\n"
        "result.plot.pmf()\n"
        "assert plt.get_fignums() == []\n"
    )
    path = str(Path(ap.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": path, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", sorted(ap.aqm.QueueDisc.registry))
def test_every_queue_discipline_can_be_plotted(kind: str) -> None:
    link = ap.link.Fixed(rate="5 Mbit/s", delay="5 ms")
    result = run(reps=1, bottleneck=ap.Bottleneck(aqm=sample(ap.aqm.QueueDisc, kind), link=link))
    assert len(result.plot.timeline().axes) == 4
    assert result.plot.pmf().axes


# --- several users -------------------------------------------------------------------------------

USERS = ["delivered", "queue", "sojourn", "snr", "drop"]


def cell(users: int, series: list[str] = USERS, aqm: Any = "droptail") -> ap.Result:
    snr = {"kind": "jakes", "mean": "6 dB", "speed": "10 m/s", "carrier": "1.8 GHz"}
    link = {
        "kind": "cell",
        "slot": "3 ms",
        "rate": {"kind": "shannon", "bandwidth": "4.3 MHz", "cap": "10 Mbit/s"},
        "snr": snr,
    }
    flows = [ap.flows(1, user=n, base_rtt="40 ms")[0] for n in range(users)]
    return run(flows=flows, bottleneck={"aqm": aqm, "link": link}, record={"series": series})


def panel(figure: Any, label: str) -> Any:
    return next(axis for axis in figure.axes if axis.get_ylabel() == label)


def test_each_user_of_a_cell_has_a_line() -> None:
    """Regression: panels showed queue length and sojourn time of user 0 only, without a label."""
    found = cell(3)
    figure = found.plot.timeline()
    names = [f"user {number}" for number in range(3)]
    for label in ("queue length, packets", "sojourn time, ms", "SNR, dB"):
        assert labels(panel(figure, label))[:3] == names
    queue, wait = found.series("queue"), found.series("sojourn")
    curves = panel(figure, "queue length, packets").lines
    for number, colour in enumerate(("blue", "orange", "green")):
        [line] = [each for each in curves if each.get_label() == f"user {number}"]
        assert line.get_color() == style.COLOURS[colour]
        own = queue[queue["queue"] == f"bottleneck/user {number}"]
        assert np.array_equal(line.get_ydata(), own["value"])
        waits = wait.loc[wait["queue"] == f"bottleneck/user {number}", "value"]
        assert np.nanmax(steps(panel(figure, "sojourn time, ms"))[number]) == 1e3 * waits.max()
    assert panel(found.plot.snr(), "SNR, dB")


def test_heading_states_which_users_are_combined() -> None:
    """Regression: goodput and rate were those of the cell, but the sojourn time was that of
    user 0.
    """
    found = cell(3)
    shown = " ".join(text.get_text() for text in found.plot.timeline().texts).replace("\n", " ")
    queues = found.replications[0]["queues"]
    sums = [queue["mean_sojourn_s"] * queue["departed"] for queue in queues]
    mean = 1e3 * sum(sums) / sum(queue["departed"] for queue in queues)
    p95 = sorted(1e3 * queue["p95_sojourn_s"] for queue in queues)
    assert "goodput of all 3 flows" in shown
    assert (
        f"sojourn time of the packets of 3 users: mean {mean:.3g} ms, "
        f"p95 from {p95[0]:.3g} to {p95[-1]:.3g} ms by user" in shown
    )


def test_quantiles_are_plotted_for_more_than_six_users() -> None:
    found = cell(8)
    figure = found.plot.timeline()
    whose = {
        "queue length, packets": "8 users",
        "sojourn time, ms": "8 users, longest in ",
        "SNR, dB": "8 users, ",
    }
    for label, what in whose.items():
        shown = labels(panel(figure, label))
        assert shown[0].startswith(f"10 % to 90 % of {what}")
        assert shown[1].startswith(f"median of {what}")
    series = found.series("queue")
    patches = panel(figure, "queue length, packets").patches
    _, median = (each.get_data() for each in patches if isinstance(each, StepPatch))
    begin, end = median.edges[100:102]
    means = []
    for _, own in series.groupby("queue", observed=True):
        at = np.linspace(begin, end, 2001)[:-1]
        place = np.searchsorted(own["time_s"].to_numpy(), at, side="right") - 1
        means.append(own["value"].to_numpy()[place].mean())
    assert median.values[100] == pytest.approx(np.median(means), rel=0.02)


def test_distribution_of_a_cell_is_the_mean_over_its_users(tmp_path: Path) -> None:
    """Regression: `pmf` failed for the queue "bottleneck", and `save` plotted the queue of
    user 0.
    """
    found = cell(2, series=[])
    pooled = found.pmf()
    users = [found.pmf(f"bottleneck/user {number}")["mean"].to_numpy() for number in range(2)]
    for packets, share in enumerate(pooled["mean"]):
        parts = [of[packets] if packets < len(of) else 0.0 for of in users]
        assert share == pytest.approx(sum(parts) / 2)
    assert pooled["mean"].sum() == pytest.approx(1.0)
    title = " ".join(found.plot.pmf().get_suptitle().split())
    assert title.endswith("queue length at the bottleneck, mean over the queues of 2 users")
    assert found.plot.queue().axes[0].get_xlabel() == "packets waiting"
    names = [path.name for path in found.plot.save(tmp_path)]
    assert names == ["queue-lengths.png", "users.png"]


def test_snr_is_plotted_for_cells_only() -> None:
    """Other links do not record an SNR, and their timeline has no empty panel for it."""
    found = run(reps=1, record={"series": ["queue", "snr"]})
    assert [axis.get_ylabel() for axis in found.plot.timeline().axes] == ["queue length, packets"]
