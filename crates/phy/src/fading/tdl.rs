//! The tapped delay lines of 3GPP without a line of sight: delays in units of the delay spread.
//!
//! Source: 3GPP TR 38.901 tables 7.7.2-1 to 7.7.2-3. Left out: TDL-D and TDL-E, whose first tap is
//! Rician.

use super::profiles::Profile;

/// TDL-A to TDL-C at a delay spread of 1 ns.
pub const TDLS: [Profile; 3] = [TDL_A, TDL_B, TDL_C];

/// TDL-A.
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
};

/// TDL-B.
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
};

/// TDL-C. One of the delays looks like 2/π.
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
};

impl Profile {
    /// A 3GPP line stretched to a delay spread: `tdl-a-300` has one of 300 ns.
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

    /// TR 38.901 §7.7.3: the tables are normalised. No wrong digit passes unnoticed.
    #[test]
    fn lines_have_a_delay_spread_of_one_unit() {
        for profile in TDLS {
            let spread = profile.delay_spread_ns();
            assert!((spread - 1.0).abs() < 1e-4, "{}: {spread}", profile.name);
        }
    }

    #[test]
    fn a_name_has_the_delay_spread() {
        let profile = Profile::tdl_of_name("tdl-c-300").expect("a line");
        assert!((profile.delay_spread_ns() - 300.0).abs() < 0.03);
        for name in ["tdl-c", "tdl-d-30", "tdl-a-", "tdl-a-inf", "tdl-a--1"] {
            assert_eq!(Profile::tdl_of_name(name), None, "{name}");
        }
    }
}
