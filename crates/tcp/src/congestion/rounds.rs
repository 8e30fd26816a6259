//! RTT statistics of rounds, for delay-based congestion control algorithms.
//!
//! Source: Linux `net/ipv4/tcp_vegas.c` (rounds, minimum of a round, `baseRTT`); RFC 6298 §2
//! (smoothed RTT). RTTs are integer microseconds, at least 1, as in Linux.

use airpath_core::Duration;

/// RTTs of the current round. A round ends with the ACK for data that was sent after its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttRound {
    /// `beg_snd_nxt`: end of the data sent before the round, a stream offset.
    pub(crate) end: u64,
    /// Minimum RTT of the connection, µs; `None` before the first sample.
    pub(crate) base: Option<u64>,
    /// Minimum RTT of the round, µs; `None` without a sample.
    pub(crate) min: Option<u64>,
    /// Number of RTT samples of the round.
    pub(crate) samples: u64,
}

impl RttRound {
    /// Adds an RTT sample.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        let rtt = micros(rtt) + 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.samples += 1;
    }

    /// Returns true if `ack` acknowledges data that was sent after the start of the round.
    pub(crate) fn is_over(&self, ack: u64) -> bool {
        ack > self.end
    }

    /// Starts a round at the end of the sent data, `sent`. The minimum RTT is kept.
    pub(crate) fn start(&mut self, sent: u64) {
        *self = RttRound { end: sent, base: self.base, ..RttRound::default() };
    }

    /// Starts a round without the minimum RTT.
    pub(crate) fn forget(&mut self, sent: u64) {
        *self = RttRound { end: sent, ..RttRound::default() };
    }

    /// Returns the minimum of the round and the minimum of the connection, µs. The result is `None`
    /// for rounds with at most two samples, which may all be from delayed ACKs.
    pub(crate) fn measured(&self) -> Option<(u64, u64)> {
        (self.samples > 2).then_some((self.min?, self.base?))
    }
}

/// Smoothed RTT with the gain 1/8 (RFC 6298 eq. 2.3), in the integer arithmetic of Linux.
/// [`RealSmoothedRtt`] does not round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SmoothedRtt {
    /// Eight times the smoothed RTT, µs; 0 before the first sample. This is `srtt_us` of Linux.
    pub(crate) eightfold: u64,
}

impl SmoothedRtt {
    /// Adds an RTT sample.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        let rtt = micros(rtt).max(1);
        self.eightfold = match self.eightfold {
            0 => 8 * rtt,
            eightfold => eightfold - eightfold / 8 + rtt,
        };
    }
}

/// Smoothed RTT without rounding, in the unit of its samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RealSmoothedRtt {
    /// Smoothed RTT; 0 before the first sample.
    pub(crate) value: f64,
}

impl RealSmoothedRtt {
    /// Adds an RTT sample with the weight `gain`, in (0, 1] (RFC 6298 eq. 2.3). The first sample has
    /// the weight 1.
    pub(crate) fn sample(&mut self, rtt: f64, gain: f64) {
        let gain = if self.value > 0.0 { gain } else { 1.0 };
        self.value += gain * (rtt - self.value);
    }
}

/// Returns the complete microseconds of `rtt`.
pub(crate) fn micros(rtt: Duration) -> u64 {
    rtt.as_nanos() / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_has_the_minimum_of_its_samples_and_keeps_that_of_the_connection() {
        let mut round = RttRound::default();
        for millis in [50, 40, 60] {
            round.sample(Duration::from_millis(millis));
        }
        assert_eq!(round.measured(), Some((40_001, 40_001)));
        round.start(5000);
        assert!(!round.is_over(5000) && round.is_over(5001));
        for millis in [70, 80] {
            round.sample(Duration::from_millis(millis));
        }
        assert_eq!(round.measured(), None);
        round.sample(Duration::from_millis(75));
        assert_eq!(round.measured(), Some((70_001, 40_001)));
        round.forget(0);
        assert_eq!((round.base, round.min, round.samples), (None, None, 0));
    }

    /// 100 ms, then 180 ms: 100 + 80/8 = 110 ms.
    #[test]
    fn rfc6298_eq_2_3_smoothed_rtt_moves_by_an_eighth() {
        let mut smoothed = SmoothedRtt::default();
        smoothed.sample(Duration::from_millis(100));
        smoothed.sample(Duration::from_millis(180));
        assert_eq!(smoothed.eightfold, 8 * 110_000);
        let mut real = RealSmoothedRtt::default();
        for rtt in [0.1, 0.18] {
            real.sample(rtt, 0.125);
        }
        assert!((real.value - 0.11).abs() < 1e-15, "{}", real.value);
    }
}
