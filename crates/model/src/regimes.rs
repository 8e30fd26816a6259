//! A link whose rate and packet error rate depend on the number of waiting packets.
//!
//! Source: the dual-regime link of qawla-2015 §2 and eqs. 12–13, with any number of regimes
//! instead of two.

use crate::error::ModelError;
use crate::solution::Warning;

/// Rate and packet error rate of the link in one regime.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regime {
    /// r_j: transmission rate of complete IP packets, bit/s. Above 0, finite.
    pub rate_bps: f64,
    /// PER_j: packet error rate, in [0, 1]. (At 1 no packet is received and T is 0.)
    pub per: f64,
}

impl Regime {
    /// Returns the rate r(B, α) (qawla-2015 eq. 12) and the packet error rate PER(B, α) (eq. 13) at
    /// the boundary to the regime `above`. `alpha`, in [0, 1], is the share of time in `above`.
    pub fn mix(self, above: Self, alpha: f64) -> Self {
        let (below_bps, above_bps) = (self.rate_bps * (1.0 - alpha), above.rate_bps * alpha);
        let rate_bps = below_bps + above_bps;
        let per = (self.per * below_bps + above.per * above_bps) / rate_bps;
        Self { rate_bps, per }
    }
}

/// Thresholds B_1 < B_2 < … and the regimes between them. Both slices are borrowed, so that a sweep
/// over many links allocates no memory.
///
/// Regime 1 applies to queue lengths in [0, B_1), regime 2 to (B_1, B_2), and so on. At B_j the
/// link switches between regimes j and j + 1. Indices count from 0 here and from 1 in qawla-2015.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultiRegimeLink<'a> {
    thresholds: &'a [f64],
    regimes: &'a [Regime],
}

impl<'a> MultiRegimeLink<'a> {
    /// Creates a link. `thresholds` are in packets, above 0 and ascending; `regimes` has one
    /// element more than `thresholds`.
    ///
    /// Rates or error rates that decrease from one regime to the next are accepted, and reported
    /// with the solution (see [`Warning`]).
    ///
    /// # Errors
    /// [`ModelError::RegimeCount`], [`ModelError::Threshold`], [`ModelError::RegimeRate`] or
    /// [`ModelError::RegimePer`], with index and value.
    pub fn new(thresholds: &'a [f64], regimes: &'a [Regime]) -> Result<Self, ModelError> {
        if regimes.len() != thresholds.len() + 1 {
            let (regimes, thresholds) = (regimes.len(), thresholds.len());
            return Err(ModelError::RegimeCount { regimes, thresholds });
        }
        check_thresholds(thresholds)?;
        regimes.iter().enumerate().try_for_each(|(index, regime)| check_regime(index, regime))?;
        Ok(Self { thresholds, regimes })
    }

    /// Returns the thresholds B_j, packets, ascending.
    pub fn thresholds(&self) -> &'a [f64] {
        self.thresholds
    }

    /// Returns the regimes in the order of increasing queue length; at least one.
    pub fn regimes(&self) -> &'a [Regime] {
        self.regimes
    }

    /// Returns a warning for the first boundary at which the rate decreases, if any.
    pub fn rate_decrease(&self) -> Option<Warning> {
        let boundary = self.regimes.windows(2).position(|w| w[1].rate_bps < w[0].rate_bps)?;
        Some(Warning::RateDecreases {
            boundary,
            below_bps: self.regimes[boundary].rate_bps,
            above_bps: self.regimes[boundary + 1].rate_bps,
        })
    }

    /// Returns a warning for the first boundary at which the packet error rate decreases, if any.
    pub fn per_decrease(&self) -> Option<Warning> {
        let boundary = self.regimes.windows(2).position(|w| w[1].per < w[0].per)?;
        Some(Warning::PerDecreases {
            boundary,
            below: self.regimes[boundary].per,
            above: self.regimes[boundary + 1].per,
        })
    }
}

fn check_thresholds(thresholds: &[f64]) -> Result<(), ModelError> {
    let mut previous = 0.0;
    for (index, &value) in thresholds.iter().enumerate() {
        if !(value > previous && value.is_finite()) {
            return Err(ModelError::Threshold { index, value, previous });
        }
        previous = value;
    }
    Ok(())
}

fn check_regime(index: usize, &Regime { rate_bps, per }: &Regime) -> Result<(), ModelError> {
    if !(rate_bps > 0.0 && rate_bps.is_finite()) {
        return Err(ModelError::RegimeRate { index, rate_bps });
    }
    if !(0.0..=1.0).contains(&per) {
        return Err(ModelError::RegimePer { index, per });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Regime = Regime { rate_bps: 8e6, per: 1e-3 };
    const FAST: Regime = Regime { rate_bps: 16e6, per: 0.1 };

    #[test]
    fn eq_12_and_13_weight_rates_by_time_and_errors_by_packets() {
        let mixed = SLOW.mix(FAST, 0.25);
        assert_eq!(mixed.rate_bps, 10e6);
        assert!((mixed.per - (6e6 * 1e-3 + 4e6 * 0.1) / 10e6).abs() < 1e-16);
        assert_eq!(SLOW.mix(FAST, 0.0), SLOW);
        assert_eq!(SLOW.mix(FAST, 1.0), FAST);
    }

    #[test]
    fn invalid_link_is_rejected_with_a_reason() {
        let text = |thresholds: &[f64], regimes: &[Regime]| {
            MultiRegimeLink::new(thresholds, regimes).unwrap_err().to_string()
        };
        assert_eq!(
            text(&[20.0], &[SLOW]),
            "1 regimes with 1 thresholds: give one regime more than thresholds"
        );
        assert_eq!(
            text(&[20.0, 20.0], &[SLOW, FAST, FAST]),
            "threshold 2 = 20 packets after 20: thresholds must ascend from above 0"
        );
        let stopped = Regime { rate_bps: 0.0, ..SLOW };
        assert_eq!(
            text(&[20.0], &[SLOW, stopped]),
            "rate of regime 2 = 0 bit/s: must be above 0 and finite"
        );
        let broken = Regime { per: 1.5, ..SLOW };
        assert_eq!(
            text(&[20.0], &[broken, FAST]),
            "packet error rate of regime 1 = 1.5: must be between 0 and 1"
        );
    }

    #[test]
    fn regimes_that_decrease_are_reported_with_their_boundary() {
        let regimes = [SLOW, FAST, SLOW];
        let link = MultiRegimeLink::new(&[10.0, 20.0], &regimes).unwrap();
        assert_eq!(
            link.rate_decrease(),
            Some(Warning::RateDecreases { boundary: 1, below_bps: 16e6, above_bps: 8e6 })
        );
        assert_eq!(
            link.per_decrease(),
            Some(Warning::PerDecreases { boundary: 1, below: 0.1, above: 1e-3 })
        );
        let equal = [SLOW, SLOW];
        let link = MultiRegimeLink::new(&[10.0], &equal).unwrap();
        assert_eq!((link.rate_decrease(), link.per_decrease()), (None, None));
    }
}
