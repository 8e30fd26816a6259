//! H-TCP: the growth increases with the time since the last loss, and the reduction follows the
//! ratio of the RTTs.
//!
//! Source: Leith & Shorten, "H-TCP: TCP for high-speed and long-distance networks", 2004
//! (`htcp-2004`); the arithmetic of Linux `net/ipv4/tcp_htcp.c`, 6.18: integer segments, times in ms,
//! α and β in units of 1/128.

use super::AckEvent;
use super::rounds::micros;
use super::segments::{CaState, InSegments, LinuxModule, MIN_SSTHRESH, SegmentWindow};
use serde::Deserialize;

/// Units of α and β.
const UNIT: u64 = 128;
/// `BETA_MIN` and `BETA_MAX`: 0.5 and 0.8.
const BETA_MIN: u64 = 64;
const BETA_MAX: u64 = 102;
/// Ticks of the clock per second.
const HZ: u64 = 1000;
/// Largest rise of the maximum RTT by one sample, ms.
const MAX_RTT_STEP: u64 = 20;
/// Smallest minimum RTT with which β follows the RTTs, ms.
const ADAPTIVE_RTT: u64 = 10;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HtcpConfig {
    /// Divide α by the RTT in units of 100 ms (module parameter `use_rtt_scaling`).
    pub rtt_scaling: bool,
    /// Set β to 0.5 if the throughput has changed by more than a fifth (module parameter
    /// `use_bandwidth_switch`).
    pub bandwidth_switch: bool,
}

/// H-TCP in the arithmetic of Linux.
pub type Htcp = InSegments<HtcpModule>;

/// Values that an undo restores.
#[derive(Clone, Copy, Debug)]
struct Undo {
    last_loss: u64,
    max_rtt: u64,
    old_max_rate: u64,
}

/// The module `tcp_htcp`. Times are in ms, rates in segments per second.
#[derive(Clone, Debug)]
pub struct HtcpModule {
    config: HtcpConfig,
    alpha: u64,
    beta: u64,
    /// `modeswitch`: true if β may follow the RTTs.
    adapts: bool,
    /// `pkts_acked`: number of segments that the last ACK delivered.
    last_acked: u64,
    min_rtt: u64,
    max_rtt: u64,
    /// `last_cong`: time of the last loss.
    last_loss: u64,
    undo: Option<Undo>,
    /// `packetcount` and `lasttime`: segments delivered since the start of a throughput sample.
    delivered: u64,
    sample_start: u64,
    /// `Bi`, `maxB` and `old_maxB`: mean throughput, its maximum in this epoch and in the epoch
    /// before.
    rate: u64,
    max_rate: u64,
    old_max_rate: u64,
    state: CaState,
}

/// Computes α(Δ) before scaling: 1 + 10 (Δ − 1 s) + ((Δ − 1 s)/2)² for Δ above 1 s, truncated.
/// `since` is Δ, ms.
pub fn htcp_alpha(since: u64) -> u64 {
    let late = since.saturating_sub(HZ);
    if late == 0 {
        return 1;
    }
    1 + (10 * late + (late / 2) * (late / 2) / HZ) / HZ
}

/// Computes β = RTT_min/RTT_max in units of 1/128, between 0.5 and 0.8.
pub fn htcp_beta(min_rtt: u64, max_rtt: u64) -> u64 {
    (min_rtt * UNIT / max_rtt).clamp(BETA_MIN, BETA_MAX)
}

impl HtcpModule {
    /// `measure_rtt`.
    fn measure_rtt(&mut self, rtt: u64) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if self.state == CaState::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt > self.max_rtt && rtt <= self.max_rtt + MAX_RTT_STEP {
                self.max_rtt = rtt;
            }
        }
    }

    /// `measure_achieved_throughput`, without the RTT.
    fn measure_rate(&mut self, window: &SegmentWindow, acked: u64) {
        let now = window.jiffies();
        if self.state != CaState::Open {
            (self.delivered, self.sample_start) = (0, now);
            return;
        }
        self.delivered += acked;
        let growth = (self.alpha / UNIT).max(1);
        let time = now.saturating_sub(self.sample_start);
        let is_complete = self.delivered >= window.cwnd.saturating_sub(growth)
            && self.min_rtt > 0
            && time >= self.min_rtt;
        if !is_complete {
            return;
        }
        let sample = self.delivered * HZ / time;
        if now.saturating_sub(self.last_loss) / self.min_rtt <= 3 {
            (self.rate, self.max_rate) = (sample, sample);
        } else {
            self.rate = (3 * self.rate + sample) / 4;
            self.max_rate = self.max_rate.max(self.rate);
        }
        (self.delivered, self.sample_start) = (0, now);
    }

    /// `htcp_beta_update`.
    fn update_beta(&mut self) {
        if self.config.bandwidth_switch {
            let (new, old) = (self.max_rate, self.old_max_rate);
            self.old_max_rate = new;
            if !(4 * old..=6 * old).contains(&(5 * new)) {
                (self.beta, self.adapts) = (BETA_MIN, false);
                return;
            }
        }
        if self.adapts && self.min_rtt > ADAPTIVE_RTT && self.max_rtt > 0 {
            self.beta = htcp_beta(self.min_rtt, self.max_rtt);
        } else {
            (self.beta, self.adapts) = (BETA_MIN, true);
        }
    }

    /// `htcp_alpha_update`: α = 2 (1 − β) α(Δ), divided by the RTT in units of 100 ms.
    fn update_alpha(&mut self, now: u64) {
        let mut factor = htcp_alpha(now.saturating_sub(self.last_loss));
        if self.config.rtt_scaling && self.min_rtt > 0 {
            let scale = (HZ * 8 / (10 * self.min_rtt)).clamp(4, 80);
            factor = (factor * 8 / scale).max(1);
        }
        self.alpha = 2 * factor * (UNIT - self.beta);
    }
}

impl LinuxModule for HtcpModule {
    type Config = HtcpConfig;

    fn init(config: HtcpConfig, window: &mut SegmentWindow) -> HtcpModule {
        HtcpModule {
            config,
            alpha: UNIT,
            beta: BETA_MIN,
            adapts: false,
            last_acked: 1,
            min_rtt: 0,
            max_rtt: 0,
            last_loss: window.jiffies(),
            undo: None,
            delivered: 0,
            sample_start: 0,
            rate: 0,
            max_rate: 0,
            old_max_rate: 0,
            state: CaState::Open,
        }
    }

    fn acked(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if acked == 0 && event.acked == 0 {
            return;
        }
        if self.state == CaState::Open {
            self.last_acked = acked;
        }
        if let Some(rtt) = event.rtt {
            self.measure_rtt(micros(rtt).div_ceil(1000).max(1));
        }
        if self.config.bandwidth_switch {
            self.measure_rate(window, acked);
        }
    }

    /// `htcp_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if !window.is_limited(event) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        if window.credit * self.alpha / UNIT >= window.cwnd {
            window.cwnd += 1;
            window.credit = 0;
            self.update_alpha(window.jiffies());
        } else {
            window.credit += self.last_acked;
        }
        self.last_acked = 1;
    }

    /// `htcp_recalc_ssthresh`. The maximum RTT loses 5 % of its distance to the minimum.
    fn ssthresh(&mut self, state: &SegmentWindow, window: u64) -> u64 {
        let (min_rtt, max_rtt) = (self.min_rtt, self.max_rtt);
        self.undo =
            Some(Undo { last_loss: self.last_loss, max_rtt, old_max_rate: self.old_max_rate });
        self.update_beta();
        self.update_alpha(state.jiffies());
        if min_rtt > 0 && max_rtt > min_rtt {
            self.max_rtt = min_rtt + (max_rtt - min_rtt) * 95 / 100;
        }
        (window * self.beta / UNIT).max(MIN_SSTHRESH)
    }

    /// `htcp_state`: a loss, and the end of its recovery, start the time Δ.
    fn set_state(&mut self, window: &SegmentWindow, state: CaState) {
        self.state = state;
        if state != CaState::Open || self.undo.take().is_some() {
            self.last_loss = window.jiffies();
        }
    }

    /// `htcp_cwnd_undo`.
    fn undo(&mut self) {
        if let Some(undo) = self.undo.take() {
            self.last_loss = undo.last_loss;
            self.max_rtt = undo.max_rtt;
            self.old_max_rate = undo.old_max_rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{MSS, Rounds, lose, with_window};
    use super::super::{CongestionControl, UndoEvent};
    use super::*;
    use airpath_core::Time;

    fn htcp(window: u64, bandwidth_switch: bool) -> Htcp {
        with_window(HtcpConfig { rtt_scaling: true, bandwidth_switch }, window, Some(window))
    }

    /// α(Δ) = 1 up to 1 s; 1 + 10·1 + 0.25 = 11 at 2 s; 1 + 10·3 + 2.25 = 33 at 4 s.
    #[test]
    fn htcp_2004_alpha_is_a_quadratic_function_of_the_time_since_a_loss() {
        assert_eq!([0, 1000, 2000, 4000].map(htcp_alpha), [1, 1, 11, 33]);
    }

    #[test]
    fn htcp_2004_beta_is_the_ratio_of_the_rtts_between_half_and_four_fifths() {
        assert_eq!(htcp_beta(100, 160), 80);
        assert_eq!(htcp_beta(100, 400), BETA_MIN);
        assert_eq!(htcp_beta(100, 101), BETA_MAX);
    }

    /// α = 2 (1 − β) α(Δ) scaled with the RTT: with RTT 100 ms, β = 0.5 and Δ below 1 s, α is 1; at
    /// Δ = 2 s it is 11. With an RTT of 200 ms it doubles; the scale is ⌊8·1000/2000⌋ = 4 eighths.
    #[test]
    fn htcp_2004_alpha_is_scaled_with_the_rtt() {
        for (rtt, since, alpha) in [(100, 500, 1), (100, 2000, 11), (200, 2000, 22)] {
            let mut cc = htcp(10, false);
            (cc.module.min_rtt, cc.module.last_loss) = (rtt, 1000);
            cc.module.update_alpha(1000 + since);
            assert_eq!(cc.module.alpha, alpha * UNIT);
        }
    }

    /// The first loss uses β = 0.5 and enables the adaptive β, the second uses 100/125 = 0.8.
    #[test]
    fn htcp_2004_second_loss_reduces_the_window_by_the_ratio_of_the_rtts() {
        let mut cc = htcp(100, false);
        (cc.module.min_rtt, cc.module.max_rtt) = (100, 130);
        lose(&mut cc, Time::from_secs(1));
        assert_eq!((cc.window.cwnd, cc.module.beta, cc.module.max_rtt), (50, BETA_MIN, 128));
        cc.window.cwnd = 100;
        lose(&mut cc, Time::from_secs(2));
        assert_eq!((cc.module.beta, cc.window.cwnd), (100, 78));
    }

    /// The throughput has doubled since the last epoch, so that β is 0.5.
    #[test]
    fn htcp_2004_changed_throughput_resets_beta() {
        let mut cc = htcp(100, true);
        (cc.module.min_rtt, cc.module.max_rtt, cc.module.adapts) = (100, 125, true);
        (cc.module.old_max_rate, cc.module.max_rate) = (100, 110);
        lose(&mut cc, Time::from_secs(1));
        assert_eq!(cc.module.beta, BETA_MAX);
        cc.module.max_rate = 220;
        lose(&mut cc, Time::from_secs(2));
        assert_eq!((cc.module.beta, cc.module.adapts), (BETA_MIN, false));
    }

    /// 20 segments at 100 ms: one segment per RTT in the first second after a loss. After 5 s the
    /// window grows much faster.
    #[test]
    fn growth_accelerates_after_a_second() {
        let mut cc = htcp(20, true);
        let mut rounds = Rounds::default();
        lose(&mut cc, rounds.now);
        cc.on_recovered(100 * MSS);
        let windows = rounds.windows(&mut cc, &[100; 50]);
        assert!(windows[8] - windows[0] <= 8, "{windows:?}");
        assert!(windows[49] - windows[44] > 20, "{windows:?}");
    }

    #[test]
    fn undo_restores_the_time_of_the_last_loss_and_the_maximum_rtt() {
        let mut cc = htcp(100, true);
        (cc.module.min_rtt, cc.module.max_rtt, cc.module.last_loss) = (100, 200, 300);
        lose(&mut cc, Time::from_secs(1));
        assert_eq!((cc.module.max_rtt, cc.module.last_loss), (195, 1000));
        let before = 100 * MSS;
        cc.on_undo(&UndoEvent { now: Time::from_secs(2), cwnd: before, ssthresh: before });
        assert_eq!((cc.module.max_rtt, cc.module.last_loss, cc.window.cwnd), (200, 300, 100));
    }
}
