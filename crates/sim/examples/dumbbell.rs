//! N bulk flows over a drop-tail dumbbell: `dumbbell FLOWS MBPS PACKETS SECONDS RECOVERY`.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_path::{Parts, Scenario, build};
use airpath_sim::Driver;
use serde_json::json;
use std::sync::Arc;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |i: usize| arguments[i].parse::<u64>().expect("a number");
    let (flows, mbps, packets, seconds) = (number(1), number(2), number(3), number(4));
    let options = json!({
        "profile": "rfc", "mss": 1460, "header_bytes": 40, "initial_window": 4380,
        "initial_ssthresh": null, "receive_window": 4_000_000, "recovery": arguments.get(5).map_or("newreno", String::as_str),
        "window_growth": "bytes", "exit_window": "burst-safe", "fast_retransmit_guard": true,
        "partial_ack_timer": "first", "limited_transmit": true, "delayed_ack_segments": 1,
        "delayed_ack_timeout_ns": 200_000_000, "initial_rto_ns": 1_000_000_000u64,
        "min_rto_ns": 1_000_000_000u64, "max_rto_ns": 60_000_000_000u64, "max_backoff": 64,
        "rto_granularity_ns": 0, "srtt_gain": 0.125, "rttvar_gain": 0.25,
        "first_rttvar": "half", "handshake": true});
    let flow = |i: u64| {
        json!({
            "source": {"kind": "tcp", "congestion": {"kind": "reno"}, "options": options},
            "start": {"kind": "uniform", "low_ns": 0, "high_ns": 1_000_000_000},
            "access": {"delay_ns": 0}, "egress": {"delay_ns": 10_000_000 + 100_000 * i},
            "return_wire": {"delay_ns": 10_000_000 + 100_000 * i}})
    };
    let scenario = json!({
        "duration_ns": seconds * 1_000_000_000, "warmup_ns": 0,
        "flows": (0..flows).map(flow).collect::<Vec<_>>(),
        "bottleneck": {"link": {"kind": "fixed", "rate_bps": mbps * 1_000_000},
                       "queue": {"kind": "droptail", "limit": {"packets": packets}}},
        "ack_path": {"kind": "ideal"}});
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a scenario");
    let network = build(&scenario, &Parts::default(), &Arc::default(), 1, 0).expect("a network");
    let mut driver = Driver::new(network);
    let began = std::time::Instant::now();
    driver.run(&()).expect("a run");
    let took = began.elapsed().as_secs_f64();
    let report = driver.report(0);
    println!(
        "{} packets, {:.2} Mpackets/s, {:.3} events/packet, utilisation {:.4}, {} timeouts, {} retransmissions",
        report.packets,
        report.packets as f64 / took / 1e6,
        report.events as f64 / report.packets as f64,
        report.links[0].utilisation,
        report.flows.iter().map(|f| f.timeouts).sum::<u64>(),
        report.flows.iter().map(|f| f.retransmissions).sum::<u64>(),
    );
}
