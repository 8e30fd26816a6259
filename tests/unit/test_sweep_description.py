"""A sweep file, and the same from Python: the points that it describes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import airpath as ap
from airpath.sweep.description import Description, described, load_sweep

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


def sweep(folder: Path, text: str) -> Description:
    (folder / "lte.toml").write_text(LTE)
    (folder / "sweep.toml").write_text(text)
    return load_sweep(folder / "sweep.toml")


@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_a_file_gives_points_in_order_with_their_jobs(tmp_path: Path) -> None:
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
    assert job["bottleneck"]["queue"] == {"kind": "droptail", "limit": {"packets": 50}}
    assert job["flows"][0]["source"]["congestion"]["kind"] == "cubic"
    assert found.scenarios(3).bottleneck.aqm.document()["kind"] == "codel"


def test_python_gives_the_same_points_as_the_file(tmp_path: Path) -> None:
    of_file = sweep(tmp_path, SWEEP).plan
    parts = [ap.DropTail(limit="50 packets"), ap.CoDel(limit="100 packets")]
    plan = described(
        tmp_path / "lte.toml",
        grid={"bottleneck.aqm": parts, "flows.0.cc": ["newreno", "cubic"]},
    ).plan
    assert [point.digest for point in plan.points] == [point.digest for point in of_file.points]
    assert [point.labels for point in plan.points] == [point.labels for point in of_file.points]
