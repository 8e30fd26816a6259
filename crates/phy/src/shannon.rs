//! Computes the rate of a link that adapts perfectly to its signal-to-noise ratio (SNR), up to a
//! maximum rate.

/// Returns min(cap, W·log2(1 + SNR)), bit/s.
///
/// `bandwidth_hz` (W) is in Hz and at least 0. `snr` is the linear SNR within this bandwidth, at
/// least 0. `cap_bps` is the rate of the fastest format of the link, bit/s (infinite for no cap).
///
/// Source: Shannon, *A Mathematical Theory of Communication* (1948), theorem 17; the cap represents
/// the fastest modulation and coding of a real link. Left out: the gap of a real code to capacity,
/// the delay of channel reports.
pub fn rate_bps(bandwidth_hz: f64, snr: f64, cap_bps: f64) -> f64 {
    (bandwidth_hz * libm::log2(1.0 + snr)).min(cap_bps)
}

/// Converts decibels to a linear power ratio.
pub fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const CAPACITY: Law = Law {
        area: "Radio channel",
        source: "Shannon 1948, theorem 17: W log2(1 + SNR), and decibels",
        allows: "rounding of doubles",
    };

    #[test]
    fn snr_of_3_carries_two_bits_per_hertz() {
        let found = rate_bps(1e6, 3.0, f64::INFINITY);
        CAPACITY.equal("1 MHz at an SNR of 3", "bit/s", found, 2e6);
        assert_eq!(rate_bps(1e6, 0.0, 1e9), 0.0);
        assert_eq!(rate_bps(0.0, 3.0, 1e9), 0.0);
    }

    #[test]
    fn rate_never_exceeds_cap() {
        for db in -100..=100 {
            let snr = from_db(f64::from(db));
            assert!(rate_bps(5e6, snr, 12e6) <= 12e6);
            assert!(rate_bps(5e6, snr, 12e6) <= rate_bps(5e6, snr, f64::INFINITY));
        }
        assert_eq!(rate_bps(5e6, 1e9, 12e6), 12e6);
    }

    #[test]
    fn decibels_are_powers_of_ten() {
        assert_eq!(from_db(0.0), 1.0);
        CAPACITY.close("30 dB", "", from_db(30.0), 1000.0, 1e-9);
        CAPACITY.close("−10 dB", "", from_db(-10.0), 0.1, 1e-15);
    }
}
