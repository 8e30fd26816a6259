//! MIMO links: what they are set up with where suites go through every link.

use serde_json::{Value, json};

/// Ordinary, slowest, fastest, lossy.
pub(crate) fn descriptions() -> Vec<Value> {
    const HUGE: u64 = u64::MAX;
    vec![
        mimo(json!({})),
        mimo(json!({"rate_bps": 1, "snr_db": 20, "fec": {"kind": "reed-solomon",
                        "code_rate": 0.93, "symbol_bits": 8}})),
        mimo(json!({"rate_bps": HUGE, "modulation": "16qam", "tx": 1, "rx": 8,
                        "p_good_to_bad": 1, "p_bad_to_good": 1, "fec": {"kind": "reed-solomon",
                        "code_rate": 0.5, "symbol_bits": 8, "max_block": 255},
                        "small": {"up_to_bytes": 1500, "code_rate": 1}})),
        mimo(json!({"snr_db": -50, "p_good_to_bad": 0, "p_bad_to_good": 1e-300,
                        "errors": {"kind": "independent", "loss": 0.3}})),
        mimo(json!({"snr_db": 18, "fading": "nakagami", "m": 0.5, "p_good_to_bad": 1e-9,
                        "p_bad_to_good": 1e-9, "fec": {"kind": "reed-solomon",
                        "code_rate": 0.1, "symbol_bits": 16}})),
    ]
}

/// A MIMO link of BPSK with two antennas on each side, its settings changed by `changes`.
fn mimo(changes: Value) -> Value {
    let mut description = json!({
        "rate_bps": 10_000_000, "modulation": "bpsk", "tx": 2, "rx": 2, "snr_db": 16,
        "bad_snr_offset_db": -10, "p_good_to_bad": 0.00125, "p_bad_to_good": 0.125,
    });
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    description
}
