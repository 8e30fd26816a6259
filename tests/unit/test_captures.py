"""Captures, read by an independent parser and, if installed, by tshark."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import airpath as ap
from airpath.engine.prepared import prepare
from airpath.scenario import CAPTURE_POINTS
from capture_files import Capture, Frame, assert_checksums, frames_matching, tshark, with_payload

# --- runs ---------------------------------------------------------------------------------------


def lossy(**changes: Any) -> ap.Scenario:
    """Return a scenario with SACK, timestamps, losses in both directions, and datagrams."""
    keys: dict[str, Any] = {
        "name": "lossy",
        "flows": [
            ap.traffic.Tcp(
                count=2,
                base_rtt="40 ms",
                tcp={"recovery": "sack", "timestamps": True, "receive_window": "1 MiB"},
            ),
            ap.traffic.Poisson(rate="100 kbit/s", packet="500 B", base_rtt="40 ms"),
        ],
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="50 packets"),
            link=ap.link.Fixed(rate="10 Mbit/s", loss=0.005),
        ),
        "ack_path": ap.ack_path.Reverse(),
        "duration": "6 s",
    }
    return ap.Scenario(**(keys | changes))


class Run(NamedTuple):
    """A result and its captures."""

    result: ap.Result
    at: dict[str, Capture]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("captures")
    result = ap.simulate(lossy(), reps=2, seed=5, capture=CAPTURE_POINTS, capture_to=directory)
    assert list(result.captures) == list(CAPTURE_POINTS)
    assert sorted(directory.iterdir()) == sorted(result.captures.values())
    return Run(result, {name: Capture(path) for name, path in result.captures.items()})


def tcp_frames(capture: Capture) -> list[Frame]:
    return [frame for frame in capture.frames if frame.head[9] == 6]


def from_senders(capture: Capture) -> list[Frame]:
    return [frame for frame in tcp_frames(capture) if frame.head[13] < 128]


@pytest.mark.parametrize("point", CAPTURE_POINTS)
def test_every_frame_is_valid_and_in_time_order(run: Run, point: str) -> None:
    frames = run.at[point].frames
    assert len(frames) > 1000
    for frame in frames:
        assert_checksums(frame)
    times = [frame.time_ns for frame in frames]
    assert times == sorted(times)


def test_capture_contains_its_provenance(run: Run) -> None:
    about = run.result.provenance
    for name, capture in run.at.items():
        comment = capture.section[1].decode()
        made_by = f"airpath {about['version']} ({about['commit']})"
        assert comment.startswith(f"{made_by}\n")
        assert "\nseed: 5\n" in comment
        assert 'name = "lossy"' in comment
        assert comment.endswith("captured replication: 0")
        assert capture.section[4].decode() == made_by
        assert capture.interface[2].decode() == name
        assert capture.interface[9] == b"\x09"
        assert capture.interface[1].decode() == f"{made_by}; scenario lossy; seed 5; replication 0"


def test_capturing_does_not_change_results(run: Run) -> None:
    plain = ap.simulate(lossy(), reps=2, seed=5)
    assert plain.replications == run.result.replications


def test_equal_runs_give_equal_captures(run: Run, tmp_path: Path) -> None:
    again = ap.simulate(lossy(), reps=2, seed=5, threads=1, capture=["sender"], capture_to=tmp_path)
    assert again.captures["sender"].read_bytes() == run.result.captures["sender"].read_bytes()


def test_other_replication_gives_another_capture(run: Run, tmp_path: Path) -> None:
    other = ap.simulate(
        lossy(), reps=2, seed=5, capture=["sender"], capture_replication=1, capture_to=tmp_path
    )
    capture = Capture(other.captures["sender"])
    assert capture.section[1].decode().endswith("captured replication: 1")
    assert len(tcp_frames(capture)) != len(tcp_frames(run.at["sender"]))


def test_sender_capture_contains_all_sent_segments(run: Run) -> None:
    flows = run.result.replications[0]["flows"][:2]
    sent = [frame for frame in from_senders(run.at["sender"]) if frame.payload]
    assert len(sent) == sum(flow["sent_packets"] for flow in flows)
    resent = [frame for frame in sent if frame.is_resent]
    assert len(resent) == sum(flow["retransmissions"] for flow in flows) > 50


def test_marked_retransmissions_agree_with_the_sequence_numbers(run: Run) -> None:
    highest: dict[Any, int] = {}
    first: dict[Any, int] = {}
    for frame in from_senders(run.at["sender"]):
        base = first.setdefault(frame.source, frame.sequence)
        end = (frame.sequence - base) % 2**32 + frame.payload
        if frame.payload:
            assert frame.is_resent == (end <= highest[frame.source])
        highest[frame.source] = max(end, highest.get(frame.source, 0))


def test_receiver_capture_contains_all_received_packets(run: Run) -> None:
    flows = run.result.replications[0]["flows"]
    arrived = [frame for frame in from_senders(run.at["receiver"]) if frame.payload]
    assert len(arrived) == sum(flow["delivered_packets"] for flow in flows[:2])
    datagrams = [frame for frame in run.at["receiver"].frames if frame.head[9] == 17]
    assert len(datagrams) == flows[2]["delivered_packets"]
    assert {frame.length for frame in datagrams} == {500}


def test_drops_are_between_ingress_and_bottleneck_captures(run: Run) -> None:
    (queue, _), (link, _) = (run.result.replications[0][table] for table in ("queues", "links"))
    entered, left = (len(run.at[point].frames) for point in ("ingress", "bottleneck"))
    assert entered == queue["arrived"]
    assert left == link["delivered_packets"]
    lost = link["lost_packets"] + sum(queue["drops"].values())
    assert 0 <= entered - left - lost <= 51, "the other packets are in the queue or in transmission"


def test_ack_capture_contains_the_packets_of_the_reverse_link(run: Run) -> None:
    assert len(run.at["acks"].frames) == run.result.replications[0]["links"][1]["delivered_packets"]
    assert {frame.head[33] & 0x10 for frame in run.at["acks"].frames} == {0x10}


def test_packet_has_the_same_headers_along_its_path_except_the_time_to_live(run: Run) -> None:
    sent, arrived = (from_senders(run.at[point]) for point in ("sender", "receiver"))
    without_ttl = [frame.head[:8] + frame.head[9:10] + frame.head[12:] for frame in sent]
    assert {frame.head[8] for frame in sent} == {64}
    assert {frame.head[8] for frame in arrived} == {63}
    known = set(without_ttl)
    assert len(known) > 0.99 * len(sent)
    assert all(f.head[:8] + f.head[9:10] + f.head[12:] in known for f in arrived)


def test_sack_blocks_are_above_the_acknowledgement_and_were_sent(run: Run) -> None:
    edges = {(frame.sequence + frame.payload) % 2**32 for frame in from_senders(run.at["sender"])}
    acks = [frame for frame in tcp_frames(run.at["sender"]) if frame.head[13] >= 128]
    blocks_seen = 0
    for frame in acks:
        option = frame.head[52:]
        assert frame.head[40:44] in (b"\x01\x01\x08\x0a", b"\x02\x04\x05\xb4")
        if frame.flags & 2 or not option:
            continue
        assert option[:3] == b"\x01\x01\x05"
        for at in range(4, 2 + option[3], 8):
            left, right = struct.unpack_from(">II", option, at)
            assert 0 < (left - frame.acknowledged) % 2**32 < 2**31
            assert 0 < (right - left) % 2**32 < 2**31
            assert right in edges
            blocks_seen += 1
    assert blocks_seen > 100


def test_timestamps_are_echoed_by_both_sides(run: Run) -> None:
    """RFC 7323 §3.2: after the SYN, TSecr is a TSval that the other side has sent before."""
    seen: dict[tuple[bool, int], set[int]] = {}
    for frame in tcp_frames(run.at["sender"]):
        is_ack, flow = frame.head[13] >= 128, frame.head[15]
        at = 46 if frame.flags & 2 else 42
        assert frame.head[at : at + 2] == b"\x08\x0a"
        value, echo = struct.unpack_from(">II", frame.head, at + 2)
        if frame.flags & 0x10:
            assert echo in seen[not is_ack, flow]
        seen.setdefault((is_ack, flow), set()).add(value)


def test_acks_of_an_ideal_path_are_captured_at_the_receivers(tmp_path: Path) -> None:
    scenario = lossy(ack_path=ap.ack_path.Ideal(), duration="2 s")
    result = ap.simulate(
        scenario, reps=1, capture=["acks", "receiver"], capture_to=tmp_path / "new"
    )
    acks, receiver = (Capture(result.captures[point]) for point in ("acks", "receiver"))
    leaving = [frame.head for frame in tcp_frames(receiver) if frame.head[13] >= 128]
    assert [frame.head for frame in acks.frames] == leaving


def test_data_of_a_reverse_flow_is_captured_with_the_acks_of_the_others(tmp_path: Path) -> None:
    flows = [
        ap.traffic.Tcp(base_rtt="40 ms", tcp={"mss": "1000 B"}, direction=way, size="300 kB")
        for way in ("forward", "reverse")
    ]
    scenario = lossy(flows=flows)
    points = ("sender", "ingress", "bottleneck", "receiver", "acks")
    ap.simulate(scenario, reps=1, capture=points, capture_to=tmp_path)
    seen = {point: Capture(tmp_path / f"{point}.pcapng").frames for point in points}
    senders = [
        next(f.source for f in seen["sender"] if f.payload and f.source[0].endswith(f".{flow + 1}"))
        for flow in (0, 1)
    ]

    def data(point: str, flow: int) -> list[Frame]:
        return [frame for frame in seen[point] if frame.payload and frame.source == senders[flow]]

    counts = {point: [len(data(point, flow)) > 250 for flow in (0, 1)] for point in points}
    assert counts == {
        "sender": [True, True],
        "ingress": [True, False],
        "bottleneck": [True, False],
        "receiver": [True, True],
        "acks": [False, True],
    }
    time_to_live = {point: {frame.head[8] for frame in data(point, 1)} for point in points}
    assert time_to_live == {
        "sender": {64},
        "ingress": set(),
        "bottleneck": set(),
        "receiver": {63},
        "acks": {63},
    }
    # Its ACKs pass the bottleneck with the data of the forward flow.
    ttls = {point: {f.head[8] for f in seen[point] if not f.payload} for point in points}
    assert ttls == {
        "sender": {63, 64},
        "ingress": {64},
        "bottleneck": {63},
        "receiver": {63, 64},
        "acks": {63},
    }


def test_scenario_selects_the_captures(tmp_path: Path) -> None:
    scenario = lossy(capture=ap.Capture(points=["bottleneck"], replication=1), duration="2 s")
    assert ap.simulate(scenario, reps=2).captures == {}
    result = ap.simulate(scenario, reps=2, capture_to=tmp_path)
    assert [path.name for path in result.captures.values()] == ["bottleneck.pcapng"]
    assert Capture(tmp_path / "bottleneck.pcapng").section[1].endswith(b"replication: 1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"capture": ["sendr"], "capture_to": "out"},
            'capture = "sendr": not one of the accepted words. The nearest is sender; '
            "expected one of: sender, ingress, bottleneck, receiver, acks, bottleneck.in, "
            "reverse.in, reverse.",
        ),
        ({"capture": ["sender"]}, "capture: needs a directory. Set capture_to as well."),
        (
            {"capture": ["sender"], "capture_to": "out", "capture_replication": 3},
            "capture_replication = 3: is not run. Use an integer from 0 to 2, below reps.",
        ),
    ],
)
def test_invalid_capture_is_reported(
    settings: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ap.errors.BadValueError) as error:
        ap.simulate(lossy(), reps=3, **settings)
    assert str(error.value) == message
    assert list(tmp_path.iterdir()) == []


def test_full_disk_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    made = prepare(lossy(duration="2 s")).engine_input
    request = (0, ("", ""), [("sender", str(full))])
    with pytest.raises(RuntimeError, match="the capture cannot be written: No space left"):
        made.simulate(1, range(1), captures=request)


def test_window_field_is_the_window_without_scaling(tmp_path: Path) -> None:
    tcp = {"receive_window": "1 MiB", "window_scaling": "off"}
    scenario = lossy(flows=[ap.traffic.Tcp(base_rtt="40 ms", tcp=tcp)], duration="2 s")
    result = ap.simulate(scenario, reps=1, capture=["sender"], capture_to=tmp_path)
    frames = Capture(result.captures["sender"]).frames
    assert {struct.unpack_from(">H", frame.head, 34)[0] for frame in frames} == {65_535}
    syns = [frame for frame in frames if frame.flags & 0x02]
    assert {4 * (frame.head[32] >> 4) for frame in syns} == {24}  # only the MSS option


# --- tshark -------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", CAPTURE_POINTS)
def test_tshark_finds_no_malformed_packet(run: Run, point: str, tmp_path: Path) -> None:
    bad = "_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0"
    assert frames_matching(run.result.captures[point], bad) == []
    full = with_payload(run.at[point], tmp_path / "whole.pcap")
    unchecked = "(tcp and tcp.checksum.status != 1) or (udp and udp.checksum.status != 1)"
    assert frames_matching(full, f"{bad} or udp.checksum.status == 0 or {unchecked}") == []


def test_tshark_finds_every_retransmission_at_the_sender(run: Run) -> None:
    """tshark reports some retransmissions as out of order: those sent within its RTT estimate (3
    ms, or that of the handshake) after the highest segment. Both kinds together equal the
    retransmissions of the engine.
    """
    frames = run.at["sender"].frames
    resent = [number for number, frame in enumerate(frames, start=1) if frame.is_resent]
    suspected = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
    assert frames_matching(run.result.captures["sender"], suspected) == resent
    special = "tcp.analysis.fast_retransmission or tcp.analysis.spurious_retransmission"
    assert set(frames_matching(run.result.captures["sender"], special)) <= set(resent)


def test_tshark_reads_the_options_of_the_handshake(run: Run) -> None:
    fields = ("tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm")
    columns = [word for field in fields for word in ("-e", field)]
    path = run.result.captures["sender"]
    lines = tshark(path, "-Y", "tcp.flags.syn == 1", "-T", "fields", *columns).splitlines()
    assert {line.split("\t")[:2][0] for line in lines} == {"1460"}
    assert {line.split("\t")[1] for line in lines} == {"5"}
    assert len(lines) >= 4
    gaps = "tcp.analysis.ack_lost_segment or tcp.analysis.lost_segment"
    assert frames_matching(path, gaps) == []
