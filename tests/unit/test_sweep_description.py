"""A sweep file and its Python equivalent: described points, and rejected input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
import airpath.errors
from airpath.present import progress
from airpath.sweeps import points as sweep_points
from airpath.sweeps.description import Description, described, read_sweep_file
from airpath.sweeps.keys import DEFAULT_METRICS, Labels, Random, Reps, SweepKeys, Until
from airpath.sweeps.plan import Plan

LTE = """
duration = "10 s"
bottleneck.aqm = {kind = "droptail", limit = "100 packets"}
bottleneck.link = {kind = "fixed", rate = "5 Mbit/s"}
flows = [{count = 2, base_rtt = "40 ms"}]
"""
SWEEP = """
scenario = "lte.toml"
reps = {min = 4, max = 64, until = {metric = "goodput_bps", relative = 0.02}}
seed = 7
metrics = ["p95_sojourn_s"]
[grid]
"bottleneck.aqm" = [{kind = "droptail", limit = "50 packets"}, {kind = "codel"}]
"flows.0.cc" = ["newreno", "cubic"]
"""


def sweep(directory: Path, text: str) -> Description:
    (directory / "lte.toml").write_text(LTE)
    (directory / "sweep.toml").write_text(text)
    return read_sweep_file(directory / "sweep.toml")


@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_file_gives_points_in_order_with_their_jobs(tmp_path: Path) -> None:
    found = sweep(tmp_path, SWEEP)
    plan = found.plan
    assert plan.axes == ("bottleneck.aqm", "flows.0.cc")
    assert [tuple(point.labels.values()) for point in plan.points] == [
        ("droptail", "newreno"),
        ("droptail", "cubic"),
        ("codel", "newreno"),
        ("codel", "cubic"),
    ]
    assert [point.number for point in plan.points] == [0, 1, 2, 3]
    assert (plan.seed, plan.name, plan.confidence) == (7, "sweep", 0.99)
    assert (plan.rule.least, plan.rule.most, plan.rule.relative) == (4, 64, 0.02)
    assert plan.metrics == ["p95_sojourn_s", "goodput_bps"]
    job = found.jobs[plan.points[1].digest].resolved
    assert (job.queue.kind, job.queue.limit_packets) == ("droptail", 50)
    assert job.flows[0].source.congestion.kind == "cubic"
    assert found.scenarios(3).bottleneck.aqm.document()["kind"] == "codel"


def test_python_gives_the_same_points_as_the_file(tmp_path: Path) -> None:
    of_file = sweep(tmp_path, SWEEP).plan
    parts = [ap.aqm.DropTail(limit="50 packets"), ap.aqm.CoDel(limit="100 packets")]
    plan = described(
        tmp_path / "lte.toml",
        grid={"bottleneck.aqm": parts, "flows.0.cc": ["newreno", "cubic"]},
    ).plan
    assert [point.digest for point in plan.points] == [point.digest for point in of_file.points]
    assert [point.labels for point in plan.points] == [point.labels for point in of_file.points]


def test_axes_need_no_quotes(tmp_path: Path) -> None:
    plan = sweep(tmp_path, 'scenario = "lte.toml"\n[grid]\nflows.0.cc = ["reno", "cubic"]').plan
    assert [point.values for point in plan.points] == [
        {"flows.0.cc": "reno"},
        {"flows.0.cc": "cubic"},
    ]


def test_sweep_without_axes_has_the_base_as_its_only_point(tmp_path: Path) -> None:
    found = sweep(tmp_path, 'scenario = "lte.toml"')
    assert [(point.values, point.labels) for point in found.plan.points] == [({}, {})]
    assert found.plan.metrics == ["goodput_bps", "p95_delay_s"]
    assert (found.plan.rule.least, found.plan.rule.most) == (4, 4)


def test_base_may_be_a_table_with_overrides(tmp_path: Path) -> None:
    text = "[scenario]" + LTE.replace("bottleneck", "scenario.bottleneck")
    text = text.replace("[scenario]", "").replace("duration", "scenario.duration")
    text = text.replace("flows", "scenario.flows")
    (tmp_path / "sweep.toml").write_text(text)
    found = read_sweep_file(tmp_path / "sweep.toml", [("duration", "3 s"), ("flows.0.count", "5")])
    (job,) = found.jobs.values()
    assert (job.simulated_s, len(job.resolved.flows)) == (3.0, 5)


def test_base_may_be_a_function_of_the_parameters() -> None:
    def scenario(rate: float, buffer: str) -> ap.Scenario:
        if rate < 0:
            raise ZeroDivisionError("no rate")
        link = ap.link.Fixed(rate=rate * 1e6)
        bottleneck = ap.Bottleneck(aqm=ap.aqm.DropTail(limit=buffer), link=link)
        return ap.Scenario(
            duration="2 s", bottleneck=bottleneck, flows=ap.flows(1, base_rtt="40 ms")
        )

    grid = {"rate": [1, 2.5], "buffer": ["10 packets"]}
    found = described(scenario, grid=grid)
    assert (found.plan.base, found.plan.name) == ("", "scenario")
    assert found.plan.points[1].values == {"rate": 2.5, "buffer": "10 packets"}
    link = found.jobs[found.plan.points[1].digest].resolved.link
    assert link.known_rates_bps == [2_500_000]
    with pytest.raises(ValueError, match="the function raised ZeroDivisionError: no rate") as error:
        described(scenario, grid=grid | {"rate": [1, -1]})
    assert str(error.value) == (
        "airpath.sweep: the function raised ZeroDivisionError: no rate. "
        "At the point rate = -1, buffer = 10 packets."
    )


def test_axis_that_is_no_parameter_is_a_key_of_the_scenario(base: ap.Scenario) -> None:
    def scenario(rtt: str) -> ap.Scenario:
        return base.replace("flows.0.base_rtt", rtt)

    rates = ["1 Mbit/s", "2 Mbit/s"]
    found = described(scenario, grid={"rtt": ["20 ms"], "bottleneck.link.rate": rates})
    made = [found.scenarios(number) for number in range(2)]
    assert [str(each.bottleneck.link.rate) for each in made] == rates
    assert [str(each.flows[0].base_rtt) for each in made] == ["20 ms", "20 ms"]
    with pytest.raises(airpath.errors.BadValueError, match=r"bottleneck.link.speed.*unknown key"):
        described(scenario, grid={"rtt": ["20 ms"], "bottleneck.link.speed": rates})


def test_misspelt_axis_of_a_function_names_its_parameters(base: ap.Scenario) -> None:
    def path(rate: str, flows: int = 1) -> ap.Scenario:
        return base

    with pytest.raises(ap.errors.BadValueError) as raised:
        described(path, grid={"rat": ["1 Mbit/s"], "flow": [1]}, reps=1)
    expected = "no axis. Expected a key of the scenario, or one of: flows, rate."
    assert str(raised.value).splitlines() == [
        f'airpath.sweep: "rat": {expected}',
        f'airpath.sweep: "flow": {expected}',
    ]


def test_function_may_accept_every_axis(base: ap.Scenario) -> None:
    def scenario(**values: str) -> ap.Scenario:
        return base.replace("flows.0.base_rtt", values["rtt"])

    [point] = described(scenario, grid={"rtt": ["20 ms"]}).plan.points
    assert point.values == {"rtt": "20 ms"}


def test_metrics_may_be_functions(base: ap.Scenario) -> None:
    def loss(result: ap.Result) -> float:
        return float(result.table("queues")["drops_early"].sum())

    mixed = described(base, metrics=["jain", loss, ("mine", loss)])
    assert mixed.plan.metrics == ["jain", "loss", "mine"]
    assert dict(mixed.functions) == {"loss": loss, "mine": loss}
    assert dict(described(base, metrics={"own": loss}).functions) == {"own": loss}


def test_lost_part_of_the_base_is_reported_once(base: ap.Scenario) -> None:
    grid = {"bottleneck.aqm": ["gred"], "flows.0.cc": ["reno", "cubic", "newreno"]}
    with pytest.warns(ap.errors.OverrideWarning) as caught:
        described(base, grid=grid)
    assert [str(line.message) for line in caught] == [
        'airpath.sweep: bottleneck.aqm = "gred": drops bottleneck.aqm.limit = "100 packets".'
    ]


@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_points_of_one_trace_share_its_content(tmp_path: Path, base: ap.Scenario) -> None:
    trace = tmp_path / "a.trace"
    trace.write_text("1\n5\n9\n")
    link = ap.link.Trace(file=str(trace))
    grid = {"bottleneck.link": [link], "flows.0.cc": ["reno", "cubic"]}
    found = described(base, grid=grid)
    assert list(found.contents.values()) == ["1\n5\n9\n"]
    assert len(found.jobs) == 2
    assert {job.files[0].sha256 for job in found.jobs.values()} == set(found.contents)


def test_points_with_equal_scenarios_share_a_job(base: ap.Scenario) -> None:
    found = described(base, grid={"duration": ["10 s", "10000 ms"]})
    assert [point.labels["duration"] for point in found.plan.points] == ["10 s", "10000 ms"]
    assert len(found.jobs) == 1


def test_excluded_combinations_are_left_out_by_value_label_kind_or_some_keys(
    base: ap.Scenario,
) -> None:
    grid = {
        "bottleneck.aqm": [{"kind": "codel", "target": "5 ms"}, {"kind": "codel"}, "pie"],
        "flows.0.count": [1, 2],
    }
    for exclude, left in (
        ([{"bottleneck.aqm": "codel"}], 2),
        ([{"bottleneck.aqm": {"kind": "codel"}, "flows.0.count": 1}], 4),
        ([{"bottleneck.aqm": "codel, target 5 ms"}], 4),
        ([{"bottleneck.aqm": "pie", "flows.0.count": 2}, {"flows.0.count": 1}], 2),
    ):
        assert len(described(base, grid=grid, exclude=exclude).plan.points) == left, exclude


def test_labels_may_be_given(base: ap.Scenario) -> None:
    grid = {"flows.0.cc": ["reno", "cubic"], "flows.0.count": [1, 2]}
    labels = {
        "axes": {"flows.0.count": "flows"},
        "metrics": {"p95_delay_s": "tail delay"},
        "values": {"flows.0.cc": ["Reno", "CUBIC"], "flows.0.count": {"1": "one flow"}},
    }
    plan = described(base, grid=grid, labels=labels).plan
    assert plan.names == {"flows.0.cc": "congestion control", "flows.0.count": "flows"}
    assert plan.metric_labels == labels["metrics"]
    assert Plan.of(plan.to_dict()) == plan
    assert [tuple(point.labels.values()) for point in plan.points] == [
        ("Reno", "one flow"),
        ("Reno", "2"),
        ("CUBIC", "one flow"),
        ("CUBIC", "2"),
    ]


def test_axis_missing_in_a_listed_point_has_the_base_value(base: ap.Scenario) -> None:
    points = [{"flows.0.cc": "cubic"}, {"flows.0.cc": "reno", "flows.0.count": 3}]
    first, second = described(base, points=points).plan.points
    assert first.values == {"flows.0.cc": "cubic", "flows.0.count": None}
    assert first.labels == {"flows.0.cc": "cubic", "flows.0.count": "base"}
    assert second.labels == {"flows.0.cc": "reno", "flows.0.count": "3"}


def test_metric_may_exist_for_some_points_only(base: ap.Scenario) -> None:
    grid = {"flows.0.count": [1, 3]}
    plan = described(base, grid=grid, metrics=["flows.2.goodput_bps"]).plan
    assert plan.metrics == ["flows.2.goodput_bps"]


def test_problem_of_several_points_is_reported_once(base: ap.Scenario) -> None:
    grid = {"duration": ["10 s", "20 s"], "bottleneck.link.rate": ["5 Mbit/s", "0 bit/s"]}
    with pytest.raises(ap.errors.BadValueError) as raised:
        described(base, grid=grid)
    assert str(raised.value).startswith(
        'airpath.sweep: bottleneck.link.rate = "0 bit/s": not above'
    )
    assert str(raised.value).endswith(
        "At 2 points, first duration = 10 s, bottleneck.link.rate = 0 bit/s."
    )


def test_scenario_of_a_point_has_its_values_in_its_title(base: ap.Scenario) -> None:
    found = described(
        base, grid={"flows.0.cc": ["reno", "cubic"]}, exclude=[{"flows.0.cc": "reno"}]
    )
    (point,) = found.plan.points
    assert (point.number, point.labels) == (0, {"flows.0.cc": "cubic"})
    assert found.scenarios(0).title == "lte (flows.0.cc = cubic)"


@pytest.fixture
def base(tmp_path: Path) -> ap.Scenario:
    (tmp_path / "lte.toml").write_text(LTE)
    return ap.load(tmp_path / "lte.toml")


def test_reference_has_every_key_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/sweep-file.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \| .* \| (.*?) ?\|$", page, re.MULTILINE))
    keys = {**SweepKeys.model_fields, **Random.model_fields, **Reps.model_fields}
    tables = {"until": Until, "labels": Labels}
    inner = {f"{name}.{key}" for name, table in tables.items() for key in table.model_fields}
    assert set(rows) == (keys.keys() - {"until"}) | inner
    for name, field in keys.items():
        if isinstance(field.default, (bool, int, float, str)):
            assert rows[name] == f"`{json.dumps(field.default)}`", name
        elif field.is_required() and name in rows:
            assert rows[name] == ""
    assert rows["metrics"] == f"`{json.dumps(DEFAULT_METRICS)}`"
    assert rows["engines"] == '`["simulate"]`'


# --- rejected input ----------------------------------------------------------------------------

_GRID = '[grid]\n"flows.0.cc" = ["cubic", "reno"]'
BAD = {
    "rep = 4": "rep = 4: unknown key. The nearest is reps; expected one of: scenario, name, reps, "
    "seed, confidence, common_random_numbers, metrics, engines, series, grid, zip, points, "
    "random, exclude, labels.",
    "reps = 0": "reps = 0: below 1. Use an integer from 1 to 1000000, for example 4.",
    "seed = -1": "seed = -1: below 0. Use an integer from 0 to 2^64 - 1, for example 1.",
    "confidence = 2": "confidence = 2: not between 0 and 1. Use a fraction, for example 0.99.",
    'reps = {max = 3, until = {metric = "jain", absolute = 0.1}}': "reps.max = 3: below min = 4. "
    "Use a number from min on.",
    'reps = {max = 9, until = {metric = "jain"}}': "reps.until: says no width. Add relative or "
    "absolute, for example relative = 0.02.",
    'reps = {max = 9, until = {metric = "p95_sojourn_s", relative = 0.005}}': "reps.until.relative "
    "= 0.005: never met, for p95_sojourn_s is known to 0.0078 of its mean. Use a larger number, "
    "for example 0.02.",
    'metrics = ["godput_bps"]': 'metrics: "godput_bps": no point has this metric. The nearest is '
    "goodput_bps.",
    'metrics = ["flows.7.goodput_bps"]': 'metrics: "flows.7.goodput_bps": no point has this '
    "metric. The nearest is flows.0.goodput_bps.",
    'engines = ["solv"]': 'engines.0 = "solv": not an engine. The nearest is solve; '
    "expected one of: simulate, emulate, solve.",
    "grid = 4": "grid = 4: not a table of axes. Use axes with their values, for example "
    '"flows.0.cc" = ["newreno", "cubic"].',
    "grid.x = []": "grid.x = []: no values. Use one at least, or leave the axis out.",
    "grid.x = 3": "grid.x = 3: not a list of values. Use a list, for example [3].",
    "grid.x = [1, 1]": "grid.x.1 = 1: twice among the values of this axis. Name it once; it is "
    "number 0 already.",
    "grid.x = [nan]": "grid.x.0 = nan: not a value that a scenario can have. Use a number, a "
    "text, true or false, a list or a table.",
    "zip = {a = [1, 2], b = [1]}": "zip: lists of different lengths: a has 2, b has 1. Use lists "
    "of the same length.",
    "points = []": "points = []: no points. Use one at least, or leave this key out.",
    "grid.a = [1]\nzip.a = [2]": '"a" is in grid and in zip. Leave it in one of them.',
    "\n".join(f"grid.a{i} = {list(range(10))}" for i in range(9)): "1000000000 points. Use axes "
    "that give 1000000 at most.",
    "random = {samples = 1000000000, axes = {a = {choice = [1]}}}": "1000000000 points. Use axes "
    "that give 1000000 at most.",
    "random = {samples = 2, axes = {a = {uniform = ['1 s', '9 ms']}}}": "random.axes.a.uniform = "
    '["1 s", "9 ms"]: units "s" and "ms". Use both in one unit, for example '
    '["1 Mbit/s", "9 Mbit/s"].',
    "random = {samples = 2, axes = {a = {uniform = [3, 2]}}}": "random.axes.a.uniform = [3, 2]: "
    "the second is not above the first. Use the least value first, for example "
    '["1 Mbit/s", "9 Mbit/s"].',
    'random = {samples = 2, method = "halton", axes = {a = {choice = [1]}}}': "random.method = "
    '"halton": not a method. Expected one of: random, latin-hypercube, sobol.',
    "exclude = [{x = 1}]\n" + _GRID: "exclude.0.x = 1: no axis of this sweep. Expected one of: "
    "flows.0.cc.",
    'exclude = [{"flows.0.cc" = "cubik"}]\n' + _GRID: 'exclude.0."flows.0.cc" = "cubik": no value '
    "of this axis. Values are cubic, reno.",
    'exclude = [{"flows.0.cc" = "cubic"}, {"flows.0.cc" = "reno"}]\n' + _GRID: "exclude: leaves "
    "out every point. Leave one in.",
    'labels.values = {"flows.0.cc" = ["C"]}\n'
    + _GRID: 'labels.values."flows.0.cc" = ["C"]: as many as 1 for 2 '
    "values. Use one label for each.",
    'labels.axes = {"flows.0.c" = "C"}\n' + _GRID: 'labels.axes."flows.0.c" = "C": no axis of '
    "this sweep. The nearest is flows.0.cc; expected one of: flows.0.cc.",
    'labels.metrics = {goodput = "C"}\n' + _GRID: 'labels.metrics.goodput = "C": no metric of this '
    "sweep. The nearest is goodput_bps; expected one of: goodput_bps, p95_delay_s.",
    'labels.values = {"flows.0.cc" = ["C", "C"]}\n'
    + _GRID: 'labels.values."flows.0.cc": two values are called "C". Use different labels.',
    'grid.bottleneck.aqmm = ["codel"]\ngrid.flows.0.cc = ["cubic", "reno"]': "bottleneck.aqmm: "
    "unknown key. The nearest is aqm; expected one of: aqm, link. At 2 points, first "
    "bottleneck.aqmm = codel, flows.0.cc = cubic.",
    # A key is wrong with every value: one line for each axis.
    "grid.bottleneck.aqm.targt = [1, 2, 3]": "bottleneck.aqm.targt: unknown key. Expected one of: "
    "kind, limit. At 3 points, first bottleneck.aqm.targt = 1.",
    'grid.flows.3.cc = ["cubic", "reno"]': "flows.3.cc: flows has no entry 3. Use a position "
    "from 0 to 0. At 2 points, first flows.3.cc = cubic.",
    "[grid]": "grid: no axes. Use one at least, or leave this key out.",
    "zip = {}": "zip: no axes. Use one at least, or leave this key out.",
    'grid.bottleneck.link = [{kind = "trace", file = "no.trace"}]': "bottleneck.link.file = "
    '"no.trace": no such file: no.trace. Use a path from the scenario file, or "traces:NAME". '
    "At the point bottleneck.link = trace.",
    "grid.flows.0.count = [0, 1]": "flows.0.count = 0: below 1. Use an integer from "
    "1 on, for example 1. At the point flows.0.count = "
    "0.",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:30])
def test_invalid_file_is_rejected(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lte.toml").write_text(LTE)
    (tmp_path / "s.toml").write_text(f'scenario = "lte.toml"\n{text}')
    with pytest.raises(ap.errors.BadValueError) as raised:
        read_sweep_file("s.toml")
    assert str(raised.value) == f"s.toml: {BAD[text]}"


def test_scenario_and_sweep_file_are_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lte.toml").write_text(LTE)
    (tmp_path / "s.toml").write_text('scenario = "s.toml"')
    with pytest.raises(ap.errors.BadValueError) as raised:
        read_sweep_file("s.toml")
    assert str(raised.value) == "s.toml: a sweep file, not a scenario. airpath sweep runs it."
    with pytest.raises(ap.errors.BadValueError) as raised:
        read_sweep_file("lte.toml")
    assert str(raised.value) == (
        "lte.toml: a scenario, not a sweep file. Name it in one, or run it with airpath run."
    )


def test_all_problems_are_reported_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text('scenario = "no.toml"\nreps = 0\nseed = 1.5')
    with pytest.raises(ap.errors.BadValueError) as raised:
        read_sweep_file("s.toml")
    assert [line.partition(": ")[2].split(":")[0] for line in str(raised.value).splitlines()] == [
        "reps = 0",
        "seed = 1.5",
        "cannot be read",
    ]


BAD_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    (
        {"grid": {1: [2]}},
        "grid = {1 = [2]}: not a table of axes. Use axes with their values, for "
        'example "flows.0.cc" = ["newreno", "cubic"].',
    ),
    (
        {"grid": {"x": map(str, "ab")}},
        'grid.x = a map: not a list of values. Use a list, for example ["reno", "cubic"].',
    ),
    (
        {"grid": {"x": [None]}},
        "grid.x.0 = None: not a value that a scenario can have. Use a "
        "number, a text, true or false, a list or a table.",
    ),
    (
        {"grid": {"x": [ap.aqm.CoDel]}},
        "grid.x.0 = the class CoDel: not a value that a scenario can "
        "have. Use a number, a text, true or false, a list or a table.",
    ),
    ({"metrics": {"x": 3}}, "metrics.x = 3: not a function. Use a function of a Result."),
    (
        {"metrics": "jain"},
        'metrics = "jain": not a list of names. Use a list, for example ["goodput_bps"].',
    ),
    ({"metrics": ["jain", "jain"]}, 'metrics.1 = "jain": twice in the list. Name it once.'),
    (
        {"reps": True},
        "reps = true: not an integer. Use an integer from 1 to 1000000, for example 4.",
    ),
    (
        {"engines": "solve"},
        'engines = "solve": not a list. Use a list of words, for example ["simulate", "solve"].',
    ),
]


@pytest.mark.parametrize(
    ("keys", "line"),
    BAD_ARGUMENTS,
    ids=[f"{n}-{next(iter(bad[0]))}" for n, bad in enumerate(BAD_ARGUMENTS)],
)
def test_invalid_arguments_are_rejected(keys: dict[str, Any], line: str, base: ap.Scenario) -> None:
    with pytest.raises(ap.errors.BadValueError) as raised:
        described(base, **keys)
    assert str(raised.value) == f"airpath.sweep: {line}"


def test_invalid_base_is_reported_in_one_line() -> None:
    for base, line in (
        (3, "scenario = 3: no path, table, Scenario or function. Use one of them."),
        (lambda: 3, "3: what the function returned is no Scenario. Return one."),
    ):
        with pytest.raises(ap.errors.BadValueError) as raised:
            described(base)  # type: ignore[arg-type]
        assert str(raised.value) == f"airpath.sweep: {line}"


def test_numpy_values_and_quantities_are_accepted(base: ap.Scenario) -> None:
    grid = {
        "flows.0.count": np.array([1, 2]),
        "flows.0.base_rtt": [ap.units.Duration.parse("50 ms")],
    }
    plan = described(base, grid=grid, seed=np.int64(3), reps=np.int64(2)).plan
    assert (plan.seed, plan.rule.most) == (3, 2)
    assert [point.values for point in plan.points] == [
        {"flows.0.count": 1, "flows.0.base_rtt": "50 ms"},
        {"flows.0.count": 2, "flows.0.base_rtt": "50 ms"},
    ]
    assert Plan.of(json.loads(json.dumps(plan.to_dict()))).points == plan.points


def test_checked_points_are_reported(base: ap.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_points, "_AT_ONCE_S", 0.0)
    monkeypatch.setattr(progress, "_PAUSE_S", 0.0)
    reports: list[tuple[float, str]] = []
    grid = {"bottleneck.link.rate": ["1 Mbit/s", "none", "3 Mbit/s", "4 Mbit/s"]}
    with pytest.raises(ap.errors.BadValueError):
        described(base, grid=grid, notify=lambda *report: reports.append(report))
    assert reports[0] == (0.25, "checking, 1 of 4 points")
    assert reports[3] == (1.0, "checking, 4 of 4 points, 1 problem")


def test_ctrl_c_ends_the_checks(base: ap.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_points, "_AT_ONCE_S", 0.0)

    def press(_fraction: float, _text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        described(base, grid={"duration": ["1 s"]}, notify=press)
