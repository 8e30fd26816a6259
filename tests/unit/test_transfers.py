"""Completion times of transfers: by group and size, and relative to an empty path."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.engine.prepared import prepare
from airpath.sweeps.metrics import evaluate


def scenario(*groups: list[ap.traffic.Source], **keys: Any) -> ap.Scenario:
    given: dict[str, Any] = {
        "flows": [flow for group in groups for flow in group],
        "bottleneck": ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="100 Mbit/s")),
        "duration": "60 s",
    }
    return ap.Scenario(**(given | keys))


def transfers(count: int = 200, rate: str = "10 /s", **keys: Any) -> list[ap.traffic.Source]:
    given: dict[str, Any] = {"size": "20 kB", "base_rtt": "20 ms"}
    return ap.flows(count, arrivals={"poisson": rate}, **(given | keys))


def test_completion_times_include_flows_that_start_after_the_warmup() -> None:
    groups = [transfers(300, "10 /s", size={"exponential": "50 kB"}), transfers(10, "1 /s")]
    result = ap.simulate(scenario(*groups, warmup="10 s", duration="25 s"), reps=3)
    flows = result.table("flows")
    flows["group"] = np.where(flows["flow"] < 300, 0, 1)
    flows = flows[flows["start_s"].between(10, 25, inclusive="left")]
    flows["time"] = flows["completed_at_s"] - flows["start_s"]
    table = result.table("transfers").set_index(["replication", "group"])
    assert len(table) == 6
    for key, members in flows.groupby(["replication", "group"]):
        row, times = table.loc[key], members["time"].dropna()
        assert row["started"] == len(members)
        assert row["completed"] == len(times)
        assert row["unfinished"] == len(members) - len(times)
        assert row["mean_s"] == pytest.approx(times.mean())
        assert row["median_s"] == pytest.approx(times.median())
        assert row["p95_s"] == pytest.approx(times.quantile(0.95))
        assert row["p99_s"] == pytest.approx(times.quantile(0.99))
    # The edge 50 kB: half of the sizes of the first group are on either side.
    first = flows[(flows["group"] == 0) & flows["time"].notna()].assign(
        small=lambda table: table["transfer_bytes"] <= 50_000
    )
    sizes = result.table("transfer_sizes", size_edges=["50 kB"])
    sizes = sizes[sizes["group"] == 0].set_index(["replication", "size_class"])
    for (run, is_small), members in first.groupby(["replication", "small"]):
        row = sizes.loc[(run, "0B-50kB" if is_small else "50kB-")]
        assert row["completed"] == len(members)
        assert row["p95_s"] == pytest.approx(members["time"].quantile(0.95))
    metric = "transfers.0.50kB-.p95_s"
    found = evaluate([metric, "transfers.0.50kB.p95_s"], result.replications[1], result.resolved)
    assert list(found.values()) == [sizes.loc[(1, "50kB-"), "p95_s"], None]


def test_slowdown_is_relative_to_the_time_on_an_empty_path() -> None:
    group = ap.flows(size="100 kB", base_rtt="60 ms", access={"rate": "50 Mbit/s"})
    link = ap.link.Fixed(rate="100 Mbit/s", delay="5 ms")
    bottleneck = ap.Bottleneck(aqm="droptail", link=link)
    found = ap.simulate(scenario(group, duration="5 s", bottleneck=bottleneck), reps=1)
    row = found.table("transfers").iloc[0]
    mss, header = 1460, 40
    size = 100_000 + math.ceil(100_000 / mss) * header
    assert row["mean_slowdown"] == pytest.approx(row["mean_s"] / (0.06 + 8 * size / 50e6))


@pytest.mark.parametrize(
    "link",
    [
        {"kind": "fixed", "rate": "5 Mbit/s", "delay": "10 ms"},
        {"kind": "rlc-am", "rate": "384 kbit/s", "delay": "20 ms", "reverse_delay": "30 ms"},
        {"kind": "ofdma-tdd", "stations": 2},
    ],
)
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_base_rtt_of_the_resolved_path_is_the_given_one(link: Any, direction: str) -> None:
    path = {"bottleneck": {"aqm": "droptail", "link": link}, "ack_path": {"kind": "reverse"}}
    group = ap.flows(base_rtt="180 ms", direction=direction)
    resolved = prepare(scenario(group, **path, backhaul={"delay": "4 ms"})).resolved
    assert resolved.base_rtt_s(resolved.flows[0]) == 0.18


@pytest.mark.parametrize("edges", [[], ["1 MB", "10 kB"], ["10 kB", 5], "10 kB", [0]])
def test_size_edges_must_be_increasing_sizes(edges: Any) -> None:
    found = ap.simulate(scenario(transfers(1), duration="1 s"), reps=1)
    with pytest.raises(ap.errors.BadValueError, match="not edges of size classes"):
        found.table("transfer_sizes", size_edges=edges)


def test_unfinished_transfers_are_counted_without_a_time() -> None:
    at_once = {"delayed_ack_segments": 1}
    group = ap.flows(3, size="1 GB", base_rtt="20 ms")
    group += ap.flows(2, size="1 kB", base_rtt="20 ms", tcp=at_once)
    result = ap.simulate(scenario(group, duration="5 s"), reps=1)
    table = result.table("transfers")
    assert table["unfinished"].tolist() == [3, 0]
    assert table["mean_s"].isna().tolist() == [True, False]
    first, second = result.to_dict()["transfers"]
    assert first["mean_s"]["mean"] is None
    # The SYN and its answer, and the data and its ACK.
    assert second["median_s"]["mean"] == pytest.approx(0.04, abs=0.002)


def test_result_without_transfers_has_no_table(tmp_path: Any) -> None:
    result = ap.simulate(scenario(ap.flows(base_rtt="20 ms"), duration="2 s"), reps=1)
    assert result.table("transfers").empty
    assert "transfers" not in result.to_dict()
    assert not any(path.stem == "transfers" for path in result.save(tmp_path, figure_formats=None))
