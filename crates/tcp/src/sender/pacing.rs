//! Pacer: sends segments one at a time, at a given rate.
//!
//! Source: Linux `tcp_update_pacing_rate` with its ratios, and `tcp_update_skb_after_send`. After
//! each packet, the pacer waits for the transmission time of the complete IP packet at the pacing
//! rate. Unused time is not accumulated, so there is no burst after a pause. The first segment of a
//! fast retransmit and the segment that a partial ACK triggers are sent without waiting. The packet
//! after such a segment waits. Therefore at most two packets are sent back to back.
//!
//! With `tso`, the pacer releases bursts instead of single packets, as a kernel does that passes
//! buffers of several segments to the device (`tcp_tso_autosize`, see `burst.rs`). The next burst
//! waits for the transmission time of the complete burst.
//!
//! Not modelled: the ten packets that Linux's fq sends before pacing begins.

use super::burst::tso_segments;
use super::{Phase, Sender};
use crate::config::Pacing;
use crate::congestion::CongestionControl;
use airpath_core::{Ctx, Duration, Rate, Time};

/// Pacing rate if cwnd is below half of ssthresh, in percent of cwnd/SRTT (Linux
/// `tcp_pacing_ss_ratio`).
const SLOW_START_RATIO: u64 = 200;
/// Pacing rate if cwnd is at least half of ssthresh, in percent of cwnd/SRTT (Linux
/// `tcp_pacing_ca_ratio`).
const AVOIDANCE_RATIO: u64 = 120;

/// State of the pacer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// True if segments are paced by window and RTT when the congestion control sets no pacing
    /// rate.
    by_window: bool,
    /// Earliest time of the next transmission. The pacer's timer expires at this time.
    free_at: Time,
    /// True if a segment waits for `free_at`.
    is_waiting: bool,
    /// True if the pacer releases bursts.
    in_bursts: bool,
    /// Number of further segments of the current burst that may leave now.
    burst_left: u32,
}

impl Pacer {
    pub(super) fn new(pacing: Pacing, in_bursts: bool) -> Pacer {
        let by_window = pacing == Pacing::On;
        Pacer { by_window, free_at: Time::ZERO, is_waiting: false, in_bursts, burst_left: 0 }
    }

    /// Returns true if a segment may be sent at `now`.
    #[inline]
    pub(super) fn is_free(&self, now: Time) -> bool {
        self.is_free_without_bursts(now) || self.burst_left > 0
    }

    /// Returns the same as `is_free` for a pacer that does not release bursts.
    #[inline]
    pub(super) fn is_free_without_bursts(&self, now: Time) -> bool {
        self.free_at <= now
    }

    /// Returns true if it is known that a segment waits for the pacer at `now`.
    #[inline]
    pub(super) fn holds_segment(&self, now: Time) -> bool {
        self.is_waiting && !self.is_free(now)
    }

    /// Ends the current burst, because no further segment can be sent now.
    #[inline]
    pub(super) fn end_burst(&mut self) {
        self.burst_left = 0;
    }

    /// Handles a segment that is sent at `now`. A burst contains up to `longest` segments.
    fn count_in_burst(&mut self, longest: u64, now: Time) {
        self.burst_left = match self.burst_left {
            0 if self.free_at <= now => u32::try_from(longest - 1).unwrap_or(u32::MAX),
            left => left.saturating_sub(1),
        };
    }

    /// Handles a wake-up of the sender at `now`.
    pub(super) fn on_wake(&mut self, now: Time) {
        self.is_waiting &= self.free_at > now;
    }

    /// Returns true if segments are paced by window and RTT, or released in bursts.
    pub(super) fn has_options(&self) -> bool {
        self.by_window || self.in_bursts
    }

    /// Returns the expiry time of the pacer's timer; `NEVER` if no segment is waiting.
    fn timer(&self) -> Time {
        if self.is_waiting { self.free_at } else { Time::NEVER }
    }
}

/// Returns `percent` % of the rate `window`/`srtt`, where `window` is in bytes.
fn window_rate(window: u64, srtt: Duration, percent: u64) -> Rate {
    let nanos = srtt.as_nanos().max(1);
    let rate = match window.checked_mul(8 * 1_000_000_000 * percent) {
        Some(bits_ns) => bits_ns / 100 / nanos,
        None => large_window_rate(window, nanos, percent),
    };
    Rate(rate.max(1))
}

/// Returns the rate of a window of more than 11 MB.
#[cold]
fn large_window_rate(window: u64, nanos: u64, percent: u64) -> u64 {
    let bits_ns = u128::from(window) * 8 * 1_000_000_000 * u128::from(percent) / 100;
    u64::try_from(bits_ns / u128::from(nanos)).unwrap_or(u64::MAX)
}

impl Sender {
    /// Returns the pacing rate; `None` without pacing.
    #[inline]
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        match self.congestion.pacing_rate() {
            None if self.pacer.by_window => self.rate_of_window(),
            asked => asked,
        }
    }

    /// Returns the pacing rate that the option `pacing` computes from window and RTT; `None` before
    /// the first RTT sample.
    #[cold]
    pub(super) fn rate_of_window(&self) -> Option<Rate> {
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        let ratio = if cwnd < ssthresh / 2 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let window = cwnd.max(self.bytes_in_flight());
        self.rtt.srtt().map(|srtt| window_rate(window, srtt, ratio))
    }

    /// Handles the transmission of a packet of `bytes` bytes.
    #[cold]
    pub(super) fn pace(&mut self, bytes: u32, rate: Rate, ctx: &mut Ctx<'_>) {
        if rate.0 == 0 {
            return ctx.fail("the congestion control requested a pacing rate of 0 bit/s");
        }
        if self.pacer.in_bursts {
            let longest = tso_segments(rate, u64::from(self.mss), self.congestion.burst_size());
            self.pacer.count_in_burst(longest, ctx.now);
        }
        let gap = (u64::from(bytes) * 8 * 1_000_000_000).div_ceil(rate.0);
        self.pacer.free_at = self.pacer.free_at.max(ctx.now) + Duration::from_nanos(gap);
        if self.pacer.is_waiting {
            self.set_alarm();
        }
    }

    /// Sets the pacer's timer, because a segment that the windows allow must wait.
    #[cold]
    pub(super) fn wait_for_pacer(&mut self) {
        if !self.pacer.is_waiting {
            self.pacer.is_waiting = true;
            self.set_alarm();
        }
    }

    /// Sets the alarm to the earliest timer. If the connection was aborted, clears the alarm.
    pub(super) fn set_alarm(&mut self) {
        self.alarm = match self.phase {
            Phase::Aborted => Time::NEVER,
            _ => self.turn.min(self.pacer.timer()).min(self.recovery.wakes_at()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 10 000 bytes per RTT of 100 ms is 0.8 Mbit/s.
    #[test]
    fn pacing_rate_is_window_per_rtt_times_the_ratio() {
        let rate = |percent| window_rate(10_000, Duration::from_millis(100), percent);
        assert_eq!(rate(SLOW_START_RATIO), Rate(1_600_000));
        assert_eq!(rate(AVOIDANCE_RATIO), Rate(960_000));
        assert_eq!(window_rate(u64::MAX, Duration::from_nanos(1), 200), Rate(u64::MAX));
    }
}
