//! Prague over every link, through the disciplines that mark ECT(1).

use crate::common::links::{link_files, links, tdd};
use crate::common::*;
use airpath_conformance::samples;
use airpath_path::{Components, ReplicationReport, build};
use airpath_tcp::profile;
use serde_json::{Value, json};

const SECONDS: u64 = 12;

fn prague() -> Value {
    let change = json!({"receive_window": 1_000_000, "ecn": "accurate", "recovery": "sack"});
    let options = profile("rfc", change).expect("a profile");
    let congestion = samples("congestion", "prague", |_| true).swap_remove(0);
    flow(json!({"kind": "tcp", "congestion": congestion, "options": options}), json!({}))
}

/// The discipline with the defaults of its Python class, changed by `change`.
fn discipline(kind: &str, change: Value) -> Value {
    let mut queue = samples("aqm", kind, |_| true).swap_remove(0);
    merge(&mut queue, change);
    queue
}

/// Runs a Prague flow over `link` with a driver that checks after each call that the stage neither
/// lost nor created a packet, and with the fast driver. Both reports must be equal.
fn run_over(link: &Value, queue: &Value) -> ReplicationReport {
    let acks = if link["kind"] == "ofdma-tdd" {
        json!({"ack_path": {"kind": "reverse", "link": null, "queue": droptail(100)}})
    } else {
        json!({})
    };
    let scenario = scenario(SECONDS, vec![prague()], link.clone(), queue.clone(), acks);
    let network = build(&scenario, &Components::default(), &link_files(), 1, 0).expect("a network");
    let mut driver = PlainDriver::new(network);
    let report = driver.run();
    let (entered, left) = driver.balance();
    assert_eq!(entered, left, "{queue} over {link}");
    let fast = run_with(&scenario, &Components::default(), &link_files(), 1).report(0);
    assert_eq!(report.flows, fast.flows, "{queue} over {link}");
    report
}

/// Sum of a count of all queues in the forward direction.
fn marked(report: &ReplicationReport) -> u64 {
    report.queues.iter().map(|queue| queue.marks).sum()
}

#[test]
fn prague_is_marked_over_every_link() {
    for link in links().into_iter().chain([tdd()]) {
        for (kind, change) in
            [("dualpi2", json!({"ramp_start_ns": 10 * MS, "ramp_ns": 0})), ("l4span", json!({}))]
        {
            let report = run_over(&link, &discipline(kind, change));
            let what = format!("{kind} over {}", link["kind"]);
            assert!(marked(&report) > 0, "{what}: no marks");
            let [flow] = &report.flows[..] else { panic!("one flow") };
            // DualPI2 drops packets if its probability is at the limit (overload).
            if kind == "l4span" {
                assert_eq!(flow.retransmissions, Some(0), "{what}");
            }
            // Links have 2 Mbit/s; `multi-regime` has 0.5 Mbit/s while the queue is short.
            let least = if link["kind"] == "multi-regime" { 0.4e6 } else { 1e6 };
            assert!(flow.goodput_bps > least, "{what}: {} bit/s", flow.goodput_bps);
        }
    }
}
