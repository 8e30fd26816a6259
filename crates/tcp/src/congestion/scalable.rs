//! Scalable TCP: the window grows and shrinks by constant factors.
//!
//! Source: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003
//! (`scalable-2003`); the arithmetic of Linux `net/ipv4/tcp_scalable.c`, 6.18: a = 1/100, b = 1/8,
//! integer segments. Below 100 segments growth is Reno's.

use super::AckEvent;
use super::segments::{InSegments, LinuxModule, NoParameters, SegmentWindow};

/// `TCP_SCALABLE_AI_CNT`: acknowledged segments per increase of the window by one segment, 1/a.
pub(super) const AI_COUNT: u64 = 100;
/// b as a divisor of the window.
const DECREASE_DIVISOR: u64 = 8;

/// Scalable TCP in the arithmetic of Linux.
pub type Scalable = InSegments<ScalableModule>;

/// The module `tcp_scalable`.
#[derive(Clone, Debug)]
pub struct ScalableModule;

impl LinuxModule for ScalableModule {
    type Config = NoParameters;

    fn init(_config: NoParameters, _window: &mut SegmentWindow) -> ScalableModule {
        ScalableModule
    }

    /// `tcp_scalable_cong_avoid`.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64) {
        if !window.is_limited(event) {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            window.avoid(window.cwnd.min(AI_COUNT), left);
        }
    }

    /// `tcp_scalable_ssthresh`.
    fn ssthresh(&mut self, _state: &SegmentWindow, window: u64) -> u64 {
        window - window / DECREASE_DIVISOR
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::testing::{Rounds, lose, with_window};
    use super::*;
    use airpath_core::Time;

    fn scalable(window: u64) -> Scalable {
        with_window(NoParameters {}, window, Some(window))
    }

    /// 1000 segments: 10 more per RTT, which is 1 %. 50 segments: one more per RTT.
    #[test]
    fn scalable_2003_window_grows_by_a_hundredth_of_the_acknowledged_segments() {
        let grown = |window| Rounds::default().windows(&mut scalable(window), &[100]);
        assert_eq!((grown(1000), grown(50)), (vec![1010], vec![51]));
    }

    #[test]
    fn scalable_2003_loss_reduces_the_window_by_an_eighth() {
        for (before, after) in [(1000, 875), (9, 8), (2, 2)] {
            let mut cc = scalable(before);
            lose(&mut cc, Time::from_secs(1));
            assert_eq!(cc.window.cwnd, after);
        }
    }

    /// The number of RTTs between losses is ln(1 − b)/ln(1 + a) = 13.4, regardless of the window.
    #[test]
    fn scalable_2003_recovery_time_does_not_depend_on_the_window() {
        for window in [800, 8000, 80_000] {
            let mut cc = scalable(window);
            lose(&mut cc, Time::from_secs(1));
            let grown = Rounds::default().windows(&mut cc, &[100; 14]);
            assert!(grown[12] < window && grown[13] >= window, "{window}: {grown:?}");
        }
    }
}
