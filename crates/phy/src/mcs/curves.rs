//! Derives the error-rate curves of a set of schemes from a table that was measured without
//! repetition.
//!
//! A receiver adds the copies of a repeated slot. With noise only, repetition thus shifts the curve
//! of the code to lower SNRs by 10·log10(repetition) dB. If the fading differs between the copies,
//! repetition also provides diversity, which is not included here.

use super::{McsSet, SlotMcs};
use crate::per_table::{PerCurve, PerPoint, PerTable, TableMcs};
use airpath_core::ConfigError;

/// A curve is extended to lower SNRs if at least this share of blocks is in error at its first
/// point.
const NEARLY_ALL: f64 = 0.99;

impl McsSet {
    /// Returns a curve for each scheme of the set, in order: the curve in `measured` with the same
    /// modulation and code rate, shifted by the gain of repetition.
    ///
    /// The code rate of a curve includes repetition, because link-adaptation policies distinguish
    /// schemes by the code rate. The rate c_m is that of a link with `symbols_per_second` used data
    /// symbols. Block sizes are those of `measured`. If a curve begins with nearly all blocks in
    /// error, it is extended down to the lowest SNR of all curves.
    ///
    /// # Errors
    /// If `measured` has no curve for a scheme; the error's field is `curves`.
    pub fn table(
        self,
        measured: &PerTable,
        symbols_per_second: f64,
    ) -> Result<PerTable, ConfigError> {
        let largest_gain_db = self.schemes.iter().map(|mcs| mcs.gain_db()).fold(0.0, f64::max);
        let (low, high) = measured.snr_range_db;
        let low = low - largest_gain_db;
        let curve = |scheme: &SlotMcs| {
            let found = measured.curves.iter().find(|curve| scheme.is_coded_as(&curve.mcs));
            let Some(found) = found else {
                let problem = "has no curve of its modulation and code rate";
                return Err(ConfigError::new("curves", scheme.name, problem));
            };
            Ok(scheme.curve(found, low, symbols_per_second))
        };
        Ok(PerTable {
            channel: measured.channel.clone(),
            snr_range_db: (low, high),
            curves: self.schemes.iter().map(curve).collect::<Result<_, _>>()?,
            provenance: measured.provenance.clone(),
        })
    }
}

impl SlotMcs {
    /// Returns true if the scheme has the modulation and the code rate (without repetition) of
    /// `measured`.
    fn is_coded_as(self, measured: &TableMcs) -> bool {
        measured.bits_per_symbol == self.modulation.bits() as u64
            && (measured.code_rate - self.rate()).abs() < 1e-9
    }

    fn curve(self, measured: &PerCurve, low_db: f64, symbols_per_second: f64) -> PerCurve {
        let gain_db = self.gain_db();
        let moved = |point: &PerPoint| PerPoint { snr_db: point.snr_db - gain_db, ..*point };
        let first = moved(&measured.points[0]);
        let begins_high = first.snr_db > low_db;
        let loses_all = first.errors as f64 >= NEARLY_ALL * first.blocks as f64;
        let below = (begins_high && loses_all).then_some(PerPoint { snr_db: low_db, ..first });
        PerCurve {
            mcs: TableMcs {
                name: self.name.to_owned(),
                code_rate: self.rate() / self.repetition as f64,
                rate_bps: symbols_per_second * self.efficiency(),
                ..measured.mcs.clone()
            },
            points: below.into_iter().chain(measured.points.iter().map(moved)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adaptation::{Chooser, PolicyRegistry};
    use airpath_conformance::Law;
    use airpath_core::{Bytes, Seed};
    use serde_json::{Value, json};
    use std::sync::Arc;

    const AWGN: &str = include_str!("../../../../python/airpath/phy/tables/802.16-ctc-awgn.json");
    const VEHICULAR: &str =
        include_str!("../../../../python/airpath/phy/tables/802.16-ctc-vehicular-a.json");

    /// Data symbols per second: 420 and 175 slots of 48 symbols in 5 ms.
    const SYMBOLS: (f64, f64) = (4_032_000.0, 1_680_000.0);

    const REPETITION: Law = Law {
        area: "Modulation and coding",
        source: "Repetition by 2, 4, 6: the curve of QPSK 1/2, 3.01, 6.02, 7.78 dB lower",
        allows: "rounding of doubles",
    };

    fn read(text: &str) -> PerTable {
        PerTable::from_json(text).expect("a shipped table")
    }

    #[test]
    fn shipped_tables_cover_all_schemes_of_both_lists() {
        for measured in [AWGN, VEHICULAR].map(read) {
            for (set, symbols) in
                [(McsSet::DOWNLINK_802_16E, SYMBOLS.0), (McsSet::UPLINK_802_16E, SYMBOLS.1)]
            {
                let table = set.table(&measured, symbols).expect("nothing is missing");
                let names: Vec<&str> = table.curves.iter().map(|curve| &*curve.mcs.name).collect();
                assert_eq!(names, set.names().collect::<Vec<_>>());
            }
        }
        let mut fewer = read(AWGN);
        fewer.curves.retain(|curve| curve.mcs.name != "mcs3");
        assert!(McsSet::DOWNLINK_802_16E.table(&fewer, 1.0).is_ok(), "16QAM 3/4 is the uplink's");
        let error = McsSet::UPLINK_802_16E.table(&fewer, 1.0).expect_err("it is missing");
        assert_eq!(
            error.to_string(),
            "curves = 16qam-3/4: has no curve of its modulation and code rate"
        );
    }

    #[test]
    fn repetition_shifts_curve_of_qpsk_1_2() {
        let measured = read(AWGN);
        let table = McsSet::DOWNLINK_802_16E.table(&measured, SYMBOLS.0).expect("complete");
        let plain = measured.curve("mcs0").expect("QPSK 1/2");
        for (name, gain_db) in [("qpsk-1/4", 3.0103), ("qpsk-1/8", 6.0206), ("qpsk-1/12", 7.7815)] {
            let moved = table.curve(name).expect("in the list");
            for snr_db in [0.25, 1.0, 1.75, 2.5, 3.2] {
                let gain_db = 10.0 * f64::log10(f64::round(10f64.powf(gain_db / 10.0)));
                let found = moved.fer(snr_db - gain_db);
                let case = format!("{name} at {snr_db} dB less its gain");
                REPETITION.close_relative(case, "", found, plain.fer(snr_db), 1e-9);
            }
            assert_eq!(moved.mcs.block_bytes, 60);
        }
        // 64QAM 2/3 has the measured curve.
        let (one, same) = (table.curve("64qam-2/3"), measured.curve("mcs5"));
        let per = |curve: Option<&PerCurve>| curve.expect("there").per(13.7, Bytes(1506));
        assert_eq!(per(one), per(same));
        assert_eq!(table.curve("qpsk-3/4").expect("there").mcs.rate_bps, 6_048_000.0);
    }

    #[test]
    fn curves_extend_down_if_nearly_all_blocks_fail() {
        let table = McsSet::DOWNLINK_802_16E.table(&read(AWGN), 1.0).expect("complete");
        assert!(table.covers(-7.7) && table.covers(20.0) && !table.covers(-7.8));
        assert!(table.curve("64qam-5/6").expect("there").fer(-7.7) > 0.99);
        // At 0 dB of Vehicular A, a sixth of the QPSK 1/2 blocks are received; error rates at lower
        // SNR are unknown.
        let table = McsSet::DOWNLINK_802_16E.table(&read(VEHICULAR), 1.0).expect("complete");
        assert!(table.covers(0.0) && !table.covers(-0.1));
    }

    /// The code rate of a scheme includes repetition. Otherwise all variants of QPSK 1/2 would have
    /// the same rate, and a policy would always choose the most robust variant.
    #[test]
    fn link_adaptation_chooses_repetition_at_low_snr() {
        let chosen = |set: McsSet, policy: Value, snr_db: f64| {
            let table = Arc::new(set.table(&read(AWGN), 1.0).expect("complete"));
            let registry = PolicyRegistry::default();
            let setup = (Seed::new(1, 0, "policy"), &registry);
            let mut chooser =
                Chooser::new(&policy, Arc::clone(&table), Bytes(1506), setup).expect("accepted");
            let mut regimes = vec![0; chooser.regimes()];
            chooser.choose(snr_db, &mut regimes).expect("a valid choice");
            table.curves[regimes[0]].mcs.name.clone()
        };
        for policy in [
            json!({"kind": "tagla", "th_per": 0.1}),
            json!({"kind": "max-phy-throughput", "error_rate": "per"}),
        ] {
            for (snr_db, name) in [
                (-5.0, "qpsk-1/12"),
                (-3.4, "qpsk-1/8"),
                (1.0, "qpsk-1/4"),
                (3.0, "qpsk-1/2"),
                (7.0, "qpsk-3/4"),
                (10.0, "16qam-1/2"),
                (40.0, "64qam-5/6"),
            ] {
                let found = chosen(McsSet::DOWNLINK_802_16E, policy.clone(), snr_db);
                assert_eq!(found, name, "{policy} at {snr_db} dB");
            }
            assert_eq!(chosen(McsSet::UPLINK_802_16E, policy, 40.0), "16qam-3/4");
        }
    }

    /// The lowest SNR with 10 % of blocks in error increases with the rate. It is 1 to 2.5 dB below
    /// the threshold that wimax-mac §1 assumes.
    #[test]
    fn thresholds_ascend_with_rate() {
        let assumed = [-5.0, -3.0, 0.0, 3.0, 6.0, 8.5, 16.0, 17.5, 20.0];
        let table = McsSet::DOWNLINK_802_16E.table(&read(AWGN), 1.0).expect("complete");
        let threshold = |curve: &PerCurve| {
            let mut grid = (-800..2200).map(|step| f64::from(step) / 100.0);
            grid.find(|snr_db| curve.fer(*snr_db) <= 0.1).expect("it is reached")
        };
        let found: Vec<f64> = table.curves.iter().map(threshold).collect();
        assert!(found.is_sorted_by(|one, other| one < other), "{found:?}");
        for (found, assumed) in found.into_iter().zip(assumed) {
            assert!((0.95..2.5).contains(&(assumed - found)), "{found} dB, {assumed}");
        }
    }
}
