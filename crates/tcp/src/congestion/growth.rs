//! Window growth by an ACK outside of recovery: the variants of `window_growth`.
//!
//! Source: RFC 5681 §3.1 eqs. 2 and 3; RFC 3465 §2.1 to §2.3 (appropriate byte counting); Linux
//! `tcp_slow_start` and `tcp_cong_avoid_ai`, which ns-3's TcpLinuxReno follows; ns-3's TcpNewReno.

use super::{AckEvent, LossEvent};
use crate::config::{TcpConfig, WindowGrowth};
use crate::deviations::{Deviation, Deviations};

/// The arithmetic of growth and what it carries from one ACK to the next.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    kind: WindowGrowth,
    mss: u64,
    /// Credit towards the next increase in congestion avoidance. `bytes`: part of MSS² that has
    /// not yet made a whole byte; `abc-…`: bytes acknowledged; `segments`: segments acknowledged.
    carry: u64,
    /// Bytes acknowledged that do not make a whole segment (`segments`, `per-ack`).
    remainder: u32,
    /// The last reduction was a timeout's.
    after_timeout: bool,
    deviations: Deviations,
}

impl Growth {
    /// Window growth by `options`.
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

    /// The window was reduced, by a timeout or otherwise: credit is forgotten.
    pub(crate) fn on_reduction(&mut self, by_timeout: bool) {
        if !self.deviations.has(Deviation::KeepsGrowthCredit) {
            self.carry = 0;
        }
        self.after_timeout = by_timeout;
    }

    /// Base of the reduction after a loss: the flight or, in ns-3's TcpLinuxReno, the window.
    pub(crate) fn loss_base(&self, event: &LossEvent) -> u64 {
        match self.kind {
            WindowGrowth::Segments if self.deviations.has(Deviation::ReducesCwndOfSegments) => {
                event.cwnd
            }
            _ => event.flight,
        }
    }

    /// Whether a window that is not used grows regardless of the options: in ns-3's slow start.
    pub(crate) fn grows_unused(&self, cwnd: u64, ssthresh: u64) -> bool {
        self.deviations.has(Deviation::GrowsUnusedInSlowStart) && cwnd < ssthresh
    }

    /// cwnd after an ACK by which it may grow by `acked` bytes.
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

    /// The same by the ways of RFC 5681, which take nothing more to know; `None` for the others.
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

    /// The same by another way than those of RFC 5681.
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

    /// RFC 5681 eq. 3: SMSS·SMSS/cwnd, what is left of a byte being carried over.
    #[inline]
    fn shared_out(&mut self, cwnd: u64) -> u64 {
        self.carry += self.mss * self.mss;
        let whole = self.carry / cwnd;
        self.carry -= whole * cwnd;
        whole
    }

    /// RFC 5681 eq. 3 in whole bytes, at least one.
    #[inline]
    fn truncated_share(&self, cwnd: u64) -> u64 {
        (self.mss * self.mss / cwnd).max(1)
    }

    /// Most segments by which an ACK enlarges the window in slow start; `None` for any number.
    /// RFC 3465 §2.3: L is one segment in the slow start after a timeout, for the ACKs then cover
    /// what had left the network before.
    pub(crate) fn slow_start_limit(&self) -> Option<u64> {
        match self.kind {
            WindowGrowth::Segments => None,
            WindowGrowth::Abc2 if !self.after_timeout => Some(2),
            _ => Some(1),
        }
    }

    /// The bytes of an ACK of `acked` that count: those of the cumulative acknowledgement or, in
    /// Linux, those delivered.
    #[inline]
    pub(crate) fn counted(&self, acked: u64, event: &AckEvent) -> u64 {
        match self.kind {
            WindowGrowth::Segments if !self.deviations.has(Deviation::CountsInRecovery) => {
                event.delivered
            }
            _ => acked,
        }
    }

    /// RFC 3465 §2.1: a segment per window of bytes acknowledged.
    #[inline]
    fn by_bytes(&mut self, cwnd: u64, acked: u64) -> u64 {
        self.carry += acked;
        if self.carry < cwnd {
            return cwnd;
        }
        self.carry -= cwnd;
        cwnd + self.mss
    }

    /// Linux: in slow start a segment for each delivered, up to ssthresh; what they leave, and
    /// in congestion avoidance all, makes a segment per window of segments.
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
        // Credit that was enough for a smaller window than the present one counts once.
        let saved = self.carry >= window;
        self.carry = left + if saved { 0 } else { self.carry };
        let more = self.carry / window;
        self.carry -= more * window;
        grown + (more + u64::from(saved)) * self.mss
    }

    /// ns-3's TcpNewReno: a segment per ACK in slow start, MSS²/cwnd per ACK beyond, in whole
    /// bytes and at least one. The ACK that reaches ssthresh does both if segments are left.
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

    /// Whole segments in `acked` bytes and in what earlier ACKs left.
    fn whole_segments(&mut self, acked: u64) -> u64 {
        let bytes = u64::from(self.remainder) + acked;
        self.remainder = (bytes % self.mss) as u32;
        bytes / self.mss
    }
}

/// Whether a window that was not used up is too little used to grow, with `flight` bytes
/// outstanding before the ACK (Linux `tcp_is_cwnd_limited`): in slow start when not even half is.
fn is_little_used(cwnd: u64, ssthresh: u64, flight: u64) -> bool {
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

    /// cwnd after ACKs of `acked` bytes each, in turn.
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

    /// In slow start a window of ns-3's grows whether it is used or not; Linux's while half is.
    #[test]
    fn an_unused_window_grows_in_slow_start_of_ns3() {
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
    fn rfc3465_2_3_after_a_timeout_l_is_one_segment_until_the_next_reduction() {
        let mut growth = growth(WindowGrowth::Abc2);
        growth.on_reduction(true);
        assert_eq!(windows(&mut growth, (1000, 5000), [3000, 2000]), [2000, 3000]);
        growth.on_reduction(false);
        assert_eq!(windows(&mut growth, (2000, 5000), [2000]), [4000]);
    }

    /// A segment whenever a window of bytes is acknowledged, however few ACKs say so.
    #[test]
    fn rfc3465_2_1_congestion_avoidance_adds_a_segment_per_window_of_bytes() {
        let mut per_two = growth(WindowGrowth::Abc2);
        let cwnd = windows(&mut per_two, (5000, 5000), [2000, 2000, 2000, 2000, 2000, 2000, 2000]);
        assert_eq!(cwnd, [5000, 5000, 6000, 6000, 6000, 7000, 7000]);
        // One ACK of two windows makes one segment; what is left counts for the next.
        let mut stretched = growth(WindowGrowth::Abc1);
        assert_eq!(windows(&mut stretched, (5000, 5000), [10_000, 1000]), [6000, 7000]);
    }

    #[test]
    fn rfc3465_2_1_a_reduction_forgets_the_bytes_counted() {
        let mut growth = growth(WindowGrowth::Abc1);
        windows(&mut growth, (5000, 5000), [4000]);
        growth.on_reduction(false);
        assert_eq!(windows(&mut growth, (5000, 5000), [4000, 1000]), [5000, 6000]);
    }

    #[test]
    fn segments_in_slow_start_count_all_that_an_ack_covers_up_to_ssthresh() {
        let mut growth = growth(WindowGrowth::Segments);
        let cwnd = windows(&mut growth, (2000, 10_000), [2000, 3000, 1000, 5000]);
        // The last ACK reaches ssthresh with two segments and leaves three for the next window.
        assert_eq!(cwnd, [4000, 7000, 8000, 10_000]);
        assert_eq!(windows(&mut growth, (10_000, 10_000), [6000, 1000]), [10_000, 11_000]);
    }

    #[test]
    fn segments_in_congestion_avoidance_add_one_per_window_of_segments() {
        let acked = [2000, 2000, 1000, 6000, 12_000];
        let cwnd = windows(&mut growth(WindowGrowth::Segments), (5000, 5000), acked);
        assert_eq!(cwnd, [5000, 5000, 6000, 7000, 8000]);
    }

    /// Linux `tcp_cong_avoid_ai`: credit from a larger window is one segment, not more.
    #[test]
    fn segments_credit_of_a_larger_window_counts_once() {
        let mut growth = growth(WindowGrowth::Segments);
        windows(&mut growth, (20_000, 5000), [19_000]);
        assert_eq!(windows(&mut growth, (5000, 5000), [1000, 4000]), [6000, 6000]);
    }

    #[test]
    fn segments_parts_of_a_segment_are_put_together() {
        let mut growth = growth(WindowGrowth::Segments);
        let cwnd = windows(&mut growth, (2000, u64::MAX), [400, 400, 400, 1800]);
        assert_eq!(cwnd, [2000, 2000, 3000, 5000]);
    }

    #[test]
    fn segments_leave_a_window_alone_that_is_not_used() {
        let mut growth = growth(WindowGrowth::Segments);
        let idle = |in_flight| AckEvent { in_flight, app_limited: true, ..ack(1000) };
        // In slow start half of it must be used, then all.
        assert_eq!(growth.after_ack(8000, u64::MAX, 1000, &idle(2000)), 8000);
        assert_eq!(growth.after_ack(8000, u64::MAX, 1000, &idle(4000)), 9000);
        assert_eq!(growth.after_ack(2000, 2000, 1000, &idle(0)), 2000);
    }

    /// Use of the window counts the outstanding data, regardless of how much of it was selectively
    /// acknowledged.
    #[test]
    fn segments_grow_by_what_was_delivered_and_judge_use_by_what_was_outstanding() {
        let mut growth = growth(WindowGrowth::Segments);
        let event =
            |in_flight| AckEvent { delivered: 1000, in_flight, app_limited: true, ..ack(2000) };
        assert_eq!(growth.after_ack(8000, u64::MAX, 2000, &event(2500)), 9000);
        assert_eq!(growth.after_ack(8000, u64::MAX, 2000, &event(1500)), 8000);
    }

    #[test]
    fn other_ways_than_segments_count_the_cumulative_acknowledgement() {
        let event = AckEvent { delivered: 1000, ..ack(4000) };
        let grown = |kind| growth(kind).after_ack(3000, u64::MAX, 4000, &event);
        assert_eq!([WindowGrowth::Segments, WindowGrowth::Abc2].map(grown), [4000, 5000]);
    }

    #[test]
    fn per_ack_counts_acks_and_not_what_they_cover() {
        let mut growth = growth(WindowGrowth::PerAck);
        assert_eq!(windows(&mut growth, (1000, 3000), [1000, 1000, 5000]), [2000, 3000, 3333]);
        assert_eq!(
            windows(&mut growth, (3_000_000, 1), [2000, 300, 700]),
            [3_000_001, 3_000_001, 3_000_002]
        );
    }

    /// The ACK that reaches ssthresh has segments left for congestion avoidance.
    #[test]
    fn per_ack_growth_continues_beyond_ssthresh_with_the_remainder() {
        let mut growth = growth(WindowGrowth::PerAck);
        assert_eq!(windows(&mut growth, (3000, 4000), [2000]), [4000 + MSS * MSS / 4000]);
    }
}
