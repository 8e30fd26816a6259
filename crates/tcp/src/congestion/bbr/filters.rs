//! Windowed filters.

/// Maximum over a window of time, from at most three samples.
///
/// Source: Kathleen Nichols' algorithm in Linux `lib/win_minmax.c`. The unit of time is arbitrary.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::congestion) struct WindowedMax {
    /// The best, second best and third best sample: pairs of time and value.
    samples: [(u64, u64); 3],
}

impl WindowedMax {
    /// Returns the maximum.
    #[inline]
    pub(in crate::congestion) const fn get(&self) -> u64 {
        self.samples[0].1
    }

    /// `minmax_running_max`: adds `value` at the time `now` to the maximum over `window`.
    pub(in crate::congestion) fn update(&mut self, window: u64, now: u64, value: u64) {
        let (sample, best) = ((now, value), &mut self.samples);
        if value >= best[0].1 || now - best[2].0 > window {
            *best = [sample; 3];
            return;
        }
        if value >= best[1].1 {
            best[1] = sample;
            best[2] = sample;
        } else if value >= best[2].1 {
            best[2] = sample;
        }
        self.expire(window, sample);
    }

    /// `minmax_subwin_update`: replaces the best sample if it is older than `window`, and the other
    /// samples after a quarter and a half of the window.
    fn expire(&mut self, window: u64, sample: (u64, u64)) {
        let (now, best) = (sample.0, &mut self.samples);
        let age = now - best[0].0;
        if age > window {
            *best = [best[1], best[2], sample];
            if now - best[0].0 > window {
                *best = [best[1], best[2], sample];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            best[1] = sample;
            best[2] = sample;
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(values: &[(u64, u64)]) -> u64 {
        let mut filter = WindowedMax::default();
        for (now, value) in values {
            filter.update(10, *now, *value);
        }
        filter.get()
    }

    /// `minmax_running_max`: the maximum is kept for a window.
    #[test]
    fn maximum_expires_after_the_window() {
        let falling: Vec<_> = (0..=10).map(|t| (t, 100 - t)).collect();
        assert_eq!(after(&falling), 100);
        let more: Vec<_> = (0..=11).map(|t| (t, 100 - t)).collect();
        assert!((89..100).contains(&after(&more)));
        assert_eq!(after(&[(0, 100), (5, 50), (20, 10)]), 10);
    }

    proptest! {
        /// The result is one of the samples of the window, and never less than the latest one.
        #[test]
        fn maximum_is_a_sample_of_the_window(values in prop::collection::vec(0_u64..100, 1..60)) {
            let mut filter = WindowedMax::default();
            for (now, value) in values.iter().enumerate() {
                filter.update(10, now as u64, *value);
                let window = &values[now.saturating_sub(10)..=now];
                prop_assert!(filter.get() >= *value && window.contains(&filter.get()));
            }
        }
    }
}
