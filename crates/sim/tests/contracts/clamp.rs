//! Tests of CLAMP's window and queue: with every inner queue discipline, on every link, with every
//! congestion control algorithm, in both directions.

use crate::common::links::{link_files, links};
use crate::common::{MS, droptail, fixed, flow, run_with, scenario, tcp};
use crate::descriptions::with_kind;
use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_path::{Components, ReplicationReport};
use airpath_tcp::congestion::AnyCongestion;
use airpath_tcp::window::AnyWindow;
use serde_json::{Value, json};

const SIZE: u64 = 300_000;

fn usual(family: &str, kind: &str) -> Value {
    let mut component = samples(family, kind, |_| true).swap_remove(0);
    component["kind"] = json!(kind);
    component
}

/// Runs two forward transfers and one reverse transfer with CLAMP windows, over a link with CLAMP
/// queues.
fn transfers(link: &Value, inner: &Value, congestion: &Value, window: &Value) -> ReplicationReport {
    let queue = json!({"kind": "clamp", "a_bytes": 6000, "b": 1.0, "time_constant_ns": 500 * MS,
                       "rate_time_constant_ns": 500 * MS, "inner": inner});
    let flows = ["forward", "forward", "reverse"].map(|direction| {
        let mut source = tcp(json!({"receive_window": 1_000_000, "delayed_ack_segments": 1}));
        source["transfer_bytes"] = json!(SIZE);
        source["congestion"] = congestion.clone();
        source["window"] = window.clone();
        flow(source, json!({"direction": direction}))
    });
    let change = json!({
        "bottleneck": {"link": link, "queue": queue},
        "ack_path": {"kind": "reverse", "link": null, "queue": queue}});
    let scenario = scenario(120, flows.to_vec(), Value::Null, Value::Null, change);
    let driver = run_with(&scenario, &Components::default(), &link_files(), 1);
    driver.report(0)
}

/// Checks that all transfers complete, and that each queue has written its price into packets.
fn check(report: &ReplicationReport, what: &str) {
    for flow in &report.flows {
        assert!(flow.completed_at_s.is_some(), "{what}: {flow:?}");
        assert_eq!(flow.delivered_bytes, SIZE, "{what}");
    }
    for queue in &report.queues {
        let price = queue.measured["clamp_price_s"].expect("packets left");
        assert!(price >= 0.0 && price.is_finite(), "{what}: {price}");
        assert!(queue.measured["clamp_queue_bytes"].is_some_and(|bytes| bytes > 0.0), "{what}");
    }
}

#[test]
fn a_clamped_transfer_arrives_over_every_link() {
    for link in links() {
        let report = transfers(
            &link,
            &droptail(1000),
            &usual("congestion", "reno"),
            &usual("window", "clamp"),
        );
        check(&report, &link.to_string());
    }
}

#[test]
fn a_clamped_transfer_arrives_through_every_discipline() {
    let window = usual("window", "clamp");
    for (kind, _) in AnyQueue::BUILT_IN.iter().filter(|(kind, _)| *kind != "clamp") {
        let inner = with_kind(kind).next().expect("a description");
        let report = transfers(&fixed(2_000_000), &inner, &usual("congestion", "reno"), &window);
        check(&report, &inner.to_string());
    }
}

#[test]
fn a_clamped_transfer_arrives_under_every_congestion_control_and_window() {
    for (cc, _) in AnyCongestion::BUILT_IN {
        for (window, _) in AnyWindow::BUILT_IN {
            let inner = usual("window", window);
            let clamped = match *window {
                "clamp" => inner,
                _ => json!({"kind": "clamp", "tau_bytes": 500, "average_packets": 1000,
                            "beta": 0.001, "inner": inner}),
            };
            let congestion = usual("congestion", cc);
            let report = transfers(&fixed(2_000_000), &droptail(1000), &congestion, &clamped);
            check(&report, &format!("{cc} with {window}"));
            let lost: u64 = report.flows.iter().map(|flow| flow.retransmissions.unwrap()).sum();
            assert_eq!(lost, 0, "{cc} with {window}");
        }
    }
}
