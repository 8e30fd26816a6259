//! Power delay profiles by name.
//!
//! Source: Recommendation ITU-R M.1225, annex 2, tables 4 (outdoor to indoor and pedestrian) and 5
//! (vehicular): channels A and B; 3GPP TS 36.104, tables B.2-2 to B.2-4: the extended models of LTE.
//! Powers are relative; they are normalised to a sum of 1 when taps are sampled.

use super::tdl::TDLS;

/// A power delay profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Name of the profile for users.
    pub name: &'static str,
    /// Unit of the delays, ns.
    pub unit_ns: f64,
    /// Delay (in units of `unit_ns`) and mean power (dB) of every fading tap.
    pub taps: &'static [(f64, f64)],
    /// Power (dB) of the constant path, at the delay 0 of the first tap.
    pub line_of_sight: Option<f64>,
}

/// The profiles of ITU-R M.1225.
pub const PROFILES: [Profile; 4] = [PEDESTRIAN_A, PEDESTRIAN_B, VEHICULAR_A, VEHICULAR_B];

/// ITU-R M.1225 Pedestrian A.
pub const PEDESTRIAN_A: Profile = Profile {
    name: "pedestrian-a",
    unit_ns: 1.0,
    taps: &[(0.0, 0.0), (110.0, -9.7), (190.0, -19.2), (410.0, -22.8)],
    line_of_sight: None,
};

/// ITU-R M.1225 Pedestrian B.
pub const PEDESTRIAN_B: Profile = Profile {
    name: "pedestrian-b",
    unit_ns: 1.0,
    taps: &[
        (0.0, 0.0),
        (200.0, -0.9),
        (800.0, -4.9),
        (1200.0, -8.0),
        (2300.0, -7.8),
        (3700.0, -23.9),
    ],
    line_of_sight: None,
};

/// ITU-R M.1225 Vehicular A.
pub const VEHICULAR_A: Profile = Profile {
    name: "vehicular-a",
    unit_ns: 1.0,
    taps: &[
        (0.0, 0.0),
        (310.0, -1.0),
        (710.0, -9.0),
        (1090.0, -10.0),
        (1730.0, -15.0),
        (2510.0, -20.0),
    ],
    line_of_sight: None,
};

/// ITU-R M.1225 Vehicular B. Its delays exceed the cyclic prefix of 11.43 µs; intersymbol
/// interference is left out.
pub const VEHICULAR_B: Profile = Profile {
    name: "vehicular-b",
    unit_ns: 1.0,
    taps: &[
        (0.0, -2.5),
        (300.0, 0.0),
        (8900.0, -12.8),
        (12900.0, -10.0),
        (17100.0, -25.2),
        (20000.0, -16.0),
    ],
    line_of_sight: None,
};

/// The profiles of 3GPP TS 36.104.
pub const LTE_PROFILES: [Profile; 3] = [EPA, EVA, ETU];

/// 3GPP TS 36.104 table B.2-2: Extended Pedestrian A.
pub const EPA: Profile = Profile {
    name: "epa",
    unit_ns: 1.0,
    taps: &[
        (0.0, 0.0),
        (30.0, -1.0),
        (70.0, -2.0),
        (90.0, -3.0),
        (110.0, -8.0),
        (190.0, -17.2),
        (410.0, -20.8),
    ],
    line_of_sight: None,
};

/// 3GPP TS 36.104 table B.2-3: Extended Vehicular A.
pub const EVA: Profile = Profile {
    name: "eva",
    unit_ns: 1.0,
    taps: &[
        (0.0, 0.0),
        (30.0, -1.5),
        (150.0, -1.4),
        (310.0, -3.6),
        (370.0, -0.6),
        (710.0, -9.1),
        (1090.0, -7.0),
        (1730.0, -12.0),
        (2510.0, -16.9),
    ],
    line_of_sight: None,
};

/// 3GPP TS 36.104 table B.2-4: Extended Typical Urban.
pub const ETU: Profile = Profile {
    name: "etu",
    unit_ns: 1.0,
    taps: &[
        (0.0, -1.0),
        (50.0, -1.0),
        (120.0, -1.0),
        (200.0, 0.0),
        (230.0, 0.0),
        (500.0, 0.0),
        (1600.0, -3.0),
        (2300.0, -5.0),
        (5000.0, -7.0),
    ],
    line_of_sight: None,
};

impl Profile {
    /// Returns the profile called `name`: one of [`PROFILES`] or [`LTE_PROFILES`], or a 3GPP
    /// profile with its delay spread in ns, such as `tdl-a-300`.
    pub fn from_name(name: &str) -> Option<Profile> {
        let named = PROFILES.into_iter().chain(LTE_PROFILES).find(|profile| profile.name == name);
        named.or_else(|| Profile::tdl_of_name(name))
    }

    /// Returns the name from which [`from_name`](Profile::from_name) creates this profile.
    pub fn full_name(&self) -> String {
        let is_tdl = TDLS.iter().any(|line| line.name == self.name);
        if is_tdl { format!("{}-{}", self.name, self.unit_ns) } else { self.name.into() }
    }

    /// Returns the mean powers of the fading taps. The sum of these powers and
    /// [`line_of_sight_power`](Profile::line_of_sight_power) is 1.
    pub fn powers(&self) -> Vec<f64> {
        let total = self.total();
        self.taps.iter().map(|&(_, db)| linear(db) / total).collect()
    }

    /// Returns the power of the constant path.
    pub fn line_of_sight_power(&self) -> f64 {
        self.line_of_sight.map_or(0.0, linear) / self.total()
    }

    /// Returns K, the power of the constant path relative to the mean fading power of the first
    /// tap.
    pub fn k_factor(&self) -> f64 {
        self.line_of_sight_power() / self.powers()[0]
    }

    /// Returns the sum of all powers before normalisation.
    fn total(&self) -> f64 {
        let fading: f64 = self.taps.iter().map(|&(_, db)| linear(db)).sum();
        fading + self.line_of_sight.map_or(0.0, linear)
    }

    /// Returns the root mean square delay spread, ns. The constant path has no delay.
    pub fn delay_spread_ns(&self) -> f64 {
        let moment = |order: i32| -> f64 {
            let delays = self.taps.iter().map(|&(delay, _)| (delay * self.unit_ns).powi(order));
            self.powers().into_iter().zip(delays).map(|(power, delay)| power * delay).sum()
        };
        f64::sqrt(moment(2) - moment(1).powi(2))
    }
}

/// Converts dB to a ratio.
fn linear(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vehicular_a_powers_match_fact_sheet() {
        let digits = [0.4850, 0.3852, 0.0611, 0.0485, 0.0153, 0.0048];
        for (power, four_digits) in VEHICULAR_A.powers().into_iter().zip(digits) {
            assert!((power - four_digits).abs() < 1e-4, "{power}, {four_digits}");
        }
    }

    /// ITU-R M.1225 annex 2, table 2: 45, 750, 370 and 4000 ns, within rounding.
    #[test]
    fn delay_spreads_match_table_2() {
        for (profile, spread) in PROFILES.iter().zip([45.0, 750.0, 370.0, 4000.0]) {
            let ratio = profile.delay_spread_ns() / spread;
            assert!((ratio - 1.0).abs() < 0.16, "{}: {ratio}", profile.name);
        }
    }

    /// 3GPP TS 36.104 table B.2-1: 45, 357 and 991 ns. The taps of EPA give 43 ns.
    #[test]
    fn delay_spreads_match_table_b_2_1() {
        for (profile, spread, off) in [(EPA, 45.0, 2.0), (EVA, 357.0, 0.5), (ETU, 991.0, 0.5)] {
            let found = profile.delay_spread_ns();
            assert!((found - spread).abs() < off, "{}: {found}", profile.name);
        }
    }
}
