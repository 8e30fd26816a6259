//! VCP: multiplicative increase, additive increase or a reduction, by the load code in each ACK.
//!
//! Source: Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough", SIGCOMM 2005 (`vcp-2005`), and
//! where it is silent the public ns-2 package (v0.1, 2006); loss and timeout are those of ns-2's Reno.
//! The window is counted in packets, fractions included. There is no slow start, after a timeout either.
//! Chosen: an echo of 0, of a packet that lost its capability, reads as low, as in the package.
//! Left out: pacing of windows up to 64 packets where the RTT is above 200 ms.

mod rules;

pub use rules::{AiScaling, vcp_ai_limit, vcp_ai_scale, vcp_mi_increase, vcp_mi_limit};

use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, RecoveryPhase};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, above, at_least};
use rules::{RttInTicks, in_ticks};
use serde::Deserialize;

/// Echoes of the load codes: the ECN field as a number.
const HIGH: f32 = 2.0;
const OVERLOAD: f32 = 3.0;

/// The load up to which the code is low (vcp-2005, Table 1): ξ = κ (1 − ρ) / ρ at this ρ.
const LOW_LOAD: f64 = 0.8;

/// Condition that ends the freeze after a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Freeze {
    /// A code below overload, which is obeyed at once; AI for an RTT answers overload only (the public
    /// package).
    #[default]
    PublicCode,
    /// Nothing: no code counts for t_ρ, and then the window grows by AI for an RTT, regardless of
    /// the code (vcp-2005 §3.2).
    Unconditional,
}

/// Reaction of the window to a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnLoss {
    /// Half of it is left after a fast retransmit, one packet after a timeout.
    #[default]
    Reno,
    /// The same, if overload was the last code or its reduction is still in progress; otherwise
    /// nothing. Lost segments are retransmitted in both cases.
    Ignore,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VcpConfig {
    /// κ, above 0: gain of MI. vcp-2005, Table 1: 0.25.
    pub kappa: f64,
    /// α, packets per RTT of 100 ms, above 0: AI. vcp-2005, Table 1: 1.
    pub alpha: f64,
    /// β, in (0, 1): what overload leaves of the window. vcp-2005, Table 1: 0.875.
    pub beta: f64,
    /// t_ρ, ns, above 0: the routers' interval, in which MI has one step and which the freeze lasts.
    /// vcp-2005, Table 1: 200 ms.
    pub interval_ns: u64,
    /// How AI depends on the RTT.
    #[serde(default)]
    pub scaling: AiScaling,
    /// Bounds of MI and AI at small and at large windows (the public package).
    pub limiters: bool,
    /// Condition that ends the freeze.
    #[serde(default)]
    pub freeze: Freeze,
    /// Tick in which the RTT of the scaling is counted and to which the timers are rounded, ns; 0 is
    /// exact. The public package: 10 ms.
    pub granularity_ns: u64,
    /// Reaction of the window to a loss.
    #[serde(default)]
    pub on_loss: OnLoss,
}

/// Phase after a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Md {
    /// Overload reduces the window.
    Ready,
    /// It was reduced and stays as it is until then.
    Frozen(Time),
    /// The window grows by AI until then.
    Forced(Time),
}

/// VCP's congestion control.
#[derive(Clone, Debug)]
pub struct Vcp {
    config: VcpConfig,
    /// ξ, the step of MI in t_ρ, without limiter.
    xi: f64,
    mss: u64,
    /// Whether a window grows that is not used up.
    grow_unused: bool,
    /// The window, packets.
    cwnd: f64,
    /// The largest that the receiver's window lets be of use.
    most: f64,
    ssthresh: u64,
    rtt: RttInTicks,
    md: Md,
    /// The last code was overload.
    is_overloaded: bool,
}

impl Vcp {
    /// Before the first segment.
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

    /// The window, packets.
    pub fn packets(&self) -> f64 {
        self.cwnd
    }

    /// t_ρ.
    fn interval(&self) -> Duration {
        Duration::from_nanos(self.config.interval_ns)
    }

    /// The freeze lasts t_ρ, AI after it an RTT.
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

    /// An ACK of new data echoes `code`.
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

    /// AI: α_s packets per RTT.
    fn add(&mut self, may_grow: bool) {
        let scale = vcp_ai_scale(self.config.scaling, self.rtt.get(), self.interval());
        let step = self.config.alpha * scale / self.cwnd;
        let limit = if self.config.limiters { vcp_ai_limit(self.cwnd) } else { f64::INFINITY };
        self.grow(step.min(limit), may_grow);
    }

    /// MI: (1 + ξ)^(RTT/t_ρ) times the window per RTT.
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

    /// Whether a loss reduces the window.
    fn answers_loss(&self) -> bool {
        let is_announced = self.is_overloaded || self.md != Md::Ready;
        self.config.on_loss == OnLoss::Reno || is_announced
    }

    /// A loss was found in a window of `window` bytes: what is left of it, packets, at least one.
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

    /// ns-2 halves the window, not FlightSize, and leaves one packet at least.
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
