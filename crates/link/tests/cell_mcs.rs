//! Tests that compare a cell with the MCSs of an error-rate table with closed forms and numerical
//! integration.

use crate::cell::{MEAN, SLOT, saturated};
use airpath_conformance::Law;
use airpath_link::{Files, SideReport};
use airpath_phy::mcs::packet_error_rate;
use airpath_phy::per_table::PerTable;
use serde_json::{Value, json};
use std::sync::Arc;

const FROM: u64 = 100;
const SLOTS: u64 = 40_000;
/// Bandwidth with one symbol per second and Hz.
const BANDWIDTH: f64 = 4e6;
/// Size of a FEC block, bytes.
const BLOCK: u64 = 50;

const SLOT_ERRORS: Law = Law {
    area: "Fading cell",
    source: "rate of kind mcs: a slot fails with 1 − (1 − fer)^blocks at the SNR of its end (qawla-2015 eq. 23)",
    allows: "five standard deviations of 40 000 slots",
};
const GOODPUT: Law = Law {
    area: "Fading cell",
    source: "rate of kind mcs, block fading: goodput is the integral of max c_m (1 − P_m) over the SNR's density",
    allows: "five standard deviations of 40 000 slots",
};

/// Two MCSs with 1 and 2 bits per symbol: 12 and 24 kbit in a slot, 30 and 60 FEC blocks.
pub(crate) fn files() -> Files {
    let point =
        |snr_db: f64, errors: u64| json!({"snr_db": snr_db, "errors": errors, "blocks": 1000});
    let curve = |name: &str, bits: u64, start_db: f64| {
        let points = [(0.0, 1000), (2.0, 20), (3.0, 1), (4.0, 0)];
        let points = points.map(|(above, errors)| point(start_db + above, errors));
        json!({
            "mcs": {"name": name, "bits_per_symbol": bits, "code_rate": 0.5, "block_bytes": BLOCK,
                    "rate_bps": 1e6},
            "points": points,
        })
    };
    let text = json!({"channel": "awgn", "curves": [curve("slow", 2, 0.0), curve("fast", 4, 6.0)]});
    let table = PerTable::from_json(&text.to_string()).expect("a table");
    Files { tables: [("two".to_owned(), Arc::new(table))].into(), ..Files::default() }
}

/// Returns the slot error rate P_m and the rate c_m of MCS `number` at `snr_db`.
fn scheme(table: &PerTable, number: usize, snr_db: f64) -> (f64, f64) {
    let rate = [BANDWIDTH, 2.0 * BANDWIDTH][number];
    let blocks = ((rate * SLOT as f64 / 1e9) as u64).div_ceil(8 * BLOCK);
    (packet_error_rate(table.curves[number].fer(snr_db), blocks), rate)
}

fn one_user(changes: Value) -> SideReport {
    let mut all = json!({
        "rate": {"kind": "mcs", "table": "two", "bandwidth_hz": BANDWIDTH}, "attempts": 1_000_000,
    });
    for (key, value) in changes.as_object().expect("a table") {
        all[key] = value.clone();
    }
    saturated(all, 1, 5, [FROM, FROM + SLOTS])
}

fn five_deviations(share: f64) -> f64 {
    5.0 * (share * (1.0 - share) / SLOTS as f64).sqrt()
}

#[test]
fn slot_error_rate_matches_table() {
    let table = files().table("two").expect("a table");
    for (snr_db, margin, number) in [(2.0, 0.0, 0), (2.5, 0.0, 0), (8.5, 0.0, 1), (8.2, 0.5, 0)] {
        let snr = json!({"kind": "constant", "mean_db": snr_db});
        let user = &one_user(json!({"snr": snr, "margin": margin})).users[0];
        let (expected, rate) = scheme(&table, number, snr_db);
        let found = user.slot_error_rate.expect("the user had slots");
        let what = format!("SNR {snr_db} dB, margin {margin}");
        SLOT_ERRORS.close(&*what, "", found, expected, five_deviations(expected));
        assert_eq!(user.mean_rate_bps, Some(rate), "{what}");
    }
}

/// With chase combining, a block at 2 dB has a combined SNR of 5.01 dB in the second attempt, which
/// never fails. Therefore the slot error rate is P / (1 + P), where P is the error rate of the
/// first attempt.
#[test]
fn combined_snr_of_a_block_adds_up() {
    let table = files().table("two").expect("a table");
    let snr = json!({"kind": "constant", "mean_db": 2.0});
    let (first, _) = scheme(&table, 0, 2.0);
    let expected = first / (1.0 + first);
    for harq in ["chase", "incremental"] {
        let user = &one_user(json!({"snr": snr, "harq": harq})).users[0];
        let found = user.slot_error_rate.expect("the user had slots");
        SLOT_ERRORS.close(harq, "", found, expected, five_deviations(expected));
    }
}

/// The SNR is exponential, and constant within a slot.
#[test]
fn goodput_equals_best_mcs_averaged_over_snr() {
    let table = files().table("two").expect("a table");
    let report = one_user(json!({"snr": {"kind": "independent"}}));
    // Midpoint rule over e^(−x/mean)/mean, up to 40 times the mean.
    let (step, mut goodput, mut square) = (1e-3, 0.0, 0.0);
    for place in 0..(40.0 * MEAN / step) as u64 {
        let snr = (place as f64 + 0.5) * step;
        let weight = (-snr / MEAN).exp() / MEAN * step;
        let of_scheme = |number| scheme(&table, number, 10.0 * snr.log10());
        let (rate, errors) = [0, 1]
            .map(|number| (of_scheme(number).1, of_scheme(number).0))
            .into_iter()
            .max_by(|a, b| (a.0 * (1.0 - a.1)).total_cmp(&(b.0 * (1.0 - b.1))))
            .expect("schemes");
        goodput += weight * rate * (1.0 - errors);
        square += weight * rate * rate * (1.0 - errors);
    }
    let seconds = SLOTS as f64 * SLOT as f64 / 1e9;
    let found = report.users[0].delivered_bytes as f64 * 8.0 / seconds;
    // Packets span slots, so the bound allows two more or fewer packets.
    let bound = 5.0 * ((square - goodput * goodput) / SLOTS as f64).sqrt() + 24_000.0 / seconds;
    GOODPUT.close("one user, mean SNR 4", "bit/s", found, goodput, bound);
}
