//! BIC: the window approaches its last maximum by binary search.
//!
//! Source: Xu, Harfoush & Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance
//! Networks", 2004 (`bic-2004`); the arithmetic of Linux `net/ipv4/tcp_bic.c`, 6.18, with its
//! parameters: S_max = 16 segments, `low_window` = 14 segments, β = 819/1024, `smooth_part` = 20.

use super::AckEvent;
use super::segments::{
    CaState, InSegments, LinuxModule, MIN_SSTHRESH, SegmentWindow, reno_ssthresh,
};
use serde::Deserialize;

/// `BICTCP_BETA_SCALE` and `beta`: factor of the window after a loss, 0.8.
const SCALE: u64 = 1024;
const BETA: u64 = 819;
/// `BICTCP_B`: the binary search covers a quarter of the distance per RTT.
const B: u64 = 4;
/// `max_increment`: S_max, segments per RTT.
const MAX_INCREMENT: u64 = 16;
/// `low_window`: below it, the window is that of Reno.
const LOW_WINDOW: u64 = 14;
/// `smooth_part`: RTTs from W_max − B to W_max.
const SMOOTH_PART: u64 = 20;
/// Largest number of acknowledged segments per increase before the first loss: 5 % per RTT.
const FIRST_COUNT: u64 = 20;
/// `ACK_RATIO_SHIFT`: the ratio of segments to ACKs is in units of 1/16.
const RATIO_UNIT: u64 = 16;
/// `HZ / 32`: interval between evaluations for an unchanged window, ms.
const HOLD: u64 = 31;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BicConfig {
    /// Release bandwidth for new flows after a second loss (module parameter `fast_convergence`).
    pub fast_convergence: bool,
}

/// BIC in the arithmetic of Linux.
pub type Bic = InSegments<BicModule>;

/// The module `tcp_bic`.
#[derive(Clone, Debug)]
pub struct BicModule {
    config: BicConfig,
    /// `cnt`: number of acknowledged segments per increase of the window by one segment.
    needed: u64,
    /// `last_max_cwnd`: W_max, segments; 0 if not yet known.
    last_max: u64,
    /// `last_cwnd` and `last_time`: window of the last evaluation, and its time, ms.
    last_look: Option<(u64, u64)>,
    /// `delayed_ack`: mean number of segments per ACK, units of 1/16.
    ratio: u64,
    state: CaState,
}

/// Computes the number of acknowledged segments per increase of the window by one segment, with one
/// ACK per segment. `window` and `max` are W and W_max, segments; W is above `low_window`.
pub fn bic_count(window: u64, max: u64) -> u64 {
    if window < max {
        return match (max - window) / B {
            distance if distance > MAX_INCREMENT => window / MAX_INCREMENT,
            0 | 1 => window * SMOOTH_PART / B,
            distance => window / distance,
        };
    }
    if window < max + B {
        window * SMOOTH_PART / B
    } else if window < max + MAX_INCREMENT * (B - 1) {
        window * (B - 1) / (window - max)
    } else {
        window / MAX_INCREMENT
    }
}

impl BicModule {
    /// `bictcp_reset`.
    fn reset(&mut self) {
        (self.needed, self.last_max, self.last_look) = (0, 0, None);
        self.ratio = 2 * RATIO_UNIT;
    }

    /// `bictcp_update`.
    fn update(&mut self, window: &SegmentWindow) {
        let (cwnd, now) = (window.cwnd, window.jiffies());
        if self.last_look.is_some_and(|(last, at)| last == cwnd && now <= at + HOLD) {
            return;
        }
        self.last_look = Some((cwnd, now));
        if cwnd <= LOW_WINDOW {
            self.needed = cwnd;
            return;
        }
        let mut needed = bic_count(cwnd, self.last_max);
        if self.last_max == 0 {
            needed = needed.min(FIRST_COUNT);
        }
        self.needed = (needed * RATIO_UNIT / self.ratio).max(1);
    }
}

impl LinuxModule for BicModule {
    type Config = BicConfig;

    fn init(config: BicConfig, _window: &mut SegmentWindow) -> BicModule {
        BicModule {
            config,
            needed: 0,
            last_max: 0,
            last_look: None,
            ratio: 2 * RATIO_UNIT,
            state: CaState::Open,
        }
    }

    /// `bictcp_acked`.
    fn acked(&mut self, _window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if event.acked > 0 && self.state == CaState::Open {
            self.ratio = (self.ratio - self.ratio / RATIO_UNIT + acked).max(1);
        }
    }

    /// `bictcp_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if !window.is_limited(event) {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            self.update(window);
            window.avoid(self.needed, left);
        }
    }

    /// `bictcp_recalc_ssthresh`.
    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        self.last_max = if window < self.last_max && self.config.fast_convergence {
            window * (SCALE + BETA) / (2 * SCALE)
        } else {
            window
        };
        match window <= LOW_WINDOW {
            true => reno_ssthresh(window),
            false => (window * BETA / SCALE).max(MIN_SSTHRESH),
        }
    }

    /// `bictcp_state`: a timeout resets W_max.
    fn set_state(&mut self, _window: &SegmentWindow, state: CaState) {
        self.state = state;
        if state == CaState::Loss {
            self.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{MSS, Rounds, lose, with_window};
    use super::super::{CongestionControl, LossEvent};
    use super::*;
    use airpath_core::Time;

    fn bic(window: u64) -> Bic {
        let mut cc: Bic = with_window(BicConfig { fast_convergence: true }, window, Some(window));
        cc.module.ratio = RATIO_UNIT;
        cc
    }

    /// W_max = 200. W = 100: distance 100/4 = 25 > 16, so 16 segments per RTT: ⌊100/16⌋. W = 180: 5
    /// segments per RTT. W = 197: one segment in 5 RTTs. W = 212: 12/3 = 4 per RTT. W = 300: 16.
    #[test]
    fn bic_2004_window_is_a_binary_search_of_its_last_maximum() {
        assert_eq!(bic_count(100, 200), 6);
        assert_eq!(bic_count(180, 200), 36);
        assert_eq!(bic_count(197, 200), 985);
        assert_eq!(bic_count(202, 200), 1010);
        assert_eq!(bic_count(212, 200), 53);
        assert_eq!(bic_count(300, 200), 18);
    }

    /// ⌊100·819/1024⌋ = 79. A second loss below W_max: W_max = ⌊79·1843/2048⌋ = 71. In a window of 14
    /// segments the reduction is that of Reno.
    #[test]
    fn bic_2004_loss_keeps_four_fifths_and_fast_convergence_lowers_the_maximum() {
        let mut cc = bic(100);
        lose(&mut cc, Time::from_secs(1));
        assert_eq!((cc.window.cwnd, cc.module.last_max), (79, 100));
        lose(&mut cc, Time::from_secs(2));
        assert_eq!((cc.window.cwnd, cc.module.last_max), (63, 71));
        let mut small = bic(14);
        lose(&mut small, Time::from_secs(1));
        assert_eq!(small.window.cwnd, 7);
    }

    /// From 79 towards 100: (100 − 79)/4 = 5 segments in the first RTT, then fewer.
    #[test]
    fn bic_2004_growth_slows_down_towards_the_maximum() {
        let mut cc = bic(100);
        let mut rounds = Rounds::default();
        lose(&mut cc, rounds.now);
        cc.on_recovered(200 * MSS);
        let windows = rounds.windows(&mut cc, &[100; 8]);
        let steps: Vec<u64> = windows.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((4..=6).contains(&(windows[0] - 79)), "{windows:?}");
        assert!(steps.is_sorted_by(|a, b| a >= b), "{windows:?}");
        assert!(windows[7] < 100, "{windows:?}");
    }

    /// With two segments per ACK, the number of ACKs per increase is halved.
    #[test]
    fn ratio_of_segments_to_acks_scales_the_growth() {
        let mut cc = bic(30);
        (cc.module.last_max, cc.module.ratio) = (100, 2 * RATIO_UNIT);
        cc.module.update(&cc.window);
        // Distance 70/4 = 17 > 16: ⌊30/16⌋ = 1, halved to 0, at least 1.
        assert_eq!(cc.module.needed, 1);
        (cc.window.cwnd, cc.module.last_max) = (180, 200);
        cc.module.update(&cc.window);
        assert_eq!(cc.module.needed, 18);
    }

    #[test]
    fn timeout_resets_the_maximum() {
        let mut cc = bic(100);
        cc.on_rto(&LossEvent::new(Time::from_secs(1), 100 * MSS, 100 * MSS));
        assert_eq!((cc.window.cwnd, cc.window.ssthresh, cc.module.last_max), (1, 79, 0));
    }
}
