"""Statistics under the names of ns-3's FlowMonitor, checked against captures of the same run."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

import airpath as ap
from capture_files import Capture, Frame


def make(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": ap.flows(2, cc="newreno", base_rtt="40 ms", tcp={"recovery": "sack"})
        + ap.flows(source="poisson", rate="1 Mbit/s"),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="5 Mbit/s", loss=0.01)
        ),
        "ack_path": ap.ack_path.Link(
            link=ap.link.Fixed(rate="60 kbit/s"), aqm=ap.aqm.DropTail(limit="5 packets")
        ),
        "duration": "20 s",
        "record": {"flow_monitor": True},
    }
    return ap.Scenario(**(keys | changes))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flow-monitor")


@pytest.fixture(scope="module")
def result(directory: Path) -> ap.Result:
    return ap.simulate(make(), seed=2, reps=2, capture=["sender", "receiver"], capture_to=directory)


@pytest.fixture(scope="module")
def table(result: ap.Result) -> pd.DataFrame:
    return result.flow_monitor().query("replication == 0").set_index(["flow", "direction"])


def test_data_and_acks_are_separate_flows_and_datagrams_are_one(result: ap.Result) -> None:
    found = result.flow_monitor()
    one = [(0, "data"), (0, "ack"), (1, "data"), (1, "ack"), (2, "data")]
    assert list(zip(found["flow"], found["direction"], strict=True)) == one * 2
    assert list(found["flowId"]) == [1, 2, 3, 4, 5] * 2
    assert list(found["protocol"][:5]) == [6, 6, 6, 6, 17]


def test_monitoring_does_not_change_results(result: ap.Result) -> None:
    plain = ap.simulate(make(record={}), seed=2, reps=2)
    assert plain.replications == result.replications


def test_counts_and_times_equal_those_of_captures(result: ap.Result, table: pd.DataFrame) -> None:
    """Sizes are compared without the SYN, which has its options in a capture."""
    at = {point: Capture(path).frames for point, path in result.captures.items()}
    for key, row in table.iterrows():
        end = row["sourceAddress"]
        sent_at, got_at = ("sender", "receiver") if key[1] == "data" else ("receiver", "sender")
        for prefix, name, point in (("tx", "Tx", sent_at), ("rx", "Rx", got_at)):
            frames = [frame for frame in at[point] if frame.source[0] == end]
            assert row[f"{prefix}Packets"] == len(frames)
            assert row[f"{prefix}Bytes"] == sum(map(charged, frames))
            assert row[f"timeFirst{name}Packet"] == frames[0].time_ns / 1e9
            assert row[f"timeLast{name}Packet"] == frames[-1].time_ns / 1e9


def charged(frame: Frame) -> int:
    is_syn = frame.head[9] == 6 and frame.flags & 2
    return 40 if is_syn else frame.length


def test_delay_and_jitter_equal_those_of_captured_datagrams(
    result: ap.Result, table: pd.DataFrame
) -> None:
    """Datagrams of one flow are not reordered; their identifications distinguish them."""
    sent, received = (
        [f for f in Capture(result.captures[point]).frames if f.head[9] == 17]
        for point in ("sender", "receiver")
    )
    queue = iter(sent)
    delays = []
    for frame in received:
        left = next(f for f in queue if f.head[4:6] == frame.head[4:6])
        delays.append((frame.time_ns - left.time_ns) / 1e9)
    row = table.loc[2, "data"]
    assert row["delaySum"] == pytest.approx(sum(delays), rel=1e-9)
    jitter = sum(abs(b - a) for a, b in itertools.pairwise(delays))
    assert row["jitterSum"] == pytest.approx(jitter, rel=1e-9)
    assert row["lastDelay"] == pytest.approx(delays[-1], rel=1e-9)
    assert (row["minDelay"], row["maxDelay"]) == pytest.approx((min(delays), max(delays)))


def test_delays_and_receptions_equal_those_of_the_receivers() -> None:
    """The receivers count separately from the monitor; the counts differ only by the SYN."""
    result = ap.simulate(make(warmup="0 s", ack_path=ap.ack_path.Ideal()), seed=3)
    found = result.flow_monitor().query("replication == 0 and direction == 'data'")
    for flow in result.replications[0]["flows"]:
        stats = found.set_index("flow").loc[flow["id"]]
        syns = 1 if flow["kind"] == "tcp" else 0
        assert stats["rxPackets"] == flow["delivered_packets"] + syns
        mean = (stats["delaySum"] - syns * stats["minDelay"]) / flow["delivered_packets"]
        assert mean == pytest.approx(flow["mean_delay_s"], rel=1e-9)


def test_every_loss_has_a_reason(result: ap.Result, table: pd.DataFrame) -> None:
    reasons = ["packetsDropped_overflow", "packetsDropped_early", "packetsDropped_channel"]
    assert (table[reasons].sum(axis=1) == table["lostPackets"]).all()
    on_the_way = table["txPackets"] - table["rxPackets"] - table["lostPackets"]
    assert on_the_way.between(0, 60).all()
    run = result.replications[0]
    data, acks = (table.xs(name, level="direction") for name in ("data", "ack"))
    assert data["packetsDropped_early"].sum() == run["queues"][0]["drops"]["early"] > 0
    assert data["packetsDropped_channel"].sum() == run["links"][0]["lost_packets"] > 0
    assert acks["packetsDropped_overflow"].sum() == run["queues"][1]["drops"]["overflow"] > 0
    assert acks["bytesDropped_overflow"].sum() >= 40 * acks["packetsDropped_overflow"].sum()


def test_every_arrival_at_a_shared_link_counts_as_forwarded(
    result: ap.Result, table: pd.DataFrame
) -> None:
    arrived = [queue["arrived"] for queue in result.replications[0]["queues"]]
    by_direction = table.groupby("direction")["timesForwarded"].sum()
    assert [by_direction["data"], by_direction["ack"]] == arrived


def test_monitor_starts_at_the_end_of_the_warm_up() -> None:
    """Therefore rxBytes corresponds to the IP throughput."""
    result = ap.simulate(make(warmup="5 s"), reps=1)
    data = result.flow_monitor().query("direction == 'data'")
    throughput = result.table("flows")["ip_throughput_bps"].to_numpy()
    assert data["rxBytes"].to_numpy() * 8 / 15 == pytest.approx(throughput)
    assert (data["timeFirstTxPacket"] >= 5).all()
    assert list(data["txPackets"]) == list(result.table("flows")["sent_packets"])


def test_xml_has_the_structure_of_ns3(result: ap.Result, table: pd.DataFrame) -> None:
    root = ET.fromstring(result.flow_monitor_xml(0))
    assert root.tag == "FlowMonitor"
    flows = root.findall("FlowStats/Flow")
    assert [flow.get("flowId") for flow in flows] == ["1", "2", "3", "4", "5"]
    for flow, (key, row) in zip(flows, table.iterrows(), strict=True):
        for name in ("txBytes", "rxBytes", "txPackets", "rxPackets", "lostPackets"):
            assert int(flow.get(name, "")) == row[name]
        text = flow.get("delaySum", "")
        assert text.startswith("+")
        assert text.endswith("ns")
        expected = 0 if key[1] == "ack" else row["delaySum"]
        assert float(text[:-2]) / 1e9 == pytest.approx(expected)
    ends = root.findall("Ipv4FlowClassifier/Flow")
    assert [end.get("sourceAddress") for end in ends] == list(table["sourceAddress"])
    dropped = flows[0].find("packetsDropped")
    assert dropped is not None
    assert dropped.attrib == {
        "reasonCode": "4",
        "number": str(table.iloc[0]["packetsDropped_early"]),
    }


def test_saved_files_include_the_monitor(result: ap.Result, tmp_path: Path) -> None:
    names = {path.name for path in result.save(tmp_path, figure_formats=None)}
    assert {"flowmonitor.csv", "flowmonitor-0.xml", "flowmonitor-1.xml"} <= names
    found = pd.read_csv(tmp_path / "flowmonitor.csv", comment="#")
    pd.testing.assert_frame_equal(found, result.flow_monitor(), check_dtype=False, rtol=1e-14)
    assert (tmp_path / "flowmonitor-0.xml").read_bytes() == result.flow_monitor_xml(0)
    assert b"<?airpath {" in result.flow_monitor_xml(1)


def test_missing_statistics_are_reported() -> None:
    result = ap.simulate(make(record={}), reps=1)
    message = r"^flow_monitor: not kept. Set record.flow_monitor = true.$"
    for call in (result.flow_monitor, result.flow_monitor_xml):
        with pytest.raises(ap.errors.BadValueError, match=message):
            call()
