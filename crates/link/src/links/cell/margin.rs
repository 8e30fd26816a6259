//! SNR margin m for the selection of the rate: constant, or adapted to a target loss.
//!
//! Source: clamp-2008 §5.2: m is "adaptively tuned such that the packet error rate after
//! retransmissions is approximately a target".
//!
//! The paper does not define the adaptation; Airpath uses the following rule. There is one m for
//! the cell, or one for each user (`per_user`). Each discarded packet adds δ(1 − p*) to m and each
//! delivered packet subtracts δp*. Therefore m converges to a value at which the fraction p* of the
//! packets is discarded. δ is 0.1 until the 10th loss, 0.02 until the 40th loss, and 0.002
//! afterwards. The initial value of m is 0, or the lower bound if that is larger. m is limited to
//! [−4, 0.95]; the lower bound is configurable. The step size depends on the number of losses and
//! not on time, so that m also converges in a cell with a low rate.

use airpath_core::{Checks, above, at_least};
use serde::Deserialize;

/// Smallest constant margin.
const LEAST: f64 = -100.0;
/// Default lower bound of an adaptive margin.
const LEAST_ADAPTIVE: f64 = -4.0;
/// Largest value of an adaptive margin.
const MOST_ADAPTIVE: f64 = 0.95;
/// Step sizes as pairs (losses, δ): the step is δ until this number of losses.
const STEPS: [(u32, f64); 2] = [(10, 0.1), (40, 0.02)];
/// Final step size δ.
const LAST_STEP: f64 = 0.002;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum MarginConfig {
    /// Constant m, from −100, below 1.
    Fixed(f64),
    /// Margin m that is adapted to a target loss.
    Adaptive(AdaptiveMarginConfig),
}

/// Configuration of an adaptive margin.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMarginConfig {
    /// Target p*: fraction of packets that are discarded. Above 0, below 1.
    pub target_loss: f64,
    /// Lower bound of m, from −4 to 0.95.
    #[serde(default = "least_adaptive")]
    pub least: f64,
    /// True if every user has a separate margin, which is adapted to the loss of this user's
    /// packets.
    #[serde(default)]
    pub per_user: bool,
}

fn least_adaptive() -> f64 {
    LEAST_ADAPTIVE
}

impl Default for MarginConfig {
    /// Returns a constant margin of 0.
    fn default() -> MarginConfig {
        MarginConfig::Fixed(0.0)
    }
}

impl MarginConfig {
    /// Rejects values outside their ranges.
    pub(super) fn check(&self, checks: &mut Checks) {
        match *self {
            MarginConfig::Fixed(margin) => {
                checks.within("margin", margin, at_least(LEAST).below(1.0));
            }
            MarginConfig::Adaptive(AdaptiveMarginConfig { target_loss, least, .. }) => {
                checks.within("margin.target_loss", target_loss, above(0.0).below(1.0));
                checks.within("margin.least", least, LEAST_ADAPTIVE..=MOST_ADAPTIVE);
            }
        }
    }
}

/// Margins of a cell: one for all users, or one for each user.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Margins(Vec<Margin>);

impl Margins {
    /// Creates the margins of a cell with `users` users.
    pub(super) fn new(config: MarginConfig, users: usize) -> Margins {
        let per_user = matches!(config, MarginConfig::Adaptive(adaptive) if adaptive.per_user);
        Margins(vec![Margin::new(config); if per_user { users.max(1) } else { 1 }])
    }

    /// Returns the margin of a user.
    #[inline]
    pub(super) fn of(&self, user: usize) -> &Margin {
        &self.0[user.min(self.0.len() - 1)]
    }

    /// Returns a mutable reference to the margin of a user.
    #[inline]
    pub(super) fn of_mut(&mut self, user: usize) -> &mut Margin {
        let place = user.min(self.0.len() - 1);
        &mut self.0[place]
    }

    /// Resets the measured means.
    pub(super) fn restart_measurement(&mut self) {
        self.0.iter_mut().for_each(Margin::restart_measurement);
    }
}

/// A margin with the state of its adaptation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Margin {
    /// Margin m.
    value: f64,
    /// Target loss p*; `None` for a constant margin.
    target: Option<f64>,
    /// Lower bound of m.
    least: f64,
    losses: u32,
    /// Sum of m over the slots allocated since measurement started.
    sum: f64,
    /// Number of these slots.
    slots: u64,
}

impl Margin {
    pub(super) fn new(config: MarginConfig) -> Margin {
        let (value, target, least) = match config {
            MarginConfig::Fixed(margin) => (margin, None, margin),
            MarginConfig::Adaptive(AdaptiveMarginConfig { target_loss, least, .. }) => {
                (least.max(0.0), Some(target_loss), least)
            }
        };
        Margin { value, target, least, losses: 0, sum: 0.0, slots: 0 }
    }

    /// Returns the margin m.
    #[inline]
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Counts an allocated slot.
    #[inline]
    pub(super) fn note(&mut self) {
        if self.target.is_some() {
            self.sum += self.value;
            self.slots += 1;
        }
    }

    /// Returns the mean margin over the slots allocated since measurement started. If there are no
    /// such slots, returns the current margin.
    pub(super) fn mean(&self) -> f64 {
        if self.slots > 0 { self.sum / self.slots as f64 } else { self.value }
    }

    /// Restarts the measurement.
    fn restart_measurement(&mut self) {
        (self.sum, self.slots) = (0.0, 0);
    }

    /// Returns the current step size δ.
    fn step(&self) -> f64 {
        let step = STEPS.iter().find(|(until, _)| self.losses < *until);
        step.map_or(LAST_STEP, |(_, step)| *step)
    }

    fn add(&mut self, amount: f64) {
        self.value = (self.value + amount).clamp(self.least, MOST_ADAPTIVE);
    }

    /// Adapts the margin after a delivered packet.
    #[inline]
    pub(super) fn on_delivery(&mut self) {
        if let Some(target) = self.target {
            self.add(-self.step() * target);
        }
    }

    /// Adapts the margin after a discarded packet.
    pub(super) fn on_loss(&mut self) {
        if let Some(target) = self.target {
            self.add(self.step() * (1.0 - target));
            self.losses = self.losses.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adaptive(target_loss: f64) -> Margin {
        Margin::new(adaptive_config(target_loss, -4.0, false))
    }

    fn adaptive_config(target_loss: f64, least: f64, per_user: bool) -> MarginConfig {
        MarginConfig::Adaptive(AdaptiveMarginConfig { target_loss, least, per_user })
    }

    #[test]
    fn loss_adapts_margin_of_user_or_cell() {
        for (per_user, second) in [(true, 0.0), (false, 0.05)] {
            let mut margins = Margins::new(adaptive_config(0.5, -4.0, per_user), 2);
            margins.of_mut(0).on_loss();
            assert_eq!(margins.of(0).value(), 0.05);
            assert_eq!(margins.of(1).value(), second, "{per_user}");
        }
    }

    #[test]
    fn adaptive_margin_stays_above_configured_bound() {
        for (least, first) in [(-0.5, 0.0), (0.0, 0.0), (0.25, 0.25)] {
            let mut margin = Margin::new(adaptive_config(0.999, least, false));
            assert_eq!(margin.value(), first);
            (0..100).for_each(|_| margin.on_delivery());
            assert_eq!(margin.value(), least);
        }
    }

    #[test]
    fn fixed_margin_does_not_adapt() {
        let mut margin = Margin::new(MarginConfig::Fixed(0.3));
        margin.on_loss();
        margin.on_delivery();
        assert_eq!(margin.value(), 0.3);
    }

    #[test]
    fn steps_shrink_after_10_and_40_losses() {
        let mut margin = adaptive(0.5);
        let mut step_of_next = || {
            let before = margin.value();
            margin.on_delivery();
            let step = (before - margin.value()) / 0.5;
            margin.on_loss();
            (step * 1e6).round() / 1e6
        };
        let steps: Vec<f64> = (0..42).map(|_| step_of_next()).collect();
        assert!(steps[..10].iter().all(|step| *step == 0.1), "{steps:?}");
        assert!(steps[10..40].iter().all(|step| *step == 0.02), "{steps:?}");
        assert!(steps[40..].iter().all(|step| *step == 0.002), "{steps:?}");
    }

    #[test]
    fn adaptive_margin_stays_within_range() {
        let mut margin = adaptive(0.001);
        (0..20).for_each(|_| margin.on_loss());
        assert_eq!(margin.value(), 0.95);
        let mut margin = adaptive(0.999);
        (0..100).for_each(|_| margin.on_delivery());
        assert_eq!(margin.value(), -4.0);
    }

    /// The loss probability is 0.2 e^{-4m}, and losses are evenly spaced. The loss rate converges
    /// to the target.
    #[test]
    fn adaptive_margin_converges_to_target_loss() {
        let mut margin = adaptive(0.01);
        let (mut due, mut lost) = (0.0, 0);
        for packet in 0..2_000_000 {
            due += 0.2 * (-4.0 * margin.value()).exp();
            if due >= 1.0 {
                due -= 1.0;
                lost += u32::from(packet >= 1_000_000);
                margin.on_loss();
            } else {
                margin.on_delivery();
            }
        }
        assert!((f64::from(lost) / 1e6 - 0.01).abs() < 1e-4, "{lost}");
        assert!((margin.value() - (20f64).ln() / 4.0).abs() < 0.01, "{margin:?}");
    }
}
