//! Growth of the congestion window per ACK outside loss recovery, for each value of
//! `window_growth`.
//!
//! Source: RFC 5681 §3.1 eqs. 2 and 3; RFC 3465 §2.1 to §2.3 (appropriate byte counting); Linux
//! `tcp_slow_start` and `tcp_cong_avoid_ai`, which ns-3's TcpLinuxReno follows; ns-3's TcpNewReno.

use super::{AckEvent, LossEvent};
use crate::config::{TcpConfig, WindowGrowth};
use crate::deviations::{Deviation, Deviations};

/// Growth rule and its state.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    kind: WindowGrowth,
    mss: u64,
    /// Credit towards the next increase in congestion avoidance. Its meaning depends on `kind`.
    /// `bytes`: remainder of the division MSS²/cwnd; `abc-…`: acknowledged bytes; `segments`:
    /// acknowledged segments.
    carry: u64,
    /// Acknowledged bytes that do not yet amount to a segment (for `segments` and `per-ack`).
    remainder: u32,
    /// True if a timeout caused the last reduction.
    after_timeout: bool,
    deviations: Deviations,
}

impl Growth {
    /// Creates the growth rule that `options` select.
    pub(crate) fn new(options: &TcpConfig) -> Growth {
        Growth {
            kind: options.window_growth,
            mss: u64::from(options.mss),
            carry: 0,
            remainder: 0,
            after_timeout: false,
            deviations: Deviations::of(options),
        }
    }

    /// Resets the credit after a reduction of the window. `by_timeout`: true if a timeout caused
    /// the reduction.
    pub(crate) fn on_reduction(&mut self, by_timeout: bool) {
        if !self.deviations.has(Deviation::KeepsGrowthCredit) {
            self.carry = 0;
        }
        self.after_timeout = by_timeout;
    }

    /// Returns the value from which the reduced window after a loss is computed: the FlightSize or,
    /// in ns-3's TcpLinuxReno, the window.
    pub(crate) fn loss_base(&self, event: &LossEvent) -> u64 {
        match self.kind {
            WindowGrowth::Segments if self.deviations.has(Deviation::ReducesCwndOfSegments) => {
                event.cwnd
            }
            _ => event.flight,
        }
    }

    /// Returns true in ns-3's slow start, in which a window that is not fully used always grows.
    pub(crate) fn grows_unused(&self, cwnd: u64, ssthresh: u64) -> bool {
        self.deviations.has(Deviation::GrowsUnusedInSlowStart) && cwnd < ssthresh
    }

    /// Returns cwnd after an ACK with growth `acked`, bytes.
    #[inline]
    pub(crate) fn after_ack(
        &mut self,
        cwnd: u64,
        ssthresh: u64,
        acked: u64,
        event: &AckEvent,
    ) -> u64 {
        match self.after_plain_ack(cwnd, ssthresh, acked) {
            Some(grown) => grown,
            None => self.otherwise(cwnd, ssthresh, acked, event),
        }
    }

    /// Returns the same as `after_ack` for the variants of RFC 5681, which need no other input.
    /// Returns `None` for the other variants.
    #[inline(always)]
    pub(crate) fn after_plain_ack(&mut self, cwnd: u64, ssthresh: u64, acked: u64) -> Option<u64> {
        let is_formula = self.kind == WindowGrowth::Bytes;
        if !is_formula && self.kind != WindowGrowth::Abc1 {
            return None;
        }
        Some(match cwnd < ssthresh {
            true => cwnd + acked.min(self.mss),
            false if is_formula => cwnd + self.shared_out(cwnd),
            false => self.by_bytes(cwnd, acked),
        })
    }

    /// Returns cwnd after an ACK for the variants that are not in RFC 5681.
    #[inline(never)]
    fn otherwise(&mut self, cwnd: u64, ssthresh: u64, acked: u64, event: &AckEvent) -> u64 {
        let in_slow_start = cwnd < ssthresh;
        match self.kind {
            WindowGrowth::Abc2 if in_slow_start => {
                let limit = self.slow_start_limit().unwrap_or(1) * self.mss;
                cwnd + acked.min(limit)
            }
            WindowGrowth::Abc2 => self.by_bytes(cwnd, acked),
            WindowGrowth::Segments => self.by_segments(cwnd, ssthresh, acked, event),
            WindowGrowth::PerAck => self.per_ack(cwnd, ssthresh, acked),
            _ if in_slow_start => cwnd + self.mss,
            _ => cwnd + self.truncated_share(cwnd),
        }
    }

    /// Returns the growth SMSS·SMSS/cwnd (RFC 5681 eq. 3), bytes. The fraction of a byte is carried
    /// over to the next ACK.
    #[inline]
    fn shared_out(&mut self, cwnd: u64) -> u64 {
        self.carry += self.mss * self.mss;
        let whole = self.carry / cwnd;
        self.carry -= whole * cwnd;
        whole
    }

    /// Returns the growth of RFC 5681 eq. 3, truncated to bytes, at least one byte.
    #[inline]
    fn truncated_share(&self, cwnd: u64) -> u64 {
        (self.mss * self.mss / cwnd).max(1)
    }

    /// Returns the maximum growth of the window per ACK in slow start, segments. `None`: no limit.
    /// RFC 3465 §2.3: in the slow start after a timeout L is one segment, because ACKs then cover
    /// data that left the network before the timeout.
    pub(crate) fn slow_start_limit(&self) -> Option<u64> {
        match self.kind {
            WindowGrowth::Segments => None,
            WindowGrowth::Abc2 if !self.after_timeout => Some(2),
            _ => Some(1),
        }
    }

    /// Returns the number of bytes for which an ACK counts: the `acked` bytes of the cumulative
    /// acknowledgement or, for `segments` as in Linux, the delivered bytes.
    #[inline]
    pub(crate) fn counted(&self, acked: u64, event: &AckEvent) -> u64 {
        match self.kind {
            WindowGrowth::Segments if !self.deviations.has(Deviation::CountsInRecovery) => {
                event.delivered
            }
            _ => acked,
        }
    }

    /// Adds one segment per window of acknowledged bytes (RFC 3465 §2.1).
    #[inline]
    fn by_bytes(&mut self, cwnd: u64, acked: u64) -> u64 {
        self.carry += acked;
        if self.carry < cwnd {
            return cwnd;
        }
        self.carry -= cwnd;
        cwnd + self.mss
    }

    /// Grows as Linux does. In slow start, adds one segment per delivered segment, up to ssthresh.
    /// The remaining segments, and all segments in congestion avoidance, add one segment per
    /// window.
    fn by_segments(&mut self, cwnd: u64, ssthresh: u64, acked: u64, event: &AckEvent) -> u64 {
        let is_unused = event.app_limited
            && !self.grows_unused(cwnd, ssthresh)
            && is_little_used(cwnd, ssthresh, event.in_flight + acked);
        let acked = self.whole_segments(self.counted(acked, event));
        if acked == 0 || is_unused {
            return cwnd;
        }
        let grown = match cwnd < ssthresh {
            true => ssthresh.min(cwnd + acked * self.mss),
            false => cwnd,
        };
        let left = acked - (grown - cwnd) / self.mss;
        if grown < ssthresh || left == 0 {
            return grown;
        }
        let window = (grown / self.mss).max(1);
        // Credit that was accumulated at a larger window and exceeds the present window counts as
        // one segment.
        let saved = self.carry >= window;
        self.carry = left + if saved { 0 } else { self.carry };
        let more = self.carry / window;
        self.carry -= more * window;
        grown + (more + u64::from(saved)) * self.mss
    }

    /// ns-3's TcpNewReno: adds a segment per ACK in slow start, and MSS²/cwnd per ACK in congestion
    /// avoidance, truncated to bytes and at least one byte. An ACK with which the window reaches
    /// ssthresh is counted in slow start and, if it covers further segments, also in congestion
    /// avoidance.
    fn per_ack(&mut self, cwnd: u64, ssthresh: u64, acked: u64) -> u64 {
        let acked = self.whole_segments(acked);
        if acked == 0 {
            return cwnd;
        }
        let (grown, left) = match cwnd < ssthresh {
            true => (cwnd + self.mss, acked - 1),
            false => (cwnd, acked),
        };
        if grown < ssthresh || left == 0 {
            return grown;
        }
        grown + self.truncated_share(grown)
    }

    /// Returns the number of complete segments in the sum of `acked` bytes and the remainder of
    /// earlier ACKs.
    fn whole_segments(&mut self, acked: u64) -> u64 {
        let bytes = u64::from(self.remainder) + acked;
        self.remainder = (bytes % self.mss) as u32;
        bytes / self.mss
    }
}

/// Returns true if so little of an app-limited window is used that it must not grow (Linux
/// `tcp_is_cwnd_limited`). `flight` is the number of bytes outstanding before the ACK. In slow
/// start it is sufficient that half of the window is used.
pub(super) fn is_little_used(cwnd: u64, ssthresh: u64, flight: u64) -> bool {
    !(cwnd < ssthresh && cwnd < 2 * flight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{RecoveryKind, StackVariant};
    use airpath_core::Time;

    const MSS: u64 = 1000;

    fn growth(kind: WindowGrowth) -> Growth {
        let options = TcpConfig { mss: 1000, window_growth: kind, ..TcpConfig::rfc() };
        Growth::new(&options)
    }

    fn ack(acked: u64) -> AckEvent {
        AckEvent::of_new_data(Time::ZERO, acked)
    }

    /// Returns cwnd after each of several ACKs of `acked` bytes.
    fn windows<const N: usize>(
        growth: &mut Growth,
        (mut cwnd, ssthresh): (u64, u64),
        acked: [u64; N],
    ) -> [u64; N] {
        acked.map(|acked| {
            cwnd = growth.after_ack(cwnd, ssthresh, acked, &ack(acked));
            cwnd
        })
    }

    /// In slow start, ns-3's window grows even if it is not used. Linux's window grows only if half
    /// of it is used.
    #[test]
    fn unused_window_grows_in_slow_start_of_ns3() {
        for (stack, grown) in [(StackVariant::Ns3, 12_000), (StackVariant::Rfc, 10_000)] {
            let options = TcpConfig {
                mss: 1000,
                window_growth: WindowGrowth::Segments,
                recovery: RecoveryKind::Sack,
                stack,
                ..TcpConfig::rfc()
            };
            let mut growth = Growth::new(&options);
            let unused = AckEvent { app_limited: true, ..ack(2000) };
            assert_eq!(growth.after_ack(10_000, u64::MAX, 2000, &unused), grown);
            assert_eq!(growth.after_ack(10_000, 5000, 20_000, &unused), 10_000);
        }
    }

    #[test]
    fn rfc3465_2_2_slow_start_counts_bytes_up_to_l_segments() {
        let acked = [1000, 2000, 3000, 10_000, 300];
        let one = windows(&mut growth(WindowGrowth::Abc1), (2000, u64::MAX), acked);
        assert_eq!(one, [3000, 4000, 5000, 6000, 6300]);
        let two = windows(&mut growth(WindowGrowth::Abc2), (2000, u64::MAX), acked);
        assert_eq!(two, [3000, 5000, 7000, 9000, 9300]);
    }

    #[test]
    fn rfc3465_2_3_l_is_one_segment_after_a_timeout_until_the_next_reduction() {
        let mut growth = growth(WindowGrowth::Abc2);
        growth.on_reduction(true);
        assert_eq!(windows(&mut growth, (1000, 5000), [3000, 2000]), [2000, 3000]);
        growth.on_reduction(false);
        assert_eq!(windows(&mut growth, (2000, 5000), [2000]), [4000]);
    }

    /// The window grows by one segment per window of acknowledged bytes, regardless of the number
    /// of ACKs.
    #[test]
    fn rfc3465_2_1_congestion_avoidance_adds_a_segment_per_window_of_bytes() {
        let mut per_two = growth(WindowGrowth::Abc2);
        let cwnd = windows(&mut per_two, (5000, 5000), [2000, 2000, 2000, 2000, 2000, 2000, 2000]);
        assert_eq!(cwnd, [5000, 5000, 6000, 6000, 6000, 7000, 7000]);
        // One ACK that covers two windows adds one segment. The remaining bytes count for the next
        // increase.
        let mut stretched = growth(WindowGrowth::Abc1);
        assert_eq!(windows(&mut stretched, (5000, 5000), [10_000, 1000]), [6000, 7000]);
    }

    #[test]
    fn rfc3465_2_1_reduction_resets_the_counted_bytes() {
        let mut growth = growth(WindowGrowth::Abc1);
        windows(&mut growth, (5000, 5000), [4000]);
        growth.on_reduction(false);
        assert_eq!(windows(&mut growth, (5000, 5000), [4000, 1000]), [5000, 6000]);
    }

    #[test]
    fn segments_in_slow_start_count_all_acknowledged_segments_up_to_ssthresh() {
        let mut growth = growth(WindowGrowth::Segments);
        let cwnd = windows(&mut growth, (2000, 10_000), [2000, 3000, 1000, 5000]);
        // With two segments of the last ACK the window reaches ssthresh. Its other three segments
        // count in congestion avoidance.
        assert_eq!(cwnd, [4000, 7000, 8000, 10_000]);
        assert_eq!(windows(&mut growth, (10_000, 10_000), [6000, 1000]), [10_000, 11_000]);
    }

    #[test]
    fn segments_in_congestion_avoidance_add_one_per_window_of_segments() {
        let acked = [2000, 2000, 1000, 6000, 12_000];
        let cwnd = windows(&mut growth(WindowGrowth::Segments), (5000, 5000), acked);
        assert_eq!(cwnd, [5000, 5000, 6000, 7000, 8000]);
    }

    /// Linux `tcp_cong_avoid_ai`: credit that was accumulated at a larger window counts only as one
    /// segment.
    #[test]
    fn credit_from_larger_window_counts_as_one_segment_with_segments() {
        let mut growth = growth(WindowGrowth::Segments);
        windows(&mut growth, (20_000, 5000), [19_000]);
        assert_eq!(windows(&mut growth, (5000, 5000), [1000, 4000]), [6000, 6000]);
    }

    #[test]
    fn partial_segments_are_accumulated_with_segments() {
        let mut growth = growth(WindowGrowth::Segments);
        let cwnd = windows(&mut growth, (2000, u64::MAX), [400, 400, 400, 1800]);
        assert_eq!(cwnd, [2000, 2000, 3000, 5000]);
    }

    #[test]
    fn unused_window_does_not_grow_with_segments() {
        let mut growth = growth(WindowGrowth::Segments);
        let idle = |in_flight| AckEvent { in_flight, app_limited: true, ..ack(1000) };
        // In slow start it is sufficient that half of the window is used; in congestion avoidance
        // the entire window must be used.
        assert_eq!(growth.after_ack(8000, u64::MAX, 1000, &idle(2000)), 8000);
        assert_eq!(growth.after_ack(8000, u64::MAX, 1000, &idle(4000)), 9000);
        assert_eq!(growth.after_ack(2000, 2000, 1000, &idle(0)), 2000);
    }

    /// The used part of the window includes all outstanding data, also selectively acknowledged
    /// data.
    #[test]
    fn segments_counts_delivered_bytes_and_checks_use_with_outstanding_bytes() {
        let mut growth = growth(WindowGrowth::Segments);
        let event =
            |in_flight| AckEvent { delivered: 1000, in_flight, app_limited: true, ..ack(2000) };
        assert_eq!(growth.after_ack(8000, u64::MAX, 2000, &event(2500)), 9000);
        assert_eq!(growth.after_ack(8000, u64::MAX, 2000, &event(1500)), 8000);
    }

    #[test]
    fn other_variants_count_the_cumulative_acknowledgement() {
        let event = AckEvent { delivered: 1000, ..ack(4000) };
        let grown = |kind| growth(kind).after_ack(3000, u64::MAX, 4000, &event);
        assert_eq!([WindowGrowth::Segments, WindowGrowth::Abc2].map(grown), [4000, 5000]);
    }

    #[test]
    fn per_ack_counts_acks_and_not_acknowledged_bytes() {
        let mut growth = growth(WindowGrowth::PerAck);
        assert_eq!(windows(&mut growth, (1000, 3000), [1000, 1000, 5000]), [2000, 3000, 3333]);
        assert_eq!(
            windows(&mut growth, (3_000_000, 1), [2000, 300, 700]),
            [3_000_001, 3_000_001, 3_000_002]
        );
    }

    /// The ACK with which the window reaches ssthresh covers further segments. These count in
    /// congestion avoidance.
    #[test]
    fn per_ack_growth_continues_beyond_ssthresh_with_the_remainder() {
        let mut growth = growth(WindowGrowth::PerAck);
        assert_eq!(windows(&mut growth, (3000, 4000), [2000]), [4000 + MSS * MSS / 4000]);
    }
}
