//! Hybrid ARQ: after a failed attempt a block is retransmitted one round trip later. The number of
//! attempts is limited.
//!
//! Source: wimax-2009 §5.1 (at most three retransmissions, 30 ms each). An attempt can be corrupted
//! by the error rate of this component or by the error process of the link. Retransmissions take
//! time but no capacity.
//!
//! With stop-and-wait processes (IEEE 802.16-2009 §6.3.17; 3GPP TS 36.321 §5.4.2) a block occupies
//! a process from the start of its first attempt until the feedback for its last attempt arrives.
//! The feedback arrives one round trip after the start of the attempt. A new block waits for a free
//! process.

mod attempt_errors;

pub use attempt_errors::{AttemptErrors, Combining, TableErrors};

use crate::files::Files;
use airpath_core::{Checks, ConfigError, Duration, Seed, Stream, Time, at_least};
use attempt_errors::AttemptRates;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Longest round trip of HARQ and longest delay of ARQ, ns: an hour.
pub(crate) const LONGEST_WAIT_NS: u64 = 3_600_000_000_000;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarqConfig {
    /// Largest number of transmissions of a block, including the first one. At least 1.
    pub attempts: u32,
    /// Error probability of an attempt: a number below 1, or a value from a table.
    #[serde(default)]
    pub error: AttemptErrors,
    /// Time from one attempt to the next, ns.
    pub round_trip_ns: u64,
    /// Number of stop-and-wait processes, at least 1. `None`: unlimited.
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

    /// Returns the error probabilities of the attempts, each given that all previous attempts have
    /// failed. The result has at least one entry; the last entry also applies to all later
    /// attempts.
    ///
    /// # Errors
    /// If a value is outside its range, or if a table or a modulation and coding scheme does not
    /// exist.
    pub fn attempt_errors(&self, files: &Files) -> Result<Vec<f64>, ConfigError> {
        let mut checks = Checks::default();
        self.check(&mut checks);
        checks.finish()?;
        self.error.rates(self.attempts, files).map(|rates| rates.first_ones())
    }
}

/// HARQ of a link: error probabilities, round trip, and stop-and-wait processes.
#[derive(Clone, Debug)]
pub struct Harq {
    attempts: u32,
    rates: AttemptRates,
    round_trip: Duration,
    draws: Stream,
    processes: Option<Processes>,
}

impl Harq {
    /// Creates the component with a separate random stream and with tables from `files`.
    ///
    /// # Errors
    /// If a value is outside its range, or if a table or a modulation and coding scheme does not
    /// exist.
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

    /// Returns true if attempt number `made` (from 1) fails. The outcome is random, with the error
    /// probability of this component.
    #[inline]
    pub(crate) fn fails(&mut self, made: u32) -> bool {
        let error = self.rates.of(made);
        error > 0.0 && self.draws.bernoulli(error)
    }

    /// Returns the end time of the retransmission that follows attempt number `made` (from 1),
    /// which failed at `now`; `None` if it was the last attempt.
    #[inline]
    pub(crate) fn repeats(&self, made: u32, now: Time) -> Option<Time> {
        (made < self.attempts).then(|| after(now, self.round_trip))
    }

    /// Records the start of the first attempt of a block.
    #[inline]
    pub(crate) fn start(&mut self) {
        if let Some(processes) = &mut self.processes {
            processes.taken += 1;
        }
    }

    /// Records the end of the last attempt of a block at `now`; the attempt took `airtime`.
    #[inline]
    pub(crate) fn end(&mut self, now: Time, airtime: Duration) {
        if let Some(processes) = &mut self.processes {
            let feedback =
                after(now, self.round_trip).as_nanos().saturating_sub(airtime.as_nanos());
            processes.freed.push(Reverse(Time::from_nanos(feedback)));
        }
    }

    /// Returns the earliest time, at or after `now`, at which a process is free.
    #[inline]
    pub(crate) fn free_from(&mut self, now: Time) -> Time {
        self.processes.as_mut().map_or(now, |processes| processes.free_from(now))
    }
}

/// Returns `now + wait`, limited to the largest time.
#[inline]
pub(crate) fn after(now: Time, wait: Duration) -> Time {
    Time::from_nanos(now.as_nanos().saturating_add(wait.as_nanos()))
}

/// Stop-and-wait processes.
#[derive(Clone, Debug)]
struct Processes {
    count: usize,
    /// Number of occupied processes, including those whose feedback is in flight.
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
