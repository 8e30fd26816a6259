//! CUBIC: the window is a cubic function of the time since the last loss.
//!
//! Source: RFC 9438. Windows are in segments, as in the RFC. HyStart is in `hystart.rs`.
//!
//! The RFC does not specify the following:
//!
//! - If no ACK arrives between two timeouts, the second timeout changes neither W_max nor
//!   cwnd_prior.
//! - Idle time does not count in t, the time since the start of the epoch (as in Linux).
//! - If the window is reduced after an idle time, the next congestion avoidance phase begins a new
//!   epoch with the same W_max.

use super::growth::Growth;
use super::hystart::{Advice, CSS_GROWTH_DIVISOR, Hystart, HystartKind};
use super::reno::check_beta_ecn;
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, UndoEvent};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, above};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CubicConfig {
    /// Constant C, segments/s³: determines the growth rate of the window far from W_max. RFC 9438
    /// §5: 0.4.
    #[serde(default = "c")]
    pub c: f64,
    /// β_cubic, in (0, 1): factor of the window after a loss. RFC 9438 §4.6: 0.7.
    #[serde(default = "beta")]
    pub beta: f64,
    /// β_ecn, in (0, 1): factor of the window after an echoed mark. `None`: β_cubic (RFC 9438
    /// §4.6). RFC 8511 §3: 0.85.
    #[serde(default)]
    pub beta_ecn: Option<f64>,
    /// Use fast convergence, which releases bandwidth for new flows (RFC 9438 §4.7).
    #[serde(default = "yes")]
    pub fast_convergence: bool,
    /// Use the Reno-friendly region: the window is at least the estimated window of Reno (RFC 9438
    /// §4.3).
    #[serde(default = "yes")]
    pub reno_friendly: bool,
    /// Algorithm that ends slow start before a loss.
    #[serde(default)]
    pub hystart: HystartKind,
}

pub(super) const fn c() -> f64 {
    0.4
}

pub(super) const fn beta() -> f64 {
    0.7
}

pub(super) const fn yes() -> bool {
    true
}

/// Computes W_cubic(t) = C (t − K)³ + W_max, segments; `t` and `k` in seconds (RFC 9438 §4.2, fig.
/// 1).
pub fn w_cubic(t: f64, k: f64, w_max: f64, c: f64) -> f64 {
    let distance = t - k;
    c * distance * distance * distance + w_max
}

/// Computes K = ∛((W_max − cwnd_epoch)/C), s: the time from the start of the epoch until the window
/// reaches W_max (RFC 9438 §4.2, fig. 2).
pub fn time_to_w_max(w_max: f64, cwnd_epoch: f64, c: f64) -> f64 {
    libm::cbrt((w_max - cwnd_epoch).max(0.0) / c)
}

/// Computes α_cubic = 3 (1 − β)/(1 + β), segments per RTT. An AIMD algorithm with additive increase
/// α_cubic and factor β has the same average window as Reno (RFC 9438 §4.3).
pub fn reno_friendly_increase(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// The congestion control of RFC 9438.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    mss: f64,
    growth: Growth,
    hystart: Option<Box<Hystart>>,
    /// Congestion window. All windows in this struct are in segments.
    cwnd: f64,
    ssthresh: Option<f64>,
    srtt: Option<Duration>,
    /// W_max: the window before the last loss, segments.
    w_max: f64,
    /// cwnd_prior, for the Reno-friendly region, segments.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// True if a timeout caused the last reduction. Then W_max of the next epoch is the window at
    /// the start of that epoch.
    after_timeout: bool,
    last_ack: Time,
    /// State before the last reduction.
    prior: Prior,
}

/// State before a reduction, restored if the reduction was spurious (RFC 9438 §4.9).
#[derive(Clone, Copy, Debug, Default)]
struct Prior {
    cwnd: f64,
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// State of one congestion avoidance phase.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// K, s.
    k: f64,
    /// W_est: estimated window of Reno, segments.
    w_est: f64,
}

impl Cubic {
    /// Creates the state before the first segment.
    pub fn new(config: CubicConfig, setup: &CongestionSetup) -> Cubic {
        let options = &setup.options;
        let mss = f64::from(options.mss);
        Cubic {
            config,
            mss,
            growth: Growth::new(options),
            hystart: Hystart::new(config.hystart),
            cwnd: options.initial_window as f64 / mss,
            ssthresh: options.initial_ssthresh.map(|bytes| bytes as f64 / mss),
            srtt: None,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            after_timeout: false,
            last_ack: Time::ZERO,
            prior: Prior::default(),
        }
    }

    fn note_rtt(&mut self, rtt: Duration) {
        let smoothed =
            self.srtt.map_or(rtt.as_nanos(), |srtt| (srtt.as_nanos() / 8) * 7 + rtt.as_nanos() / 8);
        self.srtt = Some(Duration::from_nanos(smoothed));
    }

    /// Begins an epoch (RFC 9438 §4.2). After a timeout, K is 0 and W_max is the current window
    /// (§4.8).
    fn new_epoch(&mut self, now: Time) -> Epoch {
        if self.after_timeout || self.w_max < self.cwnd {
            self.w_max = self.cwnd;
            self.after_timeout = false;
        }
        Epoch {
            start: now,
            k: time_to_w_max(self.w_max, self.cwnd, self.config.c),
            w_est: self.cwnd,
        }
    }

    /// Grows the window in slow start for an ACK of `bytes` bytes, which are `acked` segments.
    fn slow_start(&mut self, event: &AckEvent, bytes: u64, acked: f64) {
        let whole = self.cwnd as u64;
        let advice = match &mut self.hystart {
            Some(hystart) => hystart.on_ack(bytes, event, whole),
            None => Advice::Grow,
        };
        let share = match advice {
            Advice::Grow => 1.0,
            Advice::GrowLess => 1.0 / CSS_GROWTH_DIVISOR as f64,
            Advice::Leave => {
                self.ssthresh = Some(self.cwnd);
                self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
                return self.congestion_avoidance(event.now, acked);
            }
        };
        if let Some(limit) = self.growth.slow_start_limit() {
            self.cwnd += acked.min(limit as f64) * share;
            return;
        }
        // Congestion avoidance handles the part of the growth beyond ssthresh.
        let ssthresh = self.ssthresh.unwrap_or(f64::INFINITY);
        let beyond = (self.cwnd + acked * share - ssthresh).max(0.0);
        self.cwnd += acked * share - beyond;
        if beyond > 0.0 {
            self.congestion_avoidance(event.now, beyond);
        }
    }

    /// Grows the window in congestion avoidance for `acked` segments (RFC 9438 §4.3–4.5).
    fn congestion_avoidance(&mut self, now: Time, acked: f64) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.new_epoch(now),
        };
        let CubicConfig { c, beta, .. } = self.config;
        let alpha = if epoch.w_est < self.cwnd_prior { reno_friendly_increase(beta) } else { 1.0 };
        epoch.w_est += alpha * acked / self.cwnd;
        self.epoch = Some(epoch);
        let t = now.saturating_since(epoch.start).as_secs_lossy();
        if self.config.reno_friendly && w_cubic(t, epoch.k, self.w_max, c) < epoch.w_est {
            self.cwnd = self.cwnd.max(epoch.w_est);
            return;
        }
        let rtt = self.srtt.map_or(0.0, Duration::as_secs_lossy);
        let target = w_cubic(t + rtt, epoch.k, self.w_max, c);
        let target = target.clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd = (self.cwnd + (target - self.cwnd) / self.cwnd * acked).min(target);
    }

    /// Updates W_max and cwnd_prior for a reduction of the window (RFC 9438 §4.6, §4.7). Returns
    /// the new ssthresh: the FlightSize times the factor `left`.
    fn reduce(&mut self, flight: u64, left: f64) -> f64 {
        let CubicConfig { beta, fast_convergence, .. } = self.config;
        self.prior = Prior {
            cwnd: self.cwnd,
            w_max: self.w_max,
            cwnd_prior: self.cwnd_prior,
            epoch: self.epoch,
        };
        self.cwnd_prior = self.cwnd;
        self.w_max = if fast_convergence && self.cwnd < self.w_max {
            self.cwnd * (1.0 + beta) / 2.0
        } else {
            self.cwnd
        };
        self.epoch = None;
        (flight as f64 / self.mss * left).max(2.0)
    }
}

/// Checks that C is above 0 and that β is between 0 and 1.
pub(super) fn check_c_and_beta(c: f64, beta: f64, checks: &mut Checks) {
    checks.within("c", c, above(0.0));
    checks.within("beta", beta, above(0.0).below(1.0));
}

impl<T: ?Sized> Component<T, CongestionSetup> for Cubic {
    type Config = CubicConfig;

    fn check(config: &CubicConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_c_and_beta(config.c, config.beta, &mut checks);
        if let Some(beta_ecn) = config.beta_ecn {
            check_beta_ecn(beta_ecn, &mut checks);
        }
        checks.finish()
    }

    fn build(
        config: CubicConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Cubic, ConfigError> {
        Ok(Cubic::new(config, &setup.extra))
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, event: &AckEvent) {
        let Some(bytes) = event.growth else { return };
        if let Some(rtt) = event.rtt {
            self.note_rtt(rtt);
        }
        let since_last =
            event.now.saturating_since(std::mem::replace(&mut self.last_ack, event.now));
        if event.app_limited {
            // RFC 9438 §5.8: while cwnd is not used, the window does not grow and t does not
            // advance.
            if let Some(epoch) = &mut self.epoch {
                epoch.start = epoch.start + since_last;
            }
            return;
        }
        let acked = self.growth.counted(bytes, event) as f64 / self.mss;
        if self.ssthresh.is_some_and(|ssthresh| self.cwnd >= ssthresh) {
            self.congestion_avoidance(event.now, acked);
        } else {
            self.slow_start(event, bytes, acked);
        }
    }

    #[inline]
    fn needs_every_ack(&self) -> bool {
        false
    }

    fn on_loss(&mut self, event: &LossEvent) {
        let ssthresh = self.reduce(event.flight, self.config.beta);
        self.ssthresh = Some(ssthresh);
        self.cwnd = ssthresh;
        self.growth.on_reduction(false);
        self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
        self.after_timeout = false;
    }

    /// Reduces the window after a timeout (RFC 9438 §4.8).
    fn on_rto(&mut self, event: &LossEvent) {
        self.hystart.take_if(|hystart| !hystart.continues_after_timeout());
        let is_repeated = self.after_timeout && self.cwnd <= 1.0;
        if is_repeated {
            return;
        }
        if event.keeps_ssthresh {
            self.epoch = None;
        } else {
            self.ssthresh = Some(self.reduce(event.flight, self.config.beta));
        }
        self.cwnd = 1.0;
        self.growth.on_reduction(true);
        self.after_timeout = true;
    }

    /// Reduces the window after an echo (RFC 9438 §4.6), by the factor β_ecn if it is set (RFC 8511
    /// §3).
    fn on_ecn(&mut self, event: &LossEvent) {
        let CubicConfig { beta, beta_ecn, .. } = self.config;
        let ssthresh = self.reduce(event.flight, beta_ecn.unwrap_or(beta));
        self.ssthresh = Some(ssthresh);
        self.cwnd = self.cwnd.min(ssthresh);
        self.growth.on_reduction(false);
        self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
        self.after_timeout = false;
    }

    fn on_recovered(&mut self, cwnd: u64) {
        let ssthresh = self.ssthresh.unwrap_or(self.cwnd);
        self.cwnd = ssthresh.min(cwnd as f64 / self.mss);
    }

    /// Restores the state before a spurious reduction (RFC 9438 §4.9.1). If several reductions are
    /// undone, W_max becomes the restored window and a new epoch begins.
    fn on_undo(&mut self, event: &UndoEvent) {
        let prior = self.prior;
        if (prior.cwnd * self.mss) as u64 == event.cwnd {
            self.cwnd = self.cwnd.max(prior.cwnd);
            (self.w_max, self.cwnd_prior, self.epoch) =
                (prior.w_max, prior.cwnd_prior, prior.epoch);
        } else {
            self.cwnd = self.cwnd.max(event.cwnd as f64 / self.mss);
            (self.w_max, self.epoch) = (self.w_max.max(self.cwnd), None);
        }
        self.after_timeout = false;
        self.ssthresh = match event.ssthresh {
            u64::MAX => None,
            bytes => self.ssthresh.map(|ssthresh| ssthresh.max(bytes as f64 / self.mss)),
        };
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = self.cwnd.min(1.0);
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        let since_last =
            event.now.saturating_since(std::mem::replace(&mut self.last_ack, event.now));
        let left = event.cwnd as f64 / self.mss;
        if left < self.cwnd {
            self.cwnd = left;
            self.epoch = None;
        } else if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start + since_last;
        }
        self.ssthresh =
            self.ssthresh.map(|ssthresh| ssthresh.max(event.ssthresh as f64 / self.mss));
    }

    fn cwnd(&self) -> u64 {
        (self.cwnd * self.mss) as u64
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh.map_or(u64::MAX, |ssthresh| (ssthresh * self.mss) as u64)
    }
}

#[cfg(test)]
mod tests;
