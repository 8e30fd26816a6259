//! LEDBAT++: background traffic that yields to other flows, by a target of the queueing delay.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus (`ledbat-pp`); its rules for the end of the slow start
//! after a slowdown are those of Apple's XNU, `bsd/netinet/tcp_ledbat.c`. With `rules = "rfc6817"`:
//! RFC 6817 §2.4.2, without slow start and slowdowns. Delays are round-trip times, as in LEDBAT++;
//! RFC 6817 measures one way. `initial_window` has no effect: a connection starts with two segments.

mod delays;

use super::rounds::SmoothedRtt;
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, UndoEvent};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, above};
use delays::Delays;
use serde::Deserialize;

/// Smallest window outside a timeout, and the window of a slowdown, segments.
const MIN_SEGMENTS: f64 = 2.0;
/// Largest divisor of the gain.
const LARGEST_DIVISOR: f64 = 16.0;
/// Share of the target at which the initial slow start ends.
const SLOW_START_SHARE: f64 = 0.75;
/// Duration of the reduced window of a slowdown, and time before the first slowdown, RTTs.
const SLOWDOWN_RTTS: u64 = 2;
/// Time between slowdowns in durations of the last one.
const SLOWDOWN_INTERVAL: u64 = 9;
/// RFC 6817 `ALLOWED_INCREASE`: growth of the window beyond the data in flight, segments.
const ALLOWED_INCREASE: f64 = 1.0;

/// Rules of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedbatRules {
    /// LEDBAT++.
    PlusPlus,
    /// RFC 6817.
    Rfc6817,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedbatConfig {
    /// Rules of the window.
    pub rules: LedbatRules,
    /// Target T of the queueing delay, ns.
    pub target_ns: u64,
    /// Constant of the multiplicative decrease (LEDBAT++), or the gain of RFC 6817.
    pub gain: f64,
}

/// Phase of LEDBAT++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Slow start at the begin and after a timeout.
    SlowStart,
    /// Congestion avoidance until the next slowdown; `None` with the rules of RFC 6817.
    Avoidance { slowdown_at: Option<Time> },
    /// Slowdown with two segments, from `begin` to `end`.
    Frozen { begin: Time, end: Time },
    /// Slow start to ssthresh after a slowdown that began at `begin`.
    RampUp { begin: Time },
}

/// LEDBAT++ or LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: LedbatConfig,
    /// Payload of a full-sized segment, bytes.
    mss: f64,
    /// Congestion window, bytes.
    cwnd: f64,
    /// Slow-start threshold, bytes; infinite if not yet set.
    ssthresh: f64,
    phase: Phase,
    delays: Delays,
    srtt: SmoothedRtt,
}

/// Computes GAIN = 1/min(16, ⌈2 T/base⌉) of LEDBAT++.
pub fn ledbat_gain(target: Duration, base: Duration) -> f64 {
    let ratio = 2.0 * target.as_nanos() as f64 / base.as_nanos().max(1) as f64;
    1.0 / libm::ceil(ratio).clamp(1.0, LARGEST_DIVISOR)
}

/// Computes the change of the window of LEDBAT++ in one RTT, segments: `gain` up to the target,
/// above it max(gain − c W (delay/T − 1), −W/2). `window` is W in segments, `load` is delay/T.
pub fn ledbat_change(gain: f64, c: f64, window: f64, load: f64) -> f64 {
    match load <= 1.0 {
        true => gain,
        false => (gain - c * window * (load - 1.0)).max(-window / 2.0),
    }
}

impl Ledbat {
    /// Creates the state before the first segment.
    pub fn new(config: LedbatConfig, setup: &CongestionSetup) -> Ledbat {
        let options = &setup.options;
        let mss = f64::from(options.mss);
        let phase = match config.rules {
            LedbatRules::PlusPlus => Phase::SlowStart,
            LedbatRules::Rfc6817 => Phase::Avoidance { slowdown_at: None },
        };
        Ledbat {
            config,
            mss,
            cwnd: MIN_SEGMENTS * mss,
            ssthresh: options.initial_ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64),
            phase,
            delays: Delays::default(),
            srtt: SmoothedRtt::default(),
        }
    }

    fn least(&self) -> f64 {
        MIN_SEGMENTS * self.mss
    }

    /// Returns the smoothed RTT.
    fn rtt(&self) -> Duration {
        Duration::from_nanos(self.srtt.eightfold / 8 * 1000)
    }

    /// Returns the queueing delay in targets; `None` before the first RTT sample.
    fn load(&self) -> Option<f64> {
        let delay = self.delays.queueing()?.as_nanos() as f64;
        Some(delay / self.config.target_ns as f64)
    }

    fn gain(&self) -> f64 {
        let target = Duration::from_nanos(self.config.target_ns);
        self.delays.base().map_or(1.0 / LARGEST_DIVISOR, |base| ledbat_gain(target, base))
    }

    /// Enters congestion avoidance. The next slowdown begins after `wait`.
    fn avoid_from(&mut self, now: Time, wait: Duration) {
        self.phase = Phase::Avoidance { slowdown_at: Some(now + wait) };
    }

    /// Advances the slowdowns of LEDBAT++.
    fn advance(&mut self, now: Time) {
        match self.phase {
            Phase::Avoidance { slowdown_at: Some(at) } if now >= at => {
                let end = now + self.rtt().saturating_mul(SLOWDOWN_RTTS);
                self.ssthresh = self.cwnd.max(self.least());
                self.cwnd = self.least();
                self.phase = Phase::Frozen { begin: now, end };
            }
            Phase::Frozen { begin, end } if now >= end => self.phase = Phase::RampUp { begin },
            _ => {}
        }
    }

    /// Slow start with the dynamic gain. Ends at ssthresh; the initial one also at 3/4 of the
    /// target, that after a slowdown above the target.
    fn slow_start(&mut self, now: Time, acked: f64, used: bool) {
        let load = self.load().unwrap_or(0.0);
        let is_late = match self.phase {
            Phase::RampUp { .. } => load > 1.0,
            _ => load > SLOW_START_SHARE,
        };
        if used && !is_late {
            self.cwnd = (self.cwnd + self.gain() * acked).min(self.ssthresh.max(self.cwnd));
        }
        if !is_late && self.cwnd < self.ssthresh {
            return;
        }
        self.ssthresh = self.ssthresh.min(self.cwnd).max(self.least());
        match self.phase {
            Phase::RampUp { begin } => {
                let lasted = now.saturating_since(begin);
                self.avoid_from(now, lasted.saturating_mul(SLOWDOWN_INTERVAL));
            }
            _ => self.avoid_from(now, self.rtt().saturating_mul(SLOWDOWN_RTTS)),
        }
    }

    /// Congestion avoidance of LEDBAT++: the share of this ACK in the change per RTT.
    fn avoid(&mut self, acked: f64, used: bool) {
        let window = self.cwnd / self.mss;
        let load = self.load().unwrap_or(0.0);
        let change = ledbat_change(self.gain(), self.config.gain, window, load);
        if change < 0.0 || used {
            self.cwnd = (self.cwnd + change * acked / window).max(self.least());
        }
    }

    /// RFC 6817 §2.4.2: W += GAIN (1 − delay/T) · acked · MSS/W, at most the flight plus
    /// `ALLOWED_INCREASE`.
    fn follow_rfc6817(&mut self, acked: f64, event: &AckEvent) {
        let off_target = 1.0 - self.load().unwrap_or(0.0);
        let changed = self.cwnd + self.config.gain * off_target * acked * self.mss / self.cwnd;
        let flight = (event.in_flight + event.acked) as f64;
        self.cwnd = changed.min(flight + ALLOWED_INCREASE * self.mss).max(self.least());
    }

    /// Halves the window for a loss or a mark.
    fn halve(&mut self, event: &LossEvent) {
        self.ssthresh = (event.flight as f64 / 2.0).max(self.least());
        self.cwnd = self.ssthresh;
        self.leave_slow_start(event.now);
    }

    /// Ends the slow start, and a slowdown in progress, at a loss.
    fn leave_slow_start(&mut self, now: Time) {
        match self.phase {
            Phase::Avoidance { .. } => {}
            Phase::SlowStart => self.avoid_from(now, self.rtt().saturating_mul(SLOWDOWN_RTTS)),
            Phase::Frozen { begin, .. } | Phase::RampUp { begin } => {
                let lasted = now.saturating_since(begin);
                self.avoid_from(now, lasted.saturating_mul(SLOWDOWN_INTERVAL));
            }
        }
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Ledbat {
    type Config = LedbatConfig;

    fn check(config: &LedbatConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("target_ns", config.target_ns, above(0_u64));
        checks.within("gain", config.gain, above(0.0).up_to(1.0));
        checks.finish()
    }

    fn build(
        config: LedbatConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Ledbat, ConfigError> {
        Ok(Ledbat::new(config, &setup.extra))
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, event: &AckEvent) {
        if let Some(rtt) = event.rtt {
            self.srtt.sample(rtt);
            self.delays.sample(event.now, rtt);
        }
        let Some(acked) = event.growth else { return };
        if self.config.rules == LedbatRules::Rfc6817 {
            return self.follow_rfc6817(acked as f64, event);
        }
        self.advance(event.now);
        match self.phase {
            Phase::SlowStart | Phase::RampUp { .. } => {
                self.slow_start(event.now, acked as f64, !event.app_limited);
            }
            Phase::Avoidance { .. } => self.avoid(acked as f64, !event.app_limited),
            Phase::Frozen { .. } => {}
        }
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.halve(event);
    }

    fn on_rto(&mut self, event: &LossEvent) {
        if !event.keeps_ssthresh {
            self.ssthresh = (event.flight as f64 / 2.0).max(self.least());
        }
        self.cwnd = self.mss;
        if self.config.rules == LedbatRules::PlusPlus {
            self.phase = Phase::SlowStart;
        }
    }

    fn on_ecn(&mut self, event: &LossEvent) {
        let before = self.cwnd;
        self.halve(event);
        self.cwnd = self.cwnd.min(before);
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.cwnd = self.ssthresh.min(cwnd as f64);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd as f64);
        self.ssthresh = match event.ssthresh {
            u64::MAX => f64::INFINITY,
            bytes => self.ssthresh.max(bytes as f64),
        };
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = self.mss;
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.cwnd = self.cwnd.min(event.cwnd as f64);
        self.ssthresh = self.ssthresh.max(event.ssthresh as f64);
    }

    fn cwnd(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        // An infinite value becomes the largest number.
        self.ssthresh as u64
    }
}

#[cfg(test)]
mod tests;
