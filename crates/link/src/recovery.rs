//! What follows an attempt to send a block: HARQ, then ARQ, then nothing.
//!
//! The link ends each first attempt with [`Recovery::begin`] and asks [`Recovery::take_due`] for what the
//! repetitions come to. Both say of a block whether it was received, once. Whoever wants them in
//! order puts a [`Resequencer`](crate::Resequencer) behind.

use crate::arq::ArqConfig;
use crate::harq::{Harq, HarqConfig};
use crate::late::Late;
use airpath_core::{ConfigError, Duration, Seed, Time};

/// A block that waits for what comes next.
#[derive(Clone, Debug)]
struct Pending<B> {
    block: B,
    /// Attempts that were made; 0 when it is received without another.
    made: u32,
}

/// HARQ and ARQ behind a link's air, for blocks `B`.
#[derive(Clone, Debug)]
pub struct Recovery<B> {
    harq: Option<Harq>,
    arq: Option<Duration>,
    pending: Late<Pending<B>>,
}

/// What has become of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<B> {
    /// It.
    pub block: B,
    /// Whether it was received; else it is lost.
    pub is_received: bool,
}

impl<B> Recovery<B> {
    /// With these parts, either of which may be missing.
    ///
    /// # Errors
    /// When a value is outside its range.
    pub fn new(
        harq: Option<&HarqConfig>,
        arq: Option<ArqConfig>,
        seed: &Seed,
    ) -> Result<Recovery<B>, ConfigError> {
        let harq = harq.map(|config| Harq::new(config, seed).map_err(|error| error.under("harq")));
        let (harq, arq) = (harq.transpose()?, arq.map(ArqConfig::delay));
        Ok(Recovery { harq, arq, pending: Late::default() })
    }

    /// The first attempt of `block` ends now; `is_destroyed` says what the air has done to it. Gives what
    /// has become of it, unless something follows.
    #[inline]
    pub fn begin(&mut self, block: B, is_destroyed: bool, now: Time) -> Option<Ended<B>> {
        let fails = self.harq.as_mut().is_some_and(Harq::fails);
        if is_destroyed || fails {
            return self.repeat(Pending { block, made: 1 }, now);
        }
        Some(Ended { block, is_received: true })
    }

    /// When the next repetition ends.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.pending.next()
    }

    /// Takes a block whose fate is known by `now`, what its repetitions came to; `destroys` says what the
    /// air does to one.
    pub fn take_due(
        &mut self,
        now: Time,
        mut destroys: impl FnMut(&B) -> bool,
    ) -> Option<Ended<B>> {
        loop {
            let at = self.pending.next();
            let mut pending = self.pending.take_due(now)?;
            if pending.made == 0 {
                return Some(Ended { block: pending.block, is_received: true });
            }
            let is_destroyed = destroys(&pending.block);
            let fails = self.harq.as_mut().is_some_and(Harq::fails);
            if !(is_destroyed || fails) {
                return Some(Ended { block: pending.block, is_received: true });
            }
            pending.made += 1;
            if let Some(ended) = self.repeat(pending, at) {
                return Some(ended);
            }
        }
    }

    /// What follows the failure of the attempts that were made, the last at `now`.
    fn repeat(&mut self, pending: Pending<B>, now: Time) -> Option<Ended<B>> {
        let again = self.harq.as_ref().and_then(|harq| harq.repeats(pending.made));
        if let Some(wait) = again {
            self.pending.push(now + wait, pending);
        } else if let Some(delay) = self.arq {
            self.pending.push(now + delay, Pending { made: 0, ..pending });
        } else {
            return Some(Ended { block: pending.block, is_received: false });
        }
        None
    }

    /// Blocks whose fate is open.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recovery(attempts: u32, error: f64, arq: Option<u64>) -> Recovery<u32> {
        let harq = HarqConfig { attempts, error, round_trip_ns: 30_000_000 };
        let arq = arq.map(|ms| ArqConfig { delay_ns: ms * 1_000_000 });
        Recovery::new(Some(&harq), arq, &Seed::new(1, 0, "test")).expect("accepted")
    }

    #[test]
    fn attempts_are_a_round_trip_apart_and_then_the_second_loop_follows() {
        let at = Time::from_millis;
        let mut recovery = recovery(3, 0.0, Some(100));
        assert_eq!(recovery.begin(7, true, at(5)), None);
        assert_eq!(recovery.take_due(at(35), |_| true), None, "the second attempt fails");
        assert_eq!(recovery.take_due(at(65), |_| true), None, "and the third");
        assert_eq!(recovery.next_wakeup(), at(165));
        let ended = recovery.take_due(at(165), |_| unreachable!());
        assert_eq!(ended, Some(Ended { block: 7, is_received: true }));
        assert_eq!((recovery.pending(), recovery.next_wakeup()), (0, Time::NEVER));
    }

    #[test]
    fn without_the_second_loop_a_block_is_lost_at_its_last_failure() {
        let at = Time::from_millis;
        let mut recovery = recovery(2, 0.0, None);
        assert_eq!(recovery.begin(7, true, at(0)), None);
        let lost = Some(Ended { block: 7, is_received: false });
        assert_eq!(recovery.take_due(at(30), |_| true), lost);
        let mut nothing = Recovery::new(None, None, &Seed::new(1, 0, "test")).expect("accepted");
        assert_eq!(nothing.begin(7, true, at(0)), lost);
        assert_eq!(nothing.begin(7, false, at(0)), Some(Ended { block: 7, is_received: true }));
    }

    /// wimax-mac §4: 30 (p + p² + p³) + 100 p⁴ ms on the mean.
    #[test]
    fn the_mean_delay_is_that_of_the_closed_form() {
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
