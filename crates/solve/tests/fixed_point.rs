//! Tests of the fixed-point model: covered scenarios, and terms of the model.

use crate::common::{changed, fields_and_values};
use airpath_link::Files;
use airpath_solve::fixed_point::{FixedPoint, Solution};
use airpath_solve::{Model, Reason};
use serde_json::{Value, json};

fn solved(changes: &[(&str, Value)]) -> Solution {
    let problem = FixedPoint::covers(&changed(changes), &Files::default()).expect("it is covered");
    FixedPoint::solve(&problem).expect("there is a fixed point")
}

fn refused(changes: &[(&str, Value)]) -> Vec<String> {
    let scenario = changed(changes);
    fields_and_values(
        &FixedPoint::covers(&scenario, &Files::default()).expect_err("it is not covered"),
    )
}

#[test]
fn flows_share_the_capacity_of_the_link() {
    let solution = solved(&[]);
    assert_eq!(solution.domain, "R1");
    assert!((solution.throughput_bps / 10e6 - 1.0).abs() < 1e-9, "{}", solution.throughput_bps);
    let sum: f64 = solution.flows.iter().map(|flow| flow.throughput_bps).sum();
    assert!((sum / solution.throughput_bps - 1.0).abs() < 1e-9);
    let [short, long] = solution.flows[..] else { panic!("two flows") };
    assert!((long.rtt_s - short.rtt_s - 0.02).abs() < 1e-12);
    assert!(short.throughput_bps > long.throughput_bps);
}

#[test]
fn each_uncovered_key_gives_one_reason() {
    let errors = json!({"kind": "independent", "loss": 0.1});
    let link = json!({"kind": "fixed", "rate_bps": 10_000_000});
    let with = |key: &str, value: Value| {
        let mut link = link.clone();
        link[key] = value;
        link
    };
    let ack_link = |link: Value| {
        json!({"kind": "link", "link": link,
               "queue": {"kind": "droptail", "limit": {"packets": 50}}})
    };
    let cases = [
        (
            "/controls",
            json!([{"at_ns": 1, "action": {"kind": "rate", "rate_bps": 1}}]),
            "control = changes of the rate",
        ),
        (
            "/bottleneck/link",
            with("errors", errors.clone()),
            "bottleneck.link.errors.kind = independent",
        ),
        ("/ack_path", ack_link(with("errors", errors)), "ack_path.link.errors.kind = independent"),
        (
            "/bottleneck/link",
            with("harq", json!({"attempts": 4, "round_trip_ns": 30_000_000})),
            "bottleneck.link.harq.attempts = 4",
        ),
        (
            "/ack_path",
            ack_link(with("arq", json!({"delay_ns": 5}))),
            "ack_path.link.arq.delay = 5 ns",
        ),
        ("/bottleneck/link/kind", json!("trace"), "bottleneck.link.kind = trace"),
        ("/bottleneck/queue", json!({"kind": "codel"}), "bottleneck.aqm.kind = codel"),
        (
            "/ack_path",
            ack_link(with("rate_bps", json!(64_000))),
            "ack_path.link.rate = 64000 bit/s",
        ),
        ("/ack_path", ack_link(with("loss", json!(0.2))), "ack_path.link.loss = 0.2"),
        (
            "/ack_path",
            json!({"kind": "reverse", "queue": {"kind": "droptail", "limit": {"packets": 2}}}),
            "ack_path.aqm.limit = 2",
        ),
        (
            "/backhaul",
            json!({"rate_bps": 10_000_000, "delay_ns": 0}),
            "backhaul.rate = 10000000 bit/s",
        ),
        ("/flows/1/access/rate_bps", json!(1), "flows.1.access.rate = 1 bit/s"),
        ("/flows/1/egress/rate_bps", json!(10_000_000), "flows.1.egress.rate = 10000000 bit/s"),
        ("/flows/1/return_wire/rate_bps", json!(1000), "flows.1.return_wire.rate = 1000 bit/s"),
        (
            "/flows/1/source",
            json!({"kind": "cbr", "rate_bps": 1, "packet_bytes": 1}),
            "flows.1.source = cbr",
        ),
        ("/flows/0/source/congestion", json!({"kind": "cubic"}), "flows.0.cc = cubic"),
        ("/flows/1/source/options/mss", json!(1000), "flows.1.tcp.mss = 1000 B"),
        ("/flows/1/source/options/ecn", json!("on"), "flows.1.tcp.ecn = on"),
        (
            "/flows/1/source/options/rto_floor",
            json!("variance"),
            "flows.1.tcp.rto_floor = variance",
        ),
        ("/flows/1/source/transfer_bytes", json!(1000), "flows.1.size = a transfer"),
        (
            "/flows/1/source/window",
            json!({"kind": "drain", "rate_bps": 1}),
            "flows.1.window = drain",
        ),
        (
            "/flows/1/source/options/receive_window",
            json!(1460),
            "flows.1.tcp.receive_window = 1460 B",
        ),
        ("/flows/1/start/time_ns", json!(19_100_000_000u64), "flows.1.start = 19.1 s"),
        ("/flows/1/stop_ns", json!(1), "flows.1.stop = a time"),
        (
            "/flows/1/start",
            json!({"kind": "poisson", "from_ns": 0, "gap_ns": 1}),
            "flows.1.arrivals = poisson",
        ),
    ]; // keys of the resolved form, and their reasons
    for (pointer, value, expected) in cases {
        assert_eq!(refused(&[(pointer, value)]), [expected], "{pointer}");
    }
}

#[test]
fn all_reasons_are_reported_at_once() {
    let found = refused(&[
        ("/bottleneck/queue", json!({"kind": "pie"})),
        ("/bottleneck/link/kind", json!("rlc-am")),
        ("/flows/0/source/congestion", json!({"kind": "cubic"})),
        ("/flows/1/stop_ns", json!(5)),
    ]);
    assert_eq!(
        found,
        [
            "flows.0.cc = cubic",
            "flows.1.stop = a time",
            "bottleneck.link.kind = rlc-am",
            "bottleneck.aqm.kind = pie",
        ]
    );
}

#[test]
fn invalid_value_is_reported_as_invalid() {
    let scenario = changed(&[("/bottleneck/link/kept", json!(1))]);
    let reasons = FixedPoint::covers(&scenario, &Files::default()).expect_err("an unknown key");
    let lines: Vec<String> = reasons.iter().map(|reason: &Reason| reason.line(None)).collect();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.starts_with("bottleneck.link = "), "{line}");
    assert!(line.contains("unknown field `kept`"), "{line}");
    assert!(!line.contains("no analytic model"), "{line}");
}

#[test]
fn round_trip_includes_hops_that_are_fast_enough() {
    // 1500 B at 100 Mbit/s and 40 B at 1 Mbit/s: 0.12 and 0.32 ms.
    let longer = solved(&[
        ("/flows/0/access/rate_bps", json!(100_000_000)),
        ("/flows/1/access/rate_bps", json!(100_000_000)),
        ("/flows/0/return_wire/rate_bps", json!(1_000_000)),
        ("/flows/1/return_wire/rate_bps", json!(1_000_000)),
        ("/backhaul", json!({"rate_bps": null, "delay_ns": 1_000_000})),
    ]);
    let delayed = solved(&[
        ("/flows/0/egress/delay_ns", json!(32_440_000)),
        ("/flows/1/egress/delay_ns", json!(42_440_000)),
    ]);
    assert!((longer.throughput_bps / delayed.throughput_bps - 1.0).abs() < 1e-12);
    assert!((longer.queue_packets / delayed.queue_packets - 1.0).abs() < 1e-9);
}
