//! Tests of MIMO links in complete scenarios: outcome distributions are computed once, and results
//! do not depend on the number of threads.

use crate::common::{SECOND, droptail, flow, tcp};
use airpath_link::{Files, mimo::Outcomes};
use airpath_path::{Components, ReplicationReport, Scenario};
use airpath_sim::{Plan, replicate};
use serde_json::json;
use std::sync::Arc;

/// Runs `count` replications of flows in both directions; the reverse link is a copy of the forward
/// link. Returns the number of computed distributions and the reports.
fn run(count: usize, threads: usize) -> (usize, Vec<ReplicationReport>) {
    let link = json!({
        "kind": "mimo", "rate_bps": 10_000_000, "modulation": "bpsk", "tx": 2, "rx": 2,
        "snr_db": 5.6, "bad_snr_offset_db": -10, "p_good_to_bad": 0.00125, "p_bad_to_good": 0.125,
        "fec": {"kind": "reed-solomon", "code_rate": 0.93, "symbol_bits": 8},
    });
    let source = || tcp(json!({"mss": 1000}));
    let document = json!({
        "duration_ns": 5 * SECOND, "warmup_ns": SECOND,
        "flows": [flow(source(), json!({})), flow(source(), json!({"direction": "reverse"}))],
        "bottleneck": {"link": link, "queue": droptail(100)},
        "ack_path": {"kind": "reverse", "queue": droptail(100)},
    });
    let scenario = Scenario::from_json(&document.to_string()).expect("a scenario");
    let files = Arc::<Files>::default();
    let plan = Plan {
        scenario: &scenario,
        components: &Components::default(),
        files: &files,
        seed: 1,
        first: 0,
        count,
        threads,
    };
    let outcome = replicate(&plan, &airpath_sim::Monitor::default()).expect("it is built");
    let reports = outcome.finished.into_iter().map(|replication| replication.report);
    (files.shared.get::<Outcomes>().made(), reports.collect())
}

/// Two packet sizes give two distributions: segments of 1040 B, and ACKs and SYNs of 40 B, in both
/// directions of six replications.
#[test]
fn distributions_are_computed_once_for_all_directions_and_replications() {
    let (made, on_two) = run(6, 2);
    assert_eq!(made, 2);
    let (_, on_one) = run(6, 1);
    assert_eq!(on_one.len(), 6);
    let links = |reports: &[ReplicationReport]| {
        let each = reports.iter().map(|report| format!("{:?}", report.links));
        each.collect::<Vec<_>>()
    };
    assert_eq!(links(&on_two), links(&on_one));
    assert!(on_one.iter().all(|report| report.links[0].lost_packets > 0));
}
