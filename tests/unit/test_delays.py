"""Quantiles of delays in tables, printed output and figures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.engine.vocabulary import names
from airpath.results.compare import comparison_figure
from airpath.results.overview import source_name, tables
from airpath.results.quantities import DELAY_QUANTILES, resolution

ERROR = 1 / 64
"""Relative error of a quantile, as documented."""
LEVELS = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@pytest.fixture(scope="module")
def result() -> ap.Result:
    scenario = ap.Scenario(
        flows=ap.flows(2, cc="newreno", base_rtt="20 ms")
        + ap.flows(cc="cubic", base_rtt="200 ms")
        + ap.flows(source="cbr", rate="1 Mbit/s", start="19.99 s", base_rtt="80 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="10 Mbit/s")),
        duration="20 s",
        warmup="4 s",
        record={"series": ["sojourn"]},
    )
    return ap.simulate(scenario, reps=3, seed=7)


def exact(values: np.ndarray[Any, Any], level: float) -> float:
    return float(np.sort(values)[math.ceil(level * len(values)) - 1])


def test_quantiles_of_a_queue_are_those_of_the_recorded_packets(result: ap.Result) -> None:
    for index, row in result.table("queues").set_index("replication").iterrows():
        series = result.series("sojourn", int(str(index)))
        waits = series.loc[series["time_s"] >= 4, "value"].to_numpy()
        for name, level in LEVELS.items():
            assert row[f"{name}_sojourn_s"] == pytest.approx(exact(waits, level), rel=ERROR)


def test_quantiles_of_a_group_cover_all_its_packets(
    result: ap.Result,
) -> None:
    groups = result.table("groups").set_index(["replication", "group"])
    flows = result.table("flows").set_index(["replication", "flow"])
    for number, run in enumerate(result.replications):
        assert groups.loc[(number, 1), "p95_delay_s"] == flows.loc[(number, 2), "p95_delay_s"]
        for name in ("p95_delay_s", "p95_ack_delay_s"):
            ends = [flows.loc[(number, flow), name] for flow in (0, 1)]
            assert min(ends) <= groups.loc[(number, 0), name] <= max(ends)
        # No packet of the last group arrived.
        assert groups.loc[(number, 2), list(DELAY_QUANTILES)].isna().all()
        assert run["together"]["groups"][2] == {"group": 2, **dict.fromkeys(DELAY_QUANTILES)}
    # One of three flows has a path that is 90 ms longer: it determines the 95th percentile of all
    # flows.
    everything = result.summary()["p95_delay_s"]["mean"]
    assert everything["all"] > 1.5 * everything[0]


def test_ack_delay_equals_the_wire_delay_and_datagrams_have_none(result: ap.Result) -> None:
    flows = result.table("flows").set_index(["replication", "flow"])
    for name in ("p50_ack_delay_s", "p95_ack_delay_s", "p99_ack_delay_s"):
        for number in range(3):
            of = flows[name].loc[number]
            assert of.loc[[0, 1, 2]].tolist() == [0.01, 0.01, 0.1]
            assert math.isnan(of.loc[3])
    assert result.table("flows").attrs["units"]["p95_ack_delay_s"] == "s"
    # Two of three flows have the short path.
    everything = result.intervals("flows")[-1]
    found = everything["p50_ack_delay_s"]
    assert found.mean == pytest.approx(0.01, rel=1e-15)
    # The interval is one bucket wide, although the replications are equal.
    assert (found.low, found.high) == pytest.approx((0.01 * (1 - 1 / 128), 0.01 * (1 + 1 / 128)))
    assert not found.varies


def test_quantiles_have_intervals_and_are_ordered(result: ap.Result) -> None:
    (queue,) = result.intervals("queues")
    for rows, of in ((queue, "sojourn_s"), (result.intervals("flows")[-1], "delay_s")):
        low, middle, high = (rows[f"{name}_{of}"] for name in LEVELS)
        assert low.mean <= middle.mean <= high.mean
        assert middle.low <= middle.mean <= middle.high
        assert middle.reps == 3


def test_printed_table_has_queues_groups_and_a_total(result: ap.Result) -> None:
    table = next(each for each in tables(result, "files") if each.title == "Delays of packets")
    assert list(table.columns) == ["delay", "median", "p95", "p99"]
    assert [row[0] for row in table.rows] == [
        "sojourn time, bottleneck",
        "one way, group 0: 2 newreno",
        "one way, group 1: 1 cubic",
        "one way, group 2: 1 cbr",
        "one way, all 4",
        "one way, ACKs",
    ]
    assert list(table.rows[3][1:]) == ["–", "–", "–"]


def test_figures_of_delays_label_median_and_95th_percentile(result: ap.Result) -> None:
    panel = result.plot.delay(replication=1).axes[0]
    queue = result.replications[1]["queues"][0]
    labelled = {text.get_text(): text.xy[1] for text in panel.texts if hasattr(text, "xy")}
    assert labelled["median"] == 1e3 * queue["p50_sojourn_s"]
    assert labelled["p95"] == 1e3 * queue["p95_sojourn_s"]
    spread = comparison_figure({"one": result}, "waits").axes[1]
    assert {"median", "p95"} <= {text.get_text() for text in spread.texts}


def test_resolution_equals_that_of_the_engines_histogram() -> None:
    source = Path("crates/core/src/histogram.rs").read_text("utf-8")
    assert "RELATIVE_ERROR: f64 = 1.0 / OCTAVE as f64" in source
    assert "const OCTAVE: u64 = 64;" in source
    assert resolution("queues.bottleneck.p95_sojourn_s") == ERROR / 2
    assert all(map(resolution, DELAY_QUANTILES))
    assert resolution("mean_sojourn_s") == resolution("transfers.0.p95_s") == 0
    measured = [*names("flow"), *names("queue"), *names("link")]
    assert all(map(resolution, (name for name in measured if name[1:3] in ("50", "95", "99"))))


def test_recovery_is_shown_if_it_distinguishes_flows() -> None:
    """A CUBIC flow is called "cubic+newreno" only if another flow has a different loss recovery."""
    common = {"base_rtt": "40 ms", "cc": "cubic"}
    sack = ap.flows(1, tcp={"recovery": "sack"}, **common)
    others = [*ap.flows(1, **common), *ap.flows(1, base_rtt="40 ms")]
    link = ap.link.Fixed(rate="1 Mbit/s")
    named = {}
    for flows in ([*sack, *others], others):
        bottleneck = ap.Bottleneck(aqm="droptail", link=link)
        scenario = ap.Scenario(flows=flows, bottleneck=bottleneck, duration="1 s")
        resolved = ap.simulate(scenario, reps=1).resolved
        named[len(flows)] = [source_name(resolved, flow) for flow in range(len(flows))]
    assert named[3] == ["cubic (sack recovery)", "cubic (newreno recovery)", "newreno"]
    assert named[2] == ["cubic", "newreno"]
