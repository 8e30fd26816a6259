//! YeAH: Scalable TCP while the queue is short, Reno with early reductions while it is long.
//!
//! Source: Baiocchi, Castellani & Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", 2007
//! (`yeah-2007`); the arithmetic of Linux `net/ipv4/tcp_yeah.c`, 6.18: integer segments, RTTs in µs,
//! with its parameters.

use super::AckEvent;
use super::rounds::RttRound;
use super::scalable::AI_COUNT;
use super::segments::{CaState, InSegments, LinuxModule, NoParameters, SegmentWindow};

/// `TCP_YEAH_ALPHA`: with more queued segments, the window is reduced early.
const ALPHA: u64 = 80;
/// `TCP_YEAH_GAMMA`: fraction of the queue that an early reduction removes, as a divisor.
const GAMMA: u64 = 1;
/// `TCP_YEAH_DELTA`: a loss reduces the window by at least 1/2³.
const DELTA: u32 = 3;
/// `TCP_YEAH_EPSILON`: an early reduction removes at most 1/2 of the window.
const EPSILON: u32 = 1;
/// `TCP_YEAH_PHY`: the mode is slow if the queueing delay exceeds 1/8 of the minimum RTT.
const PHY: u64 = 8;
/// `TCP_YEAH_RHO`: number of slow rounds after which a loss halves the window.
const RHO: u64 = 16;
/// `TCP_YEAH_ZETA`: number of fast rounds that reset the estimated window of Reno.
const ZETA: u64 = 50;

/// YeAH in the arithmetic of Linux.
pub type Yeah = InSegments<YeahModule>;

/// The module `tcp_yeah`.
#[derive(Clone, Debug)]
pub struct YeahModule {
    round: RttRound,
    /// `lastQ`: number of queued segments in the last round.
    queue: u64,
    /// `doing_reno_now`: number of consecutive rounds in slow mode; 0 in fast mode.
    slow_rounds: u64,
    /// `reno_count`: estimated window of a competing Reno flow, segments.
    reno: u64,
    /// `fast_count`: number of rounds in fast mode.
    fast_rounds: u64,
}

/// Computes the number of queued segments Q = W (RTT − base)/RTT, truncated. RTTs are in µs.
pub fn yeah_queue(window: u64, rtt: u64, base: u64) -> u64 {
    window * (rtt - base) / rtt
}

impl YeahModule {
    /// Selects the mode once per RTT, and reduces the window early in slow mode.
    fn select_mode(&mut self, window: &mut SegmentWindow, (rtt, base): (u64, u64)) {
        self.queue = yeah_queue(window.cwnd, rtt, base);
        if self.queue <= ALPHA && rtt - base <= base / PHY {
            self.fast_rounds += 1;
            if self.fast_rounds > ZETA {
                (self.reno, self.fast_rounds) = (2, 0);
            }
            self.slow_rounds = 0;
            return;
        }
        if self.queue > ALPHA && window.cwnd > self.reno {
            let removed = (self.queue / GAMMA).min(window.cwnd >> EPSILON);
            window.cwnd = (window.cwnd - removed).max(self.reno);
            window.ssthresh = window.cwnd;
        }
        self.reno = if self.reno <= 2 { (window.cwnd / 2).max(2) } else { self.reno + 1 };
        self.slow_rounds += 1;
    }
}

impl LinuxModule for YeahModule {
    type Config = NoParameters;

    fn init(_config: NoParameters, _window: &mut SegmentWindow) -> YeahModule {
        YeahModule { round: RttRound::default(), queue: 0, slow_rounds: 0, reno: 2, fast_rounds: 0 }
    }

    fn acked(&mut self, _window: &mut SegmentWindow, event: &AckEvent, _acked: u64) {
        if let Some(rtt) = event.rtt {
            self.round.sample(rtt);
        }
    }

    /// `tcp_yeah_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if !window.is_limited(event) {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            let most = if self.slow_rounds == 0 { AI_COUNT } else { u64::MAX };
            window.avoid(window.cwnd.min(most), left);
        }
        if self.round.is_over(event.ack) {
            if let Some(rtts) = self.round.measured() {
                self.select_mode(window, rtts);
            }
            self.round.start(event.sent);
        }
    }

    /// `tcp_yeah_ssthresh`.
    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        let half = (window / 2).max(2);
        let removed = match self.slow_rounds < RHO {
            true => self.queue.min(half).max(window >> DELTA),
            false => half,
        };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2).max(2);
        window.saturating_sub(removed)
    }

    /// `tcp_vegas_state`.
    fn set_state(&mut self, window: &SegmentWindow, state: CaState) {
        if state == CaState::Open {
            self.round.start(window.sent);
        }
    }

    /// `tcp_vegas_cwnd_event`: a transmission after idle time resets the minimum RTT.
    fn restart(&mut self, window: &SegmentWindow) {
        self.round.forget(window.sent);
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{Rounds, lose, with_window};
    use super::*;
    use airpath_core::Time;

    fn yeah(window: u64) -> Yeah {
        with_window(NoParameters {}, window, Some(window))
    }

    /// 500 segments at 125 ms, of which 100 ms are propagation: 500 · 25/125 = 100 segments.
    #[test]
    fn yeah_2007_q_is_the_number_of_queued_segments() {
        assert_eq!(yeah_queue(500, 125_000, 100_000), 100);
    }

    /// Without a queue: 1 % per RTT. With a queueing delay above 1/8 of the minimum RTT: one segment
    /// per RTT.
    #[test]
    fn yeah_2007_growth_is_scalable_in_fast_mode_and_renos_in_slow_mode() {
        let mut cc = yeah(400);
        let mut rounds = Rounds::default();
        let fast = rounds.windows(&mut cc, &[100, 100]);
        assert_eq!(fast, [404, 408]);
        rounds.windows(&mut cc, &[114]);
        let slow = rounds.windows(&mut cc, &[114, 114]);
        assert_eq!(slow[1] - slow[0], 1);
        assert!(cc.module.slow_rounds > 0);
    }

    /// 500 segments at 125 ms: Q = 100 > 80, so that the window loses Q segments. The estimated
    /// window of Reno becomes half of the rest.
    #[test]
    fn yeah_2007_long_queue_is_removed_before_a_loss() {
        let mut cc = yeah(500);
        cc.module.select_mode(&mut cc.window, (125_000, 100_000));
        assert_eq!((cc.window.cwnd, cc.window.ssthresh, cc.module.reno), (400, 400, 200));
        // At most half of the window, and not below the window of Reno.
        cc.window.cwnd = 390;
        cc.module.select_mode(&mut cc.window, (400_000, 100_000));
        assert_eq!((cc.window.cwnd, cc.module.reno, cc.module.slow_rounds), (200, 201, 2));
    }

    /// W = 400: at least 1/8 is removed, the queue of 100 segments if it is larger, and half after 16
    /// slow rounds.
    #[test]
    fn yeah_2007_loss_removes_the_queue_or_an_eighth_or_half() {
        for (queue, slow_rounds, left) in [(10, 0, 350), (100, 15, 300), (100, 16, 200)] {
            let mut cc = yeah(400);
            (cc.module.queue, cc.module.slow_rounds) = (queue, slow_rounds);
            lose(&mut cc, Time::from_secs(1));
            assert_eq!(cc.window.cwnd, left);
        }
    }

    #[test]
    fn fifty_fast_rounds_reset_the_estimated_window_of_reno() {
        let mut cc = yeah(400);
        cc.module.reno = 100;
        for _ in 0..50 {
            cc.module.select_mode(&mut cc.window, (100_000, 100_000));
        }
        assert_eq!(cc.module.reno, 100);
        cc.module.select_mode(&mut cc.window, (100_000, 100_000));
        assert_eq!((cc.module.reno, cc.module.fast_rounds), (2, 0));
    }
}
