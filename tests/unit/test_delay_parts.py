"""Parts of the delays by hop: tables, files, overview and figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import airpath as ap
from airpath.errors import BadValueError
from airpath.results.delay_parts import PARTS, delay_part_intervals, delay_part_rows
from airpath.results.overview import tables

KEY = ["flow", "delay", "hop", "direction", "part"]


@pytest.fixture(scope="module")
def result() -> ap.Result:
    scenario = ap.Scenario(
        flows=[*ap.flows(2, cc="newreno", base_rtt="40 ms")],
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="30 packets"),
            link=ap.link.Fixed(rate="5 Mbit/s", loss=0.05, arq={"delay": "20 ms"}, in_order=True),
        ),
        ack_path=ap.ack_path.Reverse(
            link=ap.link.Fixed(rate="1 Mbit/s"), aqm=ap.aqm.DropTail(limit="100 packets")
        ),
        backhaul={"rate": "50 Mbit/s", "delay": "5 ms"},
        duration="5 s",
        warmup="1 s",
        record={"delay_parts": True},
    )
    return ap.simulate(scenario, reps=2, seed=1)


def test_parts_add_up_to_the_mean_delay(result: ap.Result) -> None:
    parts = result.table("delay_parts")
    assert list(parts)[:6] == ["replication", *KEY]
    data = parts.query("delay == 'data'").groupby(["replication", "flow"])
    flows = result.table("flows").set_index(["replication", "flow"])
    assert data["mean_s"].sum().to_numpy() == pytest.approx(flows["mean_delay_s"], rel=1e-12)
    assert (data["count"].first() == flows["delivered_packets"]).all()
    shares = parts.groupby(["replication", "flow", "delay"])["share"].sum()
    assert shares.to_numpy() == pytest.approx(1)
    assert set(parts["part"]) == set(PARTS)
    assert (parts["mean_s"] >= 0).all()


def test_hops_of_a_round_trip_are_in_the_order_of_the_path(result: ap.Result) -> None:
    rows = result.table("delay_parts").query("replication == 0 and flow == 0")
    rows = rows.query("delay == 'round_trip'")
    hops = list(dict.fromkeys(zip(rows["hop"], rows["direction"], strict=True)))
    assert hops[:3] == [("backhaul", "forward"), ("bottleneck", "forward"), ("egress", "forward")]
    assert ("receiver", "") in hops
    assert hops.index(("bottleneck", "reverse")) < hops.index(("backhaul", "reverse"))


def test_intervals_cover_the_replications(result: ap.Result) -> None:
    rows = result.intervals("delay_parts")
    table = result.table("delay_parts").groupby(KEY, sort=False)["mean_s"].mean()
    assert [tuple(row[name] for name in KEY) for row in rows] == list(table.index)
    assert [row["mean_s"].mean for row in rows] == pytest.approx(table.to_list())
    assert all(row["mean_s"].low <= row["mean_s"].mean <= row["mean_s"].high for row in rows)
    assert result.summary("delay_parts").index.names == KEY
    groups = delay_part_intervals(result.replications, "group", 0.95)
    assert {row["group"] for row in groups} == {0}


def test_parts_are_in_json_files_and_overview(result: ap.Result, tmp_path: Path) -> None:
    document = result.to_dict()
    assert len(document["delay_parts"]) == len(result.intervals("delay_parts"))
    result.save(tmp_path / "out")
    assert {"delay-parts.csv", "delay-parts.png"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    loaded = ap.load_result(tmp_path / "out")
    assert loaded.table("delay_parts").equals(result.table("delay_parts"))
    assert "Parts of the mean delays" in [table.title for table in tables(result, "")]


def test_figure_ends_at_the_mean_round_trip(result: ap.Result) -> None:
    (axis,) = result.plot.delay_parts().axes
    ends = [bar.get_x() + bar.get_width() for bar in axis.patches]
    rows = delay_part_intervals(result.replications, "group", 0.95)
    total = sum(row["mean_s"].mean for row in rows if row["delay"] == "round_trip")
    assert max(ends) == pytest.approx(1e3 * total)
    assert len(result.plot.delay_parts(group=0, delay="ack").axes) == 1


def test_without_the_record_there_are_no_parts() -> None:
    plain, recorded = (
        ap.simulate(
            ap.Scenario(
                flows=ap.flows(1, cc="newreno", base_rtt="40 ms"),
                bottleneck=ap.Bottleneck(
                    aqm=ap.aqm.DropTail(limit="30 packets"), link=ap.link.Fixed(rate="5 Mbit/s")
                ),
                duration="1 s",
                record={"delay_parts": is_recorded},
            ),
            reps=1,
        )
        for is_recorded in (False, True)
    )
    assert plain.table("delay_parts").empty
    assert "delay_parts" not in plain.to_dict()
    assert plain.table("flows").equals(recorded.table("flows"))
    with pytest.raises(BadValueError, match=r"Set record\.delay_parts = true"):
        plain.plot.delay_parts()
    with pytest.raises(BadValueError, match="group 0 data"):
        recorded.plot.delay_parts(group=7)


def test_parts_missing_in_a_replication_have_no_values_in_it() -> None:
    entry = {
        "flow": 0,
        "group": 0,
        "delay": "data",
        "count": 2,
        "total_ns": 4,
        "hop": ["a", "a"],
        "direction": ["forward", "forward"],
        "part": ["queueing", "service"],
        "sum_ns": [0, 4],
    }
    runs = [{"replication": 0, "delay_parts": [entry]}, {"replication": 1}]
    (row,) = delay_part_rows(runs)
    assert (row["part"], row["count"], row["share"]) == ("service", 2, 1.0)
    assert np.isclose(row["mean_s"], 2e-9)
