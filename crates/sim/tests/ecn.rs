//! End-to-end tests of ECN: queues mark, senders reduce the window (RFC 3168).

use crate::common::{MS, fixed, flow, run, scenario, tcp_options};
use airpath_conformance::Law;
use airpath_path::ReplicationReport;
use serde_json::{Value, json};

const FAIR: Law = Law {
    area: "ECN",
    source: "RFC 3168 §5: a mark costs as much as a drop; goodput with ECN over goodput without",
    allows: "a factor of two: one seed each",
};
const RFC8511: Law = Law {
    area: "ECN",
    source: "RFC 8511: giving up less for a mark leaves less of a link unused (CoDel, 100 ms)",
    allows: "the sign of the effect: 5 % of the link or more",
};

const RATE: u64 = 20_000_000;

/// Queues that mark and can hold a window of 1 MB.
fn marking_queues() -> [Value; 4] {
    [
        json!({"kind": "codel", "limit": 1000, "target_ns": 5 * MS, "interval_ns": 100 * MS,
            "mtu_bytes": 1500, "ecn": true}),
        json!({"kind": "fq-codel", "limit": 1000, "flows": 1024, "quantum_bytes": 1514,
            "target_ns": 5 * MS, "interval_ns": 100 * MS, "mtu_bytes": 1500, "ecn": true}),
        json!({"kind": "red", "limit": 1000, "min_th": 10, "max_th": 60, "max_p": 0.1,
            "weight": 0.002, "target_delay_ns": 5 * MS, "mean_packet_bytes": 1500,
            "gentle": true, "wait": true, "ecn": true, "hard_drop": false}),
        json!({"kind": "pie", "limit": 1000, "target_ns": 15 * MS, "update_ns": 15 * MS,
            "alpha": 0.125, "beta": 1.25, "max_burst_ns": 150 * MS, "mean_packet_bytes": 1500,
            "delay_estimate": "timestamps", "derandomise": false, "ecn": true,
            "ecn_threshold": 1.0}),
    ]
}

fn bulk(cc: &str, recovery: &str, ecn: &str) -> Value {
    let options = json!({"receive_window": 1_000_000, "recovery": recovery, "ecn": ecn});
    let source = json!({"kind": "tcp", "congestion": {"kind": cc},
        "options": tcp_options(options)});
    flow(source, json!({}))
}

fn over(queue: Value, flows: Vec<Value>) -> ReplicationReport {
    run(&scenario(30, flows, fixed(RATE), queue, json!({})), 1)
}

#[test]
fn marks_replace_drops_under_every_recovery_and_congestion_control() {
    for queue in marking_queues() {
        for recovery in ["reno", "newreno", "sack", "prr"] {
            for cc in ["reno", "cubic"] {
                let report = over(queue.clone(), vec![bulk(cc, recovery, "on"); 2]);
                let (marks, name) = (report.queues[0].marks, format!("{cc} {recovery} {queue}"));
                assert!(report.queues[0].drops.is_empty(), "{name}");
                for flow in &report.flows {
                    assert_eq!((flow.retransmissions, flow.timeouts), (Some(0), Some(0)), "{name}");
                    assert!((1..=marks).contains(&flow.ecn_reductions.unwrap()), "{name}");
                }
                let used = report.links[0].utilisation;
                assert!(used > 0.9, "{name}: {used}");
            }
        }
    }
}

/// A queue drops the packets that it must not mark.
#[test]
fn queue_drops_only_packets_of_the_flow_without_ecn() {
    for queue in marking_queues() {
        let flows = vec![bulk("reno", "sack", "on"), bulk("reno", "sack", "off")];
        let report = over(queue.clone(), flows);
        let [with, without] = &report.flows[..] else { panic!("two flows") };
        assert_eq!((with.retransmissions, without.ecn_reductions), (Some(0), Some(0)), "{queue}");
        assert!(
            with.ecn_reductions.unwrap() > 0 && without.retransmissions.unwrap() > 0,
            "{queue}"
        );
    }
}

/// RFC 3168 §5: a sender must react to a mark as to a drop, so both flows get about the same
/// goodput. The bound holds for one seed per queue.
#[test]
fn s5_goodput_with_ecn_is_within_a_factor_of_two_of_goodput_without() {
    for queue in marking_queues() {
        let flows = vec![bulk("reno", "sack", "on"), bulk("reno", "sack", "off")];
        let report = over(queue.clone(), flows);
        let ratio = report.flows[0].goodput_bps / report.flows[1].goodput_bps;
        FAIR.between(queue["kind"].as_str().expect("a kind"), "", ratio, 0.5, 2.0);
    }
}

/// RFC 8511: a flow that reduces its window less after a mark leaves less of the link unused.
#[test]
fn rfc8511_beta_ecn_raises_the_utilisation_of_a_link_with_a_small_queue() {
    let used = |beta: f64| {
        let options = json!({"receive_window": 1_000_000, "recovery": "sack", "ecn": "on"});
        let cc = json!({"kind": "reno", "beta_ecn": beta});
        let source = json!({"kind": "tcp", "congestion": cc, "options": tcp_options(options)});
        let wire = json!({"delay_ns": 50 * MS});
        let one = flow(source, json!({"egress": wire, "return_wire": wire}));
        let queue = marking_queues()[0].clone();
        let report = run(
            &scenario(120, vec![one], fixed(RATE), queue, json!({"warmup_ns": 20_000 * MS})),
            1,
        );
        report.links[0].utilisation
    };
    let (half, more) = (used(0.5), used(0.8));
    let gain = more - half;
    RFC8511.between("use with β = 0.8 less use with 0.5", "", gain, 0.05, f64::INFINITY);
}
