//! Probability of a grid point, moments of the time to reach it, and mean number of packets sent.

/// Number of stored time moments: 1, t, … t⁵.
const MOMENTS: usize = 6;

/// Relative variance (variance divided by the squared mean) below which the variance counts as 0.
const LEAST_SPREAD: f64 = 1e-9;

/// Sums over all downloads at a point, weighted by probability: of 1, t, t², … t⁵ (t is the time),
/// and of the number of packets sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mass {
    times: [f64; MOMENTS],
    sent: f64,
}

impl Mass {
    /// Probability 1 at time 0, with no packets sent.
    pub(super) const WHOLE: Mass = Mass { times: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], sent: 0.0 };

    /// Returns the probability.
    #[inline]
    pub(super) fn p(&self) -> f64 {
        self.times[0]
    }

    /// Returns the mean time multiplied by the probability.
    #[inline]
    pub(super) fn time(&self) -> f64 {
        self.times[1]
    }

    /// Returns the mean number of packets sent multiplied by the probability.
    #[inline]
    pub(super) fn sent(&self) -> f64 {
        self.sent
    }

    /// Advances the time by `rtt_s` and the packets sent by `packets`: E(t + r)ⁿ is computed by the
    /// binomial theorem.
    #[inline]
    pub(super) fn after(mut self, rtt_s: f64, packets: f64) -> Mass {
        for first in 1..MOMENTS {
            for n in (first..MOMENTS).rev() {
                self.times[n] += rtt_s * self.times[n - 1];
            }
        }
        self.sent += packets * self.times[0];
        self
    }

    /// Multiplies all sums by `share`.
    #[inline]
    pub(super) fn times(self, share: f64) -> Mass {
        Mass { times: self.times.map(|moment| moment * share), sent: self.sent * share }
    }

    /// Adds another mass.
    #[inline]
    pub(super) fn add(&mut self, other: &Mass) {
        for (mine, other) in self.times.iter_mut().zip(other.times) {
            *mine += other;
        }
        self.sent += other.sent;
    }

    /// Returns E(1/t) multiplied by the probability, by Gauss quadrature with three nodes. The six
    /// moments determine the continued fraction p/(a₀ − b₁/(a₁ − b₂/a₂)) of their orthogonal
    /// polynomials. Exact for up to three different times.
    pub(super) fn inverse(&self) -> f64 {
        let p = self.p();
        let mean = self.time() / p;
        // Moments of t/mean − 1:
        let relative = self.times(1.0 / p).in_units_of(mean).after(-1.0, 0.0);
        let [_, _, second, third, fourth, fifth] = relative.times;
        if second < LEAST_SPREAD {
            return p / mean * (1.0 + second.max(0.0));
        }
        let skew = third / second;
        let a1 = 1.0 + skew;
        let norm = fourth - third * skew - second * second;
        if norm < LEAST_SPREAD * second {
            return p / mean / (1.0 - second / a1);
        }
        let a2 = 1.0 + (fifth - 2.0 * skew * fourth + skew * skew * third) / norm;
        p / mean / (1.0 - second / (a1 - norm / second / a2))
    }

    /// Converts the times to units of `unit_s`.
    fn in_units_of(mut self, unit_s: f64) -> Mass {
        let mut power = 1.0;
        for moment in &mut self.times {
            *moment /= power;
            power *= unit_s;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[(f64, f64)]) -> Mass {
        let mut all = Mass::default();
        for (share, time) in times {
            all.add(&Mass::WHOLE.after(*time, 0.0).times(*share));
        }
        all
    }

    #[test]
    fn moments_of_a_sum_are_those_of_the_binomial_theorem() {
        let later = Mass::WHOLE.after(2.0, 1.0).times(0.5).after(3.0, 7.0);
        assert_eq!(later.times, [0.5, 2.5, 12.5, 62.5, 312.5, 1562.5]);
        assert_eq!(later.sent, 4.0);
    }

    /// Cases have one, two or three different times, close together or far apart.
    #[test]
    fn the_mean_inverse_of_up_to_three_times_is_exact() {
        for times in [
            vec![(0.3, 7.0)],
            vec![(0.2, 7.0), (0.4, 7.1)],
            vec![(0.2, 3.0), (0.4, 9.0)],
            vec![(0.2, 3.0), (0.4, 9.0), (0.1, 4.0)],
            vec![(0.001, 3.0), (0.4, 5.0), (0.1, 5.2)],
        ] {
            let expected: f64 = times.iter().map(|(share, time)| share / time).sum();
            let found = at(&times).inverse();
            assert!((found / expected - 1.0).abs() < 1e-8, "{times:?}: {found} {expected}");
        }
    }

    /// For times distributed uniformly from 2 to 4, the mean inverse is ln 2 / 2.
    #[test]
    fn the_mean_inverse_of_many_times_is_close() {
        let count = 10_000;
        let times: Vec<(f64, f64)> = (0..count)
            .map(|place| {
                (1.0 / f64::from(count), 2.0 + 2.0 * (f64::from(place) + 0.5) / f64::from(count))
            })
            .collect();
        let found = at(&times).inverse();
        assert!((found / (2f64.ln() / 2.0) - 1.0).abs() < 5e-5, "{found}");
    }
}
