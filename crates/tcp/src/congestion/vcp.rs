//! VCP: multiplicative increase, additive increase or a reduction, selected by the load code in
//! each ACK.
//!
//! Source: Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough", SIGCOMM 2005
//! (`vcp-2005`). For rules that the paper does not specify, the source is the public ns-2 package
//! (v0.1, 2006). The reactions to loss and timeout are the same as in ns-2's Reno.
//!
//! The window is counted in packets, including fractions. There is no slow start, not even after a
//! timeout. An echoed code of 0, from a packet that lost its ECN capability, counts as low load, as
//! in the package. Not implemented: pacing of windows up to 64 packets if the RTT is above 200 ms.

mod rules;

pub use rules::{AiScaling, vcp_ai_limit, vcp_ai_scale, vcp_mi_increase, vcp_mi_limit};

use super::{
    AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, RecoveryPhase, UndoEvent,
};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, above, at_least};
use rules::{RttInTicks, in_ticks};
use serde::Deserialize;

/// Load codes that the receiver echoes: values of the ECN field.
const HIGH: f32 = 2.0;
const OVERLOAD: f32 = 3.0;

/// Largest load ρ with the code for low load (vcp-2005, Table 1). ξ = κ (1 − ρ)/ρ is computed at
/// this ρ.
const LOW_LOAD: f64 = 0.8;

/// Condition that ends the freeze after a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Freeze {
    /// The freeze ends when an echoed code is below overload; this code takes effect immediately.
    /// If the freeze ends after t_ρ with the code overload, AI for one RTT follows (the public
    /// package).
    #[default]
    PublicCode,
    /// The freeze always lasts t_ρ, regardless of the codes. Then the window grows by AI for one
    /// RTT, also regardless of the codes (vcp-2005 §3.2).
    Unconditional,
}

/// Reaction of the window to a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnLoss {
    /// The window is halved after a fast retransmit, and reduced to one packet after a timeout.
    #[default]
    Reno,
    /// As `Reno` if the last code was overload or the reaction to overload is still in progress.
    /// Otherwise the window is not reduced. Lost segments are always retransmitted.
    Ignore,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VcpConfig {
    /// κ, above 0: gain of multiplicative increase (MI). vcp-2005, Table 1: 0.25.
    pub kappa: f64,
    /// α, above 0: additive increase (AI) at an RTT of 100 ms, packets per RTT. vcp-2005, Table 1:
    /// 1.
    pub alpha: f64,
    /// β, in (0, 1): factor of the window after overload. vcp-2005, Table 1: 0.875.
    pub beta: f64,
    /// t_ρ, ns, above 0: measurement interval of the routers. It is the period of one MI step and
    /// the duration of the freeze. vcp-2005, Table 1: 200 ms.
    pub interval_ns: u64,
    /// Dependence of AI on the RTT.
    #[serde(default)]
    pub scaling: AiScaling,
    /// Use the limits of MI and AI that depend on the window (the public package).
    pub limiters: bool,
    /// Condition that ends the freeze.
    #[serde(default)]
    pub freeze: Freeze,
    /// Clock tick, ns. The timers, and the RTT that scales AI and MI, are rounded to ticks. 0: no
    /// rounding. The public package uses 10 ms.
    pub granularity_ns: u64,
    /// Reaction of the window to a loss.
    #[serde(default)]
    pub on_loss: OnLoss,
}

/// Phase of the reaction to overload (multiplicative decrease, MD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Md {
    /// No reaction in progress: the next code overload reduces the window.
    Ready,
    /// The window is frozen until this time.
    Frozen(Time),
    /// The window grows by AI until this time.
    Forced(Time),
}

/// VCP as a congestion control algorithm.
#[derive(Clone, Debug)]
pub struct Vcp {
    config: VcpConfig,
    /// ξ: relative growth of MI per t_ρ, without limiter.
    xi: f64,
    mss: u64,
    /// True if the window may grow although it is not fully used.
    grow_unused: bool,
    /// Congestion window, packets.
    cwnd: f64,
    /// Upper bound of the window because of the receive window, packets.
    most: f64,
    ssthresh: u64,
    rtt: RttInTicks,
    md: Md,
    /// True if the last code was overload.
    is_overloaded: bool,
}

impl Vcp {
    /// Creates the state before the first segment.
    pub fn new(config: VcpConfig, setup: &CongestionSetup) -> Vcp {
        let options = &setup.options;
        let packets = |bytes: u64| bytes as f64 / f64::from(options.mss);
        let most = packets(options.largest_window()).max(1.0);
        Vcp {
            config,
            xi: config.kappa * (1.0 - LOW_LOAD) / LOW_LOAD,
            mss: u64::from(options.mss),
            grow_unused: options.grow_unused,
            cwnd: packets(options.initial_window).clamp(1.0, most),
            most,
            ssthresh: options.initial_ssthresh.unwrap_or(u64::MAX),
            rtt: RttInTicks::new(config.granularity_ns, options.srtt_gain),
            md: Md::Ready,
            is_overloaded: false,
        }
    }

    /// Returns the congestion window, packets.
    pub fn packets(&self) -> f64 {
        self.cwnd
    }

    /// Returns t_ρ.
    fn interval(&self) -> Duration {
        Duration::from_nanos(self.config.interval_ns)
    }

    /// Updates the phase at `now`. The freeze lasts t_ρ; the AI after the freeze lasts one RTT.
    fn pass_time(&mut self, now: Time) {
        if let Md::Frozen(until) = self.md
            && until <= now
        {
            self.md = Md::Forced(until + in_ticks(self.rtt.get(), self.config.granularity_ns));
        }
        if let Md::Forced(until) = self.md
            && until <= now
        {
            self.md = Md::Ready;
        }
    }

    /// Applies the load code that an ACK of new data echoes.
    fn apply_load_code(&mut self, code: f32, now: Time, may_grow: bool) {
        self.is_overloaded = code >= OVERLOAD;
        let is_strict = self.config.freeze == Freeze::Unconditional;
        match self.md {
            Md::Frozen(_) if is_strict || self.is_overloaded => (),
            Md::Forced(_) if is_strict || self.is_overloaded => self.add(may_grow),
            Md::Ready if self.is_overloaded => {
                self.cwnd = (self.cwnd * self.config.beta).max(1.0);
                let freeze = in_ticks(self.interval(), self.config.granularity_ns);
                self.md = Md::Frozen(now + freeze);
            }
            _ if code >= HIGH => self.add(may_grow),
            _ => self.multiply(may_grow),
        }
    }

    /// Applies additive increase: α_s packets per RTT.
    fn add(&mut self, may_grow: bool) {
        let scale = vcp_ai_scale(self.config.scaling, self.rtt.get(), self.interval());
        let step = self.config.alpha * scale / self.cwnd;
        let limit = if self.config.limiters { vcp_ai_limit(self.cwnd) } else { f64::INFINITY };
        self.grow(step.min(limit), may_grow);
    }

    /// Applies multiplicative increase: factor (1 + ξ)^(RTT/t_ρ) per RTT.
    fn multiply(&mut self, may_grow: bool) {
        let limit = if self.config.limiters { vcp_mi_limit(self.cwnd) } else { f64::INFINITY };
        let step = vcp_mi_increase(self.xi.min(limit), self.rtt.get(), self.interval());
        self.grow(step, may_grow);
    }

    fn grow(&mut self, step: f64, may_grow: bool) {
        if may_grow {
            self.cwnd = (self.cwnd + step).min(self.most);
        }
    }

    /// Returns true if a loss reduces the window.
    fn answers_loss(&self) -> bool {
        let is_announced = self.is_overloaded || self.md != Md::Ready;
        self.config.on_loss == OnLoss::Reno || is_announced
    }

    /// Reduces cwnd from `window` bytes to `left` packets, at least one packet.
    fn reduced(&mut self, window: u64, left: f64) {
        let half = window as f64 / 2.0;
        self.ssthresh = (half as u64).max(2 * self.mss);
        self.cwnd = left.max(1.0);
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Vcp {
    type Config = VcpConfig;

    fn check(config: &VcpConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("kappa", config.kappa, above(0.0));
        checks.within("alpha", config.alpha, above(0.0));
        checks.within("beta", config.beta, above(0.0).below(1.0));
        checks.within("interval_ns", config.interval_ns, at_least(1_u64));
        checks.finish()
    }

    fn build(config: VcpConfig, setup: Setup<'_, T, CongestionSetup>) -> Result<Vcp, ConfigError> {
        Ok(Vcp::new(config, &setup.extra))
    }
}

impl CongestionControl for Vcp {
    fn on_ack(&mut self, event: &AckEvent) {
        if event.acked == 0 {
            return;
        }
        self.pass_time(event.now);
        if let Some(rtt) = event.rtt {
            self.rtt.sample(rtt, event.now);
        }
        if event.phase != RecoveryPhase::Recovery {
            self.apply_load_code(event.feedback, event.now, self.grow_unused || !event.app_limited);
        }
    }

    /// Reduces the window as ns-2 does: halves the window, not the FlightSize, and keeps at least
    /// one packet.
    fn on_loss(&mut self, event: &LossEvent) {
        if self.answers_loss() {
            self.reduced(event.cwnd, self.cwnd / 2.0);
        } else {
            self.ssthresh = event.cwnd.max(2 * self.mss);
        }
    }

    fn on_rto(&mut self, event: &LossEvent) {
        if self.answers_loss() {
            self.reduced(event.cwnd, 1.0);
        }
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.cwnd = self.cwnd.min(cwnd as f64 / self.mss as f64).max(1.0);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd as f64 / self.mss as f64);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.cwnd = self.cwnd.min(event.cwnd as f64 / self.mss as f64).max(1.0);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        (self.cwnd * self.mss as f64) as u64
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests;
