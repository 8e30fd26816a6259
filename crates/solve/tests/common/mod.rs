//! A scenario for each model, and functions that change its values.

use airpath_link::Files;
use airpath_path::Scenario;
use airpath_solve::{Reasons, solve};
use serde_json::{Value, json};

/// Returns two Reno flows over 10 Mbit/s with gentle RED and round trips of 70 and 90 ms.
pub(crate) fn covered() -> Value {
    let options = json!({
        "profile": "rfc", "mss": 1460, "header_bytes": 40, "initial_window": 4380,
        "initial_ssthresh": null, "receive_window": 65_535, "recovery": "newreno",
        "window_growth": "bytes", "exit_window": "burst-safe", "fast_retransmit_guard": "rfc",
        "partial_ack_timer": "first", "limited_transmit": true, "delayed_ack_segments": 2,
        "delayed_ack_timeout_ns": 200_000_000, "initial_rto_ns": 1_000_000_000u64,
        "min_rto_ns": 1_000_000_000u64, "max_rto_ns": 60_000_000_000u64, "max_backoff": 64,
        "rto_granularity_ns": 0, "srtt_gain": 0.125, "rttvar_gain": 0.25,
        "first_rttvar": "half", "handshake": true
    });
    let flow = |delay_ns: u64| {
        json!({
            "source": {"kind": "tcp", "options": options, "congestion": {"kind": "reno"}},
            "start": {"kind": "at", "time_ns": 0},
            "access": {"delay_ns": 0}, "egress": {"delay_ns": delay_ns},
            "return_wire": {"delay_ns": delay_ns}
        })
    };
    json!({
        "duration_ns": 100_000_000_000u64, "warmup_ns": 10_000_000_000u64,
        "flows": [flow(30_000_000), flow(40_000_000)],
        "bottleneck": {
            "link": {"kind": "fixed", "rate_bps": 10_000_000},
            "queue": {"kind": "gred", "min_th": 30.0, "max_th": 90.0, "max_p": 0.1, "ecn": false},
            "delay_ns": 10_000_000
        },
        "ack_path": {"kind": "ideal"}
    })
}

/// Returns two Poisson sources of 6 and 2 Mbit/s with packets of 1500 B, over 10 Mbit/s with
/// drop-tail.
fn datagrams() -> Value {
    let flow = |rate_bps: u64| {
        json!({
            "source": {"kind": "poisson", "rate_bps": rate_bps, "packet_bytes": 1500},
            "start": {"kind": "at", "time_ns": 0},
            "access": {"delay_ns": 1_000_000}, "egress": {"delay_ns": 3_000_000},
            "return_wire": {"delay_ns": 0}
        })
    };
    json!({
        "duration_ns": 100_000_000_000u64, "warmup_ns": 10_000_000_000u64,
        "flows": [flow(6_000_000), flow(2_000_000)],
        "bottleneck": {
            "link": {"kind": "fixed", "rate_bps": 10_000_000},
            "queue": {"kind": "droptail", "limit": {"packets": 1000}},
            "delay_ns": 10_000_000
        },
        "ack_path": {"kind": "ideal"}
    })
}

/// Returns the scenario of the fixed point with changed values. Each value is given by a JSON
/// pointer; the last key may be new.
pub(crate) fn changed(changes: &[(&str, Value)]) -> Scenario {
    with(covered(), changes)
}

/// Returns the scenario of M/D/1/K with changed values.
pub(crate) fn poisson(changes: &[(&str, Value)]) -> Scenario {
    with(datagrams(), changes)
}

/// Returns the document of [`poisson`].
pub(crate) fn poisson_document(changes: &[(&str, Value)]) -> Value {
    changed_document(datagrams(), changes)
}

fn with(document: Value, changes: &[(&str, Value)]) -> Scenario {
    let document = changed_document(document, changes);
    Scenario::from_json(&document.to_string()).expect("models reject values, not the scenario")
}

fn changed_document(mut document: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
        document.pointer_mut(parent).expect("the parent table exists")[key] = value.clone();
    }
    document
}

/// Returns the lines of the error if no model covers the scenario.
pub(crate) fn refused_by(scenario: &Scenario) -> Vec<String> {
    let refused = solve(scenario, &Files::default(), None).expect_err("no model covers it");
    refused.to_string().lines().map(str::to_owned).collect()
}

/// Returns fields and values of the reasons.
pub(crate) fn fields_and_values(reasons: &Reasons) -> Vec<String> {
    reasons.iter().map(|reason| format!("{} = {}", reason.field, reason.value)).collect()
}

/// Returns the three CLAMP flows of clamp-2008 Fig. 2 over 10 Mbit/s and 50 ms, with changed
/// values.
pub(crate) fn clamp(changes: &[(&str, Value)]) -> Scenario {
    let mut document = covered();
    let mut flow = document["flows"][0].clone();
    flow["source"]["options"]["receive_window"] = json!(6_000_000);
    flow["source"]["window"] =
        json!({"kind": "clamp", "tau_bytes": 500, "average_packets": 1000, "beta": 0.001});
    flow["egress"]["delay_ns"] = json!(20_000_000);
    flow["return_wire"]["delay_ns"] = json!(20_000_000);
    document["flows"] = json!([flow, flow, flow]);
    document["bottleneck"]["queue"] = json!({
        "kind": "clamp", "a_bytes": 5500, "b": 1.0, "time_constant_ns": 500_000_000,
        "rate_time_constant_ns": 500_000_000,
        "inner": {"kind": "droptail", "limit": {"bytes": 6_000_000}}});
    with(document, changes)
}

/// Returns a download of 1 MB in packets of 1540 B over a TDD link with 802.16e parameters, wires
/// of 100 ms, a loss of 1 % and a request delay of 30 ms, with changed values.
pub(crate) fn tdd(changes: &[(&str, Value)]) -> Scenario {
    let mut document = covered();
    let mut flow = document["flows"][0].clone();
    let options = &mut flow["source"]["options"];
    options["mss"] = json!(1500);
    options["receive_window"] = json!(96_000);
    options["delayed_ack_segments"] = json!(1);
    flow["source"]["transfer_bytes"] = json!(1_000_000);
    flow["access"]["delay_ns"] = json!(50_000_000);
    flow["egress"]["delay_ns"] = json!(0);
    flow["return_wire"]["delay_ns"] = json!(50_000_000);
    document["flows"] = json!([flow]);
    let queue = json!({"kind": "droptail", "limit": {"packets": 1000}});
    document["ack_path"] = json!({"kind": "reverse", "queue": queue});
    document["bottleneck"] = json!({"queue": queue, "link": {
        "kind": "ofdma-tdd", "frame_ns": 5_000_000, "stations": 1,
        "downlink_slots": 420, "uplink_slots": 175, "slot_symbols": 48,
        "map_overhead": {"slots": 60}, "map_relevance": 1,
        "decoded_ns": 3_000_000, "closed_ns": 3_000_000, "received_ns": 5_600_000,
        "downlink_mcs": "qpsk-3/4", "uplink_mcs": "qpsk-1/2",
        "fragmentation": {"down": false, "up": true}, "packing": {"down": false, "up": false},
        "in_order": {"down": true, "up": false},
        "errors": {"kind": "independent", "loss": 0.01},
        "request": {"kind": "random-delay", "delay": {"low_ns": 30_000_000, "high_ns": 30_000_000},
                    "collision": 0.0, "timer_ns": 100_000_000, "per": "queue"},
        "grant": {"kind": "uni"}, "scheduler": {"kind": "round-robin"}}});
    with(document, changes)
}
