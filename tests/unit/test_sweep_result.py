"""Tables of a sweep: means and intervals of the replications that count, in the order of the plan;
equal sweeps give equal bytes.
"""

from __future__ import annotations

import csv
import json
import math
import multiprocessing
import pickle
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import airpath as ap
from airpath.results import mean_interval
from airpath.scenario.examples import shipped_examples
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.scales import metric_style, numbers_of
from random_examples import examples
from sweep_ledgers import GRID, plan_of, sweep_of

EXAMPLES = shipped_examples()
METRICS = ["goodput_bps", "utilisation"]


def measured(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
    packets = int(str(values["limit"]).split()[0])
    rate = 1e6 * packets * (2.0 if values["cc"] == "cubic" else 1.0)
    return {"goodput_bps": rate + 1e5 * number, "utilisation": 0.5 + 0.16 * number}


@pytest.fixture
def sweep(tmp_path: Path) -> ap.Sweep:
    return sweep_of(tmp_path, plan_of(GRID, METRICS), measured)


# --- tables ------------------------------------------------------------------------------------


def test_points_has_a_row_for_each_point_engine_and_metric_in_the_plans_order(
    tmp_path: Path,
) -> None:
    plan = plan_of(GRID, METRICS, engines=("simulate", "solve"))

    def solved(values: Mapping[str, Any]) -> dict[str, float | None] | str:
        return {"goodput_bps": 7.0} if values["cc"] == "cubic" else "flows.0.cc: not covered"

    table = sweep_of(tmp_path, plan, measured, solved=solved).points()
    assert list(table.columns) == [
        *("point", "cc", "limit", "engine", "metric", "mean", "low", "high", "reps"),
        "advisories",
    ]
    keys = ["point", "cc", "limit", "engine", "metric"]
    assert table[keys].to_numpy().tolist() == [
        [2 * i + j, cc, limit, engine, metric]
        for i, cc in enumerate(GRID["cc"])
        for j, limit in enumerate(GRID["limit"])
        for engine in ("simulate", "solve")
        for metric in METRICS
    ]
    first = table.iloc[0]
    expected = mean_interval([1e8 + 1e5 * n for n in range(4)], 0.99)
    assert (first["mean"], first["low"], first["high"], first["reps"]) == (
        expected.mean,
        expected.low,
        expected.high,
        4,
    )
    models = table[table["engine"] == "solve"]["mean"].tolist()
    assert all(map(math.isnan, models[:4]))
    assert models[4] == models[6] == 7.0
    assert table.attrs["units"] == {}
    failed = sweep_of(tmp_path, plan, measured, solved=solved).failures()
    assert failed[["point", "engine", "message"]].to_numpy().tolist() == [
        [n, "solve", "flows.0.cc: not covered"] for n in (0, 1)
    ]
    assert failed["replication"].isna().all()


def test_latex_has_a_column_for_each_metric_or_for_each_value_of_an_axis(sweep: ap.Sweep) -> None:
    def rows(source: str) -> list[str]:
        return [line for line in source.splitlines() if line.endswith(r" \\")]

    head, first, *_ = rows(sweep.to_latex("goodput_bps"))
    assert head == r"cc & limit, packets & goodput, Mbit/s \\"
    assert first == r"newreno & $100$ & $100.15 \pm 0.38$ \\"
    groups, head, first, second = rows(sweep.to_latex(["goodput_bps"], columns="cc"))
    assert groups == r" & \multicolumn{2}{c}{goodput, Mbit/s} \\"
    assert head == r"limit, packets & newreno & cubic \\"
    assert first == r"$100$ & $100.15 \pm 0.38$ & $200.15 \pm 0.38$ \\"
    assert second.startswith("$50$ & $50.15")


def test_document_has_every_point_with_its_intervals(tmp_path: Path) -> None:
    plan = plan_of(GRID, METRICS, engines=("simulate", "solve"))
    sweep = sweep_of(tmp_path, plan, measured, solved=lambda _: "flows.0.cc: not covered")
    document = sweep.to_dict()
    json.dumps(document, allow_nan=False)
    point = document["points"][1]
    assert point["axes"] == {"cc": "newreno", "limit": "50 packets"}
    assert point["simulate"]["goodput_bps"]["mean"] == 5e7 + 1.5e5
    assert (point["solve"], point["reason"]) == (None, "flows.0.cc: not covered")
    assert document["complete"]


def test_intervals_are_clipped_to_possible_values(sweep: ap.Sweep) -> None:
    table = sweep.points()
    shares = table[table["metric"] == "utilisation"]
    # 0.74 ± 5.84 · 0.207 / 2
    assert (shares["low"] > 0.1).all()
    assert (shares["high"] == 1.0).all()


def test_wide_table_has_the_numbers_of_the_tidy_table(sweep: ap.Sweep) -> None:
    tidy, wide = sweep.points(), sweep.wide()
    assert list(wide["reps"]) == [4] * 4
    for metric in METRICS:
        rows = tidy[tidy["metric"] == metric]
        for end, column in (("mean", metric), ("low", f"{metric}_low"), ("high", f"{metric}_high")):
            assert rows[end].tolist() == wide[column].tolist()
    assert wide.attrs["units"]["goodput_bps"] == "bit/s"


def test_runs_has_every_counted_replication(sweep: ap.Sweep) -> None:
    runs = sweep.runs()
    assert list(runs.columns) == ["point", "cc", "limit", "replication", *METRICS]
    assert runs["replication"].tolist() == [0, 1, 2, 3] * 4
    third = runs[(runs["point"] == 3) & (runs["replication"] == 2)].iloc[0]
    assert third["goodput_bps"] == 1e8 + 2e5


def test_point_counts_up_to_its_first_missing_replication(tmp_path: Path) -> None:
    def fails(values: Mapping[str, Any], number: int) -> dict[str, float | None] | str:
        is_bad = number == 2 and values["cc"] == "cubic"
        return "no memory" if is_bad else measured(values, number)

    sweep = sweep_of(tmp_path, plan_of(GRID, METRICS), fails)
    assert sweep.wide()["reps"].tolist() == [4, 4, 2, 2]
    assert sweep.unfinished == [2, 3]
    assert not sweep.complete
    failed = sweep.failures()
    assert failed["replication"].tolist() == [2, 2]
    assert failed["message"].tolist() == ["no memory"] * 2
    assert sweep.provenance["unfinished"] == 2


def test_only_replications_required_by_the_rule_count(tmp_path: Path) -> None:
    rule = Rule(3, 10, "goodput_bps", relative=0.5)
    plan = plan_of(GRID, METRICS, rule=rule)
    sweep = sweep_of(tmp_path, plan, measured, replications=7)
    assert sweep.wide()["reps"].tolist() == [3] * 4
    assert sweep.complete
    assert sweep.provenance["reps"] == {
        "min": 3,
        "max": 10,
        "until": {"metric": "goodput_bps", "relative": 0.5},
    }


def test_unmeasured_value_is_nan_and_not_counted(tmp_path: Path) -> None:
    def sometimes(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
        return {"goodput_bps": None if number else 5.0, "utilisation": None}

    sweep = sweep_of(tmp_path, plan_of(GRID, METRICS), sometimes)
    table = sweep.points()
    assert table["reps"].tolist() == [1, 0] * 4
    assert table["mean"].tolist()[0] == 5.0
    assert table["low"].isna().all()
    assert sweep.runs()["utilisation"].isna().all()


def test_axis_with_the_name_of_a_column_keeps_both(tmp_path: Path) -> None:
    plan = plan_of({"mean": [1, 2], "engine": ["a"]}, ["utilisation"])
    sweep = sweep_of(tmp_path, plan, lambda *_: {"utilisation": 0.5})
    table = sweep.points()
    assert table["mean (axis)"].tolist() == ["1", "2"]
    assert table["engine (axis)"].tolist() == ["a", "a"]
    assert table["mean"].tolist() == [0.5, 0.5]


def test_listed_point_may_omit_axes(tmp_path: Path) -> None:
    plan = plan_of([{"cc": "cubic"}, {"limit": "50 packets"}], ["utilisation"])
    sweep = sweep_of(tmp_path, plan, lambda *_: {"utilisation": 0.5})
    assert sweep.points()[["cc", "limit"]].to_numpy().tolist() == [
        ["cubic", ""],
        ["", "50 packets"],
    ]


# --- files -------------------------------------------------------------------------------------


def test_equal_sweeps_give_equal_bytes_in_any_order(tmp_path: Path) -> None:
    written = []
    for name in ("one", "other"):
        directory = tmp_path / name
        directory.mkdir()
        plan = plan_of(GRID, METRICS)
        sweep = sweep_of(directory, plan, measured, backwards=name == "other")
        paths = sweep.save(directory / "out", figure_formats=None)
        assert [path.name for path in paths] == ["points.csv", "runs.csv"]
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]
    text = written[0][0].decode()
    assert str(tmp_path) not in text
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert head[0] == f"# airpath {ap.__version__} ({ap._airpath.commit()})"  # type: ignore[attr-defined]
    assert "# seed: 1" in head
    assert head[-1] == "# x = 1"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
@examples(10)
def test_numbers_in_files_are_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    directory = tmp_path_factory.mktemp("sweep")
    plan = plan_of({"n": [1]}, ["mean_snr_db"])
    sweep = sweep_of(directory, plan, lambda _, number: {"mean_snr_db": values[number]})
    path = sweep.save(directory, figure_formats=None)[1]
    lines = path.read_text().splitlines()
    rows = csv.reader(line for line in lines if not line.startswith("#"))
    assert [float(row[-1]) for row in [*rows][1:]] == values


def test_sweep_is_loaded_from_its_directory_or_its_ledger(sweep: ap.Sweep) -> None:
    for path in (sweep.path, sweep.path.parent, str(sweep.path.parent)):
        assert ap.load_sweep(path).points().equals(sweep.points())


def test_file_that_is_no_sweep_is_rejected_in_one_line(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (empty, tmp_path / "nothing"):
        with pytest.raises(
            ap.errors.BadValueError, match=r"no sweep there\. Use the directory"
        ) as caught:
            ap.load_sweep(path)
        assert "\n" not in str(caught.value)
    foreign = tmp_path / "foreign.txt"
    foreign.write_text("hello")
    with pytest.raises(ap.errors.BadValueError, match=r"foreign\.txt"):
        ap.load_sweep(foreign)
    with Ledger.open(tmp_path / "ledger.sqlite"):
        pass
    with pytest.raises(ap.errors.BadValueError, match=r"ledger\.sqlite: no sweep in it\."):
        ap.load_sweep(tmp_path)


# --- user functions, other processes -----------------------------------------------------------


def short() -> ap.Scenario:
    return ap.load(EXAMPLES / "poisson-md1.toml", overrides={"duration": "1 s", "warmup": "0 s"})


def functions_sweep(directory: Path) -> ap.Sweep:
    """Return a stored sweep of one simulated point with two replications."""
    scenario = short()
    job, contents = job_of(scenario)
    point = Point(0, {}, {}, job.digest)
    metrics = ["goodput_bps", "mine"]
    plan = Plan("own", [], [point], Rule(2, 2), 3, True, 0.9, metrics, ["simulate"])
    with Ledger.open(directory / "ledger.sqlite") as ledger:
        ledger.set_plan(plan, {job.digest: job})
        ledger.add([(run, {"goodput_bps": 1.0}) for run in run_job(job, contents, 3, 0, 2)])
    return ap.Sweep(directory / "ledger.sqlite", {"mine": lambda result: -negative(result)})


def negative(result: ap.Result) -> float:
    assert len(result.replications) == 1
    assert not result.resolved.recording.series
    return float(result.table("flows")["goodput_bps"].sum())


def test_user_functions_are_called_for_every_replication(tmp_path: Path) -> None:
    sweep = functions_sweep(tmp_path)
    own = sweep.runs()["mine"].tolist()
    scenario = short()
    flows = ap.simulate(scenario, reps=2, seed=3).table("flows")
    assert own == [-rate for rate in flows["goodput_bps"]]
    # The value of a user function may be below 0, with any name.
    assert sweep.points()["low"].tolist()[1] < 0
    assert math.isnan(ap.load_sweep(tmp_path).points()["mean"].tolist()[1])


def test_failed_function_is_reported_and_the_table_is_kept(tmp_path: Path) -> None:
    functions_sweep(tmp_path)

    def failing_metric(result: ap.Result) -> float:
        if result.replications[0]["replication"] == 1:
            raise ValueError("no\nway")
        return 4.0

    sweep = ap.Sweep(tmp_path / "ledger.sqlite", {"mine": failing_metric})
    table = sweep.points().set_index("metric")
    assert (table.loc["mine", "mean"], table.loc["mine", "reps"]) == (4.0, 1)
    assert table.loc["goodput_bps", "reps"] == 2
    assert sweep.failures()[["replication", "message"]].to_numpy().tolist() == [
        [1, "mine: ValueError: no\\nway"]
    ]
    assert pickle.loads(pickle.dumps(sweep)).failures().equals(sweep.failures())


def shown_and_summed(shown: object) -> tuple[str, int]:
    text = shown._repr_html_()  # type: ignore[attr-defined]
    if isinstance(shown, ap.Sweep):
        return text, len(shown.points())
    return text, len(shown.table("flows") if isinstance(shown, ap.Result) else shown.flows)  # type: ignore[attr-defined]


def test_result_solution_and_sweep_work_in_other_processes(tmp_path: Path) -> None:
    scenario = short()
    sweep = functions_sweep(tmp_path)
    objects = [ap.simulate(scenario, reps=2), ap.solve(scenario), sweep]
    here = [shown_and_summed(each) for each in objects]
    assert all(text.startswith("<p><strong>") for text, _ in here)
    copied = pickle.loads(pickle.dumps(sweep))
    assert copied.runs().equals(sweep.runs())
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert list(pool.map(shown_and_summed, objects)) == here


def test_notebook_shows_the_first_points_and_failures(tmp_path: Path) -> None:
    def fails(values: Mapping[str, Any], number: int) -> dict[str, float | None] | str:
        return "a <b> problem" if values["n"] == 3 else {"goodput_bps": 2e6 + number}

    plan = plan_of({"n": list(range(30))}, ["goodput_bps"], name="a & b")
    page = sweep_of(tmp_path, plan, fails)._repr_html_()
    assert "a &amp; b" in page
    assert "30 points, 0 to 4 replications each · 99 % intervals · seed 1 · 1 unfinished" in page
    assert page.count("<tr>") == 1 + 20 + 1 + 4
    assert "The first 20 of 30 points." in page
    assert "a &lt;b&gt; problem" in page


# --- xarray, scales ----------------------------------------------------------------------------


def test_grid_is_an_array_with_a_dimension_for_each_axis(sweep: ap.Sweep) -> None:
    found = sweep.to_xarray()
    assert found["goodput_bps"].dims == ("cc", "limit", "engine")
    one = found.sel(cc="cubic", limit="50 packets", engine="simulate")
    assert float(one["goodput_bps"]) == 1e8 + 1.5e5
    assert int(one["goodput_bps_reps"]) == 4
    assert found["goodput_bps"].attrs == {"units": "bit/s"}


def test_points_that_are_no_grid_are_a_list(tmp_path: Path) -> None:
    plan = plan_of([{"a": n, "b": 0.1 * n} for n in range(6)], ["utilisation"])
    found = sweep_of(tmp_path, plan, lambda v, _: {"utilisation": v["b"]}).to_xarray()
    assert found["utilisation"].dims == ("point", "engine")
    assert found["b"].values.tolist() == [0.1 * n for n in range(6)]


def test_missing_xarray_is_reported_with_the_fix(
    sweep: ap.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(
        ap.errors.BadValueError, match=r"^to_xarray: needs xarray\. Install it with: pip"
    ):
        sweep.to_xarray()


@pytest.mark.parametrize(
    ("values", "numbers", "unit"),
    [
        ([3, 1.5], [3.0, 1.5], ""),
        (["500 kbit/s", "5 Mbit/s"], [0.5, 5.0], "Mbit/s"),
        (["1 packet", "50 packets"], [1.0, 50.0], "packets"),
        (["20 ms", "1 s"], [0.02, 1.0], "s"),
        (["3 dB", "-1.5 dB"], [3.0, -1.5], "dB"),
    ],
)
def test_texts_with_units_are_numbers(values: list[Any], numbers: list[float], unit: str) -> None:
    found = numbers_of(values)
    assert found is not None
    assert (list(found.of), found.unit) == (numbers, unit)


@pytest.mark.parametrize(
    "values", [[], ["codel", "pie"], [True, False], ["5 ms", "5 kB"], [1, "1 s"], [math.nan]]
)
def test_words_are_no_numbers(values: list[Any]) -> None:
    assert numbers_of(values) is None


def test_metrics_are_shown_in_a_suitable_unit() -> None:
    assert metric_style("goodput_bps", [4e6]).label == "goodput, Mbit/s"
    assert metric_style("p95_sojourn_s", [0.25, math.nan]).label == (
        "95th percentile of sojourn times, ms"
    )
    assert metric_style("queues.bottleneck.mean_sojourn_s", [2e-5]).label == (
        "mean sojourn time, µs"
    )
    assert metric_style("goodput_bps", [4e6], {"goodput_bps": "rate"}).label == "rate, Mbit/s"
    assert metric_style("max_packets", [9]).label == "largest queue length, packets"
    assert metric_style("jain", [0.9]) == metric_style("jain", [])
    assert metric_style("retransmissions", [3]).label == "retransmissions"
