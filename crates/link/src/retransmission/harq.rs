//! Hybrid ARQ as a component of any link: a block whose attempt fails is retransmitted a round trip
//! later, a limited number of times.
//!
//! Source: wimax-2009 §5.1 (at most three repetitions, 30 ms each). Attempts are events in time.
//! The error rate of this component, or the error process of the link, corrupts them.
//! Retransmissions take time and no capacity.
//!
//! With stop-and-wait processes (IEEE 802.16-2009 §6.3.17; 3GPP TS 36.321 §5.4.2) a block occupies
//! one from the start of its first attempt until the feedback on its last, a round trip after the
//! start of that; a new block waits for a free one.

mod attempt_errors;

pub use attempt_errors::{AttemptErrors, Combining, TableErrors};

use crate::files::Files;
use airpath_core::{Checks, ConfigError, Duration, Seed, Stream, Time, at_least};
use attempt_errors::AttemptRates;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Longest round trip of either loop, ns: an hour.
pub(crate) const LONGEST_WAIT_NS: u64 = 3_600_000_000_000;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarqConfig {
    /// How often a block is sent at most, the first time counted. At least 1.
    pub attempts: u32,
    /// Probability that an attempt fails by itself: a number below 1, or from a table.
    #[serde(default)]
    pub error: AttemptErrors,
    /// From an attempt to the next one, ns.
    pub round_trip_ns: u64,
    /// Stop-and-wait processes, at least 1; absent: as many as it takes.
    #[serde(default)]
    pub processes: Option<u32>,
}

impl HarqConfig {
    /// Rejects values outside their ranges.
    pub(crate) fn check(&self, checks: &mut Checks) {
        checks.within("attempts", self.attempts, at_least(1_u64));
        if let Some(processes) = self.processes {
            checks.within("processes", processes, at_least(1_u64));
        }
        checks.within("round_trip_ns", self.round_trip_ns, 1..=LONGEST_WAIT_NS);
        self.error.check(checks);
    }

    /// The probabilities that attempts fail by themselves, given that those before have failed: of
    /// the first ones, at least of one; the last is of all later ones too.
    ///
    /// # Errors
    /// When a value is outside its range, or a table or one of its schemes does not exist.
    pub fn attempt_errors(&self, files: &Files) -> Result<Vec<f64>, ConfigError> {
        let mut checks = Checks::default();
        self.check(&mut checks);
        checks.finish()?;
        self.error.rates(self.attempts, files).map(|rates| rates.first_ones())
    }
}

/// How attempts fail and what follows.
#[derive(Clone, Debug)]
pub struct Harq {
    attempts: u32,
    rates: AttemptRates,
    round_trip: Duration,
    draws: Stream,
    processes: Option<Processes>,
}

impl Harq {
    /// The component, with a separate random stream, and tables from `files`.
    ///
    /// # Errors
    /// When a value is outside its range, or a table or one of its schemes does not exist.
    pub fn new(config: &HarqConfig, files: &Files, seed: &Seed) -> Result<Harq, ConfigError> {
        let mut checks = Checks::default();
        config.check(&mut checks);
        checks.finish()?;
        Ok(Harq {
            attempts: config.attempts,
            rates: config.error.rates(config.attempts, files)?,
            round_trip: Duration::from_nanos(config.round_trip_ns),
            draws: seed.child("harq").stream(),
            processes: config.processes.map(Processes::new),
        })
    }

    /// Whether attempt number `made` (from 1) fails by itself.
    #[inline]
    pub(crate) fn fails(&mut self, made: u32) -> bool {
        let error = self.rates.of(made);
        error > 0.0 && self.draws.bernoulli(error)
    }

    /// When attempt number `made` (from 1), which has failed by `now`, has been repeated; `None`
    /// when it was the last.
    #[inline]
    pub(crate) fn repeats(&self, made: u32, now: Time) -> Option<Time> {
        (made < self.attempts).then(|| after(now, self.round_trip))
    }

    /// The first attempt of a block starts.
    #[inline]
    pub(crate) fn start(&mut self) {
        if let Some(processes) = &mut self.processes {
            processes.taken += 1;
        }
    }

    /// The last attempt of a block has ended at `now`; it took `airtime`.
    #[inline]
    pub(crate) fn end(&mut self, now: Time, airtime: Duration) {
        if let Some(processes) = &mut self.processes {
            let feedback =
                after(now, self.round_trip).as_nanos().saturating_sub(airtime.as_nanos());
            processes.freed.push(Reverse(Time::from_nanos(feedback)));
        }
    }

    /// From when on there is a free process: `now`, or later.
    #[inline]
    pub(crate) fn free_from(&mut self, now: Time) -> Time {
        self.processes.as_mut().map_or(now, |processes| processes.free_from(now))
    }
}

/// So long after `now`; never rather than beyond the end of time.
#[inline]
pub(crate) fn after(now: Time, wait: Duration) -> Time {
    Time::from_nanos(now.as_nanos().saturating_add(wait.as_nanos()))
}

/// Stop-and-wait processes.
#[derive(Clone, Debug)]
struct Processes {
    count: usize,
    /// Processes in use, and those whose feedback is in flight.
    taken: usize,
    /// Arrival times of the feedback.
    freed: BinaryHeap<Reverse<Time>>,
}

impl Processes {
    fn new(count: u32) -> Processes {
        Processes { count: count as usize, taken: 0, freed: BinaryHeap::new() }
    }

    fn free_from(&mut self, now: Time) -> Time {
        while self.freed.peek().is_some_and(|Reverse(at)| *at <= now) {
            self.freed.pop();
            self.taken = self.taken.saturating_sub(1);
        }
        if self.taken < self.count {
            return now;
        }
        self.freed.peek().map_or(Time::NEVER, |Reverse(at)| *at)
    }
}
