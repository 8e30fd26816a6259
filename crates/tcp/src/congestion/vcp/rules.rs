//! Arithmetic of VCP: growth of the window per ACK, the limits of the growth, and the RTT that
//! scales the growth.

use airpath_core::{Duration, Time};
use serde::Deserialize;

/// t_d, ns: reference RTT of the AI scaling.
const T_D: f64 = 100e6;

/// Dependence of additive increase (AI) on the RTT. The formulas are the increase with α = 1,
/// packets per RTT. t_d is 100 ms, t_ρ is the measurement interval of the routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AiScaling {
    /// (RTT/t_d)². Below 20 ms: 0.2 RTT/t_d. Above 500 ms: 25 + RTT/t_d − 5 (the public package).
    #[default]
    PublicCode,
    /// (RTT/t_ρ)².
    Squared,
    /// (RTT/t_ρ) (RTT/t_d).
    Product,
    /// RTT/t_ρ.
    Linear,
    /// 1 for every RTT.
    Off,
}

/// Returns α_s/α, the factor that scales AI, for an RTT and a measurement interval of the routers.
pub fn vcp_ai_scale(scaling: AiScaling, rtt: Duration, interval: Duration) -> f64 {
    let rtt = rtt.as_nanos() as f64;
    let (by_t_d, by_interval) = (rtt / T_D, rtt / interval.as_nanos() as f64);
    match scaling {
        AiScaling::PublicCode if by_t_d <= 0.2 => 0.2 * by_t_d,
        AiScaling::PublicCode if by_t_d <= 5.0 => by_t_d * by_t_d,
        AiScaling::PublicCode => 25.0 + (by_t_d - 5.0),
        AiScaling::Squared => by_interval * by_interval,
        AiScaling::Product => by_interval * by_t_d,
        AiScaling::Linear => by_interval,
        AiScaling::Off => 1.0,
    }
}

/// Returns the growth of MI per ACK, packets: (1 + ξ)^(RTT/t_ρ) − 1, with RTT/t_ρ limited to 2.5.
pub fn vcp_mi_increase(xi: f64, rtt: Duration, interval: Duration) -> f64 {
    let steps = (rtt.as_nanos() as f64 / interval.as_nanos() as f64).min(2.5);
    libm::pow(1.0 + xi, steps) - 1.0
}

/// Limits of MI at windows of 1, 10, 100, … packets (the public package). `AI_LIMITS` has the
/// limits of AI.
const MI_LIMITS: [f64; 8] = [1.0, 0.5, 0.2, 0.1, 0.064, 0.044, 0.032, 0.024];
const AI_LIMITS: [f64; 8] = [0.1, 0.06, 0.04, 0.02, 0.01, 0.006, 0.004, 0.002];

/// Returns the two values of `limits` whose windows enclose `cwnd` packets, and the position of
/// `cwnd` between these windows on a logarithmic scale, in [0, 1).
fn around(limits: &[f64; 8], cwnd: f64) -> (f64, f64, f64) {
    let place = libm::log10(cwnd).clamp(0.0, 6.999_999);
    let index = place as usize;
    (limits[index], limits[index + 1], place - index as f64)
}

/// Returns the largest ξ at a window of `cwnd` packets, at least 1. Interpolates linearly in log
/// `cwnd` between decades.
pub fn vcp_mi_limit(cwnd: f64) -> f64 {
    let (low, high, part) = around(&MI_LIMITS, cwnd);
    low + (high - low) * part
}

/// Returns the largest increase of AI per ACK at a window of `cwnd` packets, at least 1.
/// Interpolates by a power function between decades.
pub fn vcp_ai_limit(cwnd: f64) -> f64 {
    let (low, high, part) = around(&AI_LIMITS, cwnd);
    low * libm::pow(high / low, part)
}

/// Rounds `time` to clock ticks, at least one tick. Rounds up if the fraction is at least a fifth
/// of a tick. A tick of 0 disables rounding.
pub(super) fn in_ticks(time: Duration, tick_ns: u64) -> Duration {
    let nanos = time.as_nanos();
    let Some(whole) = nanos.checked_div(tick_ns) else { return time };
    let is_more = whole == 0 || (nanos % tick_ns).saturating_mul(5) >= tick_ns;
    Duration::from_nanos((whole + u64::from(is_more)).saturating_mul(tick_ns))
}

/// Smoothed RTT that scales the growth; 100 ms before the first sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttInTicks {
    tick_ns: u64,
    gain: f64,
    /// SRTT in eighths of a tick, as in ns-2; in ns if the tick is 0.
    srtt: Option<f64>,
}

impl RttInTicks {
    pub(super) fn new(tick_ns: u64, gain: f64) -> RttInTicks {
        RttInTicks { tick_ns, gain, srtt: None }
    }

    /// Adds an RTT sample: a segment was acknowledged at `now`, `rtt` after it was sent. The sample
    /// is the number of clock ticks between the two times.
    pub(super) fn sample(&mut self, rtt: Duration, now: Time) {
        let Some(arrived) = now.as_nanos().checked_div(self.tick_ns) else {
            let rtt = rtt.as_nanos() as f64;
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt + self.gain * (rtt - srtt)));
            return;
        };
        let sent = now.as_nanos().saturating_sub(rtt.as_nanos()) / self.tick_ns;
        let ticks = (arrived - sent).max(1) as f64;
        self.srtt = Some(match self.srtt {
            None => 8.0 * ticks,
            Some(eighths) => {
                (eighths + 8.0 * self.gain * (ticks - (eighths / 8.0).trunc())).max(1.0)
            }
        });
    }

    /// Returns SRTT in full ticks, at least one; without rounding if the tick is 0.
    pub(super) fn get(&self) -> Duration {
        match (self.srtt, self.tick_ns) {
            (None, _) => Duration::from_nanos(T_D as u64),
            (Some(nanos), 0) => Duration::from_nanos(nanos as u64),
            (Some(eighths), tick_ns) => {
                Duration::from_nanos(((eighths / 8.0) as u64).max(1).saturating_mul(tick_ns))
            }
        }
    }
}
