//! Vegas: keeps between α and β segments in the queue, by the difference of two rates.
//!
//! Source: Brakmo & Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet",
//! 1995 (`vegas-1995`); the arithmetic of Linux `net/ipv4/tcp_vegas.c`, 6.18: integer segments, RTTs
//! in µs. Differences of Linux from the paper: slow start doubles the window every RTT, the RTT of a
//! round is its minimum, and loss detection is not that of Vegas.

use super::AckEvent;
use super::rounds::RttRound;
use super::segments::{
    CaState, InSegments, LinuxModule, MIN_SSTHRESH, SegmentWindow, reno_ssthresh,
};
use airpath_core::{Checks, at_least};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VegasConfig {
    /// α: below this number of queued segments, the window grows. Linux: 2.
    pub alpha: u64,
    /// β, at least α: above this number of queued segments, the window shrinks. Linux: 4.
    pub beta: u64,
    /// γ: above this number of queued segments, slow start ends. Linux: 1.
    pub gamma: u64,
}

/// Largest value of α, β and γ, segments.
const MOST_QUEUED: u64 = 1_000_000;

/// Vegas in the arithmetic of Linux.
pub type Vegas = InSegments<VegasModule>;

/// The module `tcp_vegas`.
#[derive(Clone, Debug)]
pub struct VegasModule {
    config: VegasConfig,
    /// `doing_vegas_now`: false during recovery.
    enabled: bool,
    round: RttRound,
}

/// Computes Diff, the number of segments in the queue, from the window in segments and the RTT and
/// the minimum RTT in µs: W (RTT − base)/base, truncated.
pub fn vegas_diff(window: u64, rtt: u64, base: u64) -> u64 {
    window * (rtt - base) / base
}

impl VegasModule {
    /// Changes the window once per RTT.
    fn adjust(&self, window: &mut SegmentWindow, acked: u64, (rtt, base): (u64, u64)) {
        let VegasConfig { alpha, beta, gamma } = self.config;
        let diff = vegas_diff(window.cwnd, rtt, base);
        if window.in_slow_start() && diff > gamma {
            // The window that fills the path without a queue, rounded up.
            window.cwnd = window.cwnd.min(window.cwnd * base / rtt + 1);
            window.ssthresh = window.cwnd;
        } else if window.in_slow_start() {
            window.slow_start(acked);
        } else if diff > beta {
            window.cwnd -= 1;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if diff < alpha {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2);
        // tcp_current_ssthresh, which leaves one segment in Linux.
        let least = (window.cwnd / 2 + window.cwnd / 4).max(MIN_SSTHRESH);
        window.ssthresh = window.ssthresh.max(least);
    }
}

impl LinuxModule for VegasModule {
    type Config = VegasConfig;

    fn check(config: &VegasConfig, checks: &mut Checks) {
        checks.within("alpha", config.alpha, 0..=MOST_QUEUED);
        checks.within("beta", config.beta, at_least(config.alpha));
        checks.within("gamma", config.gamma, 0..=MOST_QUEUED);
    }

    fn init(config: VegasConfig, _window: &mut SegmentWindow) -> VegasModule {
        VegasModule { config, enabled: true, round: RttRound::default() }
    }

    /// `tcp_vegas_pkts_acked`.
    fn acked(&mut self, _window: &mut SegmentWindow, event: &AckEvent, _acked: u64) {
        if let Some(rtt) = event.rtt {
            self.round.sample(rtt);
        }
    }

    /// `tcp_vegas_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if !self.enabled {
            return window.reno(acked, event);
        }
        if self.round.is_over(event.ack) {
            match self.round.measured() {
                Some(rtts) => self.adjust(window, acked, rtts),
                None => window.reno(acked, event),
            }
            self.round.start(event.sent);
        } else if window.in_slow_start() {
            window.slow_start(acked);
        }
    }

    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        reno_ssthresh(window)
    }

    /// `tcp_vegas_state`: the first round after a recovery starts with the next data.
    fn set_state(&mut self, window: &SegmentWindow, state: CaState) {
        self.enabled = state == CaState::Open;
        if self.enabled {
            self.round.start(window.sent);
        }
    }

    /// `tcp_vegas_cwnd_event`: a transmission after idle time resets the minimum RTT.
    fn restart(&mut self, window: &SegmentWindow) {
        self.enabled = true;
        self.round.forget(window.sent);
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl;
    use super::super::segments::testing::{MSS, Rounds, lose, with_window};
    use super::*;
    use airpath_core::Time;

    const DEFAULT: VegasConfig = VegasConfig { alpha: 2, beta: 4, gamma: 1 };

    fn vegas(window: u64, ssthresh: Option<u64>) -> Vegas {
        with_window(DEFAULT, window, ssthresh)
    }

    /// 40 segments at 100 ms, of which 90 ms are propagation: 40 · 10/90 = 4.4 segments.
    #[test]
    fn vegas_1995_diff_is_the_number_of_queued_segments() {
        assert_eq!(vegas_diff(40, 100_000, 90_000), 4);
        assert_eq!(vegas_diff(40, 90_000, 90_000), 0);
    }

    /// Base RTT 100 ms, 20 segments. A round is evaluated with the first ACK of the next round. Diff: 0
    /// at 100 ms, ⌊22·0.15⌋ = 3 at 115 ms, ⌊22·0.25⌋ = 5 at 125 ms.
    #[test]
    fn vegas_1995_window_grows_below_alpha_and_shrinks_above_beta() {
        let mut cc = vegas(20, Some(20));
        let windows = Rounds::default().windows(&mut cc, &[100, 100, 115, 115, 125, 125, 125]);
        assert_eq!(windows, [20, 21, 22, 22, 22, 21, 20]);
    }

    /// Slow start at 10 segments and a base RTT of 100 ms: each acknowledged segment adds one. At 40
    /// segments and 110 ms, Diff = 3 > γ, so that W = ⌊40·100.001/110.001⌋ + 1 = 37.
    #[test]
    fn vegas_1995_slow_start_ends_when_diff_exceeds_gamma() {
        let mut cc = vegas(10, None);
        let mut rounds = Rounds::default();
        let windows = rounds.windows(&mut cc, &[100, 110]);
        assert_eq!(windows, [20, 40]);
        assert_eq!(cc.ssthresh(), u64::MAX);
        rounds.windows(&mut cc, &[110]);
        assert_eq!((cc.window.cwnd, cc.window.ssthresh), (37, 37));
    }

    /// At a hundred times the base RTT, W = ⌊W·10.001/1000.001⌋ + 1 = 1: the window and ssthresh are
    /// two segments (RFC 5681 eq. 4).
    #[test]
    fn end_of_slow_start_leaves_two_segments() {
        let mut cc = vegas(5, None);
        let mut rounds = Rounds::default();
        rounds.windows(&mut cc, &[10, 1000, 1000]);
        assert_eq!((cc.window.cwnd, cc.window.ssthresh), (2, 2));
    }

    /// Two samples in a round are not enough: one ACK per round is handled as in Reno, and the window
    /// grows although the queue is long.
    #[test]
    fn rounds_with_two_samples_are_handled_as_in_reno() {
        let mut cc = vegas(2, Some(2));
        let windows = Rounds::default().windows(&mut cc, &[100, 300, 300]);
        assert_eq!(windows, [2, 3, 3]);
        assert_eq!(cc.window.credit, 1);
    }

    #[test]
    fn loss_halves_the_window_and_disables_vegas_until_recovery_ends() {
        let mut cc = vegas(20, Some(20));
        lose(&mut cc, Time::from_secs(1));
        assert_eq!((cc.window.cwnd, cc.module.enabled), (10, false));
        cc.on_recovered(10 * MSS);
        cc.on_ack(&AckEvent::of_new_data(Time::from_secs(2), MSS));
        assert!(cc.module.enabled);
    }

    /// A path whose propagation delay rises is a queue for Vegas: the window falls to 2.
    #[test]
    fn longer_path_without_idle_time_starves_the_flow() {
        let mut cc = vegas(20, Some(20));
        let mut rounds = Rounds::default();
        rounds.windows(&mut cc, &[50, 50]);
        let windows = rounds.windows(&mut cc, &[300; 30]);
        assert!(*windows.last().expect("windows") < 4, "{windows:?}");
    }
}
