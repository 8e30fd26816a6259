//! Configurations of each built-in queue discipline, for the test suites that cover all
//! disciplines. The configurations of a discipline that is not listed here come from its Python
//! class: the defaults and extreme values.

use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_core::{ConfigError, Registry, Seed, Setup};
use serde_json::{Value, json};

/// Returns configurations of a built-in discipline: typical, smallest and extreme values.
pub(crate) fn descriptions(kind: &str) -> Vec<Value> {
    match kind {
        "droptail" => vec![
            json!({"limit": {"packets": 20}}),
            json!({"limit": {"packets": 1}}),
            json!({"limit": {"packets": u64::MAX}}),
            json!({"limit": {"bytes": 1}}),
            json!({"limit": {"bytes": 30_000}}),
            json!({"limit": {"bytes": u64::MAX}}),
        ],
        "gred" => vec![
            json!({"min_th": 3, "max_th": 9, "max_p": 0.1}),
            json!({"min_th": 0, "max_th": 1, "max_p": 1, "ecn": true}),
            json!({"min_th": 2, "max_th": 4, "max_p": 0.5, "ecn": true}),
            json!({"min_th": 0, "max_th": 1e-300, "max_p": 1}),
            json!({"min_th": 1e300, "max_th": 1e308, "max_p": 0}),
        ],
        "codel" => {
            let codel =
                |limit: u64, target_ns: u64, interval_ns: u64, mtu_bytes: u64, ecn: bool| {
                    json!({"limit": limit, "target_ns": target_ns, "interval_ns": interval_ns,
                       "mtu_bytes": mtu_bytes, "ecn": ecn})
                };
            vec![
                codel(20, 5_000_000, 100_000_000, 1500, false),
                codel(20, 5_000_000, 100_000_000, 1500, true),
                codel(1, 1, 1, 0, false),
                codel(1000, 1, 1, 0, true),
                codel(1000, 1000, 1_000_000, 0, false),
                codel(u64::MAX, u64::MAX, u64::MAX, u64::MAX, true),
                but(
                    &codel(20, 5_000_000, 100_000_000, 1500, false),
                    json!({"ce_threshold_ns": 1_000_000, "ce_threshold_ect1": true}),
                ),
            ]
        }
        "red" => {
            let usual = json!({
                "limit": 25, "min_th": 5, "max_th": 15, "max_p": 0.02, "weight": 0.002,
                "target_delay_ns": 5_000_000, "mean_packet_bytes": 500, "gentle": true,
                "wait": true, "ecn": false});
            vec![
                usual.clone(),
                but(&usual, json!({"weight": 1, "max_p": 0.5, "gentle": false, "wait": false})),
                but(&usual, json!({"min_th": null, "max_th": null, "weight": null, "ecn": true})),
                but(&usual, json!({"limit": 1, "min_th": 0, "max_th": 1e-300, "weight": 1e-300})),
                but(
                    &usual,
                    json!({"min_th": 0.5, "max_th": 1, "weight": 0.05, "mean_packet_bytes": 1500}),
                ),
                but(
                    &usual,
                    json!({"limit": u64::MAX, "min_th": 1e300, "max_th": 1e308,
                                   "target_delay_ns": u64::MAX, "mean_packet_bytes": u64::MAX}),
                ),
                but(
                    &usual,
                    json!({"limit": 3, "min_th": 0, "max_th": 1, "max_p": 1, "weight": 1,
                                   "ecn": true, "mean_packet_bytes": 1}),
                ),
            ]
        }
        "ared" => {
            let usual = json!({
                "limit": 25, "min_th": null, "max_th": null, "max_p": 0.1, "weight": null,
                "target_delay_ns": 5_000_000, "mean_packet_bytes": 500, "interval_ns": 500_000_000,
                "wait": false, "ecn": false});
            vec![
                usual.clone(),
                but(&usual, json!({"min_th": 1, "max_th": 3, "weight": 1, "ecn": true})),
                but(
                    &usual,
                    json!({"min_th": 0.5, "max_th": 1, "weight": 0.05, "mean_packet_bytes": 1500}),
                ),
                but(&usual, json!({"limit": 1, "interval_ns": 1, "max_p": 1, "weight": 1})),
                but(&usual, json!({"limit": u64::MAX, "interval_ns": u64::MAX, "max_p": 0})),
            ]
        }
        "pie" => {
            let usual = json!({
                "limit": 20, "target_ns": 15_000_000, "update_ns": 15_000_000, "alpha": 0.125,
                "beta": 1.25, "max_burst_ns": 150_000_000, "mean_packet_bytes": 1500,
                "delay_estimate": "timestamps", "derandomise": false, "ecn": false, "ecn_threshold": 0.1});
            vec![
                usual.clone(),
                but(
                    &usual,
                    json!({"limit": 1000, "delay_estimate": "departure-rate", "max_burst_ns": 0}),
                ),
                but(&usual, json!({"limit": 1, "derandomise": true, "target_ns": 1})),
                but(
                    &usual,
                    json!({"limit": 1000, "target_ns": 1, "max_burst_ns": 0, "alpha": 1e300,
                                   "mean_packet_bytes": 0, "ecn": true, "ecn_threshold": 1}),
                ),
                but(
                    &usual,
                    json!({"limit": u64::MAX, "update_ns": u64::MAX, "beta": 1e300,
                                   "target_ns": u64::MAX, "mean_packet_bytes": u64::MAX}),
                ),
            ]
        }
        "fq-codel" => {
            let usual = json!({
                "limit": 50, "flows": 1024, "quantum_bytes": 1514, "target_ns": 5_000_000,
                "interval_ns": 100_000_000, "mtu_bytes": 1500, "ecn": true});
            vec![
                usual.clone(),
                but(&usual, json!({"limit": 1, "target_ns": 1, "interval_ns": 1, "ecn": false})),
                but(&usual, json!({"flows": 1, "quantum_bytes": 256, "mtu_bytes": 0})),
                but(&usual, json!({"ce_threshold_ns": 0, "ecn": false})),
                but(
                    &usual,
                    json!({"flows": 2, "quantum_bytes": 4_000_000_000_u64, "limit": u64::MAX}),
                ),
                but(&usual, json!({"flows": 65_535, "quantum_bytes": 65_535, "limit": 7})),
            ]
        }
        "clamp" => {
            let usual = json!({
                "a_bytes": 3000, "b": 1, "time_constant_ns": 500_000_000,
                "rate_time_constant_ns": 500_000_000,
                "inner": {"kind": "droptail", "limit": {"packets": 20}}});
            vec![
                usual.clone(),
                but(&usual, json!({"a_bytes": 0, "b": 1e300, "time_constant_ns": 1})),
                but(&usual, json!({"a_bytes": null, "target_delay_ns": 50_000_000})),
                but(
                    &usual,
                    json!({"a_bytes": null, "target_delay_ns": 1,
                                   "adaptation_time_ns": 1}),
                ),
                but(&usual, json!({"a_bytes": u64::MAX, "rate_time_constant_ns": u64::MAX})),
                but(
                    &usual,
                    json!({"inner": {"kind": "fq-codel", "limit": 50, "flows": 1024,
                    "quantum_bytes": 1514, "target_ns": 5_000_000, "interval_ns": 100_000_000,
                    "mtu_bytes": 1500, "ecn": true}}),
                ),
            ]
        }
        "dualpi2" => {
            let usual = json!({
                "limit": 50, "target_ns": 15_000_000, "update_ns": 15_000_000, "alpha": 0.15,
                "beta": 3, "coupling": 2, "ramp_start_ns": 800_000, "ramp_ns": 400_000,
                "classic_percent": 10, "mtu_bytes": 1500, "any_ect": false});
            vec![
                usual.clone(),
                but(&usual, json!({"any_ect": true, "alpha": 1e300, "target_ns": 1})),
                but(&usual, json!({"limit": 1, "ramp_ns": 0, "ramp_start_ns": 0, "beta": 1e300})),
                but(
                    &usual,
                    json!({"limit": u64::MAX, "update_ns": 1_000_000, "classic_percent": 99,
                                   "coupling": 1e300, "mtu_bytes": 65_535, "alpha": 100}),
                ),
                but(
                    &usual,
                    json!({"update_ns": u64::MAX, "target_ns": u64::MAX, "alpha": 0,
                                   "ramp_start_ns": u64::MAX, "ramp_ns": u64::MAX, "beta": 0}),
                ),
                but(
                    &usual,
                    json!({"step_packets": 3, "min_qlen_step": 2, "th_len": 0, "alpha": 100,
                                   "decisions": "random", "drop_early": true,
                                   "ramp_start_ns": null, "ramp_ns": null}),
                ),
                but(
                    &usual,
                    json!({"step_packets": 0, "th_len": 5, "beta": 1e300, "coupling": 0.5,
                                   "drop_overload": false, "min_qlen_step": u64::MAX,
                                   "ramp_start_ns": null, "ramp_ns": null,
                                   "time_shift_ns": 20_000_000, "classic_percent": null}),
                ),
            ]
        }
        "l4span" => {
            let usual = json!({
                "limit": 50, "target_ns": 10_000_000, "report_ns": 1_000_000, "packets": 50,
                "classic_threshold_bytes": 10_000, "classic_constant": 7, "mss_bytes": 1460});
            vec![
                usual.clone(),
                but(&usual, json!({"target_ns": 1, "report_ns": 1, "packets": 1})),
                but(&usual, json!({"limit": 1, "classic_threshold_bytes": 0})),
                but(
                    &usual,
                    json!({"classic_threshold_bytes": 0, "classic_constant": 1e300,
                                   "mss_bytes": u64::MAX, "packets": 1000}),
                ),
                but(
                    &usual,
                    json!({"limit": u64::MAX, "target_ns": u64::MAX, "report_ns": u64::MAX,
                                   "classic_threshold_bytes": u64::MAX}),
                ),
            ]
        }
        "sbd" => {
            let usual = json!({
                "limit": 20, "min_th": 10, "reaction_time_ns": 200_000_000, "alpha": 5,
                "tick_ns": 10_000_000, "expiry": "timer", "ecn": false, "by_rate": []});
            let rows = json!([
                {"rate_bps": 1000, "min_th": 2, "reaction_time_ns": 1_000_000},
                {"rate_bps": 1, "min_th": 20, "reaction_time_ns": u64::MAX}]);
            vec![
                usual.clone(),
                but(&usual, json!({"expiry": "arrival", "ecn": true})),
                but(&usual, json!({"limit": 7, "min_th": 0, "reaction_time_ns": 1, "tick_ns": 1})),
                but(&usual, json!({"limit": 1, "min_th": 0, "alpha": 1, "tick_ns": u64::MAX})),
                but(
                    &usual,
                    json!({"limit": u64::MAX, "min_th": u64::MAX, "alpha": u64::MAX,
                                   "reaction_time_ns": u64::MAX}),
                ),
                but(&usual, json!({"by_rate": rows, "ecn": true})),
            ]
        }
        "rlc-red" => {
            let usual = json!({
                "limit": 20, "min_th": 5, "max_p": 0.1, "count": true, "drop": "front",
                "ecn": false, "by_rate": []});
            let rows = json!([
                {"rate_bps": 1000, "min_th": 2, "max_p": 0.5},
                {"rate_bps": 1, "min_th": 19, "max_p": 1}]);
            vec![
                usual.clone(),
                but(&usual, json!({"max_p": 1, "count": false, "drop": "arrival"})),
                but(&usual, json!({"max_p": 1, "min_th": 0, "ecn": true})),
                but(
                    &usual,
                    json!({"limit": 1, "min_th": 0, "max_p": 1, "drop": "arrival",
                                   "ecn": true}),
                ),
                but(&usual, json!({"limit": u64::MAX, "min_th": u64::MAX - 1, "max_p": 0})),
                but(&usual, json!({"by_rate": rows})),
            ]
        }
        "rem" => {
            let usual = json!({
                "limit": {"packets": 20}, "target": 5, "gamma": 0.001, "alpha": 0.1, "phi": 1.001,
                "update_ns": 2_000_000, "mean_packet_bytes": 1500, "mode": "bytes", "ecn": false});
            vec![
                usual.clone(),
                but(&usual, json!({"ecn": true, "mode": "packets", "gamma": 1, "phi": 2})),
                but(&usual, json!({"target": 0, "alpha": 0, "gamma": 1e9, "phi": 1e9})),
                but(
                    &usual,
                    json!({"limit": {"packets": 1}, "update_ns": 1, "mean_packet_bytes": 1}),
                ),
                but(
                    &usual,
                    json!({"limit": {"bytes": u64::MAX}, "target": u64::MAX, "update_ns": u64::MAX,
                                   "mean_packet_bytes": u64::MAX, "alpha": 1e9, "ecn": true}),
                ),
            ]
        }
        "vcp" => {
            let usual = json!({
                "limit": 20, "target": 0.98, "interval_ns": 200_000_000, "queue_weight": 0.5,
                "sampling_ns": 10_000_000, "low": 0.8, "average": "ewma", "capacity": "link"});
            vec![
                usual.clone(),
                but(&usual, json!({"capacity": "measured", "average": "public-code"})),
                but(&usual, json!({"capacity": "measured", "interval_ns": 1, "sampling_ns": 1})),
                but(&usual, json!({"capacity": {"fixed": 1}, "limit": 1, "queue_weight": 1e9})),
                but(
                    &usual,
                    json!({"limit": u64::MAX, "interval_ns": u64::MAX, "sampling_ns": 1,
                                   "target": 1e-300, "low": 1e-300}),
                ),
                but(&usual, json!({"interval_ns": u64::MAX, "sampling_ns": u64::MAX})),
            ]
        }
        "ack-priority" => vec![
            json!({"aqm": {"kind": "droptail", "limit": {"packets": 20}}}),
            json!({"aqm": {"kind": "fq-codel", "limit": 50, "flows": 1024,
                "quantum_bytes": 1514, "target_ns": 5_000_000, "interval_ns": 100_000_000,
                "mtu_bytes": 1500, "ecn": true}}),
            json!({"aqm": {"kind": "rem", "limit": {"bytes": 30_000}, "target": 5, "gamma": 0.001, "alpha": 0.1,
                "phi": 1.001, "update_ns": 2_000_000, "mean_packet_bytes": 1500, "mode": "bytes",
                "ecn": true}}),
        ],
        other => samples("aqm", other, |description| try_make(description).is_ok()),
    }
}

/// Returns the description with the values of `changes`.
pub(crate) fn but(description: &Value, changes: Value) -> Value {
    let mut changed = description.clone();
    for (key, value) in changes.as_object().expect("a table") {
        changed[key] = value.clone();
    }
    changed
}

pub(crate) fn with_kind(kind: &str) -> impl Iterator<Item = Value> {
    descriptions(kind).into_iter().map(move |mut description| {
        description["kind"] = json!(kind);
        description
    })
}

pub(crate) fn make(description: &Value) -> AnyQueue {
    try_make(description).expect("an accepted description")
}

pub(crate) fn try_make(description: &Value) -> Result<AnyQueue, ConfigError> {
    let registry = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
    AnyQueue::build(description, setup)
}
