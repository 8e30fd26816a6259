//! Tests of the network fixed point: covered scenarios, and terms of the model.

use crate::common::{covered, refused_by};
use airpath_link::Files;
use airpath_path::Scenario;
use airpath_solve::network_fixed_point::{NetworkFixedPoint, Solution};
use airpath_solve::{Model, solve};
use serde_json::{Value, json};

fn direction(rate_bps: u64, queue: Value) -> Value {
    json!({"link": {"kind": "fixed", "rate_bps": rate_bps}, "queue": queue, "delay_ns": 5_000_000})
}

fn droptail(packets: u64) -> Value {
    json!({"kind": "droptail", "limit": {"packets": packets}})
}

fn gred() -> Value {
    json!({"kind": "gred", "min_th": 30.0, "max_th": 90.0, "max_p": 0.1, "ecn": false})
}

fn hop(name: &str, rate_bps: u64, queue: Value) -> Value {
    json!({"name": name, "down": direction(rate_bps, queue), "up": {"queue": droptail(1000)}})
}

/// Returns two hops of 10 and 12 Mbit/s; flow 0 crosses both, flow 1 only hop `b`.
fn document() -> Value {
    let mut document = covered();
    let table = document.as_object_mut().expect("a table");
    table.remove("bottleneck");
    table.remove("ack_path");
    table.insert(
        "hops".to_owned(),
        json!([hop("a", 10_000_000, gred()), hop("b", 12_000_000, droptail(100))]),
    );
    document["flows"][1]["hops"] = json!(["b", "b"]);
    document
}

/// Returns the document with values at JSON pointers.
fn changed(changes: &[(&str, Value)]) -> Scenario {
    let mut document = document();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
        let parent = document.pointer_mut(parent).expect("the parent exists");
        match key.parse::<usize>() {
            Ok(index) if parent.is_array() => parent[index] = value.clone(),
            _ => parent[key] = value.clone(),
        }
    }
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

fn solved(changes: &[(&str, Value)]) -> Solution {
    let problem =
        NetworkFixedPoint::covers(&changed(changes), &Files::default()).expect("it is covered");
    NetworkFixedPoint::solve(&problem).expect("it converges")
}

#[test]
fn two_hops_are_solved_by_this_model_with_the_names_of_the_hops() {
    let found = solve(&changed(&[]), &Files::default(), None).expect("it is covered");
    assert_eq!(found["model"], "network-fixed-point");
    assert_eq!([&found["hops"][0]["name"], &found["hops"][1]["name"]], ["a", "b"]);
    assert_eq!(found["flows"].as_array().map(Vec::len), Some(2));
}

#[test]
fn base_rtt_adds_all_delays_in_both_directions() {
    // Wires 30 + 30 ms; hops 4 × 5 ms; ACKs of 40 B at 10 and 12 Mbit/s; data of 1500 B.
    let solution = solved(&[("/hops/0/down/link/rate_bps", json!(1_000_000_000))]);
    let queueing_s: f64 =
        solution.hops.iter().map(|hop| hop.mean_sojourn_s * hop.utilisation).sum();
    let transmission_s = 12e3 / 1e9 + 12e3 / 12e6 + 320.0 / 1e9 + 320.0 / 12e6;
    let rtt_s = solution.flows[0].rtt_s.expect("a TCP flow");
    assert!((rtt_s - 0.080 - transmission_s - queueing_s).abs() < 1e-9, "{rtt_s}");
}

#[test]
fn hops_are_full_and_flows_of_one_class_are_equal() {
    let solution = solved(&[("/flows/1/count", json!(8)), ("/flows/0/count", json!(8))]);
    assert_eq!(solution.flows.len(), 16);
    let sum: f64 = solution.flows.iter().map(|flow| flow.throughput_bps).sum();
    assert!((sum / solution.throughput_bps - 1.0).abs() < 1e-12);
    let b = &solution.hops[1];
    assert!(b.utilisation > 0.95 && b.queue_packets > 10.0, "{b:?}");
    assert!((sum / (12e6 * b.utilisation) - 1.0).abs() < 1e-6);
    assert_eq!(solution.flows[0].throughput_bps, solution.flows[7].throughput_bps);
    assert_eq!(solution.hops[0].queue_packets, 0.0);
    // Both classes lose at hop b only; the RTT of flow 0 is 10 ms shorter.
    assert!(solution.flows[0].throughput_bps > solution.flows[8].throughput_bps);
}

#[test]
fn cross_traffic_has_a_rate_and_no_rtt() {
    let source = json!({"kind": "cbr", "rate_bps": 3_000_000, "packet_bytes": 500});
    let solution = solved(&[("/flows/1/source", source)]);
    let flow = solution.flows[1];
    assert_eq!(flow.rtt_s, None);
    assert!((flow.throughput_bps / (3e6 * (1.0 - flow.loss)) - 1.0).abs() < 1e-9, "{flow:?}");
}

#[test]
fn red_queue_is_between_its_thresholds_and_near_its_curve() {
    let red = json!({"kind": "red", "limit": 200, "min_th": 10.0, "max_th": 30.0, "max_p": 0.1,
        "weight": 0.002, "target_delay_ns": 5_000_000, "mean_packet_bytes": 1500, "gentle": true,
        "wait": true});
    let solution = solved(&[("/hops/1/down/queue", red), ("/flows/1/count", json!(30))]);
    let b = &solution.hops[1];
    let p_b = 0.1 * (b.queue_packets - 10.0) / 20.0;
    let on_curve = 1.0 / (1.5 / p_b + 0.5);
    assert!((b.drop_probability / on_curve - 1.0).abs() < 0.3, "{b:?} {on_curve}");
    assert!(b.utilisation > 0.95);
}

#[test]
fn each_uncovered_key_is_rejected_by_hop_and_key() {
    let end = ": no analytic model covers it. Covered: ";
    let cases = [
        ("/hops/1/down/queue", json!({"kind": "codel"}), "hops.b.aqm.kind = codel"),
        ("/hops/0/down/queue", droptail(0), "hops.a.aqm.limit = 0 packets"),
        ("/hops/0/down/link/kind", json!("trace"), "hops.a.link.kind = trace"),
        (
            "/hops/0/down/link/errors",
            json!({"kind": "independent", "loss": 0.1}),
            "hops.a.link.errors.kind = independent",
        ),
        ("/hops/0/down/link/arq", json!({"delay_ns": 5}), "hops.a.link.arq.delay = 5 ns"),
        ("/hops/1/up", direction(10_000, droptail(100)), "hops.b.up.link.rate = 10000 bit/s"),
        ("/hops/1/up/queue", droptail(3), "hops.b.aqm.limit = 3"),
        (
            "/hops/0",
            json!({"name": "a", "down": direction(10_000_000, droptail(50)),
                   "up": {"link": {"kind": "fixed", "rate_bps": 9_000_000, "loss": 0.1}, "queue": droptail(99)}}),
            "hops.a.up.link.loss = 0.1",
        ),
        (
            "/controls",
            json!([{"at_ns": 1, "hop": "a", "action": {"kind": "rate", "rate_bps": 1}}]),
            "control = changes of the rate",
        ),
        ("/flows/0/source/congestion", json!({"kind": "cubic"}), "flows.0.cc = cubic"),
        ("/flows/1/source/options/ecn", json!("on"), "flows.1.tcp.ecn = on"),
        ("/flows/1/source/transfer_bytes", json!(1000), "flows.1.size = a transfer"),
        ("/flows/1/direction", json!("reverse"), "flows.1.direction = reverse"),
        ("/flows/1/stop_ns", json!(1), "flows.1.stop = a time"),
        ("/flows/0/access/rate_bps", json!(9_000_000), "flows.0.access.rate = 9000000 bit/s"),
        ("/flows/0/egress/rate_bps", json!(10_000_000), "flows.0.egress.rate = 10000000 bit/s"),
        ("/flows/1/return_wire/rate_bps", json!(1000), "flows.1.return_wire.rate = 1000 bit/s"),
    ];
    for (pointer, value, expected) in cases {
        let lines = refused_by(&changed(&[(pointer, value)]));
        let [line] = &lines[..] else { panic!("{pointer}: {lines:?}") };
        assert!(line.starts_with(&format!("{expected}{end}")), "{pointer}: {line}");
    }
}

#[test]
fn wires_and_routes_are_checked() {
    let wire = |rate_bps: u64| json!({"name": "w", "wire": {"rate_bps": rate_bps, "delay_ns": 1}});
    let hops =
        |first: Value| json!([first, hop("b", 10_000_000, gred()), hop("c", 9_000_000, gred())]);
    let routes = |first: Value| {
        [
            ("/hops", hops(first)),
            ("/flows/0/hops", json!(["w", "c"])),
            ("/flows/1/hops", json!(["b", "c"])),
        ]
    };
    assert_eq!(solved(&routes(wire(20_000_000))).hops.len(), 2);
    let line = &refused_by(&changed(&routes(wire(9_000_000))))[0];
    assert!(line.starts_with("hops.w.wire.rate = 9000000 bit/s: no analytic model"), "{line}");
    let mut limited = wire(50_000_000);
    limited["wire"]["limit"] = json!({"packets": 5});
    let line = &refused_by(&changed(&routes(limited)))[0];
    assert!(line.starts_with("hops.w.wire.limit = a limit: "), "{line}");
    let only_wire = [("/hops", hops(wire(20_000_000))), ("/flows/1/hops", json!(["w", "w"]))];
    let line = &refused_by(&changed(&only_wire))[0];
    assert!(line.starts_with("flows.1.hops = w to w: no analytic model"), "{line}");
}

#[test]
fn one_hop_is_left_to_the_models_of_one_hop() {
    let scenario = Scenario::from_json(&covered().to_string()).expect("a scenario");
    let found = solve(&scenario, &Files::default(), None).expect("the fixed point covers it");
    assert_eq!(found["model"], "fixed-point");
    let reasons = NetworkFixedPoint::covers(&scenario, &Files::default()).expect_err("one hop");
    let lines: Vec<String> = reasons.iter().map(|reason| reason.line(None)).collect();
    let line = "hops = bottleneck: no analytic model covers it. Covered: two or more hops with a link for data";
    assert_eq!(lines, [line]);
}

#[test]
fn timeouts_losses_and_long_round_trips_give_one_warning_each() {
    let early = solved(&[("/hops/1/down/queue", gred())]).warnings;
    assert!(early.is_empty(), "{early:?}");
    let lines = solved(&[("/flows/1/count", json!(20))]).warnings;
    let start = "flow 0: it crosses several hops, and drop-tail drops";
    assert!(lines.iter().any(|line| line.starts_with(start)), "{lines:?}");
    let many = [("/flows/1/count", json!(400)), ("/hops/1/down/queue", droptail(20))];
    let warnings = solved(&many).warnings;
    assert!(warnings.iter().any(|line| line.contains("waits for timeouts")), "{warnings:?}");
    let slow = [("/flows/0/egress/delay_ns", json!(3_000_000_000u64))];
    let warnings = solved(&slow).warnings;
    let line = "flow 0: the round-trip time exceeds the timeout by a factor of 3.0";
    assert!(warnings[0].starts_with(line), "{warnings:?}");
}
