//! Error probability of a HARQ attempt: a number, or the value of an error-rate table at the
//! combined SNR.
//!
//! The receiver combines the attempts of a block. With chase combining (Chase 1985) the receiver
//! adds the SNRs; with incremental redundancy it adds the capacities. per(γ) is the error rate of
//! the table at the SNR γ (a power ratio), and n is the number of attempts. The three values of F_n
//! are for no combining, chase combining, and incremental redundancy:
//!
//! ```text
//! P(not decoded after n) = F_n = per(γ)^n, per(n γ) or per((1 + γ)^n - 1)
//! P(attempt n fails | those before failed) = F_n / F_{n-1},  F_0 = 1
//! ```

use crate::files::Files;
use airpath_core::{Bytes, Checks, ConfigError, at_least};
use airpath_phy::adaptation::NamedScheme;
use airpath_phy::per_table::PerCurve;
use serde::Deserialize;
use std::sync::Arc;

/// Number of attempts with different error probabilities. All later attempts have the probability
/// of the last of these attempts.
const DISTINCT_ATTEMPTS: u32 = 64;

/// Bytes of the largest block.
const LARGEST_BLOCK: u64 = 65_535;

/// Largest absolute value of an SNR, dB.
const LARGEST_LEVEL_DB: f64 = 200.0;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum AttemptErrors {
    /// The same probability for each attempt, in [0, 1).
    Number(f64),
    /// Error rates of a table.
    Table(TableErrors),
}

impl Default for AttemptErrors {
    fn default() -> AttemptErrors {
        AttemptErrors::Number(0.0)
    }
}

/// Parameters of error probabilities from a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableErrors {
    /// Key of the error-rate table.
    pub table: String,
    /// Modulation and coding scheme of all attempts.
    pub mcs: NamedScheme,
    /// SNR of each attempt, dB, -200 to 200.
    pub snr_db: f64,
    /// Combining of attempts at the receiver.
    #[serde(default)]
    pub combining: Combining,
    /// Block size for which the error rate is computed, bytes, 1 to 65 535.
    #[serde(default = "block_bytes")]
    pub block_bytes: u64,
}

fn block_bytes() -> u64 {
    1500
}

/// Combining of the attempts of a block at the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combining {
    /// No combining: attempts are decoded separately.
    None,
    /// Chase combining: the SNRs of the attempts add up.
    #[default]
    Chase,
    /// Incremental redundancy: the capacities of the attempts add up.
    Incremental,
}

impl AttemptErrors {
    /// Rejects values outside their ranges.
    pub(super) fn check(&self, checks: &mut Checks) {
        match self {
            AttemptErrors::Number(error) => {
                checks.within("error", *error, at_least(0.0).below(1.0));
            }
            AttemptErrors::Table(table) => {
                let level = -LARGEST_LEVEL_DB..=LARGEST_LEVEL_DB;
                checks.within("error.snr_db", table.snr_db, level);
                checks.within("error.block_bytes", table.block_bytes, 1..=LARGEST_BLOCK);
            }
        }
    }

    /// Returns the error probabilities of `attempts` attempts, for valid parameters.
    pub(super) fn rates(&self, attempts: u32, files: &Files) -> Result<AttemptRates, ConfigError> {
        let by_attempt = match self {
            AttemptErrors::Number(error) => vec![*error],
            AttemptErrors::Table(table) => {
                table.rates(attempts, files).map_err(|error| error.under("error"))?
            }
        };
        Ok(AttemptRates { by_attempt: by_attempt.into() })
    }
}

impl TableErrors {
    fn rates(&self, attempts: u32, files: &Files) -> Result<Vec<f64>, ConfigError> {
        let table = files.table(&self.table)?;
        let names: Vec<String> = table.curves.iter().map(|curve| curve.mcs.name.clone()).collect();
        let curve = &table.curves[self.mcs.place("mcs", &names)?];
        let undecoded: Vec<f64> = (1..=attempts.min(DISTINCT_ATTEMPTS))
            .map(|attempt| self.undecoded(attempt, curve))
            .collect();
        let before = std::iter::once(1.0).chain(undecoded.iter().copied());
        Ok(before
            .zip(&undecoded)
            .map(|(before, after)| if before > 0.0 { (after / before).min(1.0) } else { 0.0 })
            .collect())
    }

    /// Returns F_n, the probability that a block is not decoded after n attempts.
    fn undecoded(&self, attempts: u32, curve: &PerCurve) -> f64 {
        let n = f64::from(attempts);
        let of_db = |snr_db| curve.per(snr_db, Bytes(self.block_bytes));
        match self.combining {
            Combining::None => libm::pow(of_db(self.snr_db), n),
            Combining::Chase => of_db(self.snr_db + 10.0 * libm::log10(n)),
            Combining::Incremental => {
                let snr = libm::pow(10.0, self.snr_db / 10.0);
                let heard = libm::expm1(n * libm::log1p(snr));
                of_db(10.0 * libm::log10(heard).min(LARGEST_LEVEL_DB))
            }
        }
    }
}

/// Error probabilities of attempts, each given that all previous attempts have failed.
#[derive(Clone, Debug)]
pub(super) struct AttemptRates {
    /// Error probability of each attempt, at least one entry. The last entry also applies to all
    /// later attempts.
    by_attempt: Arc<[f64]>,
}

impl AttemptRates {
    /// Returns the error probability of each attempt. The last entry also applies to all later
    /// attempts.
    pub(super) fn first_ones(&self) -> Vec<f64> {
        self.by_attempt.to_vec()
    }

    /// Returns the error probability of attempt number `made`, from 1.
    #[inline]
    pub(super) fn of(&self, made: u32) -> f64 {
        let last = self.by_attempt.len() - 1;
        self.by_attempt[last.min(made as usize - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_phy::per_table::PerTable;
    use serde_json::json;

    /// Returns files with an error-rate table of one MCS. The error rate is 1 at 0 dB and falls by
    /// a factor of 10 every 2 dB, to 1/1000 at 6 dB.
    fn files() -> Files {
        let points: Vec<_> = [1000, 100, 10, 1]
            .into_iter()
            .zip([0, 2, 4, 6])
            .map(|(errors, snr_db)| json!({"snr_db": snr_db, "errors": errors, "blocks": 1000}))
            .collect();
        let table = json!({"channel": "any", "curves": [{
            "mcs": {"name": "one", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 1500,
                    "rate_bps": 1e6},
            "points": points}]});
        let table = PerTable::from_json(&table.to_string()).expect("a table");
        Files { tables: [("t".to_owned(), Arc::new(table))].into(), ..Files::default() }
    }

    fn rates(snr_db: f64, combining: &str) -> Vec<f64> {
        let given = json!({"table": "t", "mcs": "one", "snr_db": snr_db, "combining": combining});
        let errors: AttemptErrors = serde_json::from_value(given).expect("read");
        let rates = errors.rates(3, &files()).expect("a valid configuration");
        (1..=3).map(|attempt| rates.of(attempt)).collect()
    }

    fn assert_close(found: &[f64], expected: [f64; 3]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }

    /// At x dB the error rate is 10^(-x/2), so 10^-0.5 at 1 dB. Two attempts add 3.01 dB to the
    /// SNR, three attempts add 4.77 dB.
    #[test]
    fn snrs_add_up_with_chase_combining() {
        assert_close(&rates(1.0, "none"), [10f64.powf(-0.5); 3]);
        let (two, three) = (2f64.log10() * 10.0, 3f64.log10() * 10.0);
        let undecoded = [1.0, 1.0 + two, 1.0 + three].map(|snr_db| 10f64.powf(-snr_db / 2.0));
        let [first, second, third] = undecoded;
        assert_close(&rates(1.0, "chase"), [first, second / first, third / second]);
    }

    /// The capacities log2(1 + γ) are added: two attempts at the SNR γ equal one attempt at the SNR
    /// γ² + 2γ.
    #[test]
    fn capacities_add_up_with_incremental_redundancy() {
        let snr = 10f64.powf(0.05);
        let heard = snr * snr + 2.0 * snr;
        let per = |snr: f64| 10f64.powf(-10.0 * snr.log10() / 2.0);
        let found = rates(0.5, "incremental");
        assert_close(&found[..2], [per(snr), per(heard) / per(snr), 1.0]);
        assert!(
            found[1] < rates(0.5, "chase")[1],
            "incremental redundancy gains more than chase combining"
        );
    }

    fn problems(errors: &AttemptErrors) -> String {
        let mut checks = Checks::default();
        errors.check(&mut checks);
        let rates = checks.finish().and_then(|()| errors.rates(2, &files()));
        rates.map(drop).expect_err("refused").to_string()
    }

    #[test]
    fn rejected_value_is_named() {
        let refused = |changes: serde_json::Value| {
            let mut given = json!({"table": "t", "mcs": "one", "snr_db": 1});
            for (key, value) in changes.as_object().expect("a table") {
                given[key] = value.clone();
            }
            let errors: AttemptErrors = serde_json::from_value(given).expect("read");
            problems(&errors)
        };
        assert_eq!(refused(json!({"table": "u"})), "error.table = u: not given. Given: t");
        assert_eq!(
            refused(json!({"mcs": "two"})),
            "error.mcs = \"two\": not in the error-rate table. Accepted: one"
        );
        assert!(refused(json!({"snr_db": 201})).starts_with("error.snr_db = 201: above 200"));
        assert!(refused(json!({"block_bytes": 0})).starts_with("error.block_bytes = 0: below 1"));
        let one = problems(&AttemptErrors::Number(1.0));
        assert_eq!(one, "error = 1: not below 1. Accepted: 0 to below 1");
    }

    proptest::proptest! {
        /// All attempts of a block fail with the probability of the table at the combined SNR.
        #[test]
        fn joint_failure_probability_matches_table(
            snr_db in -10.0..8.0f64, attempts in 1u32..80, incremental: bool,
        ) {
            let combining = if incremental { Combining::Incremental } else { Combining::Chase };
            let table = TableErrors {
                table: "t".into(), mcs: NamedScheme::Number(0), snr_db, combining,
                block_bytes: 1500,
            };
            let files = files();
            let rates = table.rates(attempts, &files).expect("a valid configuration");
            let curve = &files.tables["t"].curves[0];
            let together: f64 = rates.iter().product();
            let expected = table.undecoded(attempts.min(64), curve);
            proptest::prop_assert!((together - expected).abs() < 1e-12, "{} {}", together, expected);
            proptest::prop_assert!(rates.iter().all(|rate| (0.0..=1.0).contains(rate)));
        }
    }
}
