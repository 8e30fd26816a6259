//! Copa: a target rate of one packet per δ queueing delays.
//!
//! Source: Arun & Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet",
//! 2018 (`copa-2018`); constants of the public code (`venkatarun95/genericCC`). Choices where both
//! leave one:
//!
//! - The initial window is `initial_window`, which replaces the ten packets of the code.
//! - An ACK of n segments counts as n ACKs. An RTT sample is that of the newest segment.
//! - A timeout reduces the window to one segment and begins the slow start again (RFC 5681); the
//!   code has no timeout of TCP. A recovery does not change the window.
//! - v is 1 as soon as the window turns, not only at the end of the RTT (facebook/mvfst, `Copa.cpp`).
//! - A mark (ECN) counts as a loss.

mod filters;
mod velocity;

use super::{
    AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, RecoveryPhase, UndoEvent,
};
use airpath_core::{Checks, Component, ConfigError, Duration, Rate, Setup, Time, above};
use filters::RttFilters;
use serde::Deserialize;
use velocity::Velocity;

/// Smallest window, segments.
const MIN_WINDOW: f64 = 2.0;
/// Pacing rate in windows per standing RTT.
const PACING_GAIN: f64 = 2.0;
/// Share of lost bytes in two RTTs above which the window is reduced.
const HEAVY_LOSS: f64 = 0.3;
/// Segments that such a measurement needs.
const LOSS_SAMPLE: f64 = 20.0;
/// Factor of the window at heavy losses.
const HEAVY_LOSS_FACTOR: f64 = 0.7;

/// Rules for δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopaMode {
    /// δ is constant while the queue drains, and adapts to flows that fill the queue.
    Auto,
    /// δ is constant.
    Default,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopaConfig {
    /// δ of the default mode: 1/δ is the mean number of queued packets per flow.
    pub delta: f64,
    /// Rules for δ.
    pub mode: CopaMode,
}

/// Losses since the start of a measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    begin: Time,
    /// Bytes delivered since `begin`, and bytes lost on the connection before `begin`.
    delivered: u64,
    lost_before: u64,
}

/// State of Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    config: CopaConfig,
    /// Payload, and IP packet, of a full-sized segment, bytes.
    mss: f64,
    packet: f64,
    /// W, segments.
    cwnd: f64,
    /// δ.
    delta: f64,
    in_slow_start: bool,
    /// Segments that are acknowledged before the window changes.
    probes_left: f64,
    rtts: RttFilters,
    velocity: Velocity,
    losses: Losses,
    /// Times of the last increase of 1/δ and of the last halving.
    raised_at: Time,
    halved_at: Time,
    is_competitive: bool,
}

/// Computes the window of the target rate 1/(δ d_q), segments: RTT_standing/(δ d_q). Infinite without
/// a queue.
pub fn copa_target(delta: f64, standing: Duration, least: Duration) -> f64 {
    let queueing = standing.as_nanos().saturating_sub(least.as_nanos());
    standing.as_nanos() as f64 / (delta * queueing as f64)
}

impl Copa {
    /// Creates the state before the first segment.
    pub fn new(config: CopaConfig, setup: &CongestionSetup) -> Copa {
        let options = &setup.options;
        let mss = f64::from(options.mss);
        let cwnd = (options.initial_window as f64 / mss).max(1.0);
        Copa {
            config,
            mss,
            packet: mss + f64::from(options.whole_header()),
            cwnd,
            delta: config.delta,
            in_slow_start: true,
            probes_left: 2.0 * cwnd - 1.0,
            rtts: RttFilters::default(),
            velocity: Velocity::default(),
            losses: Losses::default(),
            raised_at: Time::ZERO,
            halved_at: Time::ZERO,
            is_competitive: false,
        }
    }

    /// Switches the mode, and raises 1/δ by one per RTT in competitive mode.
    fn update_delta(&mut self, now: Time, rtt: Duration) {
        self.is_competitive = self.config.mode == CopaMode::Auto && !self.rtts.drains();
        if !self.is_competitive {
            self.delta = self.config.delta;
        } else if now > self.raised_at + rtt {
            self.delta = (1.0 / (1.0 / self.delta + 1.0)).min(self.config.delta);
            self.raised_at = now;
        }
    }

    /// Halves 1/δ for a loss in competitive mode, at most once per RTT.
    fn lose(&mut self, now: Time) {
        if self.is_competitive && now > self.halved_at + self.rtts.latest {
            self.delta = (2.0 * self.delta).min(self.config.delta);
            self.halved_at = now;
        }
    }

    /// Changes the window for an ACK of `acked` segments.
    fn update_window(&mut self, acked: f64, event: &AckEvent) {
        let Some((standing, least)) = self.rtts.standing_and_least() else { return };
        let target = copa_target(self.delta, standing, least);
        let may_grow = !event.app_limited;
        if self.in_slow_start {
            self.cwnd += if may_grow { acked } else { 0.0 };
            self.in_slow_start = self.cwnd < target;
            self.velocity.start(self.cwnd, event.sent);
            return;
        }
        if event.ack > self.velocity.end {
            self.velocity.finish_round(self.cwnd, event.sent);
        }
        self.velocity.turn(self.cwnd < target);
        let step = acked * self.velocity.limited(self.cwnd, self.delta) / (self.delta * self.cwnd);
        if self.cwnd < target {
            self.cwnd += if may_grow { step } else { 0.0 };
        } else {
            self.cwnd = (self.cwnd - step).max(MIN_WINDOW);
        }
    }

    /// Reduces the window if more than 30 % of the bytes of two RTTs are lost.
    fn limit_losses(&mut self, event: &AckEvent) {
        let Some(net) = event.inflight else { return };
        self.losses.delivered += event.delivered;
        let lost = net.total_lost - self.losses.lost_before;
        let total = (self.losses.delivered + lost) as f64;
        let end = self.losses.begin + self.rtts.latest.saturating_mul(2);
        if event.now <= end || total < LOSS_SAMPLE * self.mss {
            return;
        }
        if lost as f64 > HEAVY_LOSS * total {
            self.cwnd = (HEAVY_LOSS_FACTOR * self.cwnd).max(MIN_WINDOW);
        }
        self.losses = Losses { begin: event.now, delivered: 0, lost_before: net.total_lost };
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Copa {
    type Config = CopaConfig;

    fn check(config: &CopaConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("delta", config.delta, above(0.0).up_to(1.0));
        checks.finish()
    }

    fn build(
        config: CopaConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Copa, ConfigError> {
        Ok(Copa::new(config, &setup.extra))
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, event: &AckEvent) {
        let newest = event.inflight.and_then(|net| net.rtt);
        if let Some(rtt) = newest.or(event.rtt) {
            self.rtts.sample(event.now, rtt);
            self.update_delta(event.now, rtt);
        }
        self.limit_losses(event);
        let acked = event.delivered as f64 / self.mss;
        if acked == 0.0 {
            return;
        }
        if event.phase == RecoveryPhase::Loss {
            self.cwnd = self.cwnd.max(1.0);
        }
        self.probes_left -= acked;
        if self.probes_left <= 0.0 {
            self.update_window(acked, event);
        }
    }

    fn needs_rate_samples(&self) -> bool {
        true
    }

    fn sets_window_in_recovery(&self) -> bool {
        true
    }

    fn on_open(&mut self, now: Time, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.rtts.sample(now, rtt);
        }
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.lose(event.now);
    }

    fn on_rto(&mut self, event: &LossEvent) {
        self.lose(event.now);
        self.cwnd = 1.0;
        self.in_slow_start = true;
        self.probes_left = 0.0;
    }

    fn on_recovered(&mut self, _cwnd: u64) {}

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd as f64 / self.mss);
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = 1.0;
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.cwnd = self.cwnd.min((event.cwnd as f64 / self.mss).max(1.0));
    }

    fn cwnd(&self) -> u64 {
        (self.cwnd * self.mss) as u64
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    /// 2 W/RTT_standing, in IP packets.
    fn pacing_rate(&self) -> Option<Rate> {
        let (standing, _) = self.rtts.standing_and_least()?;
        let bits = PACING_GAIN * self.cwnd * self.packet * 8e9;
        Some(Rate(((bits / standing.as_nanos().max(1) as f64) as u64).max(1)))
    }
}

#[cfg(test)]
mod tests;
