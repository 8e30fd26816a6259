//! Computes the path loss: the mean attenuation of a signal over distance in a town.
//!
//! COST-231 Hata, with f in MHz, d in km, and the heights h_b and h_m in m:
//!
//! L = 46.3 + 33.9 log f − 13.82 log h_b − a(h_m) + (44.9 − 6.55 log h_b) log d + C
//! a(h_m) = (1.1 log f − 0.7) h_m − (1.56 log f − 0.8)
//!
//! C is 3 dB in metropolitan centres, 0 in medium-sized cities and suburbs with moderate tree
//! density.
//!
//! Source: COST Action 231, *Digital mobile radio towards future generation systems*, final report
//! EUR 18957 (1999), §4.4.1; Hata, *Empirical formula for propagation loss in land mobile radio
//! services*, IEEE Trans. Veh. Technol. 29 (1980). COST 231 extends Hata's formula from 1.5 GHz to
//! 2 GHz.
//!
//! Beyond the ranges of the measurements ([`COST231_HATA_RANGES`]), the formula is extrapolated,
//! and [`Cost231Hata::outside`] returns the values outside their ranges, such as the 2.5 GHz of
//! 802.16e. A loss below that of free space is impossible and is rejected.
//! Left out: shadowing; Hata's corrections for open and suburban areas, which COST 231 does not
//! extend.

use crate::doppler::SPEED_OF_LIGHT;
use airpath_core::ConfigError;
use std::f64::consts::PI;
use std::ops::RangeInclusive;

/// Ranges in which COST-231 Hata was fitted, by the fields of [`Cost231Hata`].
pub const COST231_HATA_RANGES: [(&str, RangeInclusive<f64>); 4] = [
    ("frequency_hz", 1.5e9..=2.0e9),
    ("distance_m", 1e3..=20e3),
    ("base_height_m", 30.0..=200.0),
    ("mobile_height_m", 1.0..=10.0),
];

/// C for metropolitan centres, dB.
const METROPOLITAN_DB: f64 = 3.0;

/// Parameters of COST-231 Hata for a base station and a mobile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost231Hata {
    /// f, carrier frequency, Hz. Above 0; fitted from 1.5 GHz to 2 GHz.
    pub frequency_hz: f64,
    /// d, distance between the antennas, m. Above 0; fitted from 1 km to 20 km.
    pub distance_m: f64,
    /// h_b, height of the base station's antenna, above roof level, m. Above 0; fitted from 30 m to
    /// 200 m.
    pub base_height_m: f64,
    /// h_m, height of the mobile's antenna, m. Above 0; fitted from 1 m to 10 m.
    pub mobile_height_m: f64,
    /// True for a metropolitan centre, with C = 3 dB.
    pub is_metropolitan: bool,
}

impl Cost231Hata {
    /// Returns L, the mean path loss, dB.
    ///
    /// # Errors
    /// If a value is not a finite number above 0, or the formula gives a loss below that of free
    /// space.
    pub fn loss_db(&self) -> Result<f64, ConfigError> {
        for (field, value) in self.values() {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ConfigError::new(field, value, "not a finite number above 0"));
            }
        }
        let loss_db = self.formula_db();
        if loss_db < free_space_db(self.frequency_hz, self.distance_m) {
            let problem = "with the other values, the formula gives less than free space loses";
            return Err(ConfigError::new("distance_m", self.distance_m, problem));
        }
        Ok(loss_db)
    }

    /// Returns the fields whose values are outside the ranges of the measurements, with these
    /// ranges.
    pub fn outside(&self) -> impl Iterator<Item = (&'static str, RangeInclusive<f64>)> {
        let values = self.values().into_iter().map(|(_, value)| value);
        let ranges = COST231_HATA_RANGES.into_iter().zip(values);
        ranges.filter(|((_, range), value)| !range.contains(value)).map(|(named, _)| named)
    }

    fn values(&self) -> [(&'static str, f64); 4] {
        [
            ("frequency_hz", self.frequency_hz),
            ("distance_m", self.distance_m),
            ("base_height_m", self.base_height_m),
            ("mobile_height_m", self.mobile_height_m),
        ]
    }

    fn formula_db(&self) -> f64 {
        let log_f = libm::log10(self.frequency_hz / 1e6);
        let log_base = libm::log10(self.base_height_m);
        let mobile = (1.1 * log_f - 0.7) * self.mobile_height_m - (1.56 * log_f - 0.8);
        let slope = 44.9 - 6.55 * log_base;
        let town = if self.is_metropolitan { METROPOLITAN_DB } else { 0.0 };
        46.3 + 33.9 * log_f - 13.82 * log_base - mobile
            + slope * libm::log10(self.distance_m / 1e3)
            + town
    }
}

/// Returns the loss in free space between isotropic antennas, dB: (4π d f / c)², Friis 1946.
///
/// `frequency_hz` and `distance_m` must be above 0. The formula is not valid within a few
/// wavelengths.
pub fn free_space_db(frequency_hz: f64, distance_m: f64) -> f64 {
    20.0 * libm::log10(4.0 * PI * distance_m * frequency_hz / SPEED_OF_LIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const FORMULA: Law = Law {
        area: "Radio channel",
        source: "COST-231 Hata by hand: 46.3 + 33.9 log f − 13.82 log h_b − a(h_m) + …",
        allows: "the digits given",
    };
    const WCDMA: Law = Law {
        area: "Radio channel",
        source: "COST-231 Hata: 137.4 + 35.2 log d at 1950 MHz (Holma and Toskala, WCDMA for UMTS, §8.2)",
        allows: "half of the last digits printed",
    };
    const SCM: Law = Law {
        area: "Radio channel",
        source: "COST-231 Hata: 31.5 and 34.5 + 35 log d/m at 1.9 GHz (3GPP TR 25.996 §5.2)",
        allows: "0.15 dB: coefficients printed to 0.5",
    };

    fn usual() -> Cost231Hata {
        Cost231Hata {
            frequency_hz: 1.8e9,
            distance_m: 1000.0,
            base_height_m: 30.0,
            mobile_height_m: 1.5,
            is_metropolitan: false,
        }
    }

    fn loss_db(model: Cost231Hata) -> f64 {
        model.loss_db().expect("accepted")
    }

    #[test]
    fn loss_matches_values_by_hand() {
        FORMULA.close("1.8 GHz, 1 km", "dB", loss_db(usual()), 136.1970, 1e-4);
        let centre = Cost231Hata { is_metropolitan: true, ..usual() };
        FORMULA.close("in a metropolitan centre", "dB", loss_db(centre), 139.1970, 1e-4);
        // The paper's carrier frequency, which is outside the range.
        let carrier = Cost231Hata { frequency_hz: 2.5e9, ..usual() };
        FORMULA.close("2.5 GHz, 1 km", "dB", loss_db(carrier), 141.0206, 1e-4);
        // h_b = 100 m: 44.9 − 13.1 = 31.8 dB per decade, and 13.82·2 dB less.
        let [near, far] = [1e3, 1e4].map(|distance_m| Cost231Hata {
            distance_m,
            base_height_m: 100.0,
            ..usual()
        });
        FORMULA.close("a decade from 100 m", "dB", loss_db(far) - loss_db(near), 31.8, 1e-9);
        let tall = Cost231Hata { mobile_height_m: 3.0, ..usual() };
        FORMULA.close("a mobile at 3 m", "dB", loss_db(usual()) - loss_db(tall), 4.3212, 1e-4);
    }

    #[test]
    fn loss_matches_published_examples() {
        for km in [1.0, 2.0, 5.0, 10.0, 20.0] {
            let model = Cost231Hata { frequency_hz: 1.95e9, distance_m: 1e3 * km, ..usual() };
            let expected = 137.4 + 35.2 * f64::log10(km);
            WCDMA.close(
                format!("{km} km"),
                "dB",
                loss_db(model),
                expected,
                0.05 + 0.05 * km.log10(),
            );
        }
        for (is_metropolitan, constant) in [(false, 31.5), (true, 34.5)] {
            for km in [1.0, 2.0, 5.0] {
                let model = Cost231Hata {
                    frequency_hz: 1.9e9,
                    distance_m: 1e3 * km,
                    base_height_m: 32.0,
                    is_metropolitan,
                    ..usual()
                };
                let expected = constant + 35.0 * f64::log10(1e3 * km);
                let case = format!("{km} km, {constant}");
                SCM.close(case, "dB", loss_db(model), expected, 0.15);
            }
        }
    }

    #[test]
    fn outside_names_fields_beyond_measurements() {
        assert_eq!(usual().outside().count(), 0);
        let beyond = Cost231Hata { frequency_hz: 2.5e9, distance_m: 500.0, ..usual() };
        let fields: Vec<&str> = beyond.outside().map(|(field, _)| field).collect();
        assert_eq!(fields, ["frequency_hz", "distance_m"]);
        let at_the_ends = Cost231Hata { frequency_hz: 2e9, distance_m: 20e3, ..usual() };
        assert_eq!(at_the_ends.outside().count(), 0);
    }

    #[test]
    fn rejects_invalid_parameters() {
        let wrong = |model: Cost231Hata| model.loss_db().expect_err("refused").to_string();
        for distance_m in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = wrong(Cost231Hata { distance_m, ..usual() });
            assert!(error.ends_with("not a finite number above 0"), "{error}");
        }
        let low = wrong(Cost231Hata { frequency_hz: 1e6, ..usual() });
        assert!(low.ends_with("the formula gives less than free space loses"), "{low}");
        assert!(wrong(Cost231Hata { base_height_m: 1e300, ..usual() }).contains("free space"));
    }

    #[test]
    fn free_space_loss_is_32_db_at_1_mhz_and_1_km() {
        // 32.45 + 20 log f/MHz + 20 log d/km.
        assert!((free_space_db(1e6, 1e3) - 32.4478).abs() < 1e-4);
        assert!((free_space_db(2e9, 1e4) - 118.4684).abs() < 1e-4);
    }
}
