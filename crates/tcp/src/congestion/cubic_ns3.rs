//! CUBIC in the arithmetic of ns-3: integer segments, and an integer number of ACKs per increase.
//!
//! Source: independent implementation, based on class `TcpCubic` of ns-3.48 (unchanged since
//! ns-3.44). That class follows Linux `tcp_cubic`, with HyStart (Ha & Rhee 2011).
//!
//! Differences from RFC 9438:
//!
//! - Windows, targets and ssthresh are truncated to segments.
//! - ssthresh is computed from cwnd, not from the FlightSize.
//! - A timeout does not change W_max.
//! - The Reno-friendly window always grows by α_cubic, never by 1 segment per RTT.
//! - Slow start adds all acknowledged segments and may end early.
//!
//! Differences from ns-3, if ns-3's loss recovery is not used: an ACK counts for at most the bytes
//! that it delivered. If a timeout discards the SACK information, an ACK counts for at most one
//! segment in the slow start after the timeout (RFC 3465 §2.3).

use super::cubic::{beta, c, check_c_and_beta, yes};
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, UndoEvent};
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time};
use serde::Deserialize;

/// Attribute `HyStartLowWindow`, segments.
const LOW_WINDOW: u64 = 16;
/// Attribute `HyStartMinSamples`.
const MIN_SAMPLES: u32 = 8;
/// Attribute `HyStartAckDelta`: largest time between two consecutive ACKs of an ACK train.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Attributes `HyStartDelayMin` and `HyStartDelayMax`.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(1000);
/// Attribute `CubicDelta`: RTT samples within this time after the start of an epoch are ignored.
const CUBIC_DELTA: Duration = Duration::from_millis(10);
/// Attribute `CntClamp`: largest number of ACKs per increase of the window by one segment, before
/// the first loss.
const CNT_CLAMP: u64 = 20;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CubicNs3Config {
    /// C, segments/s³. ns-3's attribute `C`: 0.4.
    #[serde(default = "c")]
    pub c: f64,
    /// β, in (0, 1): factor of the window after a loss. ns-3's attribute `Beta`: 0.7.
    #[serde(default = "beta")]
    pub beta: f64,
    /// Use fast convergence, which releases bandwidth for new flows. ns-3's attribute
    /// `FastConvergence`: true.
    #[serde(default = "yes")]
    pub fast_convergence: bool,
    /// Let the window grow at least as fast as Reno's. ns-3's attribute `TcpFriendliness`: true.
    #[serde(default = "yes")]
    pub reno_friendly: bool,
}

/// The congestion control of ns-3's class `TcpCubic`.
#[derive(Clone, Debug)]
pub struct CubicNs3 {
    config: CubicNs3Config,
    mss: u64,
    /// Congestion window, bytes. `ssthresh` is also in bytes.
    cwnd: u64,
    ssthresh: u64,
    /// Number of segments acknowledged since the last increase of the window.
    count: u64,
    /// W_max, segments; 0 before the first loss.
    last_max: u64,
    epoch: Option<Epoch>,
    srtt: Option<Duration>,
    delay_min: Option<Duration>,
    hystart: HyStart,
    /// True if the loss recovery counts the segments of each ACK.
    recovery_counts: bool,
    /// True if a timeout discards the SACK information.
    forgets_arrivals: bool,
    /// True if a timeout caused the last reduction.
    after_timeout: bool,
}

/// State of one congestion avoidance phase. Windows are in segments.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    k: f64,
    origin: u64,
    /// Number of segments acknowledged since the last increase of `reno_window`.
    acked: u64,
    reno_window: u64,
}

/// State of HyStart, which ends slow start before a loss.
#[derive(Clone, Copy, Debug, Default)]
struct HyStart {
    found: bool,
    round_start: Time,
    last_ack: Time,
    /// Bytes to be acknowledged before the next round begins.
    left: u64,
    least_rtt: Option<Duration>,
    samples: u32,
}

impl CubicNs3 {
    /// Creates the state before the first segment.
    pub fn new(config: CubicNs3Config, setup: &CongestionSetup) -> CubicNs3 {
        let options = &setup.options;
        CubicNs3 {
            config,
            mss: u64::from(options.mss),
            cwnd: options.initial_window,
            ssthresh: options.initial_ssthresh.unwrap_or(u64::MAX),
            count: 0,
            last_max: 0,
            epoch: None,
            srtt: None,
            delay_min: None,
            hystart: HyStart::default(),
            recovery_counts: Deviations::of(options).has(Deviation::CountsInRecovery),
            forgets_arrivals: options.forgets_arrivals(),
            after_timeout: false,
        }
    }

    /// Returns the number of complete segments that count for the growth of the window on an ACK
    /// with growth `growth`, bytes.
    fn counted_segments(&self, growth: u64, event: &AckEvent) -> u64 {
        if self.recovery_counts {
            return growth / self.mss;
        }
        let segments = growth.min(event.delivered) / self.mss;
        let is_limited = self.after_timeout && self.forgets_arrivals && self.cwnd < self.ssthresh;
        if is_limited { segments.min(1) } else { segments }
    }

    fn smooth(&mut self, rtt: Duration) -> Duration {
        let smoothed = match self.srtt {
            None => rtt.as_nanos(),
            Some(srtt) => (srtt.as_nanos() * 7 + rtt.as_nanos()) / 8,
        };
        *self.srtt.insert(Duration::from_nanos(smoothed))
    }

    fn note_delay(&mut self, rtt: Duration, event: &AckEvent) {
        let now = event.now;
        if self.epoch.is_some_and(|epoch| now.saturating_since(epoch.start) < CUBIC_DELTA) {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        let may_end = self.cwnd <= self.ssthresh && self.cwnd >= LOW_WINDOW * self.mss;
        if may_end && !self.hystart.found && self.hystart.ends(now, rtt, delay_min) {
            self.hystart.found = true;
            self.ssthresh = self.cwnd;
        }
    }

    fn begin_round_when_due(&mut self, acked: u64, event: &AckEvent) {
        let left = self.hystart.left.checked_sub(acked);
        self.hystart.left = left.unwrap_or(event.in_flight);
        if left.is_none() {
            self.hystart.begin_round(event.now);
        }
    }

    /// `Update`: returns the number of acknowledged segments per increase of the window by one
    /// segment.
    fn segments_per_increase(&mut self, now: Time, acked: u64) -> u64 {
        let window = self.cwnd / self.mss;
        let mut epoch = match self.epoch {
            Some(epoch) => Epoch { acked: epoch.acked + acked, ..epoch },
            None => self.new_epoch(now, window, acked),
        };
        let since = now.saturating_since(epoch.start) + self.delay_min.unwrap_or_default();
        let distance = since.as_secs_lossy() - epoch.k;
        let change = (self.config.c * (distance * distance * distance).abs()) as u64;
        let target = match distance < 0.0 {
            true => epoch.origin.saturating_sub(change),
            false => epoch.origin + change,
        };
        let mut needed = match target.checked_sub(window) {
            Some(beyond) if beyond > 0 => window / beyond,
            _ => 100 * window,
        };
        if self.last_max == 0 {
            needed = needed.min(CNT_CLAMP);
        }
        if self.config.reno_friendly {
            needed = needed.min(epoch.friendly(window, self.config.beta));
        }
        self.epoch = Some(epoch);
        needed.max(2)
    }

    fn new_epoch(&self, start: Time, window: u64, acked: u64) -> Epoch {
        let below = self.last_max.saturating_sub(window);
        let k = libm::cbrt(below as f64 / self.config.c);
        Epoch { start, k, origin: self.last_max.max(window), acked, reno_window: window }
    }

    /// `GetSsThresh`: reduces ssthresh. `cwnd` is the window before the reduction, bytes.
    fn reduce(&mut self, cwnd: u64) {
        let CubicNs3Config { beta, fast_convergence, .. } = self.config;
        let window = cwnd / self.mss;
        self.last_max = if fast_convergence && window < self.last_max {
            (window as f64 * (1.0 + beta) / 2.0) as u64
        } else {
            window
        };
        self.epoch = None;
        self.ssthresh = ((window as f64 * beta) as u64).max(2) * self.mss;
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for CubicNs3 {
    type Config = CubicNs3Config;

    fn check(config: &CubicNs3Config) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_c_and_beta(config.c, config.beta, &mut checks);
        checks.finish()
    }

    fn build(
        config: CubicNs3Config,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<CubicNs3, ConfigError> {
        Ok(CubicNs3::new(config, &setup.extra))
    }
}

impl CongestionControl for CubicNs3 {
    /// `PktsAcked`, then `IncreaseWindow`.
    fn on_ack(&mut self, event: &AckEvent) {
        let Some(growth) = event.growth else { return };
        if let Some(rtt) = event.rtt {
            let rtt = self.smooth(rtt);
            self.note_delay(rtt, event);
        }
        if event.app_limited {
            return;
        }
        let segments = self.counted_segments(growth, event);
        if self.cwnd < self.ssthresh {
            self.begin_round_when_due(growth, event);
            self.cwnd += segments * self.mss;
        } else if segments > 0 {
            self.count += segments;
            let needed = self.segments_per_increase(event.now, segments);
            if self.count >= needed {
                self.cwnd += self.mss;
                self.count -= needed;
            }
        }
    }

    #[inline]
    fn needs_every_ack(&self) -> bool {
        false
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.reduce(event.cwnd);
        self.cwnd = self.ssthresh;
        self.after_timeout = false;
    }

    /// Includes `CubicReset` and `HystartReset`.
    fn on_rto(&mut self, event: &LossEvent) {
        if event.keeps_ssthresh {
            self.epoch = None;
        } else {
            self.reduce(event.cwnd);
        }
        self.cwnd = self.mss;
        self.after_timeout = true;
        self.delay_min = None;
        self.hystart = HyStart::default();
        self.hystart.begin_round(event.now);
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.cwnd = self.ssthresh.min(cwnd);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = self.cwnd.min(self.mss);
    }

    /// Implements `idle_restart`. ns-3 has no such restart.
    fn on_idle(&mut self, event: &IdleEvent) {
        self.cwnd = self.cwnd.min(event.cwnd);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

impl Epoch {
    /// Handles the Reno-friendly region. Returns the number of acknowledged segments per increase
    /// with which the window follows `reno_window`.
    fn friendly(&mut self, window: u64, beta: f64) -> u64 {
        let scale = (8.0 * (1.0 + beta) / 3.0 / (1.0 - beta)) as u64;
        let per_segment = ((window * scale) >> 3).max(1);
        while self.acked > per_segment {
            self.acked -= per_segment;
            self.reno_window += 1;
        }
        match self.reno_window.checked_sub(window) {
            Some(beyond) if beyond > 0 => window / beyond,
            _ => u64::MAX,
        }
    }
}

impl HyStart {
    fn begin_round(&mut self, now: Time) {
        self.round_start = now;
        self.last_ack = now;
        self.least_rtt = None;
        self.samples = 0;
    }

    /// Returns true if slow start must end, because an ACK train lasts longer than the minimum RTT
    /// or because the delay has doubled.
    fn ends(&mut self, now: Time, rtt: Duration, delay_min: Duration) -> bool {
        let mut ends = false;
        if now.saturating_since(self.last_ack) <= ACK_DELTA {
            self.last_ack = now;
            ends = now.saturating_since(self.round_start) > delay_min;
        }
        if self.samples < MIN_SAMPLES {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
            return ends;
        }
        let threshold = delay_min + delay_min.clamp(DELAY_MIN, DELAY_MAX);
        ends || self.least_rtt.is_some_and(|least| least > threshold)
    }
}

#[cfg(test)]
mod tests;
