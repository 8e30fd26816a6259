//! Prague: a scalable congestion control for L4S.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04, and its Linux implementation
//! (`tcp_prague.c` 0.7, `prague-linux`). Requires accurate ECN feedback; without it, the algorithm
//! is Reno on ECT(0).
//!
//! Differences from Linux: one window with a fraction replaces the two modes by window and by rate;
//! the pacing rate varies by ±3 % in every mode; a reduction takes effect at once, not by one
//! segment per ACK; the first mark after a virtual RTT reduces the window, also within a window of
//! data ([`PragueReduction`]). Not modelled: smaller segments below 1 Mbit/s, the detection of
//! classic ECN bottlenecks.

use super::rounds::RealSmoothedRtt;
use super::{
    AckEvent, BurstSize, CongestionControl, CongestionSetup, IdleEvent, LossEvent, RecoveryPhase,
    Reno, UndoEvent, dctcp_alpha,
};
use crate::config::{EcnUse, TcpConfig};
use airpath_core::{
    Checks, Component, ConfigError, Duration, Ecn, Rate, Setup, Time, above, at_least,
};
use serde::Deserialize;
use std::sync::Arc;

/// Reaction to the first mark of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PragueStart {
    /// α starts at 0, and the first mark halves the window.
    #[default]
    Halve,
    /// α starts at 1.
    Alpha,
}

/// Marks that reduce the window, besides the first mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PragueReduction {
    /// The first mark when an RTT and a virtual RTT have elapsed since the last reduction
    /// (`PragueCC::ACKReceived` in `udp_prague`, by the authors of the draft).
    #[default]
    VirtualRtt,
    /// The first mark of a window of data, if a virtual RTT has elapsed since the last reduction;
    /// otherwise no mark of this window of data (`prague_enter_cwr` in `prague-linux`). With an RTT
    /// R below the virtual RTT V and a mark in every window of data, the time between reductions is
    /// the smallest multiple of R from V on: 40 ms for 20 ms.
    Window,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PragueConfig {
    /// g, in (0, 1]: weight in α of the marked share in the last virtual RTT. `prague-linux`: 1/16.
    #[serde(default = "g")]
    pub g: f64,
    /// Reaction to the first mark.
    #[serde(default)]
    pub start: PragueStart,
    /// Marks that reduce the window.
    #[serde(default)]
    pub reduction: PragueReduction,
    /// Smallest virtual RTT, ns; 0 disables RTT independence. `prague-linux`: 25 ms.
    #[serde(default = "rtt_target")]
    pub rtt_target_ns: u64,
    /// Number of rounds after slow start before RTT independence begins. `prague-linux`: 4.
    #[serde(default = "transition_rounds")]
    pub transition_rounds: u32,
    /// Variation of the pacing rate, in [0, 1): higher in the first half of each virtual RTT, lower
    /// in the second half. `prague-linux`: 1/32.
    #[serde(default = "pacing_variation")]
    pub pacing_variation: f64,
}

const fn g() -> f64 {
    0.0625
}

const fn rtt_target() -> u64 {
    25_000_000
}

const fn transition_rounds() -> u32 {
    4
}

const fn pacing_variation() -> f64 {
    0.031_25
}

/// Gain of the smoothed RTT (RFC 6298 §2.3).
const SRTT_GAIN: f64 = 0.125;
/// Smallest rate, bit/s (`prague-linux`: MINIMUM_RATE).
const LEAST_RATE: f64 = 100_000.0;
/// Bursts last 1/4096 s (`prague-linux`: `prague_burst_shift`).
const BURST_SHIFT: u32 = 12;
/// Smallest window that limits transmission, segments. Below it, only pacing reduces the rate.
const LEAST_SEGMENTS: u64 = 2;

/// Increase of the window, segments per acknowledged window, with RTT `srtt` and smallest virtual
/// RTT `target`, both in s: one segment per virtual RTT at the rate of a flow with that RTT.
pub fn prague_increase(srtt: f64, target: f64) -> f64 {
    if srtt < target { (srtt / target) * (srtt / target) } else { 1.0 }
}

/// Prague, or Reno on a connection without accurate feedback.
#[derive(Clone, Debug)]
pub struct Prague(Mode);

#[derive(Clone, Debug)]
enum Mode {
    Scalable(Box<Scalable>),
    Classic(Box<Reno>),
}

/// State with accurate feedback.
#[derive(Clone, Debug)]
struct Scalable {
    config: PragueConfig,
    options: Arc<TcpConfig>,
    mss: f64,
    /// Congestion window with its fraction, bytes.
    window: f64,
    /// Slow-start threshold, bytes; `f64::INFINITY` if not yet set.
    ssthresh: f64,
    /// Estimated share of marked bytes.
    alpha: f64,
    /// Smoothed RTT, s.
    srtt: RealSmoothedRtt,
    has_seen_mark: bool,
    /// Number of rounds since slow start.
    rounds: u32,
    /// End of the current round, a stream offset.
    round_end: u64,
    /// Bytes delivered and marked since the last update of α.
    delivered: u64,
    marked: u64,
    /// Time of the last update of α, which starts a virtual RTT.
    updated_at: Time,
    /// Time of the last reduction for marks.
    reduced_at: Option<Time>,
    /// End of the data sent before the last reduction for marks, a stream offset.
    reduced_until: u64,
    /// Time of the last event.
    now: Time,
}

impl Scalable {
    fn new(config: PragueConfig, setup: &CongestionSetup) -> Scalable {
        let options = &setup.options;
        Scalable {
            config,
            options: Arc::clone(options),
            mss: f64::from(options.mss),
            window: options.initial_window as f64,
            ssthresh: options.initial_ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64),
            alpha: if config.start == PragueStart::Alpha { 1.0 } else { 0.0 },
            srtt: RealSmoothedRtt::default(),
            has_seen_mark: false,
            rounds: 0,
            round_end: 0,
            delivered: 0,
            marked: 0,
            updated_at: Time::ZERO,
            reduced_at: None,
            reduced_until: 0,
            now: Time::ZERO,
        }
    }

    /// Smallest virtual RTT, s.
    fn target(&self) -> f64 {
        Duration::from_nanos(self.config.rtt_target_ns).as_secs_lossy()
    }

    fn is_in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    fn is_rtt_independent(&self) -> bool {
        !self.is_in_slow_start() && self.rounds >= self.config.transition_rounds
    }

    /// Returns true if the smallest virtual RTT has elapsed since `since`, or does not apply.
    fn has_elapsed(&self, since: Time) -> bool {
        let elapsed = self.now.saturating_since(since).as_nanos();
        !self.is_rtt_independent() || elapsed >= self.config.rtt_target_ns
    }

    /// Sets the window, but not below the smallest rate.
    fn set_window(&mut self, bytes: f64) {
        let least = (LEAST_RATE / 8.0 * self.srtt.value).min(LEAST_SEGMENTS as f64 * self.mss);
        self.window = bytes.max(least);
    }

    /// Increases the window for `acked` bytes without a mark.
    fn grow(&mut self, acked: f64) {
        let mut left = acked;
        if self.is_in_slow_start() {
            let step = left.min(self.ssthresh - self.window);
            self.window += step;
            left -= step;
        }
        if left > 0.0 {
            let increase = if self.rounds < self.config.transition_rounds {
                1.0
            } else {
                prague_increase(self.srtt.value, self.target())
            };
            self.window += increase * self.mss * left / self.window;
        }
    }

    /// Handles the newly marked bytes of an ACK. The first mark ends slow start.
    fn note_marks(&mut self, marked: u64) {
        self.marked += marked;
        if marked > 0 && !self.has_seen_mark {
            self.has_seen_mark = true;
            if self.config.start == PragueStart::Halve {
                self.set_window(self.window / 2.0);
                self.ssthresh = self.window;
            }
        }
    }

    /// Ends a round, and updates α if the virtual RTT has elapsed too.
    fn end_round(&mut self, event: &AckEvent) {
        if event.ack < self.round_end || !self.has_elapsed(self.updated_at) {
            return;
        }
        if self.has_seen_mark && self.delivered > 0 {
            let share = self.marked.min(self.delivered) as f64 / self.delivered as f64;
            self.alpha = dctcp_alpha(self.alpha, self.config.g, share);
        }
        (self.delivered, self.marked) = (0, 0);
        self.updated_at = self.now;
        self.round_end = event.sent;
        if !self.is_in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn on_ack(&mut self, event: &AckEvent) {
        self.now = event.now;
        if let Some(rtt) = event.rtt {
            self.srtt.sample(rtt.as_secs_lossy(), SRTT_GAIN);
        }
        self.delivered += event.delivered;
        self.note_marks(event.marked);
        // Pacing keeps the flight below the window; only an application leaves half of it unused.
        let used = (event.in_flight + event.acked) as f64;
        let is_used = !event.app_limited || 2.0 * used >= self.window;
        if event.growth.is_some() && is_used {
            self.grow(event.delivered.saturating_sub(event.marked) as f64);
        }
        self.end_round(event);
        let is_new_round = event.ack >= self.reduced_until && event.phase == RecoveryPhase::Open;
        if self.reacts_to_each_mark() && event.marked > 0 && is_new_round && self.reduce() {
            self.reduced_until = event.sent;
        }
    }

    /// Returns true if the handler of ACKs reduces the window.
    fn reacts_to_each_mark(&self) -> bool {
        self.config.reduction == PragueReduction::VirtualRtt
    }

    /// Reduces the window by α/2 and returns true, once per virtual RTT.
    fn reduce(&mut self) -> bool {
        if self.reduced_at.is_some_and(|last| !self.has_elapsed(last)) {
            return false;
        }
        self.reduced_at = Some(self.now);
        self.set_window(self.window * (1.0 - self.alpha / 2.0));
        self.ssthresh = self.window;
        true
    }

    /// Sets ssthresh to half of the window.
    fn halve(&mut self) {
        self.ssthresh = (self.window / 2.0).max(LEAST_SEGMENTS as f64 * self.mss);
    }

    /// Returns the window, rounded up to segments.
    fn cwnd(&self) -> u64 {
        let mss = u64::from(self.options.mss);
        let least = if self.is_in_slow_start() { 1 } else { LEAST_SEGMENTS };
        ((self.window / self.mss).ceil() as u64).max(least) * mss
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let srtt = self.srtt.value;
        if srtt == 0.0 {
            return None;
        }
        let packet = f64::from(self.options.mss + self.options.whole_header());
        let rate = self.window / self.mss * packet * 8.0 / srtt;
        let virtual_rtt = srtt.max(self.target());
        let elapsed = self.now.saturating_since(self.updated_at).as_secs_lossy();
        let is_first_half = elapsed < virtual_rtt / 2.0;
        let variation = self.config.pacing_variation;
        let factor = if is_first_half { 1.0 + variation } else { 1.0 - variation };
        let slow_start = if self.window < self.ssthresh / 2.0 { 2.0 } else { 1.0 };
        Some(Rate((rate * factor * slow_start) as u64).max(Rate(1)))
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Prague {
    type Config = PragueConfig;

    fn check(config: &PragueConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("g", config.g, above(0.0).up_to(1.0));
        checks.within("pacing_variation", config.pacing_variation, at_least(0.0).below(1.0));
        checks.finish()
    }

    fn build(
        config: PragueConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Prague, ConfigError> {
        Ok(Prague(Mode::Scalable(Box::new(Scalable::new(config, &setup.extra)))))
    }
}

impl Prague {
    /// Returns α, the estimated share of marked bytes. `None` without accurate feedback.
    pub fn alpha(&self) -> Option<f64> {
        match &self.0 {
            Mode::Scalable(scalable) => Some(scalable.alpha),
            Mode::Classic(_) => None,
        }
    }
}

impl CongestionControl for Prague {
    /// Becomes Reno without accurate feedback (RFC 9331 §4.3).
    fn on_negotiated(&mut self, feedback: EcnUse) -> Ecn {
        let Mode::Scalable(scalable) = &self.0 else { return Ecn::Ect0 };
        if feedback == EcnUse::Accurate {
            return Ecn::Ect1;
        }
        let setup = CongestionSetup { options: Arc::clone(&scalable.options) };
        self.0 = Mode::Classic(Box::new(Reno::new(&setup)));
        Ecn::Ect0
    }

    fn on_open(&mut self, now: Time, rtt: Option<Duration>) {
        if let Mode::Scalable(scalable) = &mut self.0 {
            (scalable.now, scalable.updated_at) = (now, now);
            scalable.srtt.value = rtt.map_or(0.0, Duration::as_secs_lossy);
        }
    }

    fn on_ack(&mut self, event: &AckEvent) {
        match &mut self.0 {
            Mode::Scalable(scalable) => scalable.on_ack(event),
            Mode::Classic(reno) => reno.on_ack(event),
        }
    }

    fn on_loss(&mut self, event: &LossEvent) {
        match &mut self.0 {
            Mode::Scalable(scalable) => {
                scalable.halve();
                scalable.window = scalable.ssthresh;
            }
            Mode::Classic(reno) => reno.on_loss(event),
        }
    }

    fn on_rto(&mut self, event: &LossEvent) {
        match &mut self.0 {
            Mode::Scalable(scalable) => {
                if !event.keeps_ssthresh {
                    scalable.halve();
                }
                scalable.window = scalable.mss;
            }
            Mode::Classic(reno) => reno.on_rto(event),
        }
    }

    fn on_recovered(&mut self, cwnd: u64) {
        match &mut self.0 {
            Mode::Scalable(scalable) => scalable.window = scalable.window.min(cwnd as f64),
            Mode::Classic(reno) => reno.on_recovered(cwnd),
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        match &mut self.0 {
            Mode::Scalable(scalable) => {
                scalable.window = scalable.window.max(event.cwnd as f64);
                let ssthresh = match event.ssthresh {
                    u64::MAX => f64::INFINITY,
                    bytes => bytes as f64,
                };
                scalable.ssthresh = scalable.ssthresh.max(ssthresh);
            }
            Mode::Classic(reno) => reno.on_undo(event),
        }
    }

    fn on_ecn(&mut self, event: &LossEvent) {
        match &mut self.0 {
            Mode::Scalable(scalable) => {
                scalable.now = event.now;
                if !scalable.reacts_to_each_mark() {
                    scalable.reduce();
                }
            }
            Mode::Classic(reno) => reno.on_ecn(event),
        }
    }

    fn on_lost_syn(&mut self) {
        match &mut self.0 {
            Mode::Scalable(scalable) => scalable.window = scalable.window.min(scalable.mss),
            Mode::Classic(reno) => reno.on_lost_syn(),
        }
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        match &mut self.0 {
            Mode::Scalable(scalable) => {
                scalable.window = scalable.window.min(event.cwnd as f64);
                scalable.ssthresh = scalable.ssthresh.max(event.ssthresh as f64);
            }
            Mode::Classic(reno) => reno.on_idle(event),
        }
    }

    fn on_sent(&mut self, now: Time, _bytes: u64) {
        if let Mode::Scalable(scalable) = &mut self.0 {
            scalable.now = now;
        }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        match &self.0 {
            Mode::Scalable(scalable) => scalable.cwnd(),
            Mode::Classic(reno) => reno.cwnd(),
        }
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        match &self.0 {
            // The conversion saturates: infinity becomes `u64::MAX`.
            Mode::Scalable(scalable) => scalable.ssthresh as u64,
            Mode::Classic(reno) => reno.ssthresh(),
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        match &self.0 {
            Mode::Scalable(scalable) => scalable.pacing_rate(),
            Mode::Classic(_) => None,
        }
    }

    fn burst_size(&self) -> BurstSize {
        match &self.0 {
            Mode::Scalable(_) => BurstSize { shift: BURST_SHIFT, least: 1, extra: 0 },
            Mode::Classic(_) => BurstSize::default(),
        }
    }
}

#[cfg(test)]
mod tests;
