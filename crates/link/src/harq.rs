//! Hybrid ARQ as a part of any link: a block whose attempt fails is sent again a round trip later, so
//! often and no more.
//!
//! Source: wimax-2009 §5.1 (at most three repetitions, 30 ms each). Attempts are events in time. What
//! destroys one is the part's own error rate, or what destroys the frames of the link. Repetitions take
//! time and no capacity.

use airpath_core::{ConfigError, Duration, Seed, Stream};
use serde::Deserialize;

/// What the user sets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarqConfig {
    /// How often a block is sent at most, the first time counted. At least 1.
    pub attempts: u32,
    /// Probability that an attempt fails, each by itself; below 1.
    #[serde(default)]
    pub error: f64,
    /// From an attempt to the next one, ns.
    pub round_trip_ns: u64,
}

/// How attempts fail and what follows.
#[derive(Clone, Debug)]
pub struct Harq {
    attempts: u32,
    error: f64,
    round_trip: Duration,
    draws: Stream,
}

impl Harq {
    /// The part, with randomness of its own.
    ///
    /// # Errors
    /// When a value is outside its range.
    pub fn new(config: &HarqConfig, seed: &Seed) -> Result<Harq, ConfigError> {
        if config.attempts == 0 {
            return Err(ConfigError::new("attempts", 0, "less than 1"));
        }
        if !(0.0..1.0).contains(&config.error) {
            let problem = "no probability below 1. Write a number in [0, 1)";
            return Err(ConfigError::new("error", config.error, problem));
        }
        Ok(Harq {
            attempts: config.attempts,
            error: config.error,
            round_trip: Duration::from_nanos(config.round_trip_ns),
            draws: seed.child("harq").stream(),
        })
    }

    /// Whether an attempt fails by itself.
    #[inline]
    pub(crate) fn fails(&mut self) -> bool {
        self.error > 0.0 && self.draws.bernoulli(self.error)
    }

    /// After how long attempt number `made` (from 1), which has failed, is repeated; `None` when it was
    /// the last.
    #[inline]
    pub(crate) fn repeats(&self, made: u32) -> Option<Duration> {
        (made < self.attempts).then_some(self.round_trip)
    }
}
