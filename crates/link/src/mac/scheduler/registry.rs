//! Registry of schedulers, one line each.

use super::{AlphaFair, Candidate, MaxRate, Population, ProportionalFair, RoundRobin, Scheduler};
use airpath_core::{Registry, built_in_components};

/// Schedulers registered at run time.
pub type SchedulerRegistry = Registry<dyn Scheduler + Send, Population>;

built_in_components! {
    /// Any scheduler.
    enum AnyScheduler: dyn Scheduler + Send, Population {
        "proportional-fair" => ProportionalFair(ProportionalFair):
            "The user with the largest ratio of its rate to its average rate.",
        "alpha-fair" => AlphaFair(AlphaFair): "The largest ratio of rate to a power of the average rate.",
        "max-rate" => MaxRate(MaxRate): "The user with the largest rate.",
        "round-robin" => RoundRobin(RoundRobin): "One user after another.",
    }
}

impl Scheduler for AnyScheduler {
    #[inline]
    fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize {
        each_component!(self, scheduler => scheduler.choose(slot, candidates))
    }
    #[inline]
    fn served(&mut self, slot: u64, candidates: &[Candidate], place: usize, rate: f64) {
        each_component!(self, scheduler => scheduler.served(slot, candidates, place, rate));
    }
}
