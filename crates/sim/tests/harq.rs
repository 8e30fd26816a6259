//! Tests of TCP over links with HARQ and ARQ, which convert losses to delays. Without in-order
//! delivery, TCP interprets the reordering as loss.

use crate::common::*;
use airpath_link::Files;
use airpath_path::{Components, ReplicationReport};
use airpath_phy::per_table::PerTable;
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns links of 5 Mbit/s that lose a tenth of the packets or transmission attempts.
fn lossy_links() -> [Value; 3] {
    let regimes = json!([{"rate_bps": 5_000_000, "per": 0.1}, {"rate_bps": 5_000_000, "per": 0.1}]);
    [
        json!({"kind": "fixed", "rate_bps": 5_000_000, "loss": 0.1}),
        json!({"kind": "multi-regime", "thresholds": [10], "regimes": regimes}),
        json!({"kind": "adaptive", "table": "t", "snr": 0,
               "policy": {"kind": "fixed", "mcs": "one"}}),
    ]
}

/// Returns an error table with one MCS of 5 Mbit/s. A block carries one packet, and a tenth of the
/// blocks fail.
fn files() -> Arc<Files> {
    let table = json!({"channel": "any", "curves": [{
        "mcs": {"name": "one", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 1500,
                "rate_bps": 5e6},
        "points": [{"snr_db": 0, "errors": 100, "blocks": 1000}]}]});
    let table = PerTable::from_json(&table.to_string()).expect("a table");
    Arc::new(Files { tables: [("t".to_owned(), Arc::new(table))].into(), ..Files::default() })
}

/// Runs a download of 60 s with a window of 64 kB over both directions of `link`, with the changes
/// `keys`.
fn download(mut link: Value, keys: Value, recovery: &str) -> ReplicationReport {
    merge(&mut link, keys);
    let source = tcp(json!({"recovery": recovery, "delayed_ack_segments": 2}));
    let reverse = json!({"ack_path": {"kind": "reverse", "queue": droptail(100)}});
    let scenario = scenario(60, vec![flow(source, json!({}))], link, droptail(100), reverse);
    run_with(&scenario, &Components::default(), &files(), 1).report(0)
}

fn repeating(in_order: bool) -> Value {
    json!({"harq": {"attempts": 4, "round_trip_ns": 8 * MS}, "arq": {"delay_ns": 50 * MS},
           "in_order": in_order})
}

/// No packet is lost in either direction, TCP retransmits nothing, and the link is fully used.
#[test]
fn tcp_has_delays_instead_of_losses_with_in_order_delivery() {
    for link in lossy_links() {
        for recovery in ["newreno", "sack"] {
            let report = download(link.clone(), repeating(true), recovery);
            let flow = &report.flows[0];
            assert!(report.links.iter().all(|side| side.lost_packets == 0), "{link}");
            assert_eq!(
                (flow.retransmissions, flow.timeouts),
                (Some(0), Some(0)),
                "{link} {recovery}"
            );
            assert!(
                flow.goodput_bps > 0.95 * 5e6 * 1460.0 / 1500.0,
                "{link}: {}",
                flow.goodput_bps
            );
        }
    }
}

/// With 10 % loss, TCP uses less than a fifth of the link.
#[test]
fn tcp_has_losses_without_link_retransmissions() {
    for link in lossy_links() {
        let report = download(link.clone(), json!({}), "sack");
        let share = report.links[0].lost_packets as f64
            / (report.links[0].lost_packets + report.links[0].delivered_packets) as f64;
        assert!((share - 0.1).abs() < 0.03, "{link}: {share}");
        assert!(report.flows[0].goodput_bps < 1e6, "{link}: {}", report.flows[0].goodput_bps);
    }
}

/// More than three packets that overtake a retransmitted packet cause duplicate ACKs. TCP then
/// retransmits a packet that was not lost, and its receiver gets the packet twice.
#[test]
fn out_of_order_delivery_causes_spurious_tcp_retransmissions() {
    for link in lossy_links() {
        let report = download(link.clone(), repeating(false), "newreno");
        let (flow, in_order) =
            (&report.flows[0], download(link.clone(), repeating(true), "newreno"));
        assert!(report.links.iter().all(|side| side.lost_packets == 0), "{link}");
        assert!(
            flow.fast_retransmits.unwrap() > 10 && flow.duplicate_packets.unwrap() > 10,
            "{link}: {flow:?}"
        );
        assert!(flow.goodput_bps < 0.9 * in_order.flows[0].goodput_bps, "{link}");
    }
}

/// A tenth of the transmissions fail, and each failure adds 8 ms. The mean added delay is 0.1 · 8 +
/// 0.01 · 8 + … ms.
#[test]
fn the_link_counts_recovered_packets_and_their_delay() {
    for link in lossy_links() {
        let report = download(link.clone(), repeating(true), "sack");
        let side = &report.links[0];
        let counter = |name: &str| side.counters[name];
        let packets = side.delivered_packets as f64;
        let sigma = (packets * 0.1 * 0.9).sqrt();
        assert!((counter("recovered_packets") - 0.1 * packets).abs() < 5.0 * sigma, "{link}");
        let expected = 8e-3 * (0.1 + 0.01 + 0.001) + 50e-3 * 1e-4;
        let found = counter("recovery_delay_mean_s");
        assert!((found / expected - 1.0).abs() < 0.1, "{link}: {found} s, not {expected} s");
    }
}
