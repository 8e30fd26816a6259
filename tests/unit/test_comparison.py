"""Comparison of several engines: compared quantities, intervals, documents and figures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import airpath as ap
from airpath.comparison.answers import Answer, rows_of
from airpath.comparison.explain import judged
from airpath.comparison.quantities import ComparedQuantity, quantities, result_values
from airpath.comparison.texts import in_percent
from airpath.errors import BadValueError, Interrupted, ModelWarning, RunError
from airpath.results.differences import independent_difference
from engine_samples import emulation, scenario

GOODPUT = ComparedQuantity("goodput_bps", "goodput", "all 2", "Mbit/s", 1e-6, 3)


@pytest.fixture(scope="module")
def compared() -> ap.Comparison:
    return ap.compare(scenario(), engines="simulate,solve", reps=4, confidence=0.95)


# --- intervals of differences ------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(5, 5), (4, 9)])
def test_two_samples_are_compared_by_welchs_test(counts: tuple[int, int]) -> None:
    draw = np.random.default_rng(7)
    x, y = (list(draw.normal(10 * (k + 1), k + 1, n)) for k, n in enumerate(counts))
    found = independent_difference(x, y, 0.99)
    absolute, relative = found.absolute, found.relative
    from scipy import stats as scipy_stats

    test = scipy_stats.ttest_ind(y, x, equal_var=False)
    error = math.sqrt(np.var(x, ddof=1) / len(x) + np.var(y, ddof=1) / len(y))
    half = scipy_stats.t.ppf(0.995, math.floor(test.df)) * error
    assert absolute.mean == pytest.approx(np.mean(y) - np.mean(x))
    assert absolute.high - absolute.mean == pytest.approx(half, rel=1e-9)
    assert relative.mean == pytest.approx(np.mean(y) / np.mean(x) - 1)
    assert (found.method, found.base_mean) == ("Welch", pytest.approx(np.mean(x)))
    assert absolute.reps == 0


@pytest.mark.parametrize("model_is_base", [True, False])
def test_model_has_no_error_estimate(model_is_base: bool) -> None:
    x = [10.0, 11.0, 9.5, 10.3]
    pair = (12.0, x) if model_is_base else (x, 12.0)
    found = independent_difference(*pair, 0.95)
    absolute, relative = found.absolute, found.relative
    from scipy import stats as scipy_stats

    half = scipy_stats.t.ppf(0.975, 3) * np.std(x, ddof=1) / 2
    sign = -1 if model_is_base else 1
    assert absolute.mean == pytest.approx(sign * (12.0 - np.mean(x)))
    assert absolute.high - absolute.mean == pytest.approx(half, rel=1e-9)
    ratio = np.mean(x) / 12.0
    expected = (ratio, half / 12.0) if model_is_base else (1 / ratio, half / ratio / np.mean(x))
    assert (relative.mean + 1, relative.high - relative.mean) == pytest.approx(expected, rel=1e-9)
    assert found.method == "Student"


@pytest.mark.parametrize("pair", [([1.0], [2.0, 3.0]), (1.0, 2.0), ([1.0], 2.0)])
def test_fewer_than_two_replications_give_no_interval(pair: Any) -> None:
    found = independent_difference(*pair, 0.95)
    assert not math.isnan(found.absolute.mean)
    assert math.isnan(found.absolute.low)
    assert found.method == "none"


def test_difference_from_zero_has_no_ratio() -> None:
    found = independent_difference([0.0, 0.0], [1.0, 3.0], 0.95)
    assert found.absolute.mean == 2
    assert math.isnan(found.relative.mean)


@pytest.mark.parametrize("pair", [([0.0, 0.006, 0.01], [0.0] * 3), ([0.5, 0.6], [0.0, 0.4])])
def test_mean_within_three_errors_of_zero_has_no_ratio(pair: Any) -> None:
    found = independent_difference(*pair, 0.99)
    assert found.absolute.low < found.absolute.mean < found.absolute.high
    assert math.isnan(found.relative.mean)
    assert math.isnan(independent_difference(*reversed(pair), 0.99).relative.mean)
    assert in_percent(found) == "–"


def test_constant_quantity_is_not_judged() -> None:
    rows = rows_of(
        {
            "simulate": Answer("simulate", None, None, {"goodput_bps": [1e6] * 4}),
            "emulate": Answer("emulate", None, None, {"goodput_bps": [2e6] * 4}),
        },
        [GOODPUT],
        "simulate",
        0.99,
    )
    (row,) = judged(rows, [], "simulate")
    assert row.differences["emulate"].verdict == "no interval"


# --- compared quantities -----------------------------------------------------------------------


def test_rows_are_the_common_quantities_of_two_engines(compared: ap.Comparison) -> None:
    assert [row.quantity.name for row in compared.rows] == [
        "goodput_bps",
        "flows.0.goodput_bps",
        "flows.1.goodput_bps",
        "ip_throughput_bps",
        "mean_rtt_s",
        "flows.0.mean_rtt_s",
        "flows.1.mean_rtt_s",
        "jain",
        "queues.bottleneck.mean_packets",
        "links.bottleneck.lost_share",
    ]
    assert (compared.engines, compared.base, compared.others) == (
        ("simulate", "solve"),
        "simulate",
        ("solve",),
    )


def test_comparison_contains_the_numbers_of_both_engines(compared: ap.Comparison) -> None:
    result = ap.simulate(scenario(), reps=4, confidence=0.95)
    with pytest.warns(ModelWarning, match="the queue oscillates"):
        solution = ap.solve(scenario())
    assert isinstance(solution, ap.solutions.FixedPoint)
    table = compared.table().set_index(["quantity", "engine"])
    row = table.loc[("goodput_bps", "simulate")]
    interval = result.intervals("flows")[-1]["goodput_bps"]
    assert (row["mean"], row["low"], row["high"]) == (interval.mean, interval.low, interval.high)
    model = table.loc[("ip_throughput_bps", "solve")]
    assert model["mean"] == solution.throughput_bps
    assert np.isnan(model["low"])
    assert model["method"] == "Student"
    # Equal flows have the mean RTT of each flow.
    assert table.loc[("mean_rtt_s", "solve"), "mean"] == pytest.approx(solution.flows[0].rtt_s)
    lost = table.loc[("links.bottleneck.lost_share", "solve"), "mean"]
    assert lost == pytest.approx(solution.flows[0].loss)
    difference = table.loc[("queues.bottleneck.mean_packets", "solve"), "difference"]
    measured = table.loc[("queues.bottleneck.mean_packets", "simulate"), "mean"]
    assert difference == pytest.approx(solution.queue_packets - measured)


def test_other_quantities_are_computed_from_queues_and_links() -> None:
    made = scenario(
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="20 packets"), link=ap.link.Fixed(rate="8 Mbit/s", loss=0.002)
        )
    )
    result = ap.simulate(made, reps=2)
    values = result_values(result, quantities(result.resolved, result.replications))
    for place, run in enumerate(result.replications):
        queue, link = run["queues"][0], run["links"][0]
        lost = (sum(queue["drops"].values()) + link["lost_packets"]) / queue["arrived"]
        assert values["links.bottleneck.lost_share"][place] == lost
        assert lost > 0.002
        p95 = values["queues.bottleneck.p95_packets"][place]
        below = sum(queue["pmf"][: int(p95)])
        assert below < 0.95 <= below + queue["pmf"][int(p95)] + 1e-12
    assert "queues.bottleneck.mark_share" in values
    assert set(values["queues.bottleneck.mark_share"]) == {0.0}


def test_marks_are_compared_if_a_queue_marks() -> None:
    ecn = scenario(
        flows=ap.flows(4, cc="newreno", base_rtt="30 ms", tcp={"ecn": "on"}),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(ecn=True), link=ap.link.Fixed(rate="8 Mbit/s")),
    )
    result = ap.simulate(ecn, reps=2)
    expected = quantities(result.resolved, result.replications)
    answers = {
        name: Answer(name, result, None, result_values(result, expected)) for name in ("a", "b")
    }
    names = [row.quantity.name for row in rows_of(answers, expected, "a", 0.99)]
    assert "queues.bottleneck.mark_share" in names
    found = answers["a"].quantities["queues.bottleneck.mark_share"]
    run = result.replications[0]["queues"][0]
    assert found[0] == run["marks"] / run["arrived"] > 0  # type: ignore[index]


def test_quantity_missing_in_an_engine_has_no_difference() -> None:
    answers = {
        "simulate": Answer("simulate", None, None, {"goodput_bps": [1.0, 2.0]}),
        "emulate": Answer("emulate", None, None, {"goodput_bps": [1.5, 2.5]}),
        "solve": Answer("solve", None, None, {}),
    }
    [row] = rows_of(answers, [GOODPUT], "simulate", 0.9)
    assert list(row.differences) == ["emulate"]
    assert math.isnan(row.answers["solve"].mean)
    [row] = rows_of(answers, [GOODPUT], "solve", 0.9)
    assert row.differences == {}


def test_groups_have_separate_rows() -> None:
    mixed = scenario(
        flows=[
            *ap.flows(2, cc="reno", base_rtt="30 ms"),
            *ap.flows(1, cc="reno", base_rtt="60 ms"),
        ]
    )
    found = ap.compare(mixed, engines=["simulate", "solve"], reps=2)
    table = found.table().set_index(["quantity", "engine"])
    solution = found.answers["solve"].solution
    assert solution is not None
    share = 1460 / 1500
    both = sum(flow.throughput_bps for flow in solution.flows[:2]) * share
    assert table.loc[("groups.0.goodput_bps", "solve"), "mean"] == pytest.approx(both)
    assert table.loc[("groups.1.mean_rtt_s", "solve"), "mean"] == pytest.approx(
        solution.flows[2].rtt_s
    )


# --- unavailable engines -----------------------------------------------------------------------


def test_unavailable_engine_is_reported_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ap, "emulate", emulation(), raising=False)
    made = scenario(bottleneck=ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="8 Mbit/s")))
    found = ap.compare(made, reps=2)
    assert found.engines == ("simulate", "emulate")
    assert list(found.refused) == ["solve"]
    assert "no analytic model covers it" in found.refused["solve"]


def test_fewer_than_two_available_engines_are_rejected_with_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def emulate(*_: Any, **__: Any) -> Any:
        raise BadValueError("flows.0: CLAMP's receiver is not in the kernel.")

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    with pytest.raises(BadValueError) as caught:
        ap.compare(scenario(), engines=["emulate", "solve"])
    assert str(caught.value).splitlines() == [
        "emulate: flows.0: CLAMP's receiver is not in the kernel.",
        "Nothing to compare: only solve is left.",
    ]


def test_failed_run_is_not_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def emulate(*_: Any, **__: Any) -> Any:
        raise RunError("the device is gone.")

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    with pytest.raises(RunError, match="emulate: the device is gone"):
        ap.compare(scenario(), engines=["emulate", "solve"])


def test_model_without_common_quantities_is_rejected() -> None:
    """Regression: the table was empty. The MIMO model with VCP has packets and no rates."""
    example = Path(ap.__file__).parent / "examples" / "mimo-vcp.toml"
    made = ap.load(example, {"duration": "2 s", "warmup": "0 s"})
    with pytest.raises(BadValueError) as caught:
        ap.compare(made, engines=["simulate", "solve"], reps=1)
    first, last = str(caught.value).splitlines()
    assert first.startswith("solve: model mimo shares no quantity with another engine: flows.0.cc")
    assert first.endswith("(and 2 more)")
    assert last == "Nothing to compare: only simulate is left."


@pytest.mark.parametrize(
    ("engines", "message"),
    [
        ("simulate", 'engines = "simulate": nothing to compare. Use two or three of '),
        ("simulate,simulate", "nothing to compare"),
        (["simulate", "solv"], 'engines = "solv": not an engine. The nearest is solve; expected'),
        (3, "engines = 3: not an engine. Expected one of: simulate, emulate, solve."),
    ],
)
def test_invalid_engines_are_rejected(engines: Any, message: str) -> None:
    with pytest.raises(BadValueError) as caught:
        ap.compare(scenario(), engines=engines)
    assert message in str(caught.value)


def test_replications_finished_before_ctrl_c_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def emulate(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    with pytest.raises(ap.errors.ComparisonInterrupted) as caught:
        ap.compare(scenario(), reps=2)
    found = caught.value.comparison
    assert found is not None
    assert (found.engines, found.interrupted) == (("simulate", "solve"), True)
    assert found.to_dict()["complete"] is False
    with pytest.raises(ap.errors.ComparisonInterrupted) as caught:
        ap.compare(scenario(), engines=["emulate", "solve"])
    assert caught.value.comparison is None


def test_interrupted_replication_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: packet counts of two seconds were compared with packet counts of ten seconds."""

    def emulate(made: ap.Scenario, **settings: Any) -> Any:
        result = emulation()(made, **settings)
        result.replications[-1]["measured_s"] = 2.0
        raise Interrupted(result)

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    with pytest.raises(ap.errors.ComparisonInterrupted) as caught:
        ap.compare(scenario(duration="6 s"), engines=["simulate", "emulate"], reps=3)
    assert caught.value.comparison is not None
    [row, *_] = caught.value.comparison.rows
    assert (row.answers["simulate"].reps, row.answers["emulate"].reps) == (3, 2)
    with pytest.raises(ap.errors.ComparisonInterrupted) as caught:
        ap.compare(scenario(duration="6 s"), engines=["simulate", "emulate"], reps=1)
    assert caught.value.comparison is None


# --- documents, tables, figures ----------------------------------------------------------------


def test_any_engine_can_be_the_base(compared: ap.Comparison) -> None:
    turned = compared.relative_to("solve")
    name = "queues.bottleneck.mean_packets"
    [one] = [row.differences["solve"] for row in compared.rows if row.quantity.name == name]
    [other] = [row.differences["simulate"] for row in turned.rows if row.quantity.name == name]
    assert other.difference.absolute.mean == -one.difference.absolute.mean
    assert other.verdict == one.verdict
    with pytest.raises(BadValueError, match='engine = "emulate": not one of the accepted words'):
        compared.relative_to("emulate")


def test_comparison_saves_document_and_files(compared: ap.Comparison, tmp_path: Path) -> None:
    paths = compared.save(tmp_path, figure_formats="svg")
    assert [path.name for path in paths] == [
        "comparison.json",
        "comparison.csv",
        "comparison.svg",
    ]
    document = json.loads((tmp_path / "comparison.json").read_text("utf-8"))
    assert document == json.loads(compared.to_json())
    simulated, solved = document["engines"]
    assert len(simulated.pop("values")["goodput_bps"]) == simulated["replications"] == 4
    assert [each["code"] for each in simulated.pop("advisories")] == ["few-replications"]
    assert simulated.pop("execution").keys() == {"wall_s", "cpu_s", "machines"}
    assert simulated == {"engine": "simulate", "answered": True, "replications": 4}
    assert solved.pop("values")["goodput_bps"] == document["rows"][0]["answers"]["solve"]["mean"]
    about = {"answered": True, "model": "fixed-point", "advisories": [], "execution": None}
    assert solved == {"engine": "solve", **about}
    row = document["rows"][0]
    assert (row["quantity"], row["answers"]["solve"]["low"]) == ("goodput_bps", None)
    assert row["differences"]["solve"]["method"] == "Student"
    table = pd.read_csv(tmp_path / "comparison.csv", comment="#")
    expected = compared.table()
    expected["facts"] = expected["facts"].replace("", np.nan)
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)


def test_notebook_shows_the_table(compared: ap.Comparison) -> None:
    shown = compared._repr_html_()
    assert "<th>solve − simulate</th>" in shown
    assert "mean queue" in shown


def test_figure_has_a_panel_per_quantity(compared: ap.Comparison) -> None:
    figure = compared.figure()
    titles = [axis.get_title(loc="left") for axis in figure.axes if axis.get_visible()]
    assert titles == [
        "goodput, Mbit/s",
        "goodput, Mbit/s",
        "IP throughput, Mbit/s",
        "mean RTT, ms",
        "mean RTT, ms",
        "Jain's index",
        "mean queue length, packets",
        "share of packets lost, %",
    ]
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["simulate", "solve"]
    axis = figure.axes[0]
    plotted = [float(bar.lines[0].get_ydata()[0]) for bar in axis.containers]
    expected = [compared.rows[0].answers[name].mean / 1e6 for name in compared.engines]
    assert plotted == pytest.approx(expected, rel=1e-12)
    flows = figure.axes[1]
    assert [label.get_text() for label in flows.get_xticklabels()] == ["0", "1"]


def test_difference_of_each_engine_has_a_separate_line(monkeypatch: pytest.MonkeyPatch) -> None:
    r"""Regression: with three engines the figure contained "\n" between two lines."""
    monkeypatch.setattr(ap, "emulate", emulation(), raising=False)
    found = ap.compare(scenario(duration="4 s"), reps=2)
    lines = found.figure().axes[0].get_xlabel().splitlines()
    assert [each.partition(":")[0] for each in lines] == [
        "emulate − simulate",
        "solve − simulate",
    ]


def test_narrow_panel_has_the_same_scale_as_a_wide_one(compared: ap.Comparison) -> None:
    """Regression: a difference of 1 % looked like 100 % if a panel was as narrow as its points."""
    for axis in compared.figure().axes:
        if axis.get_visible():
            low, high = axis.get_ylim()
            assert high - low > 0.09 * high
