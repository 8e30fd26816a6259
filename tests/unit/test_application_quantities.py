"""Quantities of applications in comparisons, sweeps, figures and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.comparison.quantities import quantities, result_values
from airpath.report.result import report_of_result
from airpath.results.applications import APPLICATIONS

METRICS = [
    "voice.calls.mos",
    "video.tv.stall_ratio",
    "video.tv.bitrate_bps",
    "requests.web.p99_page_s",
]


def scenario() -> ap.Scenario:
    video: dict[str, Any] = {"ladder": ["0.5 Mbit/s", "1 Mbit/s"], "limit": "20 s"}
    requests: dict[str, Any] = {"size": "10 kB", "objects": 4, "connections": 2}
    groups = (
        ap.flows(2, name="calls", source="voice", base_rtt="40 ms")
        + ap.flows(name="tv", video=video, base_rtt="40 ms", start={"uniform": ["0 s", "1 s"]})
        + ap.flows(2, name="web", requests=requests, base_rtt="40 ms")
        + ap.flows(name="bulk", base_rtt="40 ms")
    )
    return ap.Scenario(
        name="all applications",
        flows=groups,
        bottleneck=ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="4 Mbit/s")),
        duration="20 s",
        warmup="5 s",
    )


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(scenario(), reps=3)


def test_comparison_has_the_columns_of_each_table(result: ap.Result) -> None:
    wanted = {each.name: each for each in quantities(result.resolved, result.replications)}
    values = result_values(result, list(wanted.values()))
    for name, group in (("voice", "calls"), ("video", "tv"), ("requests", "web")):
        table = result.table(name)
        columns = APPLICATIONS[name].columns.values()
        for quantity, scale, decimals, unit in columns:
            if quantity in ("calls", "clients"):
                assert f"{name}.{group}.{quantity}" not in wanted
                continue
            found = wanted[f"{name}.{group}.{quantity}"]
            assert (found.of, found.unit, found.scale, found.decimals) == (
                *(group, unit, scale),
                decimals,
            )
            assert values[found.name] == table[quantity].tolist()
    assert wanted["voice.calls.mos"].title == "mean opinion score, calls"
    assert wanted["voice.calls.mos"].bounds == (1.0, 4.5)


def test_sweep_has_intervals_and_differences_of_applications() -> None:
    grid = {"flows.bulk.cc": ["reno", "cubic"]}
    sweep = ap.sweep(scenario(), grid=grid, metrics=METRICS, reps=5)
    points = sweep.points()
    assert points["metric"].unique().tolist() == METRICS
    assert (points["low"] <= points["mean"]).all()
    differences = sweep.differences("flows.bulk.cc", "voice.calls.mos", base="reno")
    assert len(differences) == 1


def test_figure_has_two_panels_for_each_application(result: ap.Result) -> None:
    figure = result.plot.applications()
    labels = [axis.get_ylabel().replace("\n", " ") for axis in figure.axes]
    assert labels == [
        *("mean opinion score", "mouth-to-ear delay, ms"),
        *("bitrate, Mbit/s", "share of time in stalls, %"),
        *("median page load time, s", "99th percentile of page load times, s"),
    ]
    mos: Any = figure.axes[0]
    [row] = result.intervals("voice")
    drawn = mos.containers[0].lines[0].get_ydata()
    assert np.asarray(drawn).tolist() == [row["mos"].mean]
    assert mos.get_ylim() == (1.0, 4.5)
    assert [text.get_text() for text in mos.get_xticklabels()] == ["calls"]
    assert len(result.plot.applications("video").axes) == 2


def test_figure_needs_an_application(result: ap.Result) -> None:
    made = scenario()
    bulk = ap.simulate(made.replace({"flows": ap.flows(base_rtt="40 ms")}), reps=1)
    with pytest.raises(ap.errors.BadValueError, match=r"^applications: the scenario has none"):
        bulk.plot.applications()
    assert "applications" not in bulk.plot.defaults()
    with pytest.raises(ap.errors.BadValueError, match=r'^application = "web": not one of'):
        result.plot.applications("web")


def test_load_times_have_distributions(result: ap.Result) -> None:
    runs = [run["requests"] for run in result.replications]
    pages = [time for run in runs for client in run for time in client["page_s"]]
    found = result.distribution("page_load_time", "web")
    assert found.total == len(pages)
    assert found.quantile(0.5) == pytest.approx(float(np.quantile(pages, 0.5)), rel=0.05)
    objects = result.distribution("object_load_time")
    assert objects.total == sum(len(client["object_s"]) for run in runs for client in run)
    with pytest.raises(ap.errors.BadValueError, match=r'of = "bulk": does not exist. Use web'):
        result.distribution("page_load_time", "bulk")


def test_report_and_files_contain_the_figures(result: ap.Result, tmp_path: Path) -> None:
    page = report_of_result(result)
    for title in ("Applications", "Page load time", "Voice calls", "Video clients", "Requests"):
        assert f">{title}<" in page, title
    names = {path.name for path in result.plot.save(tmp_path)}
    assert {"applications.png", "page-load-times.png"} <= names
