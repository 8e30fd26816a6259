//! Retransmission in the link layer: HARQ, then ARQ, after the first transmission attempt of a
//! block.
//!
//! A link reports the end of the first attempt of each block with [`Retransmission::begin`], and
//! polls later outcomes with [`Retransmission::take_due`]. Each block has exactly one outcome. If
//! blocks must be released in order, the outcomes are passed to a
//! [`Resequencer`](crate::Resequencer).
//!
//! | file | |
//! | --- | --- |
//! | `harq.rs`, `harq/` | attempts that the receiver combines |
//! | `arq.rs` | retransmission of blocks that HARQ discarded |
//! | `stage.rs` | HARQ, ARQ and release in order for a serial link |
//! | `delay_queue.rs` | queue ordered by due time |
//! | `resequencer.rs` | release in order |

pub(crate) mod arq;
pub(crate) mod delay_queue;
pub(crate) mod harq;
pub(crate) mod resequencer;
pub(crate) mod stage;

use crate::files::Files;
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::delay_queue::DelayQueue;
use crate::retransmission::harq::{Harq, HarqConfig, after};
use airpath_core::{Checks, ConfigError, Duration, Seed, Time};

/// A block between two attempts.
#[derive(Clone, Debug)]
struct Pending<B> {
    block: B,
    /// Number of attempts so far; 0 if ARQ will deliver the block.
    made: u32,
    /// Duration of one attempt.
    airtime: Duration,
}

/// HARQ and ARQ of a link, for blocks of type `B`.
#[derive(Clone, Debug)]
pub struct Retransmission<B> {
    harq: Option<Harq>,
    arq: Option<Duration>,
    pending: DelayQueue<Pending<B>>,
}

/// The outcome of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockOutcome<B> {
    /// The block.
    pub block: B,
    /// True if the block was received, false if it is lost.
    pub is_received: bool,
}

impl<B> Retransmission<B> {
    /// Creates HARQ and ARQ; both are optional. Error rates in `harq` must be numbers.
    ///
    /// # Errors
    /// If a value is outside its range.
    pub fn new(
        harq: Option<&HarqConfig>,
        arq: Option<ArqConfig>,
        seed: &Seed,
    ) -> Result<Retransmission<B>, ConfigError> {
        Retransmission::with_files(harq, arq, &Files::default(), seed)
    }

    /// Creates HARQ and ARQ; both are optional. Error-rate tables come from `files`.
    ///
    /// # Errors
    /// If a value is outside its range, or if a table does not exist.
    pub fn with_files(
        harq: Option<&HarqConfig>,
        arq: Option<ArqConfig>,
        files: &Files,
        seed: &Seed,
    ) -> Result<Retransmission<B>, ConfigError> {
        let made = |config| Harq::new(config, files, seed).map_err(|error| error.under("harq"));
        let harq = harq.map(made);
        let (harq, arq) = (harq.transpose()?, arq.map(ArqConfig::delay));
        Ok(Retransmission { harq, arq, pending: DelayQueue::default() })
    }

    /// Returns true if there is neither HARQ nor ARQ.
    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.harq.is_none() && self.arq.is_none()
    }

    /// Returns the earliest time, at or after `now`, at which the first attempt of a block may
    /// start.
    #[inline]
    pub fn free_from(&mut self, now: Time) -> Time {
        self.harq.as_mut().map_or(now, |harq| harq.free_from(now))
    }

    /// Records that the first attempt of a block starts and occupies a HARQ process. Callers that
    /// do not use a limited number of processes need not call this method.
    #[inline]
    pub fn start(&mut self) {
        if let Some(harq) = &mut self.harq {
            harq.start();
        }
    }

    /// Records the end of the first attempt of `block` at `now`; `is_corrupted` is true if the
    /// channel corrupted it. Returns the outcome of the block, unless a retransmission follows.
    #[inline]
    pub fn begin(&mut self, block: B, is_corrupted: bool, now: Time) -> Option<BlockOutcome<B>> {
        self.end_first(block, is_corrupted, Duration::ZERO, now)
    }

    /// Same as [`Retransmission::begin`], but each attempt of the block takes `airtime`.
    #[inline]
    pub fn end_first(
        &mut self,
        block: B,
        is_corrupted: bool,
        airtime: Duration,
        now: Time,
    ) -> Option<BlockOutcome<B>> {
        self.attempted(Pending { block, made: 1, airtime }, is_corrupted, now)
    }

    /// Time at which the next retransmission ends.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.pending.next()
    }

    /// Returns a block whose outcome after retransmissions is known by `now`. `corrupts` returns
    /// true if the channel corrupts an attempt; it may change the block.
    pub fn take_due(
        &mut self,
        now: Time,
        mut corrupts: impl FnMut(&mut B) -> bool,
    ) -> Option<BlockOutcome<B>> {
        loop {
            let at = self.pending.next();
            let mut pending = self.pending.take_due(now)?;
            if pending.made == 0 {
                return Some(BlockOutcome { block: pending.block, is_received: true });
            }
            let is_corrupted = corrupts(&mut pending.block);
            pending.made += 1;
            if let Some(ended) = self.attempted(pending, is_corrupted, at) {
                return Some(ended);
            }
        }
    }

    /// Processes an attempt that has ended at `now`. Returns the outcome of the block, unless a
    /// retransmission follows.
    #[inline]
    fn attempted(
        &mut self,
        pending: Pending<B>,
        is_corrupted: bool,
        now: Time,
    ) -> Option<BlockOutcome<B>> {
        let Pending { made, airtime, .. } = pending;
        if let Some(harq) = &mut self.harq {
            let fails = harq.fails(made) || is_corrupted;
            match harq.repeats(made, now) {
                Some(repeated) if fails => {
                    self.pending.push(repeated, pending);
                    return None;
                }
                _ => harq.end(now, airtime),
            }
            if !fails {
                return Some(BlockOutcome { block: pending.block, is_received: true });
            }
        } else if !is_corrupted {
            return Some(BlockOutcome { block: pending.block, is_received: true });
        }
        if let Some(delay) = self.arq {
            self.pending.push(after(now, delay), Pending { made: 0, ..pending });
            return None;
        }
        Some(BlockOutcome { block: pending.block, is_received: false })
    }

    /// Number of blocks whose outcome is not known yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }
}

/// Checks the HARQ and ARQ configurations of a link; both are optional.
pub(crate) fn check_retransmission(
    harq: Option<&HarqConfig>,
    arq: Option<ArqConfig>,
    checks: &mut Checks,
) {
    let mut found = Checks::default();
    if let Some(harq) = harq {
        harq.check(&mut found);
    }
    checks.nested("harq", found.finish());
    let mut found = Checks::default();
    if let Some(arq) = arq {
        arq.check(&mut found);
    }
    checks.nested("arq", found.finish());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retransmission::harq::AttemptErrors;

    fn recovery(attempts: u32, error: f64, arq: Option<u64>) -> Retransmission<u32> {
        let harq = HarqConfig {
            attempts,
            error: AttemptErrors::Number(error),
            round_trip_ns: 30_000_000,
            processes: None,
        };
        let arq = arq.map(|ms| ArqConfig { delay_ns: ms * 1_000_000 });
        Retransmission::new(Some(&harq), arq, &Seed::new(1, 0, "test"))
            .expect("a valid configuration")
    }

    #[test]
    fn attempts_are_one_round_trip_apart_and_arq_follows() {
        let at = Time::from_millis;
        let mut recovery = recovery(3, 0.0, Some(100));
        assert_eq!(recovery.begin(7, true, at(5)), None);
        assert_eq!(recovery.take_due(at(35), |_| true), None, "the second attempt fails");
        assert_eq!(recovery.take_due(at(65), |_| true), None, "the third attempt fails");
        assert_eq!(recovery.next_wakeup(), at(165));
        let ended = recovery.take_due(at(165), |_| unreachable!());
        assert_eq!(ended, Some(BlockOutcome { block: 7, is_received: true }));
        assert_eq!((recovery.pending(), recovery.next_wakeup()), (0, Time::NEVER));
    }

    #[test]
    fn block_is_lost_at_last_failure_without_arq() {
        let at = Time::from_millis;
        let mut recovery = recovery(2, 0.0, None);
        assert_eq!(recovery.begin(7, true, at(0)), None);
        let lost = Some(BlockOutcome { block: 7, is_received: false });
        assert_eq!(recovery.take_due(at(30), |_| true), lost);
        let mut nothing = Retransmission::new(None, None, &Seed::new(1, 0, "test"))
            .expect("a valid configuration");
        assert_eq!(nothing.begin(7, true, at(0)), lost);
        assert_eq!(
            nothing.begin(7, false, at(0)),
            Some(BlockOutcome { block: 7, is_received: true })
        );
    }

    /// wimax-mac §4: with the error probability p of an attempt, the mean delay is 30 (p + p² + p³)
    /// + 100 p⁴ ms.
    #[test]
    fn mean_delay_matches_closed_form() {
        for (error, runs) in [(0.316, 200_000), (0.1, 200_000)] {
            let mut recovery = recovery(4, error, Some(100));
            let mut sum = 0;
            for block in 0..runs {
                let mut now = Time::ZERO;
                let mut ended = recovery.begin(block, false, now);
                while ended.is_none() {
                    now = recovery.next_wakeup();
                    ended = recovery.take_due(now, |_| false);
                }
                sum += now.as_nanos();
            }
            let mean = sum as f64 / f64::from(runs) / 1e6;
            let p: f64 = error;
            let expected = 30.0 * (p + p * p + p * p * p) + 100.0 * p.powi(4);
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean} {expected}");
        }
    }
}
