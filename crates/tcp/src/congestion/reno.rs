//! Reno: slow start, congestion avoidance, and a reduction of the window by half per loss event.
//!
//! Source: RFC 5681 §3.1 and the window arithmetic of §3.2. Growth is in `growth.rs`.

use super::growth::Growth;
use super::hystart::{Advice, CSS_GROWTH_DIVISOR, Hystart, HystartKind};
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, UndoEvent};
use crate::config::WindowGrowth;
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Checks, Component, ConfigError, Setup, above};
use serde::Deserialize;

/// Configuration in addition to the TCP parameters of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenoConfig {
    /// β_ecn, in (0, 1): factor of the window after an echoed mark. RFC 3168 §6.1.2: 0.5; RFC 8511
    /// §3: 0.8.
    #[serde(default = "half")]
    pub beta_ecn: f64,
    /// Algorithm that ends slow start before a loss.
    #[serde(default)]
    pub hystart: HystartKind,
}

const fn half() -> f64 {
    0.5
}

/// The congestion control of RFC 5681.
#[derive(Clone, Debug)]
pub struct Reno {
    mss: u64,
    beta_ecn: f64,
    growth: Growth,
    grow_unused: bool,
    deviations: Deviations,
    hystart: Option<Box<Hystart>>,
    cwnd: u64,
    ssthresh: u64,
}

impl Reno {
    /// Creates the state before the first segment.
    pub fn new(setup: &CongestionSetup) -> Reno {
        let options = &setup.options;
        Reno {
            mss: u64::from(options.mss),
            beta_ecn: half(),
            growth: Growth::new(options),
            // `Segments` has a separate rule for windows that are not fully used.
            grow_unused: options.grow_unused || options.window_growth == WindowGrowth::Segments,
            deviations: Deviations::of(options),
            hystart: None,
            cwnd: options.initial_window,
            ssthresh: options.initial_ssthresh.unwrap_or(u64::MAX),
        }
    }

    /// Sets the algorithm that ends slow start before a loss.
    pub(crate) fn with_hystart(self, kind: HystartKind) -> Reno {
        Reno { hystart: Hystart::new(kind), ..self }
    }

    /// Grows the window for an ACK of `acked` bytes, if the growth rule needs no other input.
    /// Returns true if the ACK was handled.
    #[inline(always)]
    pub(crate) fn grow_on_fast_path(&mut self, acked: u64, app_limited: bool) -> bool {
        let may_stay = app_limited && !self.grow_unused;
        if may_stay || self.hystart.is_some() {
            return false;
        }
        let grown = self.growth.after_plain_ack(self.cwnd, self.ssthresh, acked);
        self.cwnd = grown.unwrap_or(self.cwnd);
        grown.is_some()
    }

    /// Grows the window in slow start with HyStart.
    #[cold]
    fn careful_slow_start(&mut self, acked: u64, event: &AckEvent) {
        let whole = self.cwnd / self.mss;
        let hystart = self.hystart.as_mut();
        let advice = hystart.map_or(Advice::Grow, |hystart| hystart.on_ack(acked, event, whole));
        if advice == Advice::Leave {
            self.ssthresh = self.cwnd;
            self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
        }
        let grown = self.growth.after_ack(self.cwnd, self.ssthresh, acked, event);
        self.cwnd = match advice {
            Advice::GrowLess => self.cwnd + (grown - self.cwnd) / CSS_GROWTH_DIVISOR,
            _ => grown,
        };
    }

    /// Returns the reduced window after a loss or an echo: `window` bytes, but at least two
    /// segments (in ns-2 at least one).
    fn left(&self, window: u64) -> u64 {
        let is_one_enough = self.deviations.has(Deviation::LeavesOneSegment);
        window.max(if is_one_enough { self.mss } else { 2 * self.mss })
    }

    /// Reduces cwnd to `window` bytes after an echoed mark, but not below two segments. Never
    /// increases cwnd.
    pub(crate) fn reduce_to(&mut self, window: u64) {
        self.ssthresh = window.max(2 * self.mss);
        self.cwnd = self.cwnd.min(self.left(window));
        self.growth.on_reduction(false);
        self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
    }

    /// Returns FlightSize/2 (RFC 5681 eq. 4). The caller bounds ssthresh to at least 2·SMSS.
    fn half(&self, event: &LossEvent) -> u64 {
        self.rounded(self.growth.loss_base(event) / 2)
    }

    /// Returns `window`, truncated to full-sized segments if the connection follows Linux.
    fn rounded(&self, window: u64) -> u64 {
        let rounds = self.deviations.has(Deviation::RoundsToSegments);
        if rounds { window / self.mss * self.mss } else { window }
    }
}

/// Checks that β_ecn is between 0 and 1.
pub(super) fn check_beta_ecn(beta: f64, checks: &mut Checks) {
    checks.within("beta_ecn", beta, above(0.0).below(1.0));
}

impl<T: ?Sized> Component<T, CongestionSetup> for Reno {
    type Config = RenoConfig;

    fn check(config: &RenoConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_beta_ecn(config.beta_ecn, &mut checks);
        checks.finish()
    }

    fn build(
        config: RenoConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Reno, ConfigError> {
        let reno = Reno::new(&setup.extra).with_hystart(config.hystart);
        Ok(Reno { beta_ecn: config.beta_ecn, ..reno })
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, event: &AckEvent) {
        let Some(acked) = event.growth else { return };
        if self.grow_on_fast_path(acked, event.app_limited) {
            return;
        }
        if !self.grow_unused
            && event.app_limited
            && !self.growth.grows_unused(self.cwnd, self.ssthresh)
        {
            return;
        }
        if self.hystart.is_some() && self.cwnd < self.ssthresh {
            return self.careful_slow_start(acked, event);
        }
        self.cwnd = self.growth.after_ack(self.cwnd, self.ssthresh, acked, event);
    }

    #[inline]
    fn needs_every_ack(&self) -> bool {
        false
    }

    fn on_loss(&mut self, event: &LossEvent) {
        let half = self.half(event);
        self.ssthresh = half.max(2 * self.mss);
        self.cwnd = self.left(half);
        self.growth.on_reduction(false);
        self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
    }

    /// Reduces the window after a timeout to the loss window of one segment (RFC 5681 §3.1).
    fn on_rto(&mut self, event: &LossEvent) {
        if !event.keeps_ssthresh {
            self.ssthresh = self.half(event).max(2 * self.mss);
        }
        self.cwnd = self.mss;
        self.growth.on_reduction(true);
        self.hystart.take_if(|hystart| !hystart.continues_after_timeout());
    }

    /// Reduces the window after an echo: RFC 3168 §6.1.2 or, if β_ecn is not 0.5, RFC 8511 §3.
    fn on_ecn(&mut self, event: &LossEvent) {
        let left = (self.growth.loss_base(event) as f64 * self.beta_ecn) as u64;
        self.reduce_to(self.rounded(left));
    }

    fn on_recovered(&mut self, cwnd: u64) {
        let is_below_ssthresh = self.deviations.has(Deviation::LeavesOneSegment);
        let left = if is_below_ssthresh { self.cwnd } else { self.ssthresh };
        self.cwnd = left.min(cwnd);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = self.cwnd.min(self.mss);
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.cwnd = self.cwnd.min(event.cwnd);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;
    use airpath_core::Time;

    fn reno(change: impl FnOnce(&mut TcpConfig)) -> Reno {
        let mut options = TcpConfig { mss: 1000, initial_window: 1000, ..TcpConfig::rfc() };
        change(&mut options);
        Reno::new(&CongestionSetup { options: options.into() })
    }

    fn ack(acked: u64) -> AckEvent {
        AckEvent::of_new_data(Time::ZERO, acked)
    }

    #[test]
    fn eq2_slow_start_adds_the_acknowledged_bytes_up_to_a_segment() {
        let mut reno = reno(|_| ());
        for (acked, cwnd) in [(1000, 2000), (2000, 3000), (300, 3300)] {
            reno.on_ack(&ack(acked));
            assert_eq!(reno.cwnd(), cwnd);
        }
    }

    #[test]
    fn eq3_congestion_avoidance_adds_a_segment_per_window_of_acks() {
        let mut reno = reno(|options| {
            options.window_growth = WindowGrowth::Bytes;
            options.initial_window = 10_000;
            options.initial_ssthresh = Some(10_000);
        });
        for _ in 0..10 {
            reno.on_ack(&ack(1000));
        }
        // Ten ACKs at a window of 10 segments. The growth is Σ 1/w segments, where w grows with
        // each ACK.
        assert_eq!(reno.cwnd(), 10_958);
    }

    /// RFC 5681 §3.1 recommends byte counting. With byte counting, the window grows equally fast if
    /// the number of ACKs is halved.
    #[test]
    fn s3_1_window_grows_by_a_segment_per_window_with_delayed_acks() {
        let mut reno = reno(|options| {
            options.initial_window = 10_000;
            options.initial_ssthresh = Some(10_000);
        });
        for (acks, cwnd) in [(4, 10_000), (1, 11_000), (5, 11_000), (1, 12_000)] {
            (0..acks).for_each(|_| reno.on_ack(&ack(2000)));
            assert_eq!(reno.cwnd(), cwnd);
        }
    }

    #[test]
    fn truncated_growth_adds_at_least_one_byte() {
        let mut reno = reno(|options| {
            options.window_growth = WindowGrowth::PerAckTruncated;
            options.initial_window = 3_000_000;
            options.initial_ssthresh = Some(1);
        });
        reno.on_ack(&ack(1000));
        assert_eq!(reno.cwnd(), 3_000_001);
    }

    #[test]
    fn eq4_loss_halves_the_flight_and_timeout_leaves_one_segment() {
        let mut reno = reno(|_| ());
        reno.on_loss(&LossEvent::new(Time::ZERO, 21_000, 21_000));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (10_500, 10_500));
        reno.on_rto(&LossEvent::new(Time::ZERO, 3000, 3000));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (1000, 2000));
    }

    /// The window before the reduction is restored. A window that has meanwhile grown beyond it is
    /// kept.
    #[test]
    fn rfc4015_4_undo_restores_cwnd_and_ssthresh_but_decreases_neither() {
        let mut reno = reno(|options| options.initial_window = 20_000);
        reno.on_rto(&LossEvent::new(Time::ZERO, 20_000, 20_000));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (1000, 10_000));
        let undo = UndoEvent { now: Time::ZERO, cwnd: 20_000, ssthresh: 15_000 };
        reno.on_undo(&undo);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (20_000, 15_000));
        reno.on_undo(&UndoEvent { cwnd: 9000, ssthresh: 8000, ..undo });
        assert_eq!((reno.cwnd(), reno.ssthresh()), (20_000, 15_000));
    }
}
