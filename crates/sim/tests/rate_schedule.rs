//! Every kind of link follows a schedule of rates: 2, 1, 0 and again 2 Mbit/s, ten seconds each.

use crate::common::*;
use airpath_core::Series;
use airpath_link::trace_file::Trace;
use airpath_link::{AnyLink, Files};
use airpath_path::Parts;
use airpath_phy::per_table::PerTable;
use serde_json::{Value, json};
use std::sync::Arc;

/// A link of 2 Mbit/s and packets of 1250 bytes.
struct Case {
    link: Value,
    /// Bytes that it sends beside each packet.
    overhead: f64,
    /// Bytes by which a phase may differ: what is under way as it begins and ends.
    under_way: f64,
}

/// Every kind.
fn cases() -> Vec<Case> {
    let regimes = json!([{"rate_bps": 500_000, "per": 0}, {"rate_bps": 2_000_000, "per": 0}]);
    let rlc = json!({
        "kind": "rlc-am", "rate_bps": 2_000_000, "tti_ns": 10 * MS, "latency_ns": 25 * MS,
        "pdu_payload": 40, "window": 1024, "max_dat": 10, "poll_timer_ns": 60 * MS,
        "status_prohibit_ns": 60 * MS, "poll_window": 0.5, "last_pdu_poll": true,
        "last_retransmission_poll": true, "missing_pdu_indicator": true, "concatenation": true,
        "mrw_timer_ns": 200 * MS, "reset_timer_ns": 200 * MS,
    });
    let case = |link, overhead, under_way| Case { link, overhead, under_way };
    let packets = |count| 1250.0 * count;
    vec![
        case(fixed(2_000_000), 0.0, packets(1.0)),
        // The very first packet goes in the first regime and takes as long as four.
        case(
            json!({"kind": "multi-regime", "thresholds": [5], "regimes": regimes}),
            0.0,
            packets(4.0),
        ),
        case(
            json!({"kind": "adaptive", "table": "t", "snr_db": 0,
                   "policy": {"kind": "fixed", "mcs": "one"}}),
            0.0,
            packets(1.0),
        ),
        case(json!({"kind": "rate-trace", "trace": "steps"}), 0.0, packets(1.0)),
        // Opportunities come one at a time, of 1504 bytes at most.
        case(
            json!({"kind": "trace", "trace": "steady", "frame_overhead": 4}),
            4.0,
            packets(1.0) + 1504.0,
        ),
        // A length indicator of one byte for each packet; what 25 ms and a TTI hold is under way.
        case(rlc, 1.0, packets(1.0) + 35e-3 * 2e6 / 8.0),
    ]
}

/// A rate of 3 Mbit/s for half of each second and 1 Mbit/s for the other; 125 opportunities of
/// 1504 bytes in 752 ms. Both are 2 Mbit/s.
fn files() -> Arc<Files> {
    let steps = Trace::parse_csv("steps", "time_s,rate_bps\n0,3e6\n0.5,1e6\n1,1e6\n");
    let lines: Vec<String> = (1..=125).map(|n| format!("{}\n", n * 752 / 125)).collect();
    let steady = Trace::parse_mahimahi("steady", &lines.concat());
    let traces = [("steps", steps), ("steady", steady)];
    let traces = traces.map(|(name, trace)| (name.to_owned(), Arc::new(trace.expect(name))));
    // A scheme of 2 Mbit/s without errors, of which 25 blocks make a packet.
    let table = json!({"channel": "none", "curves": [{
        "mcs": {"name": "one", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 50,
                "rate_bps": 2e6},
        "points": [{"snr_db": 0, "errors": 0, "blocks": 1}]}]});
    let table = PerTable::from_json(&table.to_string()).expect("a table");
    let tables = [("t".to_owned(), Arc::new(table))].into();
    Arc::new(Files { traces: traces.into(), tables })
}

/// Bytes of packets that arrive in each of the four phases, under an overload of twice the rate.
fn delivered(link: &Value) -> [f64; 4] {
    let source = json!({"kind": "cbr", "rate_bps": 4_000_000, "packet_bytes": 1250});
    let flows = vec![flow(source, json!({"egress": {"delay_ns": 0}}))];
    let changes = [(10, 1_000_000), (20, 0), (30, 2_000_000)].map(|(at, rate_bps)| {
        json!({"at_ns": at * SECOND, "action": {"kind": "rate", "rate_bps": rate_bps}})
    });
    let change = json!({"controls": changes, "record": {"series": ["delivered"]}});
    let scenario = scenario(40, flows, link.clone(), droptail(100), change);
    let driver = run_with(&scenario, &Parts::default(), &files(), 1);
    let recorder = driver.into_recorder();
    let mut bytes = [0.0; 4];
    for sample in recorder.samples(Series::Delivered) {
        // What arrives as a phase ends belongs to it.
        let phase = (sample.time.as_nanos() - 1) / (10 * SECOND);
        bytes[phase as usize] += sample.value;
    }
    bytes
}

#[test]
fn every_link_follows_a_schedule() {
    for (kind, _) in AnyLink::BUILT_IN {
        let known = cases().iter().any(|case| case.link["kind"] == *kind);
        assert!(known, "say here how to set up a link of kind {kind}");
    }
    for Case { link, overhead, under_way } in cases() {
        let share = 1250.0 / (1250.0 + overhead);
        for (phase, (bytes, mbps)) in delivered(&link).into_iter().zip([2, 1, 0, 2]).enumerate() {
            let expected = f64::from(mbps) * 1e6 * 10.0 / 8.0 * share;
            let differ = (bytes - expected).abs();
            assert!(differ <= under_way, "{link}, phase {phase}: {bytes} bytes");
        }
    }
}
