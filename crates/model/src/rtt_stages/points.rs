//! Chooses the windows of the grid, and interpolates between them.

use super::Problem;

/// Difference below which two windows count as equal, packets.
const SAME: f64 = 1e-9;

/// Distance between a window and its second point just below, packets.
const JUST_BELOW: f64 = 1e-5;

/// Position between two grid points: index of the lower point, and share of the probability that
/// belongs to the next point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Between {
    pub(super) place: usize,
    pub(super) next: f64,
}

impl Problem {
    /// Returns the distance between windows at or above W_th, packets: 1/(b n) with the smallest
    /// integer n for which it is at most `step`. Also returns n.
    fn apart(&self, step: f64) -> (f64, usize) {
        let parts = (1.0 / (self.packets_per_ack * step) - SAME).ceil().max(1.0);
        (1.0 / (self.packets_per_ack * parts), parts as usize)
    }

    /// Returns an upper bound of the number of windows of a grid.
    pub(super) fn most_windows(&self, step: f64) -> f64 {
        4.0 * self.max_window_packets * self.packets_per_ack / self.apart(step).0
    }

    /// Returns windows from 1 to W_max at distances of at most about `step` packets. They are
    /// chosen such that each window grows to another window of the grid.
    ///
    /// From W_th on, the windows are evenly spaced. Below W_th, they are the windows that slow
    /// start reaches from the halves of the windows below 2 W_th. Halving followed by slow start
    /// thus leads back to a window of the grid, without an interpolation error. A window just below
    /// W_th needs one more stage than a window at W_th. The same applies to all windows before and
    /// after it in the growth, and to its double. Therefore each window that is an integer number
    /// of increases away from W_th has a second point just below it.
    pub(super) fn windows(&self, ssthresh: f64, step: f64) -> Vec<f64> {
        let top = self.max_window_packets;
        // If slow start leads to W_max, only the windows of slow start are needed.
        let ssthresh = ssthresh.min(top);
        let (apart, parts) = self.apart(step);
        let increased = |place: usize| ssthresh + place as f64 * apart;
        let just_below = |place: usize| increased(place) - JUST_BELOW;
        let count = ((top - ssthresh) / apart).ceil() as usize;
        let mut windows = vec![1.0, top];
        windows.extend((0..count).map(increased));
        windows.extend((0..=count).step_by(parts).map(just_below));
        let doubled = (ssthresh / apart).ceil() as usize;
        let finest = ssthresh / doubled as f64;
        let factor = (1.0 / self.packets_per_ack).exp2();
        self.slow_start(ssthresh / factor, ssthresh, |window| windows.push(window));
        self.slow_start(ssthresh - JUST_BELOW, ssthresh, |window| windows.push(window));
        for place in 0..=doubled {
            // Lower windows are closer together, so only every second, fourth, … window is kept.
            let is_kept = |window: f64| {
                let apart = (factor - 1.0) * finest * window / ssthresh;
                let every = (step / (4.0 * apart)).max(1.0).log2() as u32;
                place % (1usize << every.min(32)) == 0
            };
            let mut keep = |window| {
                if is_kept(window) {
                    windows.push(window);
                }
            };
            self.slow_start(increased(place) / 2.0, ssthresh, &mut keep);
            if place.is_multiple_of(parts) {
                self.slow_start(just_below(place) / 2.0, ssthresh, &mut keep);
            }
        }
        windows.retain(|window| (1.0..=top).contains(window));
        windows.sort_unstable_by(f64::total_cmp);
        windows.dedup_by(|one, other| (*one - *other).abs() < SAME);
        windows
    }

    /// Calls `each` with the windows from 1 to `ssthresh` that slow start reaches before and after
    /// the window `through`.
    fn slow_start(&self, through: f64, ssthresh: f64, mut each: impl FnMut(f64)) {
        let b = self.packets_per_ack;
        let mut stages = (b * ((ssthresh - SAME) / through).log2()).floor();
        loop {
            let window = through * (stages / b).exp2();
            if window < 1.0 {
                return;
            }
            each(window);
            stages -= 1.0;
        }
    }
}

/// Locates a window between the windows of the grid.
pub(super) fn between(windows: &[f64], window: f64) -> Between {
    let place = windows.partition_point(|point| *point <= window + SAME).max(1) - 1;
    match windows.get(place + 1) {
        // A window just below the next point is not rounded up to it.
        Some(next) if *next - windows[place] <= 2.0 * JUST_BELOW => Between { place, next: 0.0 },
        Some(next) if window > windows[place] + SAME => {
            let next = (window - windows[place]) / (next - windows[place]);
            Between { place, next: next.clamp(0.0, 1.0) }
        }
        _ => Between { place, next: 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SETTING;
    use super::*;

    /// Each window of the grid grows to another window of the grid, except at the end of slow
    /// start.
    #[test]
    fn growth_leads_from_point_to_point() {
        for (packets_per_ack, ssthresh, step) in
            [(1.0, 9.0, 0.5), (2.0, 9.0, 0.25), (2.0, 2.0, 0.5)]
        {
            let problem = Problem { packets_per_ack, ..SETTING };
            let windows = problem.windows(ssthresh, step);
            assert!(windows.is_sorted() && windows[0] == 1.0 && windows.ends_with(&[64.0]));
            assert!(windows.windows(2).all(|pair| pair[1] - pair[0] <= step + SAME));
            let ends = ssthresh / (1.0 / packets_per_ack).exp2();
            for &window in &windows {
                let grown = problem.grow(window, ssthresh);
                let off = windows.iter().map(|point| (point - grown).abs()).fold(64.0, f64::min);
                // At the end of slow start, growth by the factor √2 may lead to a window that is
                // not on the grid.
                let ends = (ends..ssthresh).contains(&window) && packets_per_ack > 1.0;
                let is_on = off < 2.0 * JUST_BELOW;
                assert!(is_on || ends || window == 1.0, "{window} {grown} {off}");
            }
        }
    }

    #[test]
    fn a_window_between_points_keeps_its_mean_and_one_just_below_stays_below() {
        let windows = [1.0, 1.5, 2.0 - JUST_BELOW, 2.0, 3.0];
        let mean = |window| {
            let Between { place, next } = between(&windows, window);
            let after = windows.get(place + 1).map_or(0.0, |after| next * (after - windows[place]));
            windows[place] + after
        };
        for window in [1.0, 1.2, 1.5, 1.7, 2.0, 2.9, 3.0] {
            assert!((mean(window) - window).abs() < 1e-9, "{window}");
        }
        assert_eq!(between(&windows, 2.0 - JUST_BELOW / 2.0), Between { place: 2, next: 0.0 });
        assert_eq!(between(&windows, 2.0 - 1e-12), Between { place: 3, next: 0.0 });
    }
}
