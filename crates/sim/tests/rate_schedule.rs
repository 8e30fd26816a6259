//! Tests that every kind of link follows a rate schedule: 2, 1, 0 and again 2 Mbit/s, ten seconds
//! each.

use crate::common::links::{link_files, links};
use crate::common::*;
use airpath_core::Series;
use airpath_path::Components;
use serde_json::{Value, json};

/// Returns the overhead of a link per packet of 1250 bytes, and the tolerance of a phase, both in
/// bytes. The tolerance covers data in transmission at the start and the end of the phase.
fn allowance(link: &Value) -> (f64, f64) {
    match link["kind"].as_str() {
        // The first packet is sent in the first regime and takes the time of four packets.
        Some("multi-regime") => (0.0, 4.0 * 1250.0),
        Some("trace") => (4.0, 1250.0 + 1504.0),
        // A length indicator of one byte per packet; the data of 25 ms and one TTI are in
        // transmission.
        Some("rlc-am") => (1.0, 1250.0 + 35e-3 * 2e6 / 8.0),
        _ => (0.0, 1250.0),
    }
}

/// Returns the bytes of the packets that arrive in each of the four phases, with a load of twice
/// the rate.
fn delivered(link: &Value) -> [f64; 4] {
    let source = json!({"kind": "cbr", "rate_bps": 4_000_000, "packet_bytes": 1250});
    let flows = vec![flow(source, json!({"egress": {"delay_ns": 0}}))];
    let changes = [(10, 1_000_000), (20, 0), (30, 2_000_000)].map(|(at, rate_bps)| {
        json!({"at_ns": at * SECOND, "action": {"kind": "rate", "rate_bps": rate_bps}})
    });
    let change = json!({"controls": changes, "record": {"series": ["delivered"]}});
    let scenario = scenario(40, flows, link.clone(), droptail(100), change);
    let driver = run_with(&scenario, &Components::default(), &link_files(), 1);
    let report = driver.report(3);
    let (at_the_end, recorder) = driver.into_report(3);
    assert!(report.phases.len() == 4 && report.replication == 3 && report.events > 0);
    assert_eq!(at_the_end, report);
    let mut bytes = [0.0; 4];
    for sample in recorder.samples(Series::Delivered) {
        // A packet that arrives at the end of a phase belongs to this phase.
        let phase = (sample.time.as_nanos() - 1) / (10 * SECOND);
        bytes[phase as usize] += sample.value;
    }
    bytes
}

#[test]
fn every_link_follows_a_rate_schedule() {
    for link in links() {
        let (overhead, tolerance) = allowance(&link);
        // Payload of a datagram of 1250 bytes.
        let share = 1222.0 / (1250.0 + overhead);
        for (phase, (bytes, mbps)) in delivered(&link).into_iter().zip([2, 1, 0, 2]).enumerate() {
            let expected = f64::from(mbps) * 1e6 * 10.0 / 8.0 * share;
            let differ = (bytes - expected).abs();
            assert!(differ <= tolerance, "{link}, phase {phase}: {bytes} bytes");
        }
    }
}

/// A reverse direction that copies the forward link follows its rate changes, over every link. A
/// reverse direction with a separate link does not.
#[test]
fn reverse_direction_follows_rate_changes_without_a_separate_link() {
    for link in links() {
        // Datagrams fill only the reverse direction, and the rate is halved.
        let source = json!({"kind": "cbr", "rate_bps": 4_000_000, "packet_bytes": 1250});
        let flows = vec![flow(source, json!({"direction": "reverse"}))];
        let halved =
            json!([{"at_ns": 10 * SECOND, "action": {"kind": "rate", "rate_bps": 1_000_000}}]);
        let delivered = |reverse: Value| {
            let ack_path = json!({"kind": "reverse", "link": reverse, "queue": droptail(100)});
            let change = json!({"controls": halved, "ack_path": ack_path,
                                "record": {"series": ["delivered"]}});
            let scenario = scenario(20, flows.clone(), link.clone(), droptail(100), change);
            let driver = run_with(&scenario, &Components::default(), &link_files(), 1);
            let recorder = driver.into_recorder();
            let mut bytes = [0.0; 2];
            for sample in recorder.samples(Series::Delivered) {
                bytes[usize::from(sample.time.as_nanos() > 10 * SECOND + 50 * MS)] += sample.value;
            }
            bytes[1] / bytes[0]
        };
        let following = delivered(Value::Null);
        assert!((0.48..0.52).contains(&following), "{link}: {following}");
        // An rlc-am link serves both directions: it cannot be used as a separate reverse link.
        if link["kind"] != "rlc-am" {
            let apart = delivered(link.clone());
            assert!((0.97..1.03).contains(&apart), "{link}: {apart}");
        }
    }
}
