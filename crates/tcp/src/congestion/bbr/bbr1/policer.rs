//! Detection of a token-bucket policer: a constant rate with high loss.
//!
//! Source: Linux `bbr_lt_bw_sampling` and `bbr_lt_bw_interval_done`.

use super::{Bbr1, Mode};
use crate::congestion::InflightSample;
use airpath_core::{Duration, Time};

/// `bbr_lt_intvl_min_rtts`: shortest interval, round trips. The longest is four times as long.
const INTERVAL_ROUNDS: u32 = 4;
/// `bbr_lt_loss_thresh`: share of lost bytes, of 256.
const LOSS_THRESHOLD: u64 = 50;
/// `bbr_lt_bw_ratio`: relative difference of two intervals of one rate.
const RATIO: f64 = 1.0 / 8.0;
/// `bbr_lt_bw_diff`: absolute difference of two intervals of one rate, bit/s.
const DIFFERENCE: u64 = 4000;
/// `bbr_lt_bw_max_rtts`: round trips for which the rate is used.
const USED_ROUNDS: u32 = 48;

/// State of the detection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_used: bool,
    /// `lt_rtt_cnt`: round trips in the interval, or since the rate is used.
    rounds: u32,
    /// Rate of the last interval, bit/s; 0 if there is none.
    rate: u64,
    begun_at: Time,
    /// Time of the last delivery (Linux `delivered_mstamp`).
    pub(super) delivered_at: Time,
    last_delivered: u64,
    last_lost: u64,
    delivered: u64,
    /// Bytes deemed lost on the connection, also by timers.
    pub(super) lost: u64,
}

impl Policer {
    /// Returns the rate of the policer, bit/s; `None` if no policer is detected.
    pub(super) fn bandwidth(&self) -> Option<u64> {
        self.is_used.then_some(self.rate)
    }

    pub(super) fn begin(&mut self, now: Time) {
        (self.begun_at, self.delivered_at) = (now, now);
    }

    /// Returns the rate of the last interval, bit/s; 0 if there is none.
    #[cfg(test)]
    pub(super) fn rate(&self) -> u64 {
        self.rate
    }

    /// `bbr_reset_lt_bw_sampling_interval`.
    fn restart_interval(&mut self, now: Time) {
        self.begun_at = now;
        (self.last_delivered, self.last_lost) = (self.delivered, self.lost);
        self.rounds = 0;
    }

    /// `bbr_reset_lt_bw_sampling`.
    pub(super) fn reset(&mut self, now: Time) {
        (self.rate, self.is_used, self.is_sampling) = (0, false, false);
        self.restart_interval(now);
    }

    /// Handles an ACK or a timeout while the rate of a policer is not used.
    fn sample(&mut self, now: Time, (has_loss, round_starts, app_limited): (bool, bool, bool)) {
        if !self.is_sampling {
            if !has_loss {
                return;
            }
            self.restart_interval(now);
            self.is_sampling = true;
        }
        if app_limited {
            return self.reset(now);
        }
        self.rounds += u32::from(round_starts);
        if self.rounds < INTERVAL_ROUNDS {
            return;
        }
        if self.rounds > 4 * INTERVAL_ROUNDS {
            return self.reset(now);
        }
        let (lost, delivered) = (self.lost - self.last_lost, self.delivered - self.last_delivered);
        let time = now.saturating_since(self.begun_at);
        let is_high = delivered > 0 && lost * 256 >= LOSS_THRESHOLD * delivered;
        if has_loss && is_high && time >= Duration::from_millis(1) {
            let rate = delivered as f64 * 8e9 / time.as_nanos() as f64;
            self.end_interval(rate as u64, now);
        }
    }

    /// `bbr_lt_bw_interval_done`: two consecutive intervals of about one rate detect a policer.
    fn end_interval(&mut self, rate: u64, now: Time) {
        if self.rate > 0 {
            let difference = rate.abs_diff(self.rate);
            if difference as f64 <= RATIO * self.rate as f64 || difference <= DIFFERENCE {
                self.rate = rate.midpoint(self.rate);
                (self.is_used, self.rounds) = (true, 0);
                return;
            }
        }
        self.rate = rate;
        self.restart_interval(now);
    }
}

impl Bbr1 {
    /// Handles an ACK that has delivered data.
    pub(super) fn sample_policer(&mut self, now: Time, net: &InflightSample, app_limited: bool) {
        (self.policer.delivered, self.policer.delivered_at) = (net.total_delivered, now);
        self.sample_long_term((net.newly_lost > 0, self.rounds.starts, app_limited));
    }

    /// Handles a timeout, which counts as a loss and as the start of a round trip (`bbr_set_state`).
    pub(super) fn sample_policer_at_timeout(&mut self) {
        self.sample_long_term((true, true, false));
    }

    /// `bbr_lt_bw_sampling`.
    fn sample_long_term(&mut self, (has_loss, round_starts, app_limited): (bool, bool, bool)) {
        let now = self.policer.delivered_at;
        if !self.policer.is_used {
            return self.policer.sample(now, (has_loss, round_starts, app_limited));
        }
        if self.mode == Mode::ProbeBw && round_starts {
            self.policer.rounds += 1;
            if self.policer.rounds >= USED_ROUNDS {
                self.policer.reset(now);
                self.begin_probe_bw(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs intervals of four round trips of 10 ms, each with `delivered` and `lost` bytes.
    fn after(intervals: &[(u64, u64)]) -> Policer {
        let (mut policer, mut now) = (Policer::default(), Time::ZERO);
        policer.sample(now, (true, false, false));
        for (delivered, lost) in intervals {
            for _ in 0..4 {
                now = now + Duration::from_millis(10);
                policer.delivered += delivered / 4;
                policer.lost += lost / 4;
                policer.sample(now, (true, true, false));
            }
        }
        policer
    }

    /// `bbr_lt_bw_interval_done`: 40 000 bytes in 40 ms are 8 Mbit/s. A fifth of the bytes is lost.
    #[test]
    fn two_similar_intervals_with_high_loss_detect_a_policer() {
        assert_eq!(after(&[(40_000, 8000)]).bandwidth(), None);
        assert_eq!(after(&[(40_000, 8000), (42_000, 8400)]).bandwidth(), Some(8_200_000));
        assert_eq!(after(&[(40_000, 8000), (80_000, 16_000)]).bandwidth(), None);
    }

    /// `bbr_lt_loss_thresh`: 50/256 of the delivered bytes.
    #[test]
    fn low_loss_detects_no_policer() {
        assert_eq!(after(&[(40_000, 7800); 3]).bandwidth(), None);
    }

    #[test]
    fn application_limit_ends_the_detection() {
        let mut policer = after(&[(40_000, 8000)]);
        policer.sample(Time::from_millis(50), (true, true, true));
        assert_eq!((policer.rate, policer.is_sampling), (0, false));
    }
}
