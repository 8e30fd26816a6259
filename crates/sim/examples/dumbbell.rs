//! Runs N bulk flows over a dumbbell with an ACK per packet, for use with a profiler.
//!
//! Usage: `dumbbell FLOWS MBPS PACKETS SECONDS [RECOVERY [CC [QUEUE [HOPS [DIRECTIONS [PACING]]]]]]`.
//! The first flow has an RTT of 20 ms. The RTT increases by 0.2 ms from flow to flow, up to 40 ms.
//! With `linux` as RECOVERY, the TCP parameters are those of the profile `linux`. Data traverse HOPS
//! links of the same rate, 1 ms apart. With `both` as DIRECTIONS, ACKs also traverse links;
//! otherwise the ACK path is ideal. PACING is `on` or `off`.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_path::{Components, Scenario, build};
use airpath_sim::Driver;
use serde_json::{Value, json};
use std::sync::Arc;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |i: usize| arguments[i].parse::<u64>().expect("a number");
    let word = |i: usize, default: &'static str| {
        arguments.get(i).map_or_else(|| default.to_owned(), String::clone)
    };
    let (flows, mbps, packets, seconds) = (number(1), number(2), number(3), number(4));
    let (recovery, cc, queue) = (word(5, "newreno"), word(6, "reno"), word(7, "droptail"));
    let pacing = word(10, "off");
    let (profile, changes) = match recovery.as_str() {
        "linux" => ("linux", json!({"receive_window": 4_000_000, "pacing": pacing})),
        _ => {
            let growth = json!({
                "receive_window": 1_000_000, "recovery": recovery, "window_growth": "bytes",
                "pacing": pacing, "delayed_ack_segments": 1});
            ("rfc", growth)
        }
    };
    let options = airpath_tcp::profile(profile, changes).expect("a profile");
    let flow = |i: u64| {
        let delay = json!({"delay_ns": 10_000_000 + 100_000 * (i % 100)});
        json!({
            "source": {"kind": "tcp", "congestion": {"kind": cc}, "options": options},
            "start": {"kind": "uniform", "low_ns": 0, "high_ns": 1_000_000_000},
            "access": {"delay_ns": 0}, "egress": delay, "return_wire": delay})
    };
    let (hops, directions) = (word(8, "1").parse().expect("a number"), word(9, "down"));
    let hop = |i: u64| {
        let is_last = i + 1 == hops;
        let direction = json!({
            "link": {"kind": "fixed", "rate_bps": mbps * 1_000_000},
            "queue": queue_description(&queue, packets),
            "delay_ns": if is_last { 0 } else { 1_000_000 }});
        let up = if directions == "both" { direction.clone() } else { Value::Null };
        json!({"name": format!("hop {i}"), "down": direction, "up": up})
    };
    let scenario = json!({
        "duration_ns": seconds * 1_000_000_000, "warmup_ns": 0,
        "flows": (0..flows).map(flow).collect::<Vec<_>>(),
        "hops": (0..hops).map(hop).collect::<Vec<_>>()});
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a scenario");
    let network =
        build(&scenario, &Components::default(), &Arc::default(), 1, 0).expect("a network");
    let mut driver = Driver::new(network);
    driver.run(&()).expect("a run");
    let report = driver.report(0);
    println!(
        "{} packets, {:.3} events/packet, utilisation {:.4}, {} timeouts, {} retransmissions",
        report.packets,
        report.events as f64 / report.packets as f64,
        report.links[0].utilisation,
        report.flows.iter().map(|f| f.timeouts.unwrap()).sum::<u64>(),
        report.flows.iter().map(|f| f.retransmissions.unwrap()).sum::<u64>(),
    );
}

fn queue_description(kind: &str, packets: u64) -> Value {
    match kind {
        "fq-codel" => json!({
            "kind": kind, "limit": 10_240, "flows": 1024, "quantum_bytes": 1514,
            "target_ns": 5_000_000, "interval_ns": 100_000_000, "mtu_bytes": 1500}),
        "rem" => json!({
            "kind": kind, "limit": {"packets": packets}, "target": 20, "gamma": 0.001,
            "alpha": 0.1, "phi": 1.001, "update_ns": 2_000_000, "mean_packet_bytes": 1040,
            "mode": "bytes", "ecn": false}),
        "vcp" => json!({
            "kind": kind, "limit": packets, "target": 0.98, "interval_ns": 200_000_000,
            "queue_weight": 0.5, "sampling_ns": 10_000_000, "low": 0.8, "average": "ewma",
            "capacity": "link"}),
        "ack-priority" => json!({
            "kind": kind, "aqm": {"kind": "droptail", "limit": {"packets": packets}}}),
        _ => json!({"kind": kind, "limit": {"packets": packets}}),
    }
}
