//! Uploads whose ACKs share a busy downlink with datagrams, computed by hand.

use crate::common::*;
use crate::hops::{departures, fixed_hop, sent};
use airpath_path::{ReplicationReport, Scenario};
use serde_json::{Value, json};

/// Rate of the downlink, bit/s: an ACK of 40 bytes takes 0.2 ms, a datagram of 1000 bytes 5 ms.
const DOWN_BPS: u64 = 1_600_000;
/// Time between two datagrams.
const PERIOD_MS: u64 = 10;

/// Returns datagrams of `bytes` bytes on the downlink, one every 10 ms from 0 on.
fn downlink_datagrams(bytes: u64) -> Value {
    let rate_bps = bytes * 8 * 1000 / PERIOD_MS;
    let source = json!({"kind": "cbr", "rate_bps": rate_bps, "packet_bytes": bytes});
    flow(source, json!({}))
}

/// Returns an upload with 3 ms of propagation delay for data and 4 ms for ACKs.
fn upload(options: Value, change: Value) -> Value {
    let mut source = tcp(json!({"handshake": false}));
    merge(&mut source["options"], options);
    merge(&mut source, change);
    let wires = json!({"direction": "reverse", "egress": {"delay_ns": 3 * MS},
                       "return_wire": {"delay_ns": 4 * MS}});
    flow(source, wires)
}

/// Returns 15 s of the flows over one hop, of which the first 5 s are not measured.
fn over_one_hop(up_bps: u64, down_limit: usize, flows: &[Value]) -> Scenario {
    let mut hop = fixed_hop("a", DOWN_BPS, 0);
    hop["up"]["link"] = fixed(up_bps);
    hop["down"]["queue"] = droptail(down_limit);
    let document = json!({"duration_ns": 15 * SECOND, "warmup_ns": 5 * SECOND, "flows": flows,
                          "hops": [hop]});
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

#[test]
fn six_segments_are_sent_and_acknowledged_at_the_times_computed_by_hand() {
    // A segment takes 1 ms on the uplink. Datagrams occupy the downlink from 0 to 5 ms and from 10
    // to 15 ms. Slow start from two segments; every segment is acknowledged. All times in ms.
    //
    // segment | sent | leaves uplink | at receiver | ACK on downlink | ACK at sender
    //       1 |  0.0 |           1.0 |         4.0 |       5.0 – 5.2 |           9.2
    //       2 |  0.0 |           2.0 |         5.0 |       5.2 – 5.4 |           9.4
    //    3, 4 |  9.2 |    10.2,  11.2|  13.2, 14.2 |  – 15.2,  – 15.4|    19.2,  19.4
    //    5, 6 |  9.4 |    12.2,  13.2|  15.2, 16.2 |  – 15.6,  – 16.4|    19.6,  20.4
    //
    // ACKs 3 and 4 wait for the datagram, 5 for these two ACKs, and 6 finds an idle downlink.
    let options = json!({"initial_window": 2 * 1460, "delayed_ack_segments": 1});
    let transfer = upload(options, json!({"transfer_bytes": 6 * 1460}));
    let scenario = over_one_hop(12_000_000, 1000, &[transfer, downlink_datagrams(1000)]);
    let (network, log) = departures(&scenario);
    let tenths = |link| -> Vec<u64> {
        sent(&network, &log, link, 0).into_iter().map(|at| at / (MS / 10)).collect()
    };
    assert_eq!(tenths("a_reverse"), [10, 20, 102, 112, 122, 132]);
    assert_eq!(tenths("a"), [52, 54, 152, 154, 156, 164]);
}

/// Runs an endless upload with a window of 400 segments over an uplink of 100 Mbit/s, with
/// datagrams on the downlink.
fn endless(datagram_bytes: u64, segments_per_ack: u32, down_limit: usize) -> ReplicationReport {
    let window = 400 * 1460;
    let options = json!({"initial_window": window, "receive_window": window,
                         "delayed_ack_segments": segments_per_ack});
    let flows = [upload(options, json!({})), downlink_datagrams(datagram_bytes)];
    run(&over_one_hop(100_000_000, down_limit, &flows), 1)
}

#[test]
fn acks_that_fill_a_downlink_set_the_rate_of_an_upload() {
    // The ACKs use what the datagrams leave of the downlink. In 10 ms, datagrams of 400, 1000 and
    // 1200 bytes take 2, 5 and 6 ms; the rest is time for 40, 25 and 20 ACKs of 0.2 ms. Each ACK
    // releases the segments that it acknowledges. With a = ACKs in 10 ms, b = segments per ACK:
    //
    //   goodput  a · b · 1460 · 8 bit / 10 ms, at most 93.44 Mbit/s, below the uplink's 97.3
    //   RTT      a segment is sent when the ACK of the segment 400 before arrives, so all
    //            samples are 400 / (a · b) · 10 ms
    //
    // The window never limits: without a queue, the RTT is at most 7.32 + 6 ms. At the start the
    // ACKs of a window come in a train. With the share r of the datagrams, a train that took the
    // time T takes 400 / b · 0.2 ms + r · T in the next round: the difference from the final T falls
    // by the factor r per round. After 5 s each period of the datagrams has the same number of ACKs.
    for (bytes, acks) in [(400, 40), (1000, 25), (1200, 20)] {
        for segments_per_ack in [1, 2] {
            let report = endless(bytes, segments_per_ack, 1_000_000);
            let in_period = f64::from(acks * segments_per_ack);
            let flow = &report.flows[0];
            let expected_bps = in_period * 1460.0 * 8.0 * 100.0;
            assert_eq!(flow.goodput_bps, expected_bps, "{bytes} {segments_per_ack}");
            let rtt_s = flow.mean_rtt_s.expect("samples");
            let expected_s = 400.0 / in_period * 0.01;
            assert!((rtt_s - expected_s).abs() < 1e-9, "{bytes}: {rtt_s} {expected_s}");
            // A datagram has 28 bytes of headers.
            assert_eq!(report.flows[1].goodput_bps, (bytes - 28) as f64 * 800.0);
        }
    }
}

#[test]
fn dropped_acks_do_not_slow_down_an_upload() {
    // With ten packets in front of the downlink, most ACKs are dropped, and the next ACK covers
    // them. The window is 48 ms of the uplink, above the largest RTT without a queue at the uplink:
    // 7.32 + 5 ms and ten packets, of which at most one is a datagram, 6.8 ms. So the uplink is
    // never idle: a segment every 0.12 ms.
    let report = endless(1000, 1, 10);
    let goodput_bps = report.flows[0].goodput_bps;
    let segment_bps = 1460.0 * 8.0 / 10.0;
    assert!((goodput_bps - 1460.0 * 8.0 / 0.12e-3).abs() <= segment_bps, "{goodput_bps}");
    let queue = report.queues.iter().find(|queue| queue.name == "a").expect("a queue");
    let dropped: u64 = queue.drops.values().sum();
    assert!(dropped > queue.departed, "{dropped} {}", queue.departed);
}
