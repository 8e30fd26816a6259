//! Minimum and maximum of the RTT over the windows of Copa.

use crate::congestion::bbr::filters::WindowedMax;
use crate::congestion::rounds::RealSmoothedRtt;
use airpath_core::{Duration, Time};

/// Shortest window of the minimum RTT.
const MIN_RTT_WINDOW: u64 = 10_000_000_000;
/// Window of the minimum RTT in minimum RTTs.
const MIN_RTT_ROUNDS: u64 = 20;
/// RTTs within which a queue of Copa flows must have been nearly empty.
const MODE_ROUNDS: usize = 5;
/// RTTs over which the range of queueing delays is measured.
const RANGE_ROUNDS: usize = 4;
/// Share of the range of queueing delays within which a queue is deemed empty.
const EMPTY_SHARE: f64 = 0.1;
/// Gain of the smoothed RTT.
const SRTT_GAIN: f64 = 1.0 / 16.0;

/// Minimum over a window of time, ns.
#[derive(Clone, Copy, Debug, Default)]
struct WindowedMin(WindowedMax);

impl WindowedMin {
    fn get(&self) -> u64 {
        u64::MAX - self.0.get()
    }

    fn update(&mut self, window: u64, now: u64, value: u64) {
        self.0.update(window, now, u64::MAX - value);
    }
}

/// Minimum and maximum of the current RTT and of the RTTs before it, ns.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    /// Start of the current RTT, ns.
    begin: u64,
    /// Pairs of minimum and maximum, the current RTT first.
    rounds: [(u64, u64); MODE_ROUNDS + 1],
}

impl Default for Extremes {
    fn default() -> Extremes {
        Extremes { begin: 0, rounds: [(u64::MAX, 0); MODE_ROUNDS + 1] }
    }
}

impl Extremes {
    /// Adds a sample. An RTT ends after `srtt`.
    fn update(&mut self, srtt: u64, now: u64, value: u64) {
        if now - self.begin >= srtt {
            self.rounds.rotate_right(1);
            self.rounds[0] = (u64::MAX, 0);
            self.begin = now;
        }
        let (low, high) = self.rounds[0];
        self.rounds[0] = (low.min(value), high.max(value));
    }

    fn lowest(&self) -> u64 {
        self.rounds.iter().map(|round| round.0).min().unwrap_or(u64::MAX)
    }

    fn highest(&self) -> u64 {
        self.rounds[..=RANGE_ROUNDS].iter().map(|round| round.1).max().unwrap_or(0)
    }
}

/// RTT estimates of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttFilters {
    /// Smoothed RTT, ns.
    srtt: RealSmoothedRtt,
    /// RTT_min: minimum over 10 s or 20 minimum RTTs, the larger.
    least: WindowedMin,
    /// RTT_standing: minimum over half of the smoothed RTT.
    standing: WindowedMin,
    extremes: Extremes,
    /// Last sample.
    pub(super) latest: Duration,
}

impl RttFilters {
    /// Adds a sample.
    pub(super) fn sample(&mut self, now: Time, rtt: Duration) {
        let (now, value) = (now.as_nanos(), rtt.as_nanos());
        let first = self.srtt.value == 0.0;
        self.srtt.sample(value as f64, SRTT_GAIN);
        self.latest = rtt;
        let known = if first { value } else { self.least.get() };
        let window = MIN_RTT_WINDOW.max(known.saturating_mul(MIN_RTT_ROUNDS));
        self.least.update(window, now, value);
        let srtt = self.srtt.value as u64;
        self.standing.update(window.min(srtt / 2), now, value);
        self.extremes.update(srtt, now, value);
    }

    /// Returns RTT_standing and RTT_min; `None` before the first sample.
    pub(super) fn standing_and_least(&self) -> Option<(Duration, Duration)> {
        let standing = Duration::from_nanos(self.standing.get());
        (self.srtt.value > 0.0).then_some((standing, Duration::from_nanos(self.least.get())))
    }

    /// Returns true if the queue was nearly empty within the last five RTTs, as with Copa flows only:
    /// the queueing delay was less than a tenth of its range in the last four RTTs.
    pub(super) fn drains(&self) -> bool {
        let least = self.least.get();
        let range = self.extremes.highest().saturating_sub(least) as f64;
        let delay = self.extremes.lowest().saturating_sub(least) as f64;
        delay < EMPTY_SHARE * range || range == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn after(samples: &[(u64, u64)]) -> RttFilters {
        let mut filters = RttFilters::default();
        samples.iter().for_each(|(now, rtt)| filters.sample(Time::from_millis(*now), ms(*rtt)));
        filters
    }

    /// RTT 50 ms, then 80 ms for one smoothed RTT: the standing RTT follows after half an RTT, the
    /// minimum is kept for 10 s.
    #[test]
    fn copa_2018_standing_rtt_is_the_minimum_of_half_an_rtt() {
        let mut samples = vec![(0, 50)];
        samples.extend((1..=60).map(|now| (now, 80)));
        assert_eq!(after(&samples).standing_and_least(), Some((ms(80), ms(50))));
        samples.extend((61..10_200).map(|now| (now, 80)));
        assert_eq!(after(&samples).standing_and_least(), Some((ms(80), ms(80))));
    }

    /// Range 40 to 80 ms: a minimum of the last RTTs below 44 ms is an empty queue.
    #[test]
    fn copa_2018_queue_drains_if_its_minimum_is_within_a_tenth_of_the_range() {
        let with = |low: u64| {
            let mut samples = vec![(0, 40)];
            samples.extend((1..2000).map(|now| (now, if now % 100 == 0 { low } else { 80 })));
            after(&samples).drains()
        };
        assert!(with(43));
        assert!(!with(45));
        // 80 ms for six RTTs.
        let samples: Vec<_> = (0..600).map(|now| (now, if now < 9 { 40 } else { 80 })).collect();
        assert!(!after(&samples).drains());
        assert!(after(&[(0, 40), (1, 40)]).drains());
    }
}
