//! Veno: distinguishes losses of a full queue from random losses by the number of queued segments.
//!
//! Source: Fu & Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks",
//! 2003 (`veno-2003`); the arithmetic of Linux `net/ipv4/tcp_veno.c`, 6.18: integer segments, RTTs in
//! µs, half segments of the queue. As in Linux, the RTT is that of the last ACK, because the minimum
//! is reset with each ACK. Difference from Linux: an ACK without an RTT sample does not change the
//! number of queued segments.

use super::AckEvent;
use super::rounds::RttRound;
use super::segments::{
    CaState, InSegments, LinuxModule, MIN_SSTHRESH, SegmentWindow, reno_ssthresh,
};
use airpath_core::{Checks, above};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VenoConfig {
    /// β: with fewer queued segments, a loss is random. The resolution is half a segment. Linux: 3.
    pub beta: f64,
}

/// Largest β, segments.
const LARGEST_BETA: f64 = 1e6;

/// Veno in the arithmetic of Linux.
pub type Veno = InSegments<VenoModule>;

/// The module `tcp_veno`.
#[derive(Clone, Debug)]
pub struct VenoModule {
    /// β, half segments.
    beta: u64,
    /// `doing_veno_now`: false during recovery.
    enabled: bool,
    /// `inc`: true if the window grows at the end of this window of ACKs in the congestive state.
    grows: bool,
    /// `diff`: number of queued segments, half segments.
    queued: u64,
    round: RttRound,
    /// `cntrtt`: number of RTT samples of the connection.
    samples: u64,
}

/// Computes the number of queued segments N = W − W·base/RTT, in half segments, rounded up.
pub fn veno_queue(window: u64, rtt: u64, base: u64) -> u64 {
    2 * window - 2 * window * base / rtt
}

impl VenoModule {
    fn is_congestive(&self) -> bool {
        self.queued >= self.beta
    }

    /// Grows the window by one segment in every second window of ACKs.
    fn grow_slowly(&mut self, window: &mut SegmentWindow, acked: u64) {
        if window.credit < window.cwnd {
            window.credit += acked;
            return;
        }
        window.cwnd += u64::from(self.grows);
        self.grows = !self.grows;
        window.credit = 0;
    }
}

impl LinuxModule for VenoModule {
    type Config = VenoConfig;

    fn check(config: &VenoConfig, checks: &mut Checks) {
        checks.within("beta", config.beta, above(0.0).up_to(LARGEST_BETA));
    }

    fn init(config: VenoConfig, _window: &mut SegmentWindow) -> VenoModule {
        VenoModule {
            beta: (config.beta * 2.0).round() as u64,
            enabled: true,
            grows: true,
            queued: 0,
            round: RttRound::default(),
            samples: 0,
        }
    }

    /// `tcp_veno_pkts_acked`.
    fn acked(&mut self, _window: &mut SegmentWindow, event: &AckEvent, _acked: u64) {
        if let Some(rtt) = event.rtt {
            self.round.sample(rtt);
            self.samples += 1;
        }
    }

    /// `tcp_veno_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if !self.enabled {
            return window.reno(acked, event);
        }
        if !window.is_limited(event) {
            return;
        }
        if self.samples <= 2 {
            window.reno(acked, event);
        } else {
            if let (Some(rtt), Some(base)) = (self.round.min, self.round.base) {
                self.queued = veno_queue(window.cwnd, rtt, base);
            }
            let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
            if left > 0 && self.is_congestive() {
                self.grow_slowly(window, left);
            } else if left > 0 {
                window.avoid(window.cwnd, left);
            }
            window.cwnd = window.cwnd.max(2);
        }
        self.round.start(event.sent);
    }

    /// `tcp_veno_ssthresh`: 4/5 of the window after a random loss, otherwise half.
    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        match self.is_congestive() {
            true => reno_ssthresh(window),
            false => (window * 4 / 5).max(MIN_SSTHRESH),
        }
    }

    /// `tcp_veno_state`.
    fn set_state(&mut self, window: &SegmentWindow, state: CaState) {
        self.enabled = state == CaState::Open;
        self.round.start(window.sent);
    }

    /// `tcp_veno_cwnd_event`: a transmission after idle time resets the minimum RTT.
    fn restart(&mut self, window: &SegmentWindow) {
        (self.enabled, self.grows) = (true, true);
        self.round.forget(window.sent);
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{Rounds, lose, with_window};
    use super::*;
    use airpath_core::Time;

    fn veno(window: u64) -> Veno {
        with_window(VenoConfig { beta: 3.0 }, window, Some(window))
    }

    /// 20 segments at 120 ms, of which 100 ms are propagation: 20 (1 − 100/120) = 3⅓ segments.
    #[test]
    fn veno_2003_n_is_the_number_of_queued_segments() {
        assert_eq!(veno_queue(20, 120_000, 100_000), 7);
        assert_eq!(veno_queue(20, 100_000, 100_000), 0);
    }

    /// 20 segments: 4/5 at 100 ms (N = 0), half at 125 ms (N = 4).
    #[test]
    fn veno_2003_random_loss_keeps_four_fifths_and_congestive_loss_half() {
        for (rtt, left) in [(100, 16), (125, 10)] {
            let mut cc = veno(20);
            Rounds::default().windows(&mut cc, &[100]);
            Rounds::default().windows(&mut cc, &[rtt]);
            cc.window.cwnd = 20;
            lose(&mut cc, Time::from_secs(9));
            assert_eq!(cc.window.cwnd, left);
        }
    }

    /// With N ≥ β the window grows by one segment in two RTTs, otherwise in each RTT.
    #[test]
    fn veno_2003_congestive_window_grows_in_every_second_rtt() {
        let mut fast = veno(20);
        let windows = Rounds::default().windows(&mut fast, &[100; 9]);
        assert_eq!(windows[8] - windows[0], 8);
        let mut slow = veno(20);
        let mut rounds = Rounds::default();
        rounds.windows(&mut slow, &[100]);
        let windows = rounds.windows(&mut slow, &[130; 9]);
        assert_eq!(windows[8] - windows[0], 4);
    }

    #[test]
    fn two_samples_are_handled_as_in_reno() {
        let mut cc = veno(2);
        Rounds::default().windows(&mut cc, &[100]);
        assert_eq!((cc.window.cwnd, cc.module.samples), (3, 2));
    }
}
