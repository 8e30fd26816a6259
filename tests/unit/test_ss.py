"""The senders' state over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import airpath as ap


def make(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": ap.flows(2, cc="newreno", base_rtt="40 ms", start={"uniform": ["0 s", "1 s"]})
        + ap.flows(source="cbr", rate="1 Mbit/s"),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="15 packets"), link=ap.link.Fixed(rate="5 Mbit/s", loss=0.002)
        ),
        "duration": "20 s",
        "warmup": "4 s",
        "record": {"ss": True, "series": ["cwnd", "ssthresh", "rtt", "delivered"]},
    }
    return ap.Scenario(**(keys | changes))


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(make(), reps=2, seed=3)


def test_table_has_one_row_per_tcp_flow_and_interval(result: ap.Result) -> None:
    ss = result.ss(1)
    assert len(ss) == 2 * 200
    assert list(ss["flow"][:4]) == [0, 1, 0, 1]
    assert np.allclose(ss["time_s"][::2], np.arange(1, 201) / 10)


@pytest.mark.parametrize("interval", ["1 ms", "100 ms", "7 s", "30 s"])
def test_sampling_changes_no_result(result: ap.Result, interval: str) -> None:
    record = {"series": ["cwnd", "ssthresh", "rtt", "delivered"]}
    plain = ap.simulate(make(record=record), reps=1, seed=3)
    sampled = ap.simulate(
        make(record=record | {"ss": True, "ss_interval": interval}), reps=1, seed=3
    )
    assert sampled.replications == plain.replications
    for name in record["series"]:
        pd.testing.assert_frame_equal(sampled.series(name), plain.series(name))


def test_sample_contains_the_changes_before_it(result: ap.Result) -> None:
    """Samples are compared with the recorded series of ssthresh, and with that of cwnd outside of
    recovery: during recovery the recorded cwnd is inflated.
    """
    ss = result.ss()
    for flow in (0, 1):
        rows = ss[(ss["flow"] == flow) & ss["state"].isin(["slow-start", "avoidance"])]
        for name in ("cwnd", "ssthresh"):
            series = result.series(name)
            changes = series[series["id"] == flow]
            last = np.searchsorted(changes["time_s"], rows["time_s"]) - 1
            known = last >= 0
            expected = changes["value"].to_numpy()[last[known]] / 1460
            expected = np.where(expected > 1e12, np.nan, expected)
            # The series is written after the processing of an ACK, in integer bytes.
            found = rows[name].to_numpy()[known]
            np.testing.assert_allclose(found, expected, rtol=1e-12, equal_nan=True)


def test_acknowledged_bytes_grow_at_the_delivery_rate(result: ap.Result) -> None:
    for _, rows in result.ss().groupby("flow"):
        steps = np.diff(rows["bytes_acked"], prepend=0)
        assert (steps >= 0).all()
        np.testing.assert_allclose(rows["delivery_rate_bps"], steps * 8 / 0.1)


def test_retransmissions_count_from_the_start_of_the_run_including_warmup(
    result: ap.Result,
) -> None:
    ss, flows = result.ss(), result.table("flows").query("replication == 0")
    for flow in (0, 1):
        rows = ss[ss["flow"] == flow].set_index("time_s")["retrans"]
        assert rows.is_monotonic_increasing
        measured = flows.set_index("flow").loc[flow, "retransmissions"]
        assert rows.iloc[-1] - rows.loc[4.0] == measured
        assert rows.loc[4.0] > 0


def test_states_of_a_connection(tmp_path: Path) -> None:
    scenario = make(
        flows=ap.flows(cc="newreno", base_rtt="200 ms", start="1 s", size="400 kB"),
        record={"ss": True, "ss_interval": "10 ms"},
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="8 packets"), link=ap.link.Fixed(rate="5 Mbit/s")
        ),
        warmup="0 s",
        duration="60 s",
    )
    result = ap.simulate(scenario, reps=1)
    ss = result.ss()
    seen = list(dict.fromkeys(ss["state"]))
    assert seen[:3] == ["closed", "syn-sent", "slow-start"]
    assert seen[-1] == "done"
    assert set(ss["state"]) - {"avoidance", "loss"} == {
        "closed", "syn-sent", "slow-start", "recovery", "done"
    }  # fmt: skip
    assert ss[ss["state"] == "closed"]["time_s"].max() == pytest.approx(1.0)
    done = ss[ss["state"] == "done"]
    assert (done["bytes_acked"] == 400_000).all()
    assert (done[["unacked", "in_flight_bytes"]] == 0).all(axis=None)
    assert ss["pacing_rate_bps"].isna().all()
    assert ss["rtt_s"].min() >= 0.2


def test_backoff_doubles_while_the_link_is_stopped() -> None:
    scenario = make(
        flows=ap.flows(cc="newreno", base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="100 packets"), link=ap.link.Fixed(rate="5 Mbit/s")
        ),
        control=[ap.Control(at="5 s", rate="1 bit/s")],
        record={"ss": True},
    )
    ss = ap.simulate(scenario, reps=1).ss()
    stalled = ss[ss["time_s"] > 6.5]
    assert (stalled["state"] == "loss").all()
    assert stalled["backoff"].iloc[-1] >= 3
    rto, doubled = stalled["rto_s"].to_numpy(), 2.0 ** stalled["backoff"].to_numpy()
    assert np.allclose(rto / doubled, rto[0] / doubled[0])


def test_missing_recording_is_reported(result: ap.Result) -> None:
    with pytest.raises(ap.errors.BadValueError, match=r"^ss: not recorded. Set record.ss = true.$"):
        ap.simulate(make(record={}), reps=1).ss()
    with pytest.raises(ap.errors.BadValueError, match="replication = 2: does not exist"):
        result.ss(2)


def test_file_has_all_replications(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path, figure_formats=None)
    found = pd.read_csv(tmp_path / "ss.csv", comment="#")
    assert len(found) == 2 * 400
    one = found[found["replication"] == 1].drop(columns="replication").reset_index(drop=True)
    pd.testing.assert_frame_equal(one, result.ss(1), check_dtype=False, rtol=1e-14)
