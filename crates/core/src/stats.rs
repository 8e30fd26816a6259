//! Statistics: Student-t confidence intervals, time-weighted queue occupancy, Jain's fairness
//! index.

use crate::units::{Duration, Time};

/// Mean of independent replications with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean of the values.
    pub mean: f64,
    /// Lower end of the interval; NaN with fewer than two values.
    pub low: f64,
    /// Upper end of the interval; NaN with fewer than two values.
    pub high: f64,
}

/// Computes the mean of `values` and its Student-t confidence interval at the level `confidence` in
/// (0, 1).
///
/// Source: Law, Simulation Modeling and Analysis, §4.5 (independent replications).
pub fn mean_interval(values: &[f64], confidence: f64) -> Interval {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return Interval { mean, low: f64::NAN, high: f64::NAN };
    }
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_t_quantile(0.5 + confidence / 2.0, n - 1.0) * (variance / n).sqrt();
    Interval { mean, low: mean - half, high: mean + half }
}

/// Computes the quantile `p` in (0.5, 1) of Student's t with `dof` degrees of freedom, by bisection
/// of the distribution function.
pub fn student_t_quantile(p: f64, dof: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_t_cdf(high, dof) < p {
        high *= 2.0;
        if high > 1e12 {
            return f64::INFINITY;
        }
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if student_t_cdf(middle, dof) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Computes P(T ≤ t) for t ≥ 0 from the regularised incomplete beta function (Abramowitz & Stegun
/// 26.7.1).
fn student_t_cdf(t: f64, dof: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(dof / (dof + t * t), dof / 2.0, 0.5)
}

/// Computes the regularised incomplete beta function I_x(a, b) with Lentz's method for its
/// continued fraction (Abramowitz & Stegun 26.5.8).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log(1.0 - x);
    let tiny = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / tiny(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / tiny(1.0 + term * d);
            c = tiny(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    libm::exp(log_front) * fraction / a
}

/// Computes Jain's fairness index of `shares`, in (0, 1]. Returns 1 if all shares are zero.
///
/// Source: Jain, Chiu, Hawe, DEC-TR-301 (1984).
pub fn jain_index(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// Occupancy statistics of a queue: for each number of packets, the share of time with this number;
/// and the time average of the queue length in bytes.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    packets: usize,
    bytes: u64,
    since: Time,
    start: Time,
    nanos_at: Vec<u64>,
    byte_nanos: u128,
}

impl Occupancy {
    /// Sets the occupancy from `now` on: `packets` packets with a total of `bytes` bytes.
    #[inline]
    pub fn set(&mut self, packets: usize, bytes: u64, now: Time) {
        self.account(now);
        self.packets = packets;
        self.bytes = bytes;
    }

    #[inline]
    fn account(&mut self, now: Time) {
        let span = now.saturating_since(self.since).as_nanos();
        self.since = now;
        self.byte_nanos += u128::from(self.bytes) * u128::from(span);
        match self.nanos_at.get_mut(self.packets) {
            Some(nanos) => *nanos += span,
            None => self.grow(span),
        }
    }

    #[cold]
    fn grow(&mut self, span: u64) {
        self.nanos_at.resize(self.packets + 1, 0);
        self.nanos_at[self.packets] = span;
    }

    /// Resets the statistics at `now` and keeps the current occupancy.
    pub fn restart(&mut self, now: Time) {
        self.nanos_at.clear();
        self.byte_nanos = 0;
        (self.since, self.start) = (now, now);
    }

    /// Returns the largest number of packets, including a number that lasted zero time.
    pub fn most_packets(&self) -> usize {
        self.packets.max(self.nanos_at.len().saturating_sub(1))
    }

    /// Returns, from the start of measurement to `now`, the share of time with 0, 1, 2, … packets,
    /// and the time average of the bytes. If no time has passed, the result is an empty vector and
    /// NaN.
    pub fn distribution_and_mean_bytes(&self, now: Time) -> (Vec<f64>, f64) {
        let mut closed = self.clone();
        closed.account(now);
        while closed.nanos_at.last() == Some(&0) {
            closed.nanos_at.pop();
        }
        let total: u64 = closed.nanos_at.iter().sum();
        let shares = closed.nanos_at.iter().map(|nanos| *nanos as f64 / total as f64).collect();
        let span = now.saturating_since(self.start).as_nanos() as f64;
        (shares, closed.byte_nanos as f64 / span)
    }
}

/// Running mean of time spans.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    sum_nanos: u128,
    count: u64,
}

impl Mean {
    /// Creates the mean of `count` spans with the sum `sum_nanos`.
    pub(crate) const fn of(sum_nanos: u128, count: u64) -> Mean {
        Mean { sum_nanos, count }
    }

    /// Adds a span.
    #[inline]
    pub fn add(&mut self, span: Duration) {
        self.sum_nanos += u128::from(span.as_nanos());
        self.count += 1;
    }

    /// Returns the mean of the spans that were added after the copy `earlier` of this mean was
    /// made.
    #[must_use]
    pub fn since(&self, earlier: &Mean) -> Mean {
        Mean { sum_nanos: self.sum_nanos - earlier.sum_nanos, count: self.count - earlier.count }
    }

    /// Returns the number of spans.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, s. `None` without values.
    pub fn secs(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_nanos as f64 / self.count as f64 * 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const STUDENT_T: Law = Law {
        area: "Statistics",
        source: "Abramowitz & Stegun table 26.10: quantiles of Student's t",
        allows: "the table's digits",
    };

    /// Abramowitz & Stegun table 26.10.
    #[test]
    fn student_t_quantiles_match_the_table() {
        for (p, dof, expected) in [
            (0.95, 1.0, 6.314),
            (0.975, 4.0, 2.776),
            (0.995, 9.0, 3.250),
            (0.95, 19.0, 1.729),
            (0.995, 1e6, 2.576),
        ] {
            let t = student_t_quantile(p, dof);
            STUDENT_T.close(
                format!("t, p = {p}, degrees of freedom: {dof}"),
                "",
                t,
                expected,
                6e-4,
            );
        }
    }

    #[test]
    fn interval_of_one_value_is_nan() {
        let one = mean_interval(&[3.0], 0.99);
        assert!(one.mean == 3.0 && one.low.is_nan());
        let two = mean_interval(&[1.0, 3.0], 0.95);
        STUDENT_T.close("half width of 1 and 3 at 95 %", "", two.high - 2.0, 12.706, 1e-3);
    }

    #[test]
    fn jain_index_of_one_active_share_among_four_is_a_quarter() {
        assert_eq!(jain_index(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain_index(&[2.0, 2.0]), 1.0);
    }

    #[test]
    fn mean_since_an_earlier_copy_covers_later_samples() {
        let mut mean = Mean::default();
        mean.add(Duration::from_millis(10));
        let earlier = mean;
        assert_eq!(mean.since(&earlier).secs(), None);
        mean.add(Duration::from_millis(20));
        mean.add(Duration::from_millis(30));
        assert_eq!(mean.since(&earlier).secs(), Some(0.025));
        assert_eq!(mean.secs(), Some(0.02));
    }

    #[test]
    fn occupancy_is_weighted_by_time() {
        let mut queue = Occupancy::default();
        queue.set(2, 3000, Time::from_secs(1));
        queue.set(0, 0, Time::from_secs(4));
        let measured = queue.distribution_and_mean_bytes(Time::from_secs(4));
        assert_eq!(measured, (vec![0.25, 0.0, 0.75], 2250.0));
        queue.restart(Time::from_secs(4));
        let measured = queue.distribution_and_mean_bytes(Time::from_secs(5));
        assert_eq!(measured, (vec![1.0], 0.0));
    }
}
