//! Tests of the CLAMP fluid model: covered scenarios, and terms of the model.

use crate::common::{clamp, fields_and_values, refused_by};
use airpath_link::Files;
use airpath_solve::clamp_fluid::{ClampFlows, Solution, solve_with_trajectory};
use airpath_solve::{Model, solve};
use serde_json::{Value, json};
use std::f64::consts::FRAC_PI_2;

fn solved(changes: &[(&str, Value)]) -> Solution {
    let problem = ClampFlows::covers(&clamp(changes), &Files::default()).expect("covered");
    ClampFlows::solve(&problem).expect("its parameters are in range")
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn queue_matches_equation_11_with_the_terms_of_figure_2() {
    let found = solved(&[]);
    close(found.queue_bytes, 7000.0);
    close(found.queue_delay_s, 0.0056);
    close(found.price_s, 1500.0 / 1.25e6);
    close(found.throughput_bps, 10e6);
    close(found.flows[2].rtt_s, 0.0556);
    // 69 500 B in flight; 1460 of 1500 B are payload.
    close(found.flows[1].window_bytes, 69_500.0 / 3.0 * 1460.0 / 1500.0);
    assert_eq!(found.warnings, [] as [&str; 0]);
    let stability = found.stability;
    assert!((stability.limit.expect("equal delays") / FRAC_PI_2 - 1.0).abs() < 1e-5);
    assert!((stability.limit_constant_shares.unwrap() / FRAC_PI_2 - 1.0).abs() < 1e-6);
    let average = stability.limit_average.expect("there is one");
    assert!(1.0 < average && average < 1.2, "{average}");
    assert!((stability.smallest_window_bytes / 12_328.0 - 1.0).abs() < 1e-3);
    let (found, model) = (solve(&clamp(&[]), &Files::default(), None), "clamp-fluid");
    assert_eq!(found.expect("it is covered")["model"], model);
}

#[test]
fn framing_and_a_sender_side_clamp_change_the_terms() {
    let framed = solved(&[("/bottleneck/link/framing", json!(375))]);
    close(framed.throughput_bps, 8e6);
    let law = json!({"kind": "clamp", "tau_bytes": 500, "average_packets": 1000});
    let changes = [0, 1, 2].map(|flow| {
        (format!("/flows/{flow}/source/window"), format!("/flows/{flow}/source/congestion"))
    });
    let mut sender = Vec::new();
    for (window, congestion) in &changes {
        sender.push((window.as_str(), Value::Null));
        sender.push((congestion.as_str(), law.clone()));
    }
    let (found, receiver) = (solved(&sender), solved(&[]));
    assert_eq!(found.flows, receiver.flows);
    // The sender averages over the same number of ACKs, and each ACK covers two packets.
    let windows = [found, receiver].map(|found| found.stability.smallest_window_bytes);
    close(windows[0] / windows[1], 2f64.sqrt());
}

#[test]
fn unstable_equilibrium_has_a_warning() {
    let warned = |changes: &[(&str, Value)]| solved(changes).warnings.join("; ");
    let steep = warned(&[("/bottleneck/queue/b", json!(1.6))]);
    assert!(steep.starts_with("not stable: b = 1.6 is not below 1.571;"), "{steep}");
    // 3 flows share 500 kB/s and have windows of 10.4 kB. A flow takes 18 s to send 2·1000 packets.
    let averaged = warned(&[
        ("/bottleneck/queue/b", json!(1.5)),
        ("/bottleneck/queue/time_constant_ns", json!(500_000_000)),
    ]);
    assert!(
        averaged.starts_with("not stable with an average of the queue over 0.5 s: b = 1.5 is"),
        "{averaged}"
    );
    let slow = warned(&[("/bottleneck/link/rate_bps", json!(4_000_000))]);
    let line = "the shares of 3 flows are not stable: windows of at most 12328 B oscillate with a \
                period of 18.000 s, twice what the received rate is averaged over";
    assert_eq!(slow, line);
    let tight = warned(&[("/bottleneck/queue/inner/limit", json!({"packets": 4}))]);
    assert_eq!(tight, "the queue of 7000 B does not fit into 6000 B: packets are dropped");
    let leaves = warned(&[("/flows/1/stop_ns", json!(50_000_000_000u64))]);
    assert!(leaves.starts_with("flows come and go: "), "{leaves}");
}

#[test]
fn trajectory_follows_starts_and_stops_of_flows() {
    let second = |time: u64| json!(time * 1_000_000_000);
    let changes = [
        ("/flows/1/start/time_ns", second(30)),
        ("/flows/1/stop_ns", second(60)),
        ("/flows/2/start/time_ns", second(90)),
    ];
    let found = solve_with_trajectory(&clamp(&changes), &Files::default(), 80.0).expect("covered");
    let course = &found["trajectory"];
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let times = numbers(&course["time_s"]);
    assert!(times.len() > 1000 && times.len() <= 2001, "{}", times.len());
    let queues = numbers(&course["queue_bytes"]);
    let at = |time_s: f64| times.iter().position(|found| *found >= time_s).unwrap();
    for (time_s, queue) in [(29.5, 6000.0), (59.5, 6500.0), (79.5, 6000.0)] {
        assert!((queues[at(time_s)] / queue - 1.0).abs() < 0.005, "{}", queues[at(time_s)]);
    }
    let second = numbers(&course["flows"][1]["throughput_bps"]);
    assert!(second[at(30.0)] == 0.0 && (second[at(59.5)] / 5e6 - 1.0).abs() < 0.01);
    let third = numbers(&course["flows"][2]["window_bytes"]);
    assert!(third.iter().all(|window| *window == 0.0));
    let error = solve_with_trajectory(&clamp(&[]), &Files::default(), 1e9).unwrap_err();
    assert!(error.to_string().starts_with("trajectory_s = 1000000000: must be at most"), "{error}");
}

#[test]
fn each_uncovered_key_gives_one_reason() {
    let wire = |rate: u64| json!({"rate_bps": rate, "delay_ns": 0});
    let cases = [
        (
            "/controls",
            json!([{"at_ns": 1, "action": {"kind": "rate", "rate_bps": 1}}]),
            "control = changes of the rate",
        ),
        ("/bottleneck/queue", json!({"kind": "codel"}), "bottleneck.aqm.kind = codel"),
        ("/bottleneck/queue/inner", json!({"kind": "pie"}), "bottleneck.aqm.inner.kind = pie"),
        ("/bottleneck/queue/a_bytes", Value::Null, "bottleneck.aqm.target_delay = a time"),
        ("/bottleneck/link/kind", json!("trace"), "bottleneck.link.kind = trace"),
        ("/bottleneck/link/loss", json!(0.01), "bottleneck.link.loss = 0.01"),
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
        ("/flows/1/source/window", json!({"kind": "fixed"}), "flows.1.window = fixed"),
        ("/flows/1/source/window/tau_bytes", json!(700), "flows.1.window.tau = 700 B"),
        (
            "/flows/1/source/window/average_packets",
            json!(250),
            "flows.1.window.average_packets = 250",
        ),
        ("/flows/1/source/options/mss", json!(1000), "flows.1.tcp.mss = 1000 B"),
        (
            "/flows/1/source/options/receive_window",
            json!(20_000),
            "flows.1.tcp.receive_window = 20000 B",
        ),
        ("/flows/1/source/transfer_bytes", json!(9), "flows.1.size = a transfer"),
        (
            "/flows/1/source",
            json!({"kind": "cbr", "rate_bps": 1, "packet_bytes": 100}),
            "flows.1.source = cbr",
        ),
        (
            "/flows/1/start",
            json!({"kind": "uniform", "low_ns": 0, "high_ns": 1}),
            "flows.1.start = a drawn time",
        ),
        ("/flows/1/access", wire(9_000_000), "flows.1.access.rate = 9000000 bit/s"),
        ("/flows/1/return_wire", wire(1000), "flows.1.return_wire.rate = 1000 bit/s"),
        (
            "/flows/1/egress",
            json!({"rate_bps": 99_000_000, "delay_ns": 0, "limit": {"packets": 9}}),
            "flows.1.egress.limit = a limit",
        ),
    ];
    for (pointer, value, expected) in cases {
        let scenario = clamp(&[(pointer, value)]);
        let reasons = ClampFlows::covers(&scenario, &Files::default()).expect_err(pointer);
        assert_eq!(fields_and_values(&reasons), [expected], "{pointer}");
    }
}

#[test]
fn reasons_come_from_the_nearest_model() {
    let refused = refused_by(&clamp(&[("/bottleneck/queue", json!({"kind": "codel"}))]));
    let end = "no analytic model covers it. Covered:";
    assert_eq!(refused, [format!("bottleneck.aqm.kind = codel: {end} clamp")]);
}
