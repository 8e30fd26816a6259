//! Parameters that determine the mean SNR of a radio link between a base station and its stations,
//! and checks of their ranges.
//!
//! The mean SNR is computed by [`path_loss`](crate::path_loss) and
//! [`link_budget`](crate::link_budget).

use crate::link_budget::LinkBudget;
use crate::path_loss::Cost231Hata;
use crate::snr::RANGE_DB;
use crate::snr::motion::check_speed;
use airpath_core::{Checks, ConfigError, above, at_least};
use serde::Deserialize;
use std::ops::RangeInclusive;

/// Range of powers, dBm, of gains, dBi, and of losses, dB.
const LEVELS_DB: RangeInclusive<f64> = -200.0..=200.0;
/// Range of noise figures, dB.
const NOISE_FIGURES_DB: RangeInclusive<f64> = 0.0..=200.0;
/// Range of the standard deviation of shadowing, dB.
const DEVIATIONS_DB: RangeInclusive<f64> = 0.0..=30.0;
const LARGEST_SPEED_MPS: f64 = 10_000.0;
/// Range of the share of the bandwidth that a station's burst occupies.
const SHARES: RangeInclusive<f64> = 1e-6..=1.0;
/// Parameters of the path loss other than the distance.
const OF_PATH_LOSS: [&str; 4] =
    ["frequency_hz", "base_height_m", "station_height_m", "metropolitan"];
/// Parameters of the downlink's mean SNR other than those of the path loss.
const OF_SNR: [&str; 6] = [
    "base_power_dbm",
    "base_gain_dbi",
    "station_gain_dbi",
    "station_noise_db",
    "loss_db",
    "bandwidth_hz",
];

/// Configuration of a link budget, shadowing and mobility.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioBudgetConfig {
    /// Distance of the stations from the base station, m, above 0; `None` if each station has a
    /// separate distance.
    pub distance_m: Option<f64>,
    /// Carrier frequency, Hz, above 0.
    pub frequency_hz: f64,
    /// Height of the base station's antenna, m, above 0.
    pub base_height_m: f64,
    /// Height of the stations' antennas, m, above 0.
    pub station_height_m: f64,
    /// True for the centre of a large city.
    pub metropolitan: bool,
    /// Transmit power of the base station, dBm, -200 to 200.
    pub base_power_dbm: f64,
    /// Transmit power of a station, dBm, -200 to 200.
    pub station_power_dbm: f64,
    /// Antenna gain of the base station, dBi, -200 to 200.
    pub base_gain_dbi: f64,
    /// Antenna gain of the stations, dBi, -200 to 200.
    pub station_gain_dbi: f64,
    /// Noise figure of the base station, dB, 0 to 200.
    pub base_noise_db: f64,
    /// Noise figure of the stations, dB, 0 to 200.
    pub station_noise_db: f64,
    /// Losses in addition to the path loss, dB, -200 to 200.
    pub loss_db: f64,
    /// Bandwidth of the used subcarriers, Hz, above 0.
    pub bandwidth_hz: f64,
    /// Share of the bandwidth that a station's burst occupies, 1e-6 to 1.
    pub uplink_share: f64,
    /// Standard deviation of the shadowing, dB, 0 to 30.
    pub shadowing_db: f64,
    /// Correlation distance of the shadowing, m, above 0.
    pub correlation_distance_m: f64,
    /// Delay profile of the fading; with `none`, there is no fading, and the Doppler shift has no
    /// effect.
    pub profile: String,
    /// Speed of the stations, m/s, 0 to 10 000.
    pub speed_mps: f64,
}

impl RadioBudgetConfig {
    /// Checks all ranges and the resulting SNR and Doppler shift. Also checks that the path loss is
    /// not below that of free space.
    ///
    /// # Errors
    /// If a value is not accepted; the error contains all problems.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let has_path = self.check_path(&mut checks);
        let has_levels = self.check_levels(&mut checks);
        checks.within("shadowing_db", self.shadowing_db, DEVIATIONS_DB);
        checks.within("correlation_distance_m", self.correlation_distance_m, above(0.0));
        let speeds = at_least(0.0).up_to(LARGEST_SPEED_MPS);
        let has_speed = checks.within("speed_mps", self.speed_mps, speeds);
        if let Some(distance_m) = self.distance_m.filter(|_| has_path) {
            self.check_distance(&mut checks, distance_m, has_levels);
        }
        if has_levels {
            self.check_uplink(&mut checks);
        }
        if has_path && has_speed && self.profile != "none" {
            check_speed(&mut checks, "frequency_hz", self.speed_mps, self.frequency_hz);
        }
        checks.finish()
    }

    /// Returns true if all parameters of the SNR except the path loss are in their ranges.
    fn check_levels(&self, checks: &mut Checks) -> bool {
        let mut has_levels = true;
        for (field, level_db) in [
            ("base_power_dbm", self.base_power_dbm),
            ("station_power_dbm", self.station_power_dbm),
            ("base_gain_dbi", self.base_gain_dbi),
            ("station_gain_dbi", self.station_gain_dbi),
            ("loss_db", self.loss_db),
        ] {
            has_levels &= checks.within(field, level_db, LEVELS_DB);
        }
        has_levels &= checks.within("base_noise_db", self.base_noise_db, NOISE_FIGURES_DB);
        has_levels &= checks.within("station_noise_db", self.station_noise_db, NOISE_FIGURES_DB);
        has_levels &= checks.within("bandwidth_hz", self.bandwidth_hz, above(0.0));
        has_levels & checks.within("uplink_share", self.uplink_share, SHARES)
    }

    /// Returns true if all parameters of the path loss are in their ranges.
    fn check_path(&self, checks: &mut Checks) -> bool {
        let lengths = [
            ("distance_m", self.distance_m.unwrap_or(1.0)),
            ("frequency_hz", self.frequency_hz),
            ("base_height_m", self.base_height_m),
            ("station_height_m", self.station_height_m),
        ];
        lengths.map(|(field, value)| checks.within(field, value, above(0.0))) == [true; 4]
    }

    /// Rejects a distance at which the path loss is below that of free space. If the levels are
    /// valid, also rejects a distance at which the mean SNR is outside its range.
    fn check_distance(&self, checks: &mut Checks, distance_m: f64, has_levels: bool) {
        let model = Cost231Hata {
            frequency_hz: self.frequency_hz,
            distance_m,
            base_height_m: self.base_height_m,
            mobile_height_m: self.station_height_m,
            is_metropolitan: self.metropolitan,
        };
        let Ok(path_loss_db) = model.loss_db() else {
            let problem = "so near that the path would lose less than free space does";
            let advice = "Use a longer distance";
            checks.reject_with(&OF_PATH_LOSS, "distance_m", distance_m, problem, advice);
            return;
        };
        let snr_db = self.downlink(path_loss_db + self.loss_db).snr_db();
        if has_levels && !RANGE_DB.contains(&snr_db) {
            let (low, high) = (RANGE_DB.start(), RANGE_DB.end());
            let is_high = snr_db > *high;
            let end = if is_high { format!("above {high}") } else { format!("below {low}") };
            let problem = format!("its mean SNR would be {snr_db:.1} dB, {end} dB");
            let advice = if is_high {
                "Use a longer distance, or less power and gain"
            } else {
                "Use a shorter distance, or more power and gain"
            };
            let others = [&OF_PATH_LOSS[..], &OF_SNR].concat();
            checks.reject_with(&others, "distance_m", distance_m, &problem, advice);
        }
    }

    /// Rejects a configuration in which the SNRs of downlink and uplink differ too much.
    fn check_uplink(&self, checks: &mut Checks) {
        let up = LinkBudget {
            transmit_power_dbm: self.station_power_dbm,
            bandwidth_hz: self.bandwidth_hz * self.uplink_share,
            noise_figure_db: self.base_noise_db,
            ..self.downlink(0.0)
        };
        let higher_db = up.snr_db() - self.downlink(0.0).snr_db();
        if !RANGE_DB.contains(&higher_db) {
            let side = if higher_db > 0.0 { "above" } else { "below" };
            let (apart_db, most_db) = (higher_db.abs(), RANGE_DB.end());
            let problem = format!(
                "the uplink's SNR would be {apart_db:.1} dB {side} the downlink's, more than {most_db} dB"
            );
            let others = ["base_power_dbm", "station_noise_db", "base_noise_db", "uplink_share"];
            let advice = "Use powers and noise figures of both sides that differ less";
            let (field, power_dbm) = ("station_power_dbm", self.station_power_dbm);
            checks.reject_with(&others, field, power_dbm, &problem, advice);
        }
    }

    fn downlink(&self, loss_db: f64) -> LinkBudget {
        LinkBudget {
            transmit_power_dbm: self.base_power_dbm,
            transmit_gain_db: self.base_gain_dbi,
            receive_gain_db: self.station_gain_dbi,
            loss_db,
            bandwidth_hz: self.bandwidth_hz,
            noise_figure_db: self.station_noise_db,
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
            "profile": "pedestrian-b", "speed_mps": 0.8});
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
            "base_power_dbm": -200, "station_power_dbm": -200, "loss_db": -200,
            "station_noise_db": 0, "uplink_share": 1e-6, "shadowing_db": 0, "speed_mps": 0,
            "distance_m": null});
        let most = json!({
            "station_power_dbm": 200, "base_gain_dbi": 200, "base_noise_db": 200, "loss_db": 200,
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
    fn rejects_path_loss_below_free_space() {
        assert_eq!(
            problems(&json!({"distance_m": 1})),
            ["distance_m = 1: so near that the path would lose less than free space does. Use a \
              longer distance"]
        );
    }

    #[test]
    fn rejects_derived_snr_and_doppler_out_of_range() {
        let shift = "a Doppler shift of more than 100 kHz. Use a lower speed";
        for (changes, problem) in [
            (
                json!({"base_gain_dbi": 200, "base_power_dbm": 150, "loss_db": -100}),
                "distance_m = 1000: its mean SNR would be 406.7 dB, above 200 dB. Use a longer \
                 distance, or less power and gain",
            ),
            (
                json!({"distance_m": 5e9}),
                "distance_m = 5000000000: its mean SNR would be -219.0 dB, below -200 dB. Use a \
                 shorter distance, or more power and gain",
            ),
            (
                json!({"station_power_dbm": -180, "base_noise_db": 40}),
                "station_power_dbm = -180: the uplink's SNR would be 249.0 dB below the downlink's, \
                 more than 200 dB. Use powers and noise figures of both sides that differ less",
            ),
            (
                json!({"speed_mps": 9000, "frequency_hz": 6e9}),
                &format!("speed_mps = 9000: {shift}"),
            ),
        ] {
            assert_eq!(problems(&changes), [problem]);
        }
        let unfaded = json!({"profile": "none", "speed_mps": 9000, "frequency_hz": 6e9});
        assert!(problems(&unfaded).is_empty());
    }
}
