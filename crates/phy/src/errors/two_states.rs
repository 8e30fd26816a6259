//! A Markov chain of two states, good and bad, stepped once per slot.
//!
//! The duration of a state is geometrically distributed: `P(run >= n) = (1 - p)^(n-1)`, where `p`
//! is the probability to leave the state. Therefore the duration of a complete run is sampled at
//! its start. The state after many slots is sampled in one step from the n-step probabilities.

use airpath_core::{Checks, ConfigError, Stream};

/// Probabilities of the two state changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStates {
    /// P(bad next | good now).
    pub good_to_bad: f64,
    /// P(good next | bad now).
    pub bad_to_good: f64,
}

impl TwoStates {
    /// Returns the stationary P(bad). One of the two probabilities must be above 0.
    pub fn share_bad(&self) -> f64 {
        self.good_to_bad / (self.good_to_bad + self.bad_to_good)
    }

    /// Returns P(bad `steps` slots later | bad or good now), from the chain's second
    /// eigenvalue, `1 - P(B|G) - P(G|B)`.
    pub fn bad_after(&self, steps: u64, is_bad: bool) -> f64 {
        let share = self.share_bad();
        share + self.memory(steps) * (f64::from(u8::from(is_bad)) - share)
    }

    /// Returns the second eigenvalue to the power of `steps`, exact also if it is close to 1.
    fn memory(&self, steps: u64) -> f64 {
        if steps == 0 {
            return 1.0;
        }
        let leaving = self.good_to_bad + self.bad_to_good;
        let swaps = leaving > 1.0;
        let log = if swaps { libm::log(leaving - 1.0) } else { libm::log1p(-leaving) };
        let size = libm::exp(steps as f64 * log);
        if swaps && steps % 2 == 1 { -size } else { size }
    }

    /// Returns the mean number of state changes per slot.
    pub fn changes_per_slot(&self) -> f64 {
        2.0 * self.share_bad() * self.bad_to_good
    }

    /// Checks that the probabilities are valid and that the chain can leave at least one state.
    ///
    /// # Errors
    /// If a probability is outside [0, 1] or both are 0: such a chain has no stationary
    /// distribution.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("p_good_to_bad", self.good_to_bad, 0.0..=1.0);
        checks.within("p_bad_to_good", self.bad_to_good, 0.0..=1.0);
        if self.good_to_bad + self.bad_to_good == 0.0 {
            let problem = "0 like p_good_to_bad: the state would never change";
            let advice = "Use a number above 0 for one of them";
            checks.reject("p_bad_to_good", self.bad_to_good, problem, advice);
        }
        checks.finish()
    }
}

/// Gap, in mean numbers of runs, above which the chain is advanced in one step instead of run by
/// run.
const LONGEST_WALK: f64 = 100.0;

/// Parameters of a chain and its slots, without the current state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) slot_ns: u64,
    states: TwoStates,
    /// 1/ln(1-p) for the good and the bad state, where p is the probability to leave the state.
    per_log: [f64; 2],
    /// Longest gap over which the chain is advanced run by run, ns.
    walked_ns: u64,
}

impl Chain {
    pub(super) fn new(states: TwoStates, slot_ns: u64) -> Chain {
        let per_log = |leaving: f64| libm::log1p(-leaving).recip();
        let walked_slots = LONGEST_WALK / states.changes_per_slot();
        Chain {
            slot_ns,
            states,
            per_log: [per_log(states.good_to_bad), per_log(states.bad_to_good)],
            walked_ns: (walked_slots as u64).saturating_mul(slot_ns),
        }
    }

    /// Samples the duration of a run in the state, ns.
    fn run_ns(&self, is_bad: bool, stream: &mut Stream) -> u64 {
        let draw = libm::log(1.0 - stream.uniform());
        let per_log = self.per_log[usize::from(is_bad)];
        if per_log.is_infinite() {
            return u64::MAX;
        }
        (libm::floor(draw * per_log) as u64).saturating_add(1).saturating_mul(self.slot_ns)
    }
}

/// A position in one realisation of the chain: the run that contains it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) is_bad: bool,
    /// Start of the run, or time of the latest skip, ns.
    pub(super) starts_ns: u64,
    /// End of the run (exclusive), ns: an integer number of slots.
    pub(super) ends_ns: u64,
    stream: Stream,
}

impl Run {
    /// Creates the run at time zero; its state is sampled from the stationary distribution.
    pub(super) fn first(chain: &Chain, mut stream: Stream) -> Run {
        let is_bad = stream.bernoulli(chain.states.share_bad());
        let ends_ns = chain.run_ns(is_bad, &mut stream);
        Run { is_bad, starts_ns: 0, ends_ns, stream }
    }

    /// Advances to the next run.
    pub(super) fn step(&mut self, chain: &Chain) {
        self.is_bad = !self.is_bad;
        self.starts_ns = self.ends_ns;
        let run_ns = chain.run_ns(self.is_bad, &mut self.stream);
        self.ends_ns = self.ends_ns.saturating_add(run_ns);
    }

    /// Advances to the run that contains `now_ns`, through all runs in between.
    pub(super) fn walk(&mut self, chain: &Chain, now_ns: u64) {
        while self.ends_ns <= now_ns {
            self.step(chain);
        }
    }

    /// Advances to the run that contains `now_ns`, run by run, or in one step if the gap is long.
    pub(super) fn advance(&mut self, chain: &Chain, now_ns: u64) {
        if now_ns.saturating_sub(self.ends_ns) > chain.walked_ns {
            self.jump(chain, now_ns);
        } else {
            self.walk(chain, now_ns);
        }
    }

    /// Samples the state at `now_ns` from the n-step probabilities, and a new run from there on.
    fn jump(&mut self, chain: &Chain, now_ns: u64) {
        let slots = (now_ns - self.ends_ns) / chain.slot_ns;
        let bad = chain.states.bad_after(slots, !self.is_bad);
        self.is_bad = self.stream.bernoulli(bad);
        let run_ns = chain.run_ns(self.is_bad, &mut self.stream);
        self.starts_ns = self.ends_ns + slots * chain.slot_ns;
        self.ends_ns = self.starts_ns.saturating_add(run_ns);
    }
}

#[cfg(test)]
mod tests;
