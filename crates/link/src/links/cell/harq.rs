//! Retransmission of a block after its slot has failed.
//!
//! Without HARQ the bits of the block are retransmitted as part of a new block, at a new rate
//! (clamp-2008 §5.2). With HARQ the same block is retransmitted, and the receiver combines all
//! attempts. With chase combining (Chase 1985) the receiver adds the SNRs of the attempts; with
//! incremental redundancy it adds their capacities. clamp-2008 §6 expects that incremental
//! redundancy compensates for the loss by fast fading.

use super::rate::{Coded, SlotRate};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harq {
    /// The receiver discards the block of a failed slot.
    #[default]
    Off,
    /// Chase combining: the SNRs at the ends of the block's slots add up.
    Chase,
    /// Incremental redundancy: the capacities of the block's slots add up.
    Incremental,
}

/// A failed block that is retransmitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HarqBlock {
    /// Rate, bits and MCS of the block.
    pub(super) block: Coded,
    /// Sum over the attempts of the SNRs (power ratios; chase combining) or of the capacities
    /// (incremental redundancy).
    pub(super) combined: f64,
}

impl Harq {
    /// Returns the new combined value of a block after another slot. The slot ended with the SNR
    /// `snr` (power ratio). `before` is the combined value of the previous attempts; 0 if this is
    /// the first attempt.
    #[inline]
    pub(super) fn on_feedback(self, before: f64, snr: f64, rate: &SlotRate) -> f64 {
        match self {
            Harq::Off => snr,
            Harq::Chase => before + snr,
            Harq::Incremental => before + rate.capacity(snr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::cell::rate::{Logarithm, Shannon};
    use airpath_core::Duration;

    /// Capacity of two slots with SNRs of 1 and 3 at a bandwidth of 1 Hz: log2(1 + 4) with chase
    /// combining, 1 + 2 with incremental redundancy, 2 without HARQ (only the second slot).
    #[test]
    fn combined_attempts_match_formula() {
        let rate = SlotRate::Shannon(Shannon::new(1.0, None, Logarithm::Binary));
        for (harq, carried) in
            [(Harq::Off, 2.0), (Harq::Chase, 5f64.log2()), (Harq::Incremental, 3.0)]
        {
            let combined = harq.on_feedback(harq.on_feedback(0.0, 1.0, &rate), 3.0, &rate);
            let fails = |factor: f64| {
                // SNR that corresponds to this capacity.
                let snr = (carried * factor).exp2() - 1.0;
                let block = rate.block(0, Duration::from_secs(1), snr, 0.0);
                rate.fails(&block, harq, combined)
            };
            assert!(!fails(1.0 - 1e-9) && fails(1.0 + 1e-9), "{harq:?}");
        }
    }
}
