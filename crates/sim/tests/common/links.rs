//! Descriptions of one link of each kind with a mean rate of 2 Mbit/s, and the files that they
//! need.

use super::{MS, fixed};
use airpath_conformance::samples;
use airpath_link::{AnyLink, Files};
use airpath_phy::per_table::PerTable;
use airpath_trace::Trace;
use serde_json::{Value, json};
use std::sync::Arc;

/// Link kinds that require a reverse direction. They have separate tests.
const WITH_A_REVERSE_SIDE: [&str; 1] = ["ofdma-tdd"];

/// Returns a description of every link kind that can serve one direction, with a nominal rate of 2
/// Mbit/s for packets of 1250 bytes. Kinds that are not listed here have the defaults of their
/// Python class, with this rate.
///
/// # Panics
/// Panics if such a kind has no `rate_bps`.
pub(crate) fn links() -> Vec<Value> {
    let regimes = json!([{"rate_bps": 500_000, "per": 0}, {"rate_bps": 2_000_000, "per": 0}]);
    let mut found = vec![
        fixed(2_000_000),
        json!({"kind": "multi-regime", "thresholds": [5], "regimes": regimes}),
        json!({"kind": "adaptive", "table": "t", "snr": 0,
               "policy": {"kind": "fixed", "mcs": "one"}}),
        json!({"kind": "rate-trace", "trace": "steps"}),
        // Each opportunity carries at most 1504 bytes.
        json!({"kind": "trace", "trace": "steady", "framing": 4}),
        json!({
            "kind": "rlc-am", "rate_bps": 2_000_000, "tti_ns": 10 * MS, "latency_ns": 25 * MS,
            "pdu_payload": 40, "window": 1024, "max_dat": 10, "poll_timer_ns": 60 * MS,
            "status_prohibit_ns": 60 * MS, "poll_window": 0.5, "last_pdu_poll": true,
            "last_retransmission_poll": true, "missing_pdu_indicator": true, "concatenation": true,
            "mrw_timer_ns": 200 * MS, "reset_timer_ns": 200 * MS,
        }),
        // Each slot carries one packet of 1250 bytes.
        json!({
            "kind": "cell", "slot_ns": 5 * MS, "attempts": 1,
            "scheduler": {"kind": "round-robin"}, "snr": {"kind": "constant", "mean_db": 20},
            "rate": {"kind": "shannon", "bandwidth_hz": 2e6, "cap_bps": 2_000_000},
        }),
    ];
    for (kind, _) in AnyLink::BUILT_IN {
        let is_left = !found.iter().any(|link| link["kind"] == *kind);
        if is_left && !WITH_A_REVERSE_SIDE.contains(kind) {
            let mut link = samples("link", kind, |_| true).swap_remove(0);
            assert!(link["rate_bps"].is_u64(), "say here how to set up a link of kind {kind}");
            link["rate_bps"] = json!(2_000_000);
            found.push(link);
        }
    }
    found
}

/// Returns the TDD link with the defaults of its Python class: one station, which requests uplink
/// bandwidth.
pub(crate) fn tdd() -> Value {
    samples("link", "ofdma-tdd", |_| true).swap_remove(0)
}

/// Returns two traces of 2 Mbit/s on average: one with 3 and 1 Mbit/s in alternating half seconds,
/// one with 125 opportunities of 1504 bytes in 752 ms. Also returns an error table.
pub(crate) fn link_files() -> Arc<Files> {
    let steps = Trace::parse_csv("steps", "time_s,rate_bps\n0,3e6\n0.5,1e6\n1,1e6\n");
    let lines: Vec<String> = (1..=125).map(|n| format!("{}\n", n * 752 / 125)).collect();
    let steady = Trace::parse_mahimahi("steady", &lines.concat());
    let traces = [("steps", steps), ("steady", steady)];
    let traces = traces.map(|(name, trace)| (name.to_owned(), Arc::new(trace.expect(name))));
    // An MCS of 2 Mbit/s without errors. A packet takes 25 blocks.
    let table = json!({"channel": "none", "curves": [{
        "mcs": {"name": "one", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 50,
                "rate_bps": 2e6},
        "points": [{"snr_db": 0, "errors": 0, "blocks": 1}]}]});
    let table = PerTable::from_json(&table.to_string()).expect("a table");
    let tables = [("t".to_owned(), Arc::new(table))].into();
    Arc::new(Files { traces: traces.into(), tables, ..Files::default() })
}
