//! What the mean SNR of a radio link between a base station and its stations is made of: ranges.
//!
//! The mean SNR itself is that of [`path_loss`](crate::path_loss) and [`link_budget`](crate::link_budget).

use crate::path_loss::Cost231Hata;
use airpath_core::{Checks, ConfigError, above, at_least};
use serde::Deserialize;
use std::ops::RangeInclusive;

/// Powers and gains, dBm and dBi, and losses, dB.
const LEVELS_DB: RangeInclusive<f64> = -200.0..=200.0;
/// Noise figures, dB.
const NOISE_FIGURES_DB: RangeInclusive<f64> = 0.0..=200.0;
/// Standard deviation of the shadowing, dB.
const DEVIATIONS_DB: RangeInclusive<f64> = 0.0..=30.0;
const LARGEST_SPEED_MPS: f64 = 10_000.0;
/// Share of the bandwidth that a station's burst occupies.
const SHARES: RangeInclusive<f64> = 1e-6..=1.0;

/// A link budget, shadowing and mobility, as users set them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioBudgetConfig {
    /// Distance of the stations from the base station, m, above 0; absent: each has its own.
    pub distance_m: Option<f64>,
    /// Carrier frequency, Hz, above 0.
    pub frequency_hz: f64,
    /// Height of the base station's antenna, m, above 0.
    pub base_height_m: f64,
    /// Height of the stations' antennas, m, above 0.
    pub station_height_m: f64,
    /// Whether it is the centre of a large city.
    pub metropolitan: bool,
    /// Power that the base station transmits, dBm, -200 to 200.
    pub base_power_dbm: f64,
    /// Power that a station transmits, dBm, -200 to 200.
    pub station_power_dbm: f64,
    /// Gain of the base station's antenna, dBi, -200 to 200.
    pub base_gain_dbi: f64,
    /// Gain of the stations' antennas, dBi, -200 to 200.
    pub station_gain_dbi: f64,
    /// Noise figure of the base station, dB, 0 to 200.
    pub base_noise_db: f64,
    /// Noise figure of the stations, dB, 0 to 200.
    pub station_noise_db: f64,
    /// Losses besides the path loss, dB, -200 to 200.
    pub loss_db: f64,
    /// Bandwidth of the subcarriers in use, Hz, above 0.
    pub bandwidth_hz: f64,
    /// Share of the bandwidth that a station's burst occupies, 1e-6 to 1.
    pub uplink_share: f64,
    /// Standard deviation of the shadowing, dB, 0 to 30.
    pub shadowing_db: f64,
    /// Correlation distance of the shadowing, m, above 0.
    pub correlation_distance_m: f64,
    /// Speed of the stations, m/s, 0 to 10 000.
    pub speed_mps: f64,
}

impl RadioBudgetConfig {
    /// Checks every range, and that the path loses more than free space does.
    ///
    /// # Errors
    /// With every value that is not accepted.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let has_path = self.check_path(&mut checks);
        for (field, level_db) in [
            ("base_power_dbm", self.base_power_dbm),
            ("station_power_dbm", self.station_power_dbm),
            ("base_gain_dbi", self.base_gain_dbi),
            ("station_gain_dbi", self.station_gain_dbi),
            ("loss_db", self.loss_db),
        ] {
            checks.within(field, level_db, LEVELS_DB);
        }
        checks.within("base_noise_db", self.base_noise_db, NOISE_FIGURES_DB);
        checks.within("station_noise_db", self.station_noise_db, NOISE_FIGURES_DB);
        checks.within("bandwidth_hz", self.bandwidth_hz, above(0.0));
        checks.within("uplink_share", self.uplink_share, SHARES);
        checks.within("shadowing_db", self.shadowing_db, DEVIATIONS_DB);
        checks.within("correlation_distance_m", self.correlation_distance_m, above(0.0));
        checks.within("speed_mps", self.speed_mps, at_least(0.0).up_to(LARGEST_SPEED_MPS));
        if let Some(distance_m) = self.distance_m.filter(|_| has_path) {
            self.check_loss(&mut checks, distance_m);
        }
        checks.finish()
    }

    /// Returns whether everything that the path loss depends on is in its range.
    fn check_path(&self, checks: &mut Checks) -> bool {
        let lengths = [
            ("distance_m", self.distance_m.unwrap_or(1.0)),
            ("frequency_hz", self.frequency_hz),
            ("base_height_m", self.base_height_m),
            ("station_height_m", self.station_height_m),
        ];
        lengths.map(|(field, value)| checks.within(field, value, above(0.0))) == [true; 4]
    }

    fn check_loss(&self, checks: &mut Checks, distance_m: f64) {
        let model = Cost231Hata {
            frequency_hz: self.frequency_hz,
            distance_m,
            base_height_m: self.base_height_m,
            mobile_height_m: self.station_height_m,
            is_metropolitan: self.metropolitan,
        };
        if model.loss_db().is_err() {
            let others = ["frequency_hz", "base_height_m", "station_height_m", "metropolitan"];
            let problem = "so near that the path would lose less than free space does";
            let advice = "Write a longer distance";
            checks.reject_beside(&others, "distance_m", distance_m, problem, advice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn problems(changes: &Value) -> Vec<String> {
        let mut document = json!({
            "distance_m": 1000.0, "frequency_hz": 2.5e9, "base_height_m": 32.0,
            "station_height_m": 1.5, "metropolitan": false, "base_power_dbm": 43.0,
            "station_power_dbm": 23.0, "base_gain_dbi": 16.0, "station_gain_dbi": 0.0,
            "base_noise_db": 5.0, "station_noise_db": 7.0, "loss_db": 0.0, "bandwidth_hz": 9.2e6,
            "uplink_share": 0.2, "shadowing_db": 8.0, "correlation_distance_m": 50.0,
            "speed_mps": 0.8});
        for (key, value) in changes.as_object().expect("a table") {
            document[key] = value.clone();
        }
        let config: RadioBudgetConfig = serde_json::from_value(document).expect("numbers");
        let error = config.check().err();
        error.iter().flat_map(ConfigError::problems).map(ToString::to_string).collect()
    }

    #[test]
    fn accepts_the_ends_of_ranges() {
        let least = json!({
            "base_power_dbm": -200, "loss_db": -200, "station_noise_db": 0, "uplink_share": 1e-6,
            "shadowing_db": 0, "speed_mps": 0, "distance_m": null});
        let most = json!({
            "station_power_dbm": 200, "base_gain_dbi": 200, "base_noise_db": 200,
            "uplink_share": 1, "shadowing_db": 30, "speed_mps": 10_000});
        assert!(problems(&least).is_empty() && problems(&most).is_empty());
    }

    #[test]
    fn reports_every_value_outside_its_range() {
        let found = problems(&json!({
            "distance_m": 0, "frequency_hz": 0, "base_height_m": 0, "station_height_m": 0,
            "base_power_dbm": 201, "station_power_dbm": -201, "base_gain_dbi": 201,
            "station_gain_dbi": 201, "loss_db": 201, "base_noise_db": -1, "station_noise_db": 201,
            "bandwidth_hz": 0, "uplink_share": 0, "shadowing_db": 31, "correlation_distance_m": 0,
            "speed_mps": 10_001}));
        assert_eq!(found.len(), 16, "{found:#?}");
        assert_eq!(found[0], "distance_m = 0: not above 0. Accepted: more than 0");
        assert_eq!(found[15], "speed_mps = 10001: above 10000. Accepted: 0 to 10000");
    }

    #[test]
    fn a_path_does_not_lose_less_than_free_space() {
        assert_eq!(
            problems(&json!({"distance_m": 1})),
            [
                "distance_m = 1: so near that the path would lose less than free space does. Write a \
              longer distance"
            ]
        );
    }
}
