//! Schedulers of the `cell` and `ofdma-tdd` links. A scheduler selects the user that is served in a
//! slot of a cell or in a part of a TDD frame.
//!
//! For each user with data a scheduler receives the rate, the backlog and the waiting time of the
//! first packet. A scheduler stores all other state itself. It is called only in slots in which a
//! user has data. The slot numbers show how many slots were skipped. To add a scheduler, write its
//! file and add one line to `registry.rs`.
//!
//! | file | scheduler |
//! | --- | --- |
//! | `proportional_fair.rs` | largest ratio of the rate to the average obtained rate |
//! | `alpha_fair.rs` | largest ratio of the rate to a power of the average obtained rate |
//! | `max_rate.rs` | largest rate |
//! | `round_robin.rs` | one user after another |
//! | `average.rs` | exponential averages of the obtained rates |

mod alpha_fair;
mod average;
mod max_rate;
mod proportional_fair;
mod registry;
mod round_robin;
#[cfg(test)]
#[path = "../../../../../scripts/skeletons/scheduler.rs.in"]
pub mod skeleton;

pub use alpha_fair::{AlphaFair, AlphaFairConfig};
pub use max_rate::{MaxRate, MaxRateConfig};
pub use proportional_fair::{ProportionalFair, ProportionalFairConfig, RateAverage};
pub use registry::{AnyScheduler, SchedulerRegistry};
pub use round_robin::{RoundRobin, RoundRobinConfig};

use airpath_core::{Bytes, Duration, Rate, StageError, UserId};
use std::sync::Arc;

/// A user with data in a slot: the input of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// ID of the user.
    pub user: UserId,
    /// Rate μ of the user in this slot, bit/s. Above 0.
    pub rate: f64,
    /// Bytes of the IP packets that wait or are not completely delivered.
    pub backlog: Bytes,
    /// Waiting time of the first of these packets.
    pub head_wait: Duration,
}

airpath_core::contract! { $
    /// A scheduler. A scheduler that wraps another scheduler implements [`SchedulerWrapper`].
    pub trait Scheduler {
        /// Returns the index of the candidate that is served next in slot number `slot`. There is
        /// at least one candidate; candidates are in ascending order of their user IDs. Slot
        /// numbers ascend; no user was served in a skipped slot. A `cell` link calls this method
        /// once per slot. An `ofdma-tdd` link calls it several times per frame; a user that was
        /// already served in the frame may be a candidate again. An index out of range ends the
        /// run with an error.
        fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize;

        /// Called after every choice, when the chosen candidate is served. `place` is the index of
        /// this candidate; `rate` is its served rate, averaged over the complete slot, bit/s.
        fn served(&mut self, slot: u64, candidates: &[Candidate], place: usize, rate: f64);

        /// Returns an error that has occurred since the last call. The error ends the run, and the
        /// index that `choose` returned is not used. Called after each call of `choose` and
        /// `served`. Only plug-ins return errors.
        fn take_error(&mut self) -> Option<StageError> {
            None
        }
    }

    /// A scheduler that wraps another scheduler. It implements or delegates each method of
    /// [`Scheduler`], and thereby also implements [`Scheduler`].
    ///
    /// ```
    /// use airpath_core::StageError;
    /// use airpath_link::delegate_scheduler;
    /// use airpath_link::scheduler::{AnyScheduler, Candidate, Scheduler};
    ///
    /// /// Wrapper that counts the choices of a scheduler.
    /// struct Counted {
    ///     inner: AnyScheduler,
    ///     choices: u64,
    /// }
    ///
    /// impl airpath_link::scheduler::SchedulerWrapper for Counted {
    ///     delegate_scheduler!(inner: served, take_error);
    ///
    ///     fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize {
    ///         self.choices += 1;
    ///         self.inner.choose(slot, candidates)
    ///     }
    /// }
    /// ```
    ///
    /// A wrapper that neither implements nor delegates a method does not compile:
    ///
    /// ```compile_fail,E0046
    /// # use airpath_core::StageError;
    /// # use airpath_link::delegate_scheduler;
    /// # use airpath_link::scheduler::{AnyScheduler, Candidate, Scheduler};
    /// struct Forgetful {
    ///     inner: AnyScheduler,
    /// }
    ///
    /// impl airpath_link::scheduler::SchedulerWrapper for Forgetful {
    ///     delegate_scheduler!(inner: choose, served);
    /// }
    /// ```
    pub trait SchedulerWrapper;

    /// Delegates methods of [`SchedulerWrapper`](scheduler::SchedulerWrapper) to the scheduler in a
    /// field. `delegate_scheduler!(field: method, …)` delegates the named methods,
    /// `delegate_scheduler!(field)` all methods.
    #[macro_export]
    macro delegate_scheduler;
}

/// Arguments for the construction of a scheduler, other than its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// Weight w of each user, by user ID.
    pub weights: Arc<[f64]>,
    /// Length of a slot, or of a frame that is divided among several users.
    pub slot: Duration,
    /// Nominal rate of the cell: its highest rate, if the rate model has a highest rate.
    pub rate: Rate,
}

impl Population {
    /// Returns a population of `users` users, all of weight 1.
    pub fn even(users: usize, slot: Duration, rate: Rate) -> Population {
        Population { weights: vec![1.0; users].into(), slot, rate }
    }

    /// Weight w of `user`.
    #[inline]
    pub fn weight(&self, user: UserId) -> f64 {
        self.weights.get(user.0 as usize).copied().unwrap_or(1.0)
    }
}

/// Returns the index of the candidate with the largest utility; the first one on a tie.
#[inline]
fn best(candidates: &[Candidate], mut utility: impl FnMut(&Candidate) -> f64) -> usize {
    let (mut place, mut largest) = (0, f64::NEG_INFINITY);
    for (index, candidate) in candidates.iter().enumerate() {
        let here = utility(candidate);
        if here > largest {
            (place, largest) = (index, here);
        }
    }
    place
}

#[cfg(test)]
mod testing {
    use super::{Candidate, Scheduler};
    use airpath_core::{Bytes, Duration, UserId};

    /// Returns candidates from pairs of user ID and rate.
    pub(super) fn candidates(rates: &[(u32, f64)]) -> Vec<Candidate> {
        let candidate = |(user, rate): &(u32, f64)| Candidate {
            user: UserId(*user),
            rate: *rate,
            backlog: Bytes(1500),
            head_wait: Duration::ZERO,
        };
        rates.iter().map(candidate).collect()
    }

    /// Returns the ID of the user that the scheduler serves in `slot`. `rates` contains pairs of
    /// user ID and rate.
    pub(super) fn served(scheduler: &mut impl Scheduler, slot: u64, rates: &[(u32, f64)]) -> u32 {
        let candidates = candidates(rates);
        let place = scheduler.choose(slot, &candidates);
        scheduler.served(slot, &candidates, place, candidates[place].rate);
        candidates[place].user.0
    }
}
