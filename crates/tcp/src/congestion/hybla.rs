//! Hybla: the window of a long path grows as fast as that of a path with the reference RTT.
//!
//! Source: Caini & Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", 2004
//! (`hybla-2004`); the arithmetic of Linux `net/ipv4/tcp_hybla.c`, 6.18: integer segments, ρ in
//! eighths, increments in 1/128 of a segment. Growth counts ACKs, not acknowledged segments.
//!
//! The initial window is ρ, from the RTT of the handshake; `initial_window` has no effect. Difference
//! from Linux: without an RTT of the handshake, the initial window is two segments, and the first RTT
//! sample raises it to ρ.

use super::AckEvent;
use super::rounds::SmoothedRtt;
use super::segments::{CaState, InSegments, LinuxModule, SegmentWindow, reno_ssthresh};
use airpath_core::{Checks, Duration, at_least};
use serde::Deserialize;

/// 2^(n/8) in units of 1/128, for n = 0 to 7.
const FRACTIONS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// Units of an increment per segment.
const UNIT: u64 = 128;
/// Largest exponent of the growth in slow start.
const LARGEST_EXPONENT: u64 = 16;
/// `snd_cwnd_clamp`: largest window, segments.
const LARGEST_WINDOW: u64 = 65_535;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HyblaConfig {
    /// RTT₀, the reference RTT, ns. Linux: 25 ms.
    pub rtt0_ns: u64,
}

/// Hybla in the arithmetic of Linux.
pub type Hybla = InSegments<HyblaModule>;

/// The module `tcp_hybla`.
#[derive(Clone, Debug)]
pub struct HyblaModule {
    /// RTT₀, µs.
    rtt0: u64,
    /// `hybla_en`: false during recovery.
    enabled: bool,
    /// `rho_3ls`: ρ in eighths; 0 before the first RTT sample.
    rho: u64,
    smoothed: SmoothedRtt,
    /// `minrtt_us`: minimum of the smoothed RTT, eightfold, µs.
    least: u64,
    /// `snd_cwnd_cents`: fraction of a segment, units of 1/128.
    fraction: u64,
}

/// Computes ρ = max(1, SRTT/RTT₀) in eighths, truncated. `srtt` is eight times the smoothed RTT.
pub fn hybla_rho(srtt: u64, rtt0: u64) -> u64 {
    (srtt / rtt0).max(8)
}

/// Computes the increment per ACK in slow start, 2^ρ − 1, in units of 1/128. `rho` is in eighths.
pub fn hybla_slow_start_increment(rho: u64) -> u64 {
    (1 << (rho / 8).min(LARGEST_EXPONENT)) * FRACTIONS[(rho % 8) as usize] - UNIT
}

/// Computes the increment per ACK in congestion avoidance, ρ²/W, in units of 1/128, truncated.
pub fn hybla_avoidance_increment(rho: u64, window: u64) -> u64 {
    2 * rho * rho / window
}

impl HyblaModule {
    /// Updates ρ if the smoothed RTT has a new minimum. The first RTT sample sets the initial
    /// window.
    fn update(&mut self, window: &mut SegmentWindow) {
        let srtt = self.smoothed.eightfold;
        if srtt == 0 || self.rho != 0 && srtt >= self.least {
            return;
        }
        let is_first = self.rho == 0;
        (self.rho, self.least) = (hybla_rho(srtt, self.rtt0), srtt);
        if is_first {
            window.cwnd = window.cwnd.max((self.rho / 8).min(window.ssthresh));
        }
    }

    fn grow(&mut self, window: &mut SegmentWindow) {
        let in_slow_start = window.in_slow_start();
        let increment = match in_slow_start {
            true => hybla_slow_start_increment(self.rho),
            false => hybla_avoidance_increment(self.rho, window.cwnd),
        };
        if !in_slow_start && increment < UNIT {
            window.credit += 1;
        }
        let total = self.fraction + increment % UNIT;
        window.cwnd += increment / UNIT + total / UNIT;
        self.fraction = total % UNIT;
        if total >= UNIT {
            window.credit = 0;
        }
        // An increment that truncation makes 0: one segment per window of ACKs.
        if increment == 0 && window.credit >= window.cwnd {
            window.cwnd += 1;
            window.credit = 0;
        }
        if in_slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(LARGEST_WINDOW);
    }
}

impl LinuxModule for HyblaModule {
    type Config = HyblaConfig;

    fn check(config: &HyblaConfig, checks: &mut Checks) {
        checks.within("rtt0_ns", config.rtt0_ns, at_least(1_000_u64));
    }

    fn init(config: HyblaConfig, window: &mut SegmentWindow) -> HyblaModule {
        window.cwnd = 2;
        HyblaModule {
            rtt0: config.rtt0_ns / 1000,
            enabled: true,
            rho: 0,
            smoothed: SmoothedRtt::default(),
            least: u64::MAX,
            fraction: 0,
        }
    }

    /// `hybla_init`.
    fn opened(&mut self, window: &mut SegmentWindow, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.smoothed.sample(rtt);
            (self.rho, self.least) =
                (hybla_rho(self.smoothed.eightfold, self.rtt0), self.smoothed.eightfold);
            window.cwnd = (self.rho / 8).min(LARGEST_WINDOW);
        }
    }

    fn acked(&mut self, _window: &mut SegmentWindow, event: &AckEvent, _acked: u64) {
        if let Some(rtt) = event.rtt {
            self.smoothed.sample(rtt);
        }
    }

    /// `hybla_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        self.update(window);
        if !window.is_limited(event) {
            return;
        }
        if !self.enabled || self.rho == 0 {
            return window.reno(acked, event);
        }
        self.grow(window);
    }

    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        reno_ssthresh(window)
    }

    /// `hybla_state`.
    fn set_state(&mut self, _window: &SegmentWindow, state: CaState) {
        self.enabled = state == CaState::Open;
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{MSS, Rounds, lose, with_window};
    use super::*;
    use airpath_core::Time;

    fn hybla(ssthresh: Option<u64>) -> Hybla {
        with_window(HyblaConfig { rtt0_ns: 25_000_000 }, 10, ssthresh)
    }

    fn ack(cc: &mut Hybla, rtt: u64) -> u64 {
        use super::super::CongestionControl;
        let event = AckEvent::of_new_data(Time::from_secs(1), MSS);
        cc.on_ack(&AckEvent { rtt: Some(Duration::from_millis(rtt)), ..event });
        cc.window.cwnd
    }

    #[test]
    fn hybla_2004_rho_is_the_rtt_in_reference_rtts_and_at_least_one() {
        assert_eq!(
            [10_000, 25_000, 40_000, 500_000].map(|rtt| hybla_rho(8 * rtt, 25_000)),
            [8, 8, 12, 160]
        );
    }

    /// ρ = 1: 1 segment per ACK. ρ = 1.5: 2^1.5 − 1 = 1.828, here ⌊2 · 181 − 128⌋/128 = 1.828.
    #[test]
    fn hybla_2004_slow_start_adds_two_to_the_rho_minus_one_per_ack() {
        assert_eq!(hybla_slow_start_increment(8), 128);
        assert_eq!(hybla_slow_start_increment(12), 234);
        assert_eq!(hybla_slow_start_increment(24), 7 * 128);
    }

    /// ρ = 4, W = 8: 16/8 = 2 segments per ACK, ρ² per window.
    #[test]
    fn hybla_2004_congestion_avoidance_adds_rho_squared_per_window() {
        assert_eq!(hybla_avoidance_increment(32, 8), 2 * 128);
        assert_eq!(hybla_avoidance_increment(8, 10), 12);
    }

    /// RTT 100 ms, ρ = 4. The first ACK raises the window of 2 to 4 and adds 2⁴ − 1.
    #[test]
    fn first_sample_sets_the_initial_window_to_rho() {
        let mut cc = hybla(None);
        assert_eq!(cc.window.cwnd, 2);
        assert_eq!(ack(&mut cc, 100), 4 + 15);
        assert_eq!(ack(&mut cc, 100), 4 + 30);
    }

    /// An RTT of the handshake of 20 ms: ρ = 1, one segment. 500 ms: 20 segments.
    #[test]
    fn handshake_sets_the_initial_window_to_rho() {
        use super::super::CongestionControl;
        for (rtt, window) in [(20, 1), (500, 20)] {
            let mut cc = hybla(None);
            cc.on_open(Time::ZERO, Some(Duration::from_millis(rtt)));
            assert_eq!(cc.window.cwnd, window);
        }
    }

    #[test]
    fn slow_start_does_not_exceed_ssthresh() {
        assert_eq!(ack(&mut hybla(Some(10)), 100), 10);
    }

    /// ρ is updated only at a new minimum of the smoothed RTT: 100 ms, then 200 ms, then a mean
    /// below 100 ms.
    #[test]
    fn rho_follows_only_new_minima_of_the_smoothed_rtt() {
        let mut cc = hybla(Some(2));
        let rhos = [100, 200, 20, 20].map(|rtt| {
            ack(&mut cc, rtt);
            cc.module.rho
        });
        assert_eq!(rhos, [32, 32, 32, 29]);
    }

    /// At the reference RTT the window is that of Reno: one segment per window of ACKs. Truncation
    /// of 128/10 to 12 needs two more ACKs in the first window.
    #[test]
    fn hybla_2004_at_the_reference_rtt_the_window_grows_by_a_segment_per_rtt() {
        let mut cc = hybla(Some(10));
        cc.window.cwnd = 10;
        let windows = Rounds::default().windows(&mut cc, &[25; 9]);
        assert!((17..=19).contains(&windows[8]), "{windows:?}");
        lose(&mut cc, Time::from_secs(9));
        assert_eq!(cc.window.cwnd, windows[8] / 2);
    }
}
