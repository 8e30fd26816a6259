//! The Gilbert–Elliott channel: a good and a bad state that alternate, each with a loss
//! probability.
//!
//! Source: Gilbert, *Capacity of a burst-noise channel*, and Elliott, *Estimates of error rates for
//! codes on burst-noise channels*, Bell System Technical Journal 39 and 42 (1960, 1963), with slots
//! of equal length instead of bits. Slots are counted from the start of the run. The first state is
//! sampled from the stationary distribution. Each slot that a frame overlaps corrupts the frame
//! with the loss probability of the slot's state. With loss probabilities of 0 (good) and 1 (bad),
//! a frame is corrupted if any of its slots is bad.
//!
//! A run is a sequence of slots in the same state. If all gaps between frames are shorter than
//! about 100 mean runs, the states are a function of time only and do not depend on the traffic.
//! After a longer gap, the state is sampled in one step.

use super::two_states::{Chain, Run};
use super::{ErrorProcess, Frame, TwoStates};
use airpath_core::{Checks, Component, ConfigError, Seed, Setup, Stream, at_least};
use serde::Deserialize;

/// Configuration of the error process.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottConfig {
    /// P(bad next | good now), in [0, 1].
    pub p_good_to_bad: f64,
    /// P(good next | bad now), in [0, 1].
    pub p_bad_to_good: f64,
    /// Probability that a good slot corrupts a frame, in [0, 1].
    #[serde(default)]
    pub loss_good: f64,
    /// Probability that a bad slot corrupts a frame, in [0, 1].
    #[serde(default = "certain")]
    pub loss_bad: f64,
    /// Duration of a slot, ns. Above 0.
    pub slot_ns: u64,
}

fn certain() -> f64 {
    1.0
}

/// Error process with two states.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    chain: Chain,
    /// Loss probabilities of a good and a bad slot.
    loss: [f64; 2],
    errors: Stream,
    /// Run in which the latest frame began.
    run: Run,
    /// Latest run that overlaps with any frame so far.
    ahead: Run,
}

impl GilbertElliott {
    /// Creates a process with these states. A good or bad slot of `slot_ns` corrupts a frame with
    /// the probabilities in `loss`.
    pub(super) fn new(states: TwoStates, loss: [f64; 2], slot_ns: u64, seed: &Seed) -> Self {
        let chain = Chain::new(states, slot_ns);
        let run = Run::first(&chain, seed.child("states").stream());
        let errors = seed.child("errors").stream();
        GilbertElliott { chain, loss, errors, ahead: run.clone(), run }
    }

    /// Advances to the run that contains `began_ns`. The state of slots that overlapped with an
    /// earlier frame does not change.
    #[cold]
    fn seek(&mut self, began_ns: u64) {
        if began_ns < self.ahead.starts_ns {
            return self.run.walk(&self.chain, began_ns);
        }
        if self.ahead.ends_ns > self.run.ends_ns {
            self.run.clone_from(&self.ahead);
        }
        self.run.advance(&self.chain, began_ns);
    }

    /// Returns true if one of the slots from `from_ns` to `until_ns` (exclusive), all in the same
    /// state, corrupts a frame.
    #[inline]
    fn slots_corrupt(&mut self, is_bad: bool, from_ns: u64, until_ns: u64) -> bool {
        let loss = self.loss[usize::from(is_bad)];
        if loss <= 0.0 || loss >= 1.0 {
            return loss >= 1.0;
        }
        let slots = (until_ns - 1) / self.chain.slot_ns - from_ns / self.chain.slot_ns + 1;
        let survives = slots as f64 * libm::log1p(-loss);
        self.errors.bernoulli(-libm::expm1(survives))
    }

    /// Returns true if a slot corrupts a frame that extends beyond the run in which it began.
    #[cold]
    fn runs_corrupt(&mut self, began_ns: u64, ended_ns: u64) -> bool {
        let mut met = self.run.clone();
        let mut from_ns = began_ns;
        let destroyed = loop {
            let until_ns = met.ends_ns.min(ended_ns);
            if self.slots_corrupt(met.is_bad, from_ns, until_ns) {
                break true;
            }
            if met.ends_ns >= ended_ns {
                break false;
            }
            from_ns = until_ns;
            met.step(&self.chain);
        };
        if met.ends_ns > self.ahead.ends_ns {
            self.ahead = met;
        }
        destroyed
    }
}

impl GilbertElliottConfig {
    fn states(&self) -> TwoStates {
        TwoStates { good_to_bad: self.p_good_to_bad, bad_to_good: self.p_bad_to_good }
    }
}

impl Component<dyn ErrorProcess + Send> for GilbertElliott {
    type Config = GilbertElliottConfig;

    fn check(config: &GilbertElliottConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("", config.states().validate());
        checks.within("loss_good", config.loss_good, 0.0..=1.0);
        checks.within("loss_bad", config.loss_bad, 0.0..=1.0);
        checks.within("slot_ns", config.slot_ns, at_least(1_u64));
        checks.finish()
    }

    fn build(
        config: GilbertElliottConfig,
        setup: Setup<'_, dyn ErrorProcess + Send>,
    ) -> Result<Self, ConfigError> {
        let (states, losses) = (config.states(), [config.loss_good, config.loss_bad]);
        Ok(GilbertElliott::new(states, losses, config.slot_ns, &setup.seed))
    }
}

impl ErrorProcess for GilbertElliott {
    #[inline]
    fn corrupts(&mut self, frame: &Frame) -> bool {
        let began_ns = frame.began.as_nanos();
        let ended_ns = frame.ended.as_nanos().max(began_ns + 1);
        if began_ns >= self.run.ends_ns {
            self.seek(began_ns);
        }
        if ended_ns > self.run.ends_ns {
            return self.runs_corrupt(began_ns, ended_ns);
        }
        self.slots_corrupt(self.run.is_bad, began_ns, ended_ns)
    }
}

#[cfg(test)]
mod tests;
