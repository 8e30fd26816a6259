//! Westwood+: after a loss, the window is the product of the estimated bandwidth and the minimum RTT.
//!
//! Source: Mascolo et al., "TCP Westwood: Bandwidth Estimation for Enhanced Transport over Wireless
//! Links", 2001 (`westwood-2001`); Grieco & Mascolo, 2004 (Westwood+); the arithmetic of Linux
//! `net/ipv4/tcp_westwood.c`, 6.18: integer bytes per millisecond. Growth is Reno's.

use super::AckEvent;
use super::rounds::micros;
use super::segments::{
    InSegments, LinuxModule, MIN_SSTHRESH, NoParameters, SegmentWindow, reno_ssthresh,
};

/// `TCP_WESTWOOD_RTT_MIN`: shortest interval of a bandwidth sample, ms.
const SHORTEST_INTERVAL: u64 = 50;
/// `TCP_WESTWOOD_INIT_RTT`: RTT before the first sample, ms.
const INITIAL_RTT: u64 = 20_000;

/// Westwood+ in the arithmetic of Linux.
pub type Westwood = InSegments<WestwoodModule>;

/// The module `tcp_westwood`.
#[derive(Clone, Debug)]
pub struct WestwoodModule {
    /// `bw_ns_est` and `bw_est`: output of the first and of the second filter, bytes per ms.
    once: u64,
    bandwidth: u64,
    /// `rtt_win_sx`: start of the interval, ms.
    start: u64,
    /// `bk`: bytes acknowledged in the interval.
    acked: u64,
    /// `accounted`: bytes that duplicate ACKs have counted and a later ACK must not count again.
    accounted: u64,
    /// Last RTT and minimum RTT, ms.
    rtt: u64,
    least_rtt: u64,
    /// `reset_rtt_min`: the next ACK sets the minimum RTT.
    resets: bool,
}

/// Filters a bandwidth sample: (7 a + b)/8, truncated.
pub fn westwood_filter(a: u64, b: u64) -> u64 {
    (7 * a + b) / 8
}

impl WestwoodModule {
    /// `westwood_update_window`: ends an interval of an RTT, at least 50 ms.
    fn update(&mut self, now: u64) {
        let interval = now.saturating_sub(self.start);
        if self.rtt == 0 || interval <= self.rtt.max(SHORTEST_INTERVAL) {
            return;
        }
        let sample = self.acked / interval;
        if (self.once, self.bandwidth) == (0, 0) {
            (self.once, self.bandwidth) = (sample, sample);
        } else {
            self.once = westwood_filter(self.once, sample);
            self.bandwidth = westwood_filter(self.bandwidth, self.once);
        }
        (self.acked, self.start) = (0, now);
    }

    /// `westwood_acked_count`: returns the bytes for which an ACK counts. A duplicate ACK counts as
    /// one segment, which the ACK that ends the recovery does not count again.
    fn count(&mut self, acked: u64, mss: u64) -> u64 {
        if acked == 0 {
            self.accounted += mss;
            return mss;
        }
        if acked <= mss {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return mss;
        }
        acked - std::mem::take(&mut self.accounted)
    }

    /// `tcp_westwood_bw_rttmin`: bandwidth · minimum RTT, segments.
    fn product(&self, mss: u64) -> u64 {
        (self.bandwidth * self.least_rtt / mss).max(MIN_SSTHRESH)
    }
}

impl LinuxModule for WestwoodModule {
    type Config = NoParameters;

    fn init(_config: NoParameters, window: &mut SegmentWindow) -> WestwoodModule {
        WestwoodModule {
            once: 0,
            bandwidth: 0,
            start: window.jiffies(),
            acked: 0,
            accounted: 0,
            rtt: INITIAL_RTT,
            least_rtt: INITIAL_RTT,
            resets: true,
        }
    }

    /// `tcp_westwood_ack`, then `tcp_westwood_pkts_acked`: the RTT of an ACK takes effect with the
    /// next ACK.
    fn acked(&mut self, window: &mut SegmentWindow, event: &AckEvent, _acked: u64) {
        self.update(window.jiffies());
        self.acked += self.count(event.acked, window.mss());
        let kept = if std::mem::take(&mut self.resets) { self.rtt } else { self.least_rtt };
        self.least_rtt = kept.min(self.rtt);
        if let Some(rtt) = event.rtt {
            self.rtt = micros(rtt).div_ceil(1000);
        }
    }

    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        window.reno(acked, event);
    }

    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        reno_ssthresh(window)
    }

    /// `CA_EVENT_LOSS`.
    fn timeout_ssthresh(&mut self, state: &SegmentWindow, _window: u64) -> u64 {
        self.resets = true;
        self.product(state.mss())
    }

    fn completed(&mut self, window: &SegmentWindow) -> u64 {
        self.product(window.mss())
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{MSS, Rounds, lose, with_window};
    use super::super::{CongestionControl, LossEvent};
    use super::*;
    use airpath_core::Time;

    fn westwood(window: u64) -> Westwood {
        with_window(NoParameters {}, window, Some(window))
    }

    #[test]
    fn westwood_2004_filter_has_the_gain_of_an_eighth() {
        assert_eq!(westwood_filter(800, 1600), 900);
        assert_eq!(westwood_filter(0, 7), 0);
    }

    /// 20 segments of 1000 B per 100 ms are 200 B/ms. The interval of the first sample starts at 0
    /// and is longer; later samples move the estimate to 200 B/ms. Truncation keeps it below.
    #[test]
    fn westwood_2001_bandwidth_is_the_rate_of_acknowledged_bytes() {
        let mut cc = westwood(20);
        let mut rounds = Rounds::default();
        for _ in 0..60 {
            cc.window.cwnd = 20;
            rounds.windows(&mut cc, &[100]);
        }
        assert!((190..=200).contains(&cc.module.bandwidth), "{}", cc.module.bandwidth);
        assert_eq!(cc.module.least_rtt, 100);
    }

    /// At 200 B/ms and a minimum RTT of 100 ms, the window after a recovery is 20 segments,
    /// regardless of the window before the loss. In the recovery it is half of that window.
    #[test]
    fn westwood_2001_window_after_a_loss_is_bandwidth_times_minimum_rtt() {
        let mut cc = westwood(32);
        (cc.module.bandwidth, cc.module.least_rtt) = (200, 100);
        lose(&mut cc, Time::from_secs(1));
        assert_eq!(cc.window.cwnd, 16);
        cc.on_recovered(40 * MSS);
        assert_eq!((cc.window.cwnd, cc.window.ssthresh), (20, 20));
        cc.on_rto(&LossEvent::new(Time::from_secs(2), 20 * MSS, 20 * MSS));
        assert_eq!((cc.window.cwnd, cc.window.ssthresh), (1, 20));
    }

    /// Three duplicate ACKs count one segment each. The ACK of four segments that follows counts
    /// only the fourth.
    #[test]
    fn duplicate_acks_are_not_counted_twice() {
        let mut cc = westwood(10);
        let counted = [0, 0, 0, 4 * MSS, MSS].map(|acked| cc.module.count(acked, MSS));
        assert_eq!(counted, [MSS; 5]);
        let mut other = westwood(10);
        other.module.accounted = 5 * MSS;
        assert_eq!(other.module.count(2 * MSS, MSS), MSS);
        assert_eq!(other.module.accounted, 3 * MSS);
    }

    #[test]
    fn bandwidth_is_at_least_two_segments_before_the_first_sample() {
        let mut cc = westwood(10);
        cc.on_rto(&LossEvent::new(Time::from_secs(1), 10 * MSS, 10 * MSS));
        assert_eq!(cc.window.ssthresh, 2);
    }
}
