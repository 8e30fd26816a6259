//! Schedulers of cells and frames: who is served in a slot.
//!
//! A scheduler sees of each user with data its rate, its backlog and how long its first packet has
//! waited, and keeps what else it needs itself. It is called in slots in which a user has data, and
//! catches up with the others by their numbers. To add one: its file and one line in `registry.rs`.
//!
//! | file | scheduler |
//! | --- | --- |
//! | `proportional_fair.rs` | the largest rate over the average rate obtained |
//! | `alpha_fair.rs` | the same with a power of that average |
//! | `max_rate.rs` | the largest rate |
//! | `round_robin.rs` | one after another |
//! | `average.rs` | exponential averages of what users obtained |

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

use airpath_core::{Bytes, Duration, Rate, UserId};
use std::sync::Arc;

/// A user that has data in a slot, as a scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its number.
    pub user: UserId,
    /// μ, the rate that it would be given in this slot, bit/s. Above 0.
    pub rate: f64,
    /// Bytes of IP packets that wait or of which a part has yet to be delivered.
    pub backlog: Bytes,
    /// How long the first of these packets has waited.
    pub head_wait: Duration,
}

/// Chooses who is served.
pub trait Scheduler {
    /// Which of `candidates` is served next in slot number `slot`: its place among them. There is
    /// at least one, and they come in rising order of their users. Slots come in rising order; in
    /// those in between no user was served. A cell calls it once in a slot; a frame has several
    /// turns, and who was served in it may be among the candidates again.
    fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize;

    /// The one at `place` of `candidates`, which was chosen last, is served: with `rate`, spread
    /// over the whole slot, bit/s. Follows every choice.
    fn served(&mut self, slot: u64, candidates: &[Candidate], place: usize, rate: f64);
}

/// Inputs of the construction of a scheduler, apart from its own configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// w, by user.
    pub weights: Arc<[f64]>,
    /// Length of a slot, or of a frame that is given away in turns.
    pub slot: Duration,
    /// The nominal rate of the cell: its largest one, if it has such.
    pub rate: Rate,
}

impl Population {
    /// Returns a population of `users` users of weight 1.
    pub fn even(users: usize, slot: Duration, rate: Rate) -> Population {
        Population { weights: vec![1.0; users].into(), slot, rate }
    }

    /// w of `user`.
    #[inline]
    pub fn weight(&self, user: UserId) -> f64 {
        self.weights.get(user.0 as usize).copied().unwrap_or(1.0)
    }
}

/// The place of the candidate with the largest utility; of equal ones the first.
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

    /// Candidates of these users and rates.
    pub(super) fn candidates(rates: &[(u32, f64)]) -> Vec<Candidate> {
        let candidate = |(user, rate): &(u32, f64)| Candidate {
            user: UserId(*user),
            rate: *rate,
            backlog: Bytes(1500),
            head_wait: Duration::ZERO,
        };
        rates.iter().map(candidate).collect()
    }

    /// Whom the scheduler serves in `slot` among these users and rates.
    pub(super) fn served(scheduler: &mut impl Scheduler, slot: u64, rates: &[(u32, f64)]) -> u32 {
        let candidates = candidates(rates);
        let place = scheduler.choose(slot, &candidates);
        scheduler.served(slot, &candidates, place, candidates[place].rate);
        candidates[place].user.0
    }
}
