//! Illinois: losses determine when the window shrinks, queueing delays by how much it changes.
//!
//! Source: Liu, Başar & Srikant, "TCP-Illinois: A loss- and delay-based congestion control algorithm
//! for high-speed networks", 2008 (`illinois-2008`); the arithmetic of Linux
//! `net/ipv4/tcp_illinois.c`, 6.18: integer segments, RTTs in µs, α in units of 1/128, β of 1/64.

use super::AckEvent;
use super::rounds::micros;
use super::segments::{CaState, InSegments, LinuxModule, MIN_SSTHRESH, SegmentWindow};
use airpath_core::{Checks, at_least};
use serde::Deserialize;

/// Units of α and β.
const ALPHA_UNIT: u64 = 128;
const BETA_UNIT: u64 = 64;
/// `ALPHA_MIN`: 0.3, truncated to 38/128. `ALPHA_MAX`: 10.
const ALPHA_MIN: u64 = 3 * ALPHA_UNIT / 10;
const ALPHA_MAX: u64 = 10 * ALPHA_UNIT;
/// `BETA_MIN`: 1/8. `BETA_MAX`: 1/2.
const BETA_MIN: u64 = BETA_UNIT / 8;
const BETA_MAX: u64 = BETA_UNIT / 2;
/// `RTT_MAX`: largest RTT, µs.
const RTT_MAX: u64 = u32::MAX as u64 / ALPHA_MAX;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IllinoisConfig {
    /// W_thresh: below this window, α = 1 and β = 1/2, segments (module parameter `win_thresh`).
    pub window_threshold: u64,
    /// θ: number of RTTs without delay before α is 10 again (module parameter `theta`).
    pub theta: u64,
}

/// Illinois in the arithmetic of Linux.
pub type Illinois = InSegments<IllinoisModule>;

/// The module `tcp_illinois`. RTTs and delays are in µs.
#[derive(Clone, Debug)]
pub struct IllinoisModule {
    config: IllinoisConfig,
    alpha: u64,
    beta: u64,
    /// Sum and number of the RTT samples of the round.
    sum: u64,
    samples: u64,
    base: u64,
    max: u64,
    /// `end_seq`: end of the data sent before the round, a stream offset.
    end: u64,
    /// `acked`: number of segments that the last ACK delivered.
    last_acked: u64,
    /// `rtt_above`: true if the delay has been above its low threshold.
    was_above: bool,
    /// `rtt_low`: number of rounds with a delay below the threshold since then.
    low_rounds: u64,
}

/// Computes α = k₁/(k₂ + d_a), units of 1/128, for a delay above its low threshold d₁ = d_m/100.
/// `mean` and `max` are d_a and d_m, µs.
pub fn illinois_alpha(mean: u64, max: u64) -> u64 {
    let low = max / 100;
    let (mean, max) = (mean - low, max - low);
    max * ALPHA_MAX / (max + mean * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
}

/// Computes β, units of 1/64: 1/8 up to d₂ = d_m/10, 1/2 from d₃ = 8 d_m/10, linear in between.
pub fn illinois_beta(mean: u64, max: u64) -> u64 {
    let (low, high) = (max / 10, 8 * max / 10);
    if mean <= low {
        BETA_MIN
    } else if mean >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high + (BETA_MAX - BETA_MIN) * mean - BETA_MAX * low) / (high - low)
    }
}

impl IllinoisModule {
    /// `rtt_reset`.
    fn start_round(&mut self, sent: u64) {
        (self.end, self.samples, self.sum) = (sent, 0, 0);
    }

    fn set_base_values(&mut self) {
        (self.alpha, self.beta) = (ALPHA_UNIT, BETA_MAX);
    }

    /// `alpha`: returns α of a round, with the delay before it rises to 10.
    fn next_alpha(&mut self, mean: u64, max: u64) -> u64 {
        if mean > max / 100 {
            self.was_above = true;
            return illinois_alpha(mean, max);
        }
        if self.was_above {
            self.low_rounds += 1;
            if self.low_rounds < self.config.theta {
                return self.alpha;
            }
            (self.low_rounds, self.was_above) = (0, false);
        }
        ALPHA_MAX
    }

    /// `update_params`: updates α and β once per RTT.
    fn update(&mut self, window: &SegmentWindow) {
        if window.cwnd < self.config.window_threshold {
            self.set_base_values();
        } else if let Some(mean_rtt) = self.sum.checked_div(self.samples) {
            let (mean, max) = (mean_rtt - self.base, self.max - self.base);
            self.alpha = self.next_alpha(mean, max);
            self.beta = illinois_beta(mean, max);
        }
        self.start_round(window.sent);
    }
}

impl LinuxModule for IllinoisModule {
    type Config = IllinoisConfig;

    fn check(config: &IllinoisConfig, checks: &mut Checks) {
        checks.within("theta", config.theta, at_least(1_u64));
    }

    fn init(config: IllinoisConfig, _window: &mut SegmentWindow) -> IllinoisModule {
        IllinoisModule {
            config,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            sum: 0,
            samples: 0,
            base: u64::MAX,
            max: 0,
            end: 0,
            last_acked: 0,
            was_above: false,
            low_rounds: 0,
        }
    }

    /// `tcp_illinois_acked`.
    fn acked(&mut self, _window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        self.last_acked = acked;
        if let Some(rtt) = event.rtt {
            let rtt = micros(rtt).min(RTT_MAX);
            (self.base, self.max) = (self.base.min(rtt), self.max.max(rtt));
            (self.sum, self.samples) = (self.sum + rtt, self.samples + 1);
        }
    }

    /// `tcp_illinois_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if event.ack > self.end {
            self.update(window);
        }
        if !window.is_limited(event) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        window.credit += self.last_acked;
        self.last_acked = 1;
        let grown = window.credit * self.alpha / ALPHA_UNIT;
        if grown >= window.cwnd {
            window.cwnd += grown / window.cwnd;
            window.credit = 0;
        }
    }

    /// `tcp_illinois_ssthresh`.
    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        (window - window * self.beta / BETA_UNIT).max(MIN_SSTHRESH)
    }

    /// `tcp_illinois_state`: a timeout resets α and β.
    fn set_state(&mut self, window: &SegmentWindow, state: CaState) {
        if state == CaState::Loss {
            self.set_base_values();
            (self.low_rounds, self.was_above) = (0, false);
            self.start_round(window.sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{MSS, Rounds, lose, with_window};
    use super::super::{CongestionControl, LossEvent};
    use super::*;
    use airpath_core::Time;

    fn illinois(window: u64) -> Illinois {
        let config = IllinoisConfig { window_threshold: 15, theta: 5 };
        with_window(config, window, Some(window))
    }

    /// d_m = 100 ms. At d_a = d₁ α is 10, at d_a = d_m it is 0.3: 99·1280/(99 + 99·1242/38) = 38.
    #[test]
    fn illinois_2008_alpha_falls_from_ten_to_three_tenths_with_the_delay() {
        assert_eq!(illinois_alpha(1000, 100_000), ALPHA_MAX);
        assert_eq!(illinois_alpha(100_000, 100_000), ALPHA_MIN);
        // d_a − d₁ = 38/1242 · 99 ms = 3.029 ms halves α.
        assert_eq!(illinois_alpha(4_029, 100_000), ALPHA_MAX / 2);
    }

    /// d_m = 100 ms: 1/8 up to 10 ms, 1/2 from 80 ms, 1/8 + 3/8 · 35/70 = 5/16 at 45 ms.
    #[test]
    fn illinois_2008_beta_rises_from_an_eighth_to_a_half_with_the_delay() {
        let betas = [0, 10_000, 45_000, 80_000, 100_000].map(|mean| illinois_beta(mean, 100_000));
        assert_eq!(betas, [8, 8, 20, 32, 32]);
    }

    /// Without delay the window grows by about 10 segments per RTT. Below 15 segments it grows by
    /// one.
    #[test]
    fn illinois_2008_window_grows_by_alpha_per_rtt() {
        let windows = Rounds::default().windows(&mut illinois(100), &[100; 4]);
        assert!((9..=11).contains(&(windows[3] - windows[2])), "{windows:?}");
        let windows = Rounds::default().windows(&mut illinois(10), &[100; 4]);
        assert_eq!(windows[3] - windows[2], 1, "{windows:?}");
    }

    /// After a round with a delay above the threshold, α is 10 only after five rounds below it.
    #[test]
    fn illinois_2008_theta_rounds_without_delay_precede_the_largest_alpha() {
        let mut cc = illinois(100);
        let mut alphas = Vec::new();
        for mean in [50_000, 0, 0, 0, 0, 0] {
            cc.module.alpha = cc.module.next_alpha(mean, 100_000);
            alphas.push(cc.module.alpha);
        }
        let above = illinois_alpha(50_000, 100_000);
        assert_eq!(alphas, [above, above, above, above, above, ALPHA_MAX]);
    }

    /// β = 1/8 leaves 88 of 100 segments: 100 − ⌊100·8/64⌋. A timeout resets β to 1/2.
    #[test]
    fn illinois_2008_loss_reduces_the_window_by_beta() {
        let mut cc = illinois(100);
        cc.module.beta = BETA_MIN;
        lose(&mut cc, Time::from_secs(1));
        assert_eq!(cc.window.cwnd, 88);
        cc.on_rto(&LossEvent::new(Time::from_secs(2), 88 * MSS, 88 * MSS));
        assert_eq!((cc.module.alpha, cc.module.beta), (ALPHA_UNIT, BETA_MAX));
    }
}
