//! N bulk flows over a dumbbell, every packet acknowledged: for profilers.
//!
//! `dumbbell FLOWS MBPS PACKETS SECONDS [RECOVERY [LAW [QUEUE]]]`; the RTT is 20 ms and 0.2 ms more
//! for each next flow, up to 40 ms.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_path::{Parts, Scenario, build};
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
    let (recovery, law, queue) = (word(5, "newreno"), word(6, "reno"), word(7, "droptail"));
    let options = json!({
        "profile": "rfc", "mss": 1460, "header_bytes": 40, "initial_window": 4380,
        "initial_ssthresh": null, "receive_window": 1_000_000, "recovery": recovery,
        "window_growth": "bytes", "exit_window": "burst-safe", "fast_retransmit_guard": "rfc",
        "partial_ack_timer": "first", "limited_transmit": true, "delayed_ack_segments": 1,
        "delayed_ack_timeout_ns": 200_000_000, "initial_rto_ns": 1_000_000_000u64,
        "min_rto_ns": 1_000_000_000u64, "max_rto_ns": 60_000_000_000u64, "max_backoff": 64,
        "rto_granularity_ns": 0, "srtt_gain": 0.125, "rttvar_gain": 0.25,
        "first_rttvar": "half", "handshake": true, "flight_bound": "cwnd"});
    let flow = |i: u64| {
        let delay = json!({"delay_ns": 10_000_000 + 100_000 * (i % 100)});
        json!({
            "source": {"kind": "tcp", "congestion": {"kind": law}, "options": options},
            "start": {"kind": "uniform", "low_ns": 0, "high_ns": 1_000_000_000},
            "access": {"delay_ns": 0}, "egress": delay, "return_wire": delay})
    };
    let scenario = json!({
        "duration_ns": seconds * 1_000_000_000, "warmup_ns": 0,
        "flows": (0..flows).map(flow).collect::<Vec<_>>(),
        "bottleneck": {"link": {"kind": "fixed", "rate_bps": mbps * 1_000_000},
                       "queue": queue_description(&queue, packets)},
        "ack_path": {"kind": "ideal"}});
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a scenario");
    let network = build(&scenario, &Parts::default(), &Arc::default(), 1, 0).expect("a network");
    let mut driver = Driver::new(network);
    driver.run(&()).expect("a run");
    let report = driver.report(0);
    println!(
        "{} packets, {:.3} events/packet, utilisation {:.4}, {} timeouts, {} retransmissions",
        report.packets,
        report.events as f64 / report.packets as f64,
        report.links[0].utilisation,
        report.flows.iter().map(|f| f.timeouts).sum::<u64>(),
        report.flows.iter().map(|f| f.retransmissions).sum::<u64>(),
    );
}

fn queue_description(kind: &str, packets: u64) -> Value {
    match kind {
        "fq-codel" => json!({
            "kind": kind, "limit": 10_240, "flows": 1024, "quantum_bytes": 1514,
            "target_ns": 5_000_000, "interval_ns": 100_000_000, "mtu_bytes": 1500}),
        _ => json!({"kind": kind, "limit": {"packets": packets}}),
    }
}
