//! Retransmission of blocks whose slot has failed.
//!
//! Without HARQ its bits are retransmitted as part of a new block, at a new rate (clamp-2008 §5.2).
//! With it the same block is retransmitted, and the receiver combines all attempts: with chase
//! combining the SNRs add up (Chase 1985), with incremental redundancy the capacities do.
//! clamp-2008 §6 expects of the latter that it makes up for what fast fading costs.

use super::rate::{Coded, SlotRate};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harq {
    /// A failed slot leaves nothing.
    #[default]
    Off,
    /// Chase combining: the SNRs at the ends of a block's slots add up.
    Chase,
    /// Incremental redundancy: their capacities add up.
    Incremental,
}

/// A block that has failed and is repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HarqBlock {
    /// How it was made.
    pub(super) block: Coded,
    /// Combined attempts: a sum of power ratios or of capacities.
    pub(super) combined: f64,
}

impl Harq {
    /// Combined attempts of a block after another slot, which ended with the SNR `snr`, a power
    /// ratio; `before` it was 0 at first.
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

    /// Two slots with SNRs of 1 and 3 and 1 Hz: log2(1 + 4) with chase combining, 1 + 2 with
    /// incremental redundancy, 2 without.
    #[test]
    fn two_attempts_by_hand() {
        let rate = SlotRate::Shannon(Shannon::new(1.0, None, Logarithm::Binary));
        for (harq, carried) in
            [(Harq::Off, 2.0), (Harq::Chase, 5f64.log2()), (Harq::Incremental, 3.0)]
        {
            let combined = harq.on_feedback(harq.on_feedback(0.0, 1.0, &rate), 3.0, &rate);
            let fails = |factor: f64| {
                // The SNR at which the capacity is that.
                let snr = (carried * factor).exp2() - 1.0;
                let block = rate.block(0, Duration::from_secs(1), snr, 0.0);
                rate.fails(&block, harq, combined)
            };
            assert!(!fails(1.0 - 1e-9) && fails(1.0 + 1e-9), "{harq:?}");
        }
    }
}
