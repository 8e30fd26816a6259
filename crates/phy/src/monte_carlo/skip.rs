//! The skip rule: blocks whose channel has excess capacity count as correct without being decoded.
//!
//! Source: phy-802.16-ctc §8. The capacity C of a block is the mean of min(log2(1 + |h|²·Es/N0),
//! log2 V) over its symbols; V is the number of constellation points. The thresholds are above the
//! largest C of any failed block among up to 1e7 blocks per point. They are valid only for the
//! channel on which they were determined, a band of several independent taps: with flat fading or
//! without fading, blocks of mcs7 fail at 6 bits, the largest possible C. The decoder had ten
//! iterations; with fewer iterations, blocks above the thresholds fail.
//!
//! The rule is an approximation. It is disabled by default.

use crate::fading::Fading;
use crate::fading::profiles::VEHICULAR_A;
use crate::gaussian::{LANES, ln};
use crate::mcs::Mcs;
use crate::ofdm::Mapping;
use crate::vectorised::vectorised;
use std::f32::consts::LOG2_E;

/// Smallest C with which a block counts as correct, bit per symbol, for mcs0 to mcs7.
const SUFFICIENT: [f32; 8] = [1.70, 1.93, 2.90, 3.87, 4.70, 5.50, 5.75, 5.95];

/// Decoder iterations for which the thresholds were determined.
const ITERATIONS: u32 = 10;

/// Returns the smallest number of iterations for which the thresholds are valid: for Vehicular A
/// with symbols on random subcarriers. `None` for other channels.
pub fn skip_iterations(fading: &Fading) -> Option<u32> {
    (*fading == Fading::Tapped(VEHICULAR_A, Mapping::Random)).then_some(ITERATIONS)
}

/// The skip rule at one point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skip {
    /// Es/N0, linear.
    snr: f32,
    /// log2 V, bits per symbol.
    bits: f32,
    sufficient: f32,
}

impl Skip {
    /// Creates the rule for blocks of `mcs` at the Es/N0 `snr` (linear), decoded with at most
    /// `iterations`. Returns `None` if no thresholds are valid for this channel and number of
    /// iterations.
    pub(super) fn of(mcs: Mcs, fading: &Fading, snr: f32, iterations: u32) -> Option<Skip> {
        let (bits, sufficient) = (mcs.modulation.bits() as f32, SUFFICIENT[mcs.number]);
        let has_thresholds = skip_iterations(fading).is_some_and(|fewest| iterations >= fewest);
        has_thresholds.then_some(Skip { snr, bits, sufficient })
    }

    /// Returns true if a block with `gains`, one per symbol, counts as correct.
    pub(super) fn is_met(&self, gains: &[f32]) -> bool {
        self.capacity(gains) > self.sufficient
    }

    /// Returns C, bit per symbol. The length of `gains` is a multiple of the lanes.
    fn capacity(&self, gains: &[f32]) -> f32 {
        let mut sums = [0.0; LANES];
        vectorised(
            #[inline(always)]
            || {
                for gains in gains.chunks_exact(LANES) {
                    for (sum, gain) in sums.iter_mut().zip(gains) {
                        let capacity = LOG2_E * ln(1.0 + self.snr * gain * gain);
                        *sum += capacity.min(self.bits);
                    }
                }
            },
        );
        sums.iter().sum::<f32>() / gains.len() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcs::MCSS;

    fn vehicular_a() -> Fading {
        Fading::from_name("vehicular-a").expect("a channel")
    }

    #[test]
    fn capacity_is_mean_over_symbols() {
        let skip = Skip::of(MCSS[3], &vehicular_a(), 15.0, 10).expect("thresholds");
        assert!((skip.capacity(&[1.0; 48]) - 4.0).abs() < 1e-5);
        let halves = [[0.0; 48], [100.0; 48]].concat();
        assert!((skip.capacity(&halves) - 2.0).abs() < 1e-5, "16QAM carries 4 bits at most");
        // log2(1 + 15·0.2).
        assert!((skip.capacity(&[0.2f32.sqrt(); 48]) - 2.0).abs() < 1e-5);
    }

    #[test]
    fn thresholds_lie_between_code_rate_and_modulation() {
        for (mcs, sufficient) in MCSS.into_iter().zip(SUFFICIENT) {
            let bits = mcs.modulation.bits() as f32;
            let (rate, of) = mcs.code_rate;
            assert!(sufficient < bits && sufficient > bits * rate as f32 / of as f32);
        }
    }

    #[test]
    fn rule_exists_only_for_channel_of_thresholds() {
        for name in ["awgn", "rayleigh", "pedestrian-a", "vehicular-a/fusc"] {
            let fading = Fading::from_name(name).expect("a channel");
            assert!(Skip::of(MCSS[0], &fading, 1.0, 10).is_none(), "{name}");
        }
    }

    #[test]
    fn rule_requires_iterations_of_thresholds() {
        let has_rule = |iterations| Skip::of(MCSS[0], &vehicular_a(), 1.0, iterations).is_some();
        assert_eq!([1, 9, 10, 20].map(has_rule), [false, false, true, true]);
    }
}
