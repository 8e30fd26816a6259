//! Configuration of a measurement: its fields, and checks of their values.

use super::{Point, Settings, skip_iterations};
use crate::code::ctc::{Algorithm, DecoderConfig};
use crate::fading::Fading;
use crate::mcs::Mcs;
use crate::modulation::Demapper;
use crate::ofdm::Mapping;
use airpath_core::rng::Seed;
use airpath_core::{Checks, ConfigError};
use serde::Deserialize;
use std::num::NonZero;
use std::ops::RangeInclusive;

/// Decoder algorithms by name; the first is the default.
pub const ALGORITHMS: [(&str, Algorithm); 2] =
    [("max-log", Algorithm::MaxLog), ("linear-log", Algorithm::LinearLog)];

/// Demappers by name; the first is the default.
pub const DEMAPPERS: [(&str, Demapper); 2] =
    [("max-log", Demapper::MaxLog), ("linear-log", Demapper::LinearLog)];

/// Range of the mean Es/N0 of a point, dB.
const SNRS_DB: RangeInclusive<f64> = -50.0..=100.0;
const MOST_SNRS: usize = 1000;
/// Range of `blocks` and of `errors`, the numbers after which a point ends.
const BLOCKS: RangeInclusive<u64> = 1..=1_000_000_000_000_000;
const ITERATIONS: RangeInclusive<u32> = 1..=1000;

/// Measurement of error rates: every scheme at every SNR.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasurementConfig {
    /// Name of the channel, optionally followed by a slash and a mapping.
    pub channel: String,
    /// Name of the subcarrier mapping. If this is the reference mapping, the mapping in `channel`
    /// applies.
    pub mapping: String,
    /// Names of modulation and coding schemes.
    pub mcs: Vec<String>,
    /// Mean Es/N0, dB, -50 to 100; at most 1000 values.
    pub snr_db: Vec<f64>,
    /// Number of blocks in error after which a point ends, 1 to 1e15.
    pub errors: u64,
    /// Number of blocks after which a point ends even with fewer errors, 1 to 1e15.
    pub blocks: u64,
    /// Largest number of decoder iterations, 1 to 1000.
    pub iterations: u32,
    /// Name of the decoder's algorithm.
    pub algorithm: String,
    /// Name of the demapper.
    pub demapper: String,
    /// If true, blocks whose channel has excess capacity count as correct without being decoded.
    /// Requires thresholds for the channel.
    pub skip_rule: bool,
    /// If true, a curve ends at the first point without errors.
    pub stop_at_zero_errors: bool,
    /// Master seed.
    pub seed: u64,
}

impl MeasurementConfig {
    /// Checks the names, the ranges, and the combinations of values.
    ///
    /// # Errors
    /// If a value is not accepted; the error contains all problems.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let fading = checks.nested("", self.fading());
        if self.mcs.is_empty() {
            checks.missing("mcs", "Use at least one scheme");
        }
        for (index, name) in self.mcs.iter().enumerate() {
            let known = Mcs::from_name(name).map(drop);
            known_name(&mut checks, &format!("mcs.{index}"), name, known);
        }
        self.check_snrs(&mut checks);
        checks.within("errors", self.errors, BLOCKS);
        checks.within("blocks", self.blocks, BLOCKS);
        let has_iterations = checks.within("iterations", self.iterations, ITERATIONS);
        known_name(&mut checks, "algorithm", &self.algorithm, self.algorithm().map(drop));
        known_name(&mut checks, "demapper", &self.demapper, self.demapper().map(drop));
        if let Some(fading) = fading.filter(|_| self.skip_rule) {
            self.check_skip_rule(&mut checks, &fading, has_iterations);
        }
        checks.finish()
    }

    /// Returns the channel with its mapping.
    ///
    /// # Errors
    /// If the channel does not exist, or has no such mapping.
    pub fn fading(&self) -> Result<Fading, ConfigError> {
        let (channel, mapping) = (&self.channel, &self.mapping);
        let mut checks = Checks::default();
        let found = Fading::from_name(channel);
        known_name(&mut checks, "channel", channel, found.map(drop));
        known_name(&mut checks, "mapping", mapping, Mapping::from_name(mapping).map(drop));
        let mapped = found.filter(|_| checks.is_clean()).and_then(|found| {
            if *mapping == Mapping::Random.name() {
                return Some(found);
            }
            let mapped = Fading::from_name(&format!("{channel}/{mapping}"));
            if mapped.is_none() {
                reject_mapping(&mut checks, channel, mapping);
            }
            mapped
        });
        checks.finish().map(|()| mapped.expect("clean checks have found a channel"))
    }

    /// Returns the point at index `number`, from 0. The points are ordered by scheme, then by SNR.
    /// Returns `None` beyond the last point or if a name is unknown.
    pub fn point(&self, number: usize) -> Option<Point> {
        let place = number.checked_rem(self.snr_db.len())?;
        let mcs = Mcs::from_name(self.mcs.get(number / self.snr_db.len())?)?;
        Some(Point { mcs, fading: self.fading().ok()?, snr_db: self.snr_db[place] })
    }

    /// Returns the settings of all points, with the given number of worker threads.
    ///
    /// # Errors
    /// If the configuration has problems.
    pub fn settings(&self, threads: NonZero<usize>) -> Result<Settings, ConfigError> {
        self.check()?;
        let expect = "a checked name is known";
        let algorithm = self.algorithm().expect(expect);
        let max_iterations = self.iterations;
        Ok(Settings {
            seed: Seed::new(self.seed, 0, "phy"),
            errors: self.errors,
            blocks: self.blocks,
            threads,
            decoder: DecoderConfig { algorithm, max_iterations, ..DecoderConfig::default() },
            demapper: self.demapper().expect(expect),
            skips: self.skip_rule,
        })
    }

    fn algorithm(&self) -> Option<Algorithm> {
        named(&ALGORITHMS, &self.algorithm)
    }

    fn demapper(&self) -> Option<Demapper> {
        named(&DEMAPPERS, &self.demapper)
    }

    fn check_snrs(&self, checks: &mut Checks) {
        const ADVICE: &str = "Use at least one value in dB";
        if self.snr_db.is_empty() {
            checks.reject("snr_db", "[]", "empty", ADVICE);
        }
        if self.snr_db.len() > MOST_SNRS {
            let problem = format!("{} values", self.snr_db.len());
            checks.reject("snr_db", "a list", &problem, &format!("Use at most {MOST_SNRS}"));
        }
        let is_outside = |snr_db: &f64| !SNRS_DB.contains(snr_db);
        if let Some(index) = self.snr_db.iter().position(is_outside) {
            checks.within(&format!("snr_db.{index}"), self.snr_db[index], SNRS_DB);
        }
    }

    fn check_skip_rule(&self, checks: &mut Checks, fading: &Fading, has_iterations: bool) {
        let Some(fewest) = skip_iterations(fading) else {
            let problem = format!("has no thresholds for {}", fading.name());
            let advice = "Remove it, or measure vehicular-a";
            return checks.reject("skip_rule", true, &problem, advice);
        };
        if has_iterations && self.iterations < fewest {
            let problem = format!("has no thresholds for fewer than {fewest} iterations");
            let advice = format!("Remove it, or decode with {fewest} iterations or more");
            checks.reject("skip_rule", true, &problem, &advice);
        }
    }
}

fn reject_mapping(checks: &mut Checks, channel: &str, mapping: &str) {
    match channel.split_once('/') {
        Some((_, named)) => {
            let problem = format!("has the mapping {named} already");
            checks.reject("channel", channel, &problem, "Use one of the two");
        }
        None => {
            let problem = format!("has no subcarriers to be mapped as {mapping}");
            checks.reject("channel", channel, &problem, "Leave the mapping out");
        }
    }
}

fn known_name(checks: &mut Checks, field: &str, name: &str, known: Option<()>) {
    if known.is_none() {
        checks.reject(field, name, "unknown", "Use a known name");
    }
}

/// Returns the value for `name` in the list `known`.
fn named<T: Copy>(known: &[(&str, T)], name: &str) -> Option<T> {
    known.iter().find(|(other, _)| *other == name).map(|&(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn config(changes: &[(&str, Value)]) -> MeasurementConfig {
        let mut document = json!({
            "channel": "vehicular-a", "mapping": "random", "mcs": ["mcs0", "mcs7"],
            "snr_db": [-50, 100], "errors": 1, "blocks": 1_000_000_000_000_000_u64,
            "iterations": 1000, "algorithm": "max-log", "demapper": "linear-log",
            "skip_rule": true, "stop_at_zero_errors": false, "seed": u64::MAX});
        for (key, value) in changes {
            document[*key] = value.clone();
        }
        serde_json::from_value(document).expect("of the right types")
    }

    fn problems(changes: &[(&str, Value)]) -> Vec<String> {
        let error = config(changes).check().expect_err("a problem");
        error.problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn accepts_the_ends_of_every_range() {
        assert_eq!(config(&[]).check(), Ok(()));
        let least = [("blocks", json!(1)), ("iterations", json!(1)), ("skip_rule", json!(false))];
        assert_eq!(config(&least).check(), Ok(()));
        assert_eq!(config(&[("iterations", json!(10))]).check(), Ok(()));
    }

    #[test]
    fn reports_every_number_outside_its_range() {
        let found = problems(&[
            ("snr_db", json!([0, 100.5, -51])),
            ("errors", json!(0)),
            ("blocks", json!(1_000_000_000_000_001_u64)),
            ("iterations", json!(0)),
        ]);
        assert_eq!(
            found,
            [
                "snr_db.1 = 100.5: above 100. Accepted: -50 to 100",
                "errors = 0: below 1. Accepted: 1 to 1000000000000000",
                "blocks = 1000000000000001: above 1000000000000000. Accepted: 1 to 1000000000000000",
                "iterations = 0: below 1. Accepted: 1 to 1000",
            ]
        );
        assert_eq!(
            problems(&[("iterations", json!(1001))]),
            ["iterations = 1001: above 1000. Accepted: 1 to 1000"]
        );
    }

    #[test]
    fn rejects_empty_and_too_long_snr_lists() {
        assert_eq!(
            problems(&[("snr_db", json!([]))]),
            ["snr_db = []: empty. Use at least one value in dB"]
        );
        let many: Vec<f64> = (0..=MOST_SNRS).map(|place| place as f64 / 100.0).collect();
        assert_eq!(
            problems(&[("snr_db", json!(many))]),
            ["snr_db = a list: 1001 values. Use at most 1000"]
        );
        assert_eq!(config(&[("snr_db", json!(many[1..]))]).check(), Ok(()));
    }

    #[test]
    fn rejects_unknown_names() {
        let found = problems(&[
            ("channel", json!("vehicular-z")),
            ("mapping", json!("none")),
            ("mcs", json!(["mcs8"])),
            ("algorithm", json!("log")),
            ("demapper", json!("log")),
        ]);
        let heads: Vec<&str> = found.iter().filter_map(|line| line.split(" = ").next()).collect();
        assert_eq!(heads, ["channel", "mapping", "mcs.0", "algorithm", "demapper"]);
        assert_eq!(problems(&[("mcs", json!([]))])[0].split(':').next(), Some("mcs = missing"));
    }

    #[test]
    fn rejects_second_mapping_and_mapping_without_subcarriers() {
        let flat = [("channel", json!("awgn")), ("mapping", json!("fusc"))];
        assert_eq!(
            problems(&flat),
            ["channel = awgn: has no subcarriers to be mapped as fusc. Leave the mapping out"]
        );
        let twice = [("channel", json!("vehicular-a/fusc")), ("mapping", json!("pusc"))];
        assert_eq!(
            problems(&twice),
            ["channel = vehicular-a/fusc: has the mapping fusc already. Use one of the two"]
        );
    }

    #[test]
    fn skip_rule_requires_thresholds() {
        assert_eq!(
            problems(&[("iterations", json!(9))]),
            ["skip_rule = true: has no thresholds for fewer than 10 iterations. Remove it, or \
              decode with 10 iterations or more"]
        );
        assert_eq!(
            problems(&[("mapping", json!("fusc"))]),
            ["skip_rule = true: has no thresholds for vehicular-a/fusc. Remove it, or measure \
              vehicular-a"]
        );
    }

    #[test]
    fn points_are_numbered_scheme_by_scheme() {
        let config = config(&[("mapping", json!("fusc")), ("skip_rule", json!(false))]);
        let names = (0..5).map(|number| Some(config.point(number)?.to_string()));
        let at = |mcs: &str, snr_db: i32| Some(format!("{mcs}/vehicular-a/fusc/{snr_db} dB"));
        let known = [at("mcs0", -50), at("mcs0", 100), at("mcs7", -50), at("mcs7", 100), None];
        assert!(names.eq(known));
    }
}
