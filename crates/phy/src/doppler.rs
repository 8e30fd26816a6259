//! The largest Doppler shift of a moving receiver.

/// The speed of light in vacuum, m/s (exact, SI).
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Returns f_d = v·f_c/c, Hz: the Doppler shift of a wave that arrives head-on.
///
/// `speed_mps` is in m/s and `carrier_hz` in Hz, both finite and at least 0. A stationary receiver
/// has no shift. NaN arguments give NaN.
///
/// Source: Jakes, *Microwave Mobile Communications* (1974), §1.1. Left out: relativity.
pub fn max_doppler_hz(speed_mps: f64, carrier_hz: f64) -> f64 {
    speed_mps * carrier_hz / SPEED_OF_LIGHT
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const SHIFT: Law = Law {
        area: "Radio channel",
        source: "Jakes 1974 §1.1: the largest Doppler shift (clamp-2008 prints 60 and 0.6 Hz)",
        allows: "the digits given",
    };

    #[test]
    fn shifts_match_the_paper() {
        // clamp-2008: 10 m/s at 1.8 GHz is printed as 60 Hz, 0.1 m/s as 0.6 Hz.
        SHIFT.close("10 m/s at 1.8 GHz", "Hz", max_doppler_hz(10.0, 1.8e9), 60.04, 0.01);
        SHIFT.close("0.1 m/s at 1.8 GHz", "Hz", max_doppler_hz(0.1, 1.8e9), 0.6004, 1e-4);
        // ITU-R M.1225 vehicular at 90 km/h and 2.5 GHz.
        SHIFT.close("25 m/s at 2.5 GHz", "Hz", max_doppler_hz(25.0, 2.5e9), 208.5, 0.1);
        assert_eq!(max_doppler_hz(0.0, 2e9), 0.0);
    }
}
