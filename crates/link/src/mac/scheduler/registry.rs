//! Registry of schedulers, one line each.

use super::{
    AlphaFair, Candidate, MaxRate, Population, ProportionalFair, RoundRobin, Scheduler,
    delegate_scheduler,
};
use airpath_core::{Registry, StageError, built_in_components, check_index};

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

/// Name of the method in errors.
const CHOOSE: &str = "`choose` of the scheduler";

impl Scheduler for AnyScheduler {
    delegate_scheduler!(match each_component);
}

impl AnyScheduler {
    /// Calls `choose`. The errors of a built-in scheduler are eliminated at compile time, except for
    /// the check of the index.
    ///
    /// # Errors
    /// If the scheduler has failed or has returned an index out of range.
    #[inline]
    pub(crate) fn try_choose(
        &mut self,
        slot: u64,
        candidates: &[Candidate],
    ) -> Result<usize, StageError> {
        let place = each_component!(self, scheduler => {
            let place = scheduler.choose(slot, candidates);
            if let Some(error) = scheduler.take_error() {
                return Err(error);
            }
            place
        });
        check_index(CHOOSE, place, candidates.len())
    }

    /// Calls `choose`, and `served` with the rate of the chosen candidate, in a single dispatch.
    ///
    /// # Errors
    /// If the scheduler has failed or has returned an index out of range.
    #[inline]
    pub(crate) fn choose_and_serve(
        &mut self,
        slot: u64,
        candidates: &[Candidate],
    ) -> Result<usize, StageError> {
        each_component!(self, scheduler => {
            let place = scheduler.choose(slot, candidates);
            if let Some(error) = scheduler.take_error() {
                return Err(error);
            }
            let place = check_index(CHOOSE, place, candidates.len())?;
            scheduler.served(slot, candidates, place, candidates[place].rate);
            scheduler.take_error().map_or(Ok(place), Err)
        })
    }

    /// Calls `served`.
    ///
    /// # Errors
    /// If the scheduler has failed.
    #[inline]
    pub(crate) fn try_served(
        &mut self,
        slot: u64,
        candidates: &[Candidate],
        place: usize,
        rate: f64,
    ) -> Result<(), StageError> {
        each_component!(self, scheduler => {
            scheduler.served(slot, candidates, place, rate);
            scheduler.take_error().map_or(Ok(()), Err)
        })
    }
}
