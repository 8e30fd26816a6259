//! Tapped delay lines of 3GPP with delays in units of the delay spread: TDL-A to TDL-C without a
//! line of sight, TDL-D and TDL-E with one.
//!
//! Source: 3GPP TR 38.901 tables 7.7.2-1 to 7.7.2-5.

use super::profiles::Profile;

/// TDL-A to TDL-E at a delay spread of 1 ns.
pub const TDLS: [Profile; 5] = [TDL_A, TDL_B, TDL_C, TDL_D, TDL_E];

/// 3GPP TR 38.901 TDL-A.
const TDL_A: Profile = Profile {
    name: "tdl-a",
    unit_ns: 1.0,
    taps: &[
        (0.0, -13.4),
        (0.3819, 0.0),
        (0.4025, -2.2),
        (0.5868, -4.0),
        (0.461, -6.0),
        (0.5375, -8.2),
        (0.6708, -9.9),
        (0.575, -10.5),
        (0.7618, -7.5),
        (1.5375, -15.9),
        (1.8978, -6.6),
        (2.2242, -16.7),
        (2.1718, -12.4),
        (2.4942, -15.2),
        (2.5119, -10.8),
        (3.0582, -11.3),
        (4.081, -12.7),
        (4.4579, -16.2),
        (4.5695, -18.3),
        (4.7966, -18.9),
        (5.0066, -16.6),
        (5.3043, -19.9),
        (9.6586, -29.7),
    ],
    line_of_sight: None,
};

/// 3GPP TR 38.901 TDL-B.
const TDL_B: Profile = Profile {
    name: "tdl-b",
    unit_ns: 1.0,
    taps: &[
        (0.0, 0.0),
        (0.1072, -2.2),
        (0.2155, -4.0),
        (0.2095, -3.2),
        (0.287, -9.8),
        (0.2986, -1.2),
        (0.3752, -3.4),
        (0.5055, -5.2),
        (0.3681, -7.6),
        (0.3697, -3.0),
        (0.57, -8.9),
        (0.5283, -9.0),
        (1.1021, -4.8),
        (1.2756, -5.7),
        (1.5474, -7.5),
        (1.7842, -1.9),
        (2.0169, -7.6),
        (2.8294, -12.2),
        (3.0219, -9.8),
        (3.6187, -11.4),
        (4.1067, -14.9),
        (4.279, -9.2),
        (4.7834, -11.3),
    ],
    line_of_sight: None,
};

/// 3GPP TR 38.901 TDL-C. One of the delays is close to 2/π.
#[allow(clippy::approx_constant)]
const TDL_C: Profile = Profile {
    name: "tdl-c",
    unit_ns: 1.0,
    taps: &[
        (0.0, -4.4),
        (0.2099, -1.2),
        (0.2219, -3.5),
        (0.2329, -5.2),
        (0.2176, -2.5),
        (0.6366, 0.0),
        (0.6448, -2.2),
        (0.656, -3.9),
        (0.6584, -7.4),
        (0.7935, -7.1),
        (0.8213, -10.7),
        (0.9336, -11.1),
        (1.2285, -5.1),
        (1.3083, -6.8),
        (2.1704, -8.7),
        (2.7105, -13.2),
        (4.2589, -13.9),
        (4.6003, -13.9),
        (5.4902, -15.8),
        (5.6077, -17.1),
        (6.3065, -16.0),
        (6.6374, -15.7),
        (7.0427, -21.6),
        (8.6523, -22.8),
    ],
    line_of_sight: None,
};

/// 3GPP TR 38.901 TDL-D. The first tap has a K factor of 13.3 dB and a mean power of 0 dB.
const TDL_D: Profile = Profile {
    name: "tdl-d",
    unit_ns: 1.0,
    taps: &[
        (0.0, -13.5),
        (0.035, -18.8),
        (0.612, -21.0),
        (1.363, -22.8),
        (1.405, -17.9),
        (1.804, -20.1),
        (2.596, -21.9),
        (1.775, -22.9),
        (4.042, -27.8),
        (7.937, -23.6),
        (9.424, -24.8),
        (9.708, -30.0),
        (12.525, -27.7),
    ],
    line_of_sight: Some(-0.2),
};

/// 3GPP TR 38.901 TDL-E. The first tap has a K factor of 22 dB and a mean power of 0 dB.
const TDL_E: Profile = Profile {
    name: "tdl-e",
    unit_ns: 1.0,
    taps: &[
        (0.0, -22.03),
        (0.5133, -15.8),
        (0.5440, -18.1),
        (0.5630, -19.8),
        (0.5440, -22.9),
        (0.7112, -22.4),
        (1.9092, -18.6),
        (1.9293, -20.8),
        (1.9589, -22.6),
        (2.6426, -22.3),
        (3.7136, -25.6),
        (5.4524, -20.2),
        (12.0034, -29.8),
        (20.6519, -29.2),
    ],
    line_of_sight: Some(-0.03),
};

impl Profile {
    /// Returns a 3GPP profile scaled to a delay spread: `tdl-a-300` has a spread of 300 ns.
    pub(super) fn tdl_of_name(name: &str) -> Option<Profile> {
        let (line, spread) = name.rsplit_once('-')?;
        let profile = TDLS.into_iter().find(|profile| profile.name == line)?;
        let unit_ns: f64 = spread.parse().ok()?;
        (unit_ns.is_finite() && unit_ns >= 0.0).then_some(Profile { unit_ns, ..profile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TR 38.901 §7.7.3: the tables are normalised. The test detects any wrong digit in the first
    /// three. With a line of sight, one tap dominates, so that its rounding, to 0.1 and 0.01 dB,
    /// affects the delay spread.
    #[test]
    fn tdl_profiles_have_delay_spread_of_one_unit() {
        for (profile, allowed) in TDLS.into_iter().zip([1e-4, 1e-4, 1e-4, 7e-3, 1e-3]) {
            let spread = profile.delay_spread_ns();
            assert!((spread - 1.0).abs() < allowed, "{}: {spread}", profile.name);
        }
    }

    /// K factors from the notes below tables 7.7.2-4 and 7.7.2-5.
    #[test]
    fn first_taps_match_k_factors_of_notes() {
        for (profile, k_db) in [(TDL_D, 13.3), (TDL_E, 22.0)] {
            assert!((10.0 * profile.k_factor().log10() - k_db).abs() < 1e-9, "{}", profile.name);
            let db = |power: f64| 10f64.powf(power / 10.0);
            let first = db(profile.taps[0].1) + profile.line_of_sight.map_or(0.0, db);
            assert!((10.0 * first.log10()).abs() < 0.05, "{}: 0 dB", profile.name);
        }
        assert_eq!(TDL_A.k_factor(), 0.0);
    }

    #[test]
    fn tdl_of_name_sets_the_delay_spread() {
        let profile = Profile::tdl_of_name("tdl-c-300").expect("a line");
        assert!((profile.delay_spread_ns() - 300.0).abs() < 0.03);
        for name in ["tdl-c", "tdl-f-30", "tdl-a-", "tdl-a-inf", "tdl-a--1"] {
            assert_eq!(Profile::tdl_of_name(name), None, "{name}");
        }
    }
}
