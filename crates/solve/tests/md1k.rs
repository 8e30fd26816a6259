//! Tests of the M/D/1/K model: covered scenarios, and terms of the model.

use crate::common::{fields_and_values, poisson, refused_by};
use airpath_link::Files;
use airpath_solve::md1k::{PoissonQueue, Solution};
use airpath_solve::{Model, solve};
use serde_json::{Value, json};

fn solved(changes: &[(&str, Value)]) -> Solution {
    let problem = PoissonQueue::covers(&poisson(changes), &Files::default()).expect("covered");
    PoissonQueue::solve(&problem).expect("the load is in range")
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn two_flows_are_solved_as_one_poisson_process() {
    // 8 of 10 Mbit/s in packets of 1500 B: ρ = 0.8, a service of 1.2 ms.
    let solution = solved(&[]);
    close(solution.queue_packets, 1.6);
    close(solution.mean_sojourn_s, 2.4e-3);
    close(solution.throughput_bps, 8e6);
    close(solution.utilisation, 0.8);
    let [first, second] = solution.flows[..] else { panic!("two flows") };
    close(first.throughput_bps, 6e6);
    close(second.one_way_delay_s, 0.0024 + 0.0012 + 0.010 + 0.004);
    assert_eq!((first.loss, solution.drop_probability), (0.0, 0.0));
}

#[test]
fn framing_losses_wires_and_limits_change_the_result() {
    // Frames of 1875 B take as long as packets of 1500 B at 8 Mbit/s.
    let framed = solved(&[("/bottleneck/link/framing", json!(375))]);
    let slower = solved(&[("/bottleneck/link/rate_bps", json!(8_000_000))]);
    close(framed.queue_packets, slower.queue_packets);
    close(framed.flows[0].one_way_delay_s, slower.flows[0].one_way_delay_s);
    let lossy = solved(&[("/bottleneck/link/loss", json!(0.25))]);
    close(lossy.throughput_bps, 6e6);
    close(lossy.utilisation, 0.8);
    let wired = solved(&[("/flows/0/egress/rate_bps", json!(12_000_000))]);
    close(wired.flows[0].one_way_delay_s - solved(&[]).flows[0].one_way_delay_s, 1e-3);
    // Without a queue, an arrival during a transmission is lost, as in Erlang's formula.
    let none = solved(&[("/bottleneck/queue/limit", json!({"packets": 0}))]);
    close(none.drop_probability, 0.8 / 1.8);
    let bytes = |limit: u64| solved(&[("/bottleneck/queue/limit", json!({"bytes": limit}))]);
    assert_eq!(bytes(4499), bytes(3000));
    assert!(bytes(4500).drop_probability < bytes(4499).drop_probability);
}

#[test]
fn each_uncovered_key_gives_one_reason() {
    let cases = [
        (
            "/controls",
            json!([{"at_ns": 1, "action": {"kind": "rate", "rate_bps": 1}}]),
            "control = changes of the rate",
        ),
        ("/bottleneck/queue", json!({"kind": "codel"}), "bottleneck.aqm.kind = codel"),
        (
            "/bottleneck/queue/limit",
            json!({"packets": 1_000_001}),
            "bottleneck.aqm.limit = 1000001 packets",
        ),
        ("/bottleneck/link/kind", json!("trace"), "bottleneck.link.kind = trace"),
        (
            "/bottleneck/link/harq",
            json!({"attempts": 4, "round_trip_ns": 30_000_000}),
            "bottleneck.link.harq.attempts = 4",
        ),
        ("/bottleneck/link/arq", json!({"delay_ns": 5}), "bottleneck.link.arq.delay = 5 ns"),
        (
            "/bottleneck/link/errors",
            json!({"kind": "independent", "loss": 0.1}),
            "bottleneck.link.errors.kind = independent",
        ),
        ("/bottleneck/link/rate_bps", json!(79_000), "bottleneck.link.rate = 79000 bit/s"),
        ("/flows/1/source/kind", json!("cbr"), "flows.1.source = cbr"),
        ("/flows/1/source/packet_bytes", json!(500), "flows.1.packet = 500 B"),
        ("/flows/1/stop_ns", json!(1), "flows.1.stop = a time"),
        ("/flows/1/start/time_ns", json!(30_000_000_000u64), "flows.1.start = 30 s"),
        (
            "/flows/0/access/rate_bps",
            json!(1_000_000_000),
            "flows.0.access.rate = 1000000000 bit/s",
        ),
        (
            "/flows/1/egress",
            json!({"rate_bps": 12_000_000, "delay_ns": 0, "limit": {"packets": 9}}),
            "flows.1.egress.limit = a limit",
        ),
        ("/flows/1/egress/rate_bps", json!(10_000_000), "flows.1.egress.rate = 10000000 bit/s"),
        (
            "/backhaul",
            json!({"rate_bps": 1_000_000_000, "delay_ns": 0}),
            "backhaul.rate = 1000000000 bit/s",
        ),
    ];
    for (pointer, value, expected) in cases {
        let scenario = poisson(&[(pointer, value)]);
        let reasons = PoissonQueue::covers(&scenario, &Files::default()).expect_err(pointer);
        assert_eq!(fields_and_values(&reasons), [expected], "{pointer}");
    }
}

#[test]
fn reasons_come_from_the_nearest_model() {
    let refused = |pointer: &str, value: Value| refused_by(&poisson(&[(pointer, value)]));
    let end = "no analytic model covers it. Covered:";
    // The fixed point also has one reason, but it is for other traffic.
    let gred = json!({"kind": "gred", "min_th": 5.0, "max_th": 15.0, "max_p": 0.1});
    let line = format!("bottleneck.aqm.kind = gred: {end} droptail");
    assert_eq!(refused("/bottleneck/queue", gred), [line]);
    let line = format!("flows.1.source = cbr: {end} poisson");
    assert_eq!(refused("/flows/1/source/kind", json!("cbr")), [line]);
    let found = solve(&poisson(&[]), &Files::default(), None).expect("it is covered");
    assert_eq!(found["model"], "md1k");
}
