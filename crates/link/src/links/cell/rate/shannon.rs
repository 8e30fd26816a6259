//! Slot rates from the channel capacity at the SNR at the start of the slot.
//!
//! Source: clamp-2008 §5.2, Eq. 18: B = τ min(W log(1 + (1 − m) N), C). B is the number of bits of
//! the slot, τ the slot length, W the bandwidth, and C the largest rate. m is the margin and N the
//! SNR at the start of the slot. The block fails if B > τ W log(1 + N) with the SNR N at the end of
//! the slot.
//!
//! The paper does not define the base of the logarithm. With base 2, the largest rate C of both
//! presets of the paper is the capacity at the mean SNR.

use super::Logarithm;
use airpath_core::Rate;

/// Eq. 18 at the current nominal rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::links::cell) struct Shannon {
    /// Configured W and C.
    config: (f64, f64),
    /// Bandwidth W at the current nominal rate, Hz.
    bandwidth_hz: f64,
    /// Largest rate C, bit/s; infinite if there is no largest rate.
    cap_bps: f64,
    log: Logarithm,
    original: Rate,
    nominal: Rate,
}

impl Shannon {
    pub(in crate::links::cell) fn new(
        bandwidth_hz: f64,
        cap_bps: Option<u64>,
        log: Logarithm,
    ) -> Shannon {
        let nominal = Rate(cap_bps.unwrap_or_else(|| (bandwidth_hz.round() as u64).max(1)));
        let cap_bps = cap_bps.map_or(f64::INFINITY, |cap| cap as f64);
        let config = (bandwidth_hz, cap_bps);
        Shannon { config, bandwidth_hz, cap_bps, log, original: nominal, nominal }
    }

    /// Nominal rate of the cell: the largest rate C. If there is no largest rate: the capacity at 0
    /// dB, which is 1 bit/s per Hz of bandwidth.
    pub(in crate::links::cell) fn nominal(&self) -> Rate {
        self.nominal
    }

    /// Sets the nominal rate. The bandwidth and the largest rate are scaled in proportion.
    pub(in crate::links::cell) fn set_nominal(&mut self, rate: Rate) {
        let factor = rate.0 as f64 / self.original.0 as f64;
        let (bandwidth_hz, cap_bps) = self.config;
        self.nominal = rate;
        self.bandwidth_hz = bandwidth_hz * factor;
        // An infinite largest rate stays infinite, even at rate zero.
        self.cap_bps = if cap_bps.is_finite() { cap_bps * factor } else { cap_bps };
    }

    /// Returns W log(1 + N), bit/s, at the SNR N (power ratio).
    #[inline]
    pub(in crate::links::cell) fn capacity(&self, snr: f64) -> f64 {
        let log = match self.log {
            Logarithm::Binary => libm::log2(1.0 + snr),
            Logarithm::Natural => libm::log(1.0 + snr),
        };
        self.bandwidth_hz * log
    }

    /// Returns the rate B/τ, bit/s, of a slot that starts with the SNR `snr` (power ratio), for the
    /// margin m.
    #[inline]
    pub(in crate::links::cell) fn select(&self, snr: f64, margin: f64) -> f64 {
        self.capacity((1.0 - margin) * snr).min(self.cap_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shannon(cap_bps: Option<u64>, log: Logarithm) -> Shannon {
        Shannon::new(4.3e6, cap_bps, log)
    }

    /// Eq. 18 with the values of the paper: at the mean SNR of 4 the capacity equals the largest
    /// rate.
    #[test]
    fn select_matches_eq18() {
        let rate = shannon(Some(10_000_000), Logarithm::Binary);
        assert!((rate.select(4.0, 0.0) - 4.3e6 * 5f64.log2()).abs() < 1e-3);
        assert!((rate.select(4.0, 0.0) - 9.984e6).abs() < 1e3);
        assert_eq!(rate.select(5.0, 0.0), 1e7, "not above the largest rate");
        assert!((rate.select(3.0, 0.5) - 4.3e6 * 2.5f64.log2()).abs() < 1e-3);
        assert!((rate.select(1.0, -1.0) - 4.3e6 * 3f64.log2()).abs() < 1e-3, "a margin below 0");
        assert_eq!(rate.select(0.0, 0.0), 0.0);
        let natural = shannon(None, Logarithm::Natural);
        assert!((natural.select(4.0, 0.0) - 6.9206e6).abs() < 1e3);
        assert!(natural.select(1e9, 0.0) > 8e7, "without a largest rate");
    }

    #[test]
    fn nominal_rate_change_scales_bandwidth_and_largest_rate() {
        let mut rate = shannon(Some(10_000_000), Logarithm::Binary);
        let before = [1.0, 20.0].map(|snr| rate.select(snr, 0.0));
        rate.set_nominal(Rate(5_000_000));
        assert_eq!(rate.nominal(), Rate(5_000_000));
        assert_eq!([1.0, 20.0].map(|snr| rate.select(snr, 0.0)), before.map(|rate| rate / 2.0));
        rate.set_nominal(Rate(0));
        assert_eq!(rate.select(20.0, 0.0), 0.0);
        rate.set_nominal(Rate(10_000_000));
        assert_eq!([1.0, 20.0].map(|snr| rate.select(snr, 0.0)), before);
    }

    #[test]
    fn nominal_rate_without_largest_rate_is_1_bit_per_second_and_hertz() {
        let mut rate = shannon(None, Logarithm::Binary);
        assert_eq!(rate.nominal(), Rate(4_300_000));
        rate.set_nominal(Rate(0));
        assert_eq!(rate.select(1e6, 0.0), 0.0);
        rate.set_nominal(Rate(8_600_000));
        assert!((rate.select(1.0, 0.0) - 8.6e6).abs() < 1e-6);
    }
}
