//! Distributions of sizes and times of applications.

use airpath_core::{Checks, ConfigError, Duration, Stream, above, at_least};
use serde::Deserialize;

/// Largest sampled size, bytes.
const LARGEST: u64 = 1 << 50;

/// Distribution of a size.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SizeDistribution {
    /// Constant size.
    Fixed {
        /// Size, bytes.
        bytes: u64,
    },
    /// Exponential distribution, rounded up to an integer number of bytes.
    Exponential {
        /// Mean before rounding, bytes.
        mean_bytes: u64,
    },
    /// Pareto distribution, bounded if `largest_bytes` is set.
    Pareto {
        /// Exponent α of the tail.
        shape: f64,
        /// Lower bound L, bytes.
        smallest_bytes: u64,
        /// Upper bound H, bytes.
        #[serde(default)]
        largest_bytes: Option<u64>,
    },
    /// Triangular distribution between two sizes, rounded to the nearest multiple of a step.
    Triangular {
        /// Smallest size, bytes. Must be a multiple of the step.
        smallest_bytes: u64,
        /// The most likely size, bytes.
        mode_bytes: u64,
        /// Largest size, bytes. Must be a multiple of the step.
        largest_bytes: u64,
        /// Step, bytes. Every size is a multiple of the step.
        step_bytes: u64,
    },
}

/// Computes the quantile at probability `u` in [0, 1] of the triangular distribution between
/// `smallest` and `largest` whose density has its maximum at `mode`.
pub fn triangular(u: f64, smallest: f64, mode: f64, largest: f64) -> f64 {
    let width = largest - smallest;
    if u * width < mode - smallest {
        smallest + (u * width * (mode - smallest)).sqrt()
    } else {
        largest - ((1.0 - u) * width * (largest - mode)).sqrt()
    }
}

/// Computes the quantile at probability `u` in [0, 1) of the bounded Pareto distribution: L (1 − u
/// (1 − (L/H)^α))^(−1/α), where L is `smallest`, H is `largest` and α is `shape`. If H is infinite,
/// the distribution is unbounded.
pub fn pareto(u: f64, shape: f64, smallest: f64, largest: f64) -> f64 {
    let share = 1.0 - libm::pow(smallest / largest, shape);
    smallest * libm::pow(1.0 - u * share, -1.0 / shape)
}

impl SizeDistribution {
    /// Samples a size, bytes, at least 1.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let bytes = match *self {
            SizeDistribution::Fixed { bytes } => return bytes,
            SizeDistribution::Exponential { mean_bytes } => {
                libm::ceil(-libm::log(1.0 - stream.uniform()) * mean_bytes as f64)
            }
            SizeDistribution::Pareto { shape, smallest_bytes, largest_bytes } => {
                let largest = largest_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
                pareto(stream.uniform(), shape, smallest_bytes as f64, largest)
            }
            SizeDistribution::Triangular {
                smallest_bytes,
                mode_bytes,
                largest_bytes,
                step_bytes,
            } => {
                let steps = |bytes: u64| bytes as f64 / step_bytes as f64;
                let (low, high) = (steps(smallest_bytes), steps(largest_bytes));
                let drawn = triangular(stream.uniform(), low, steps(mode_bytes), high);
                libm::round(drawn) * step_bytes as f64
            }
        };
        (bytes as u64).clamp(1, LARGEST)
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The error lists every size of 0, every shape that is not positive, and inconsistent sizes of
    /// one distribution.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let (mut checks, positive) = (Checks::default(), at_least(1_u64));
        match *self {
            SizeDistribution::Fixed { bytes } => {
                checks.within("bytes", bytes, positive);
            }
            SizeDistribution::Exponential { mean_bytes } => {
                checks.within("mean_bytes", mean_bytes, positive);
            }
            SizeDistribution::Pareto { shape, smallest_bytes, largest_bytes } => {
                checks.within("shape", shape, above(0.0));
                checks.within("smallest_bytes", smallest_bytes, positive);
                if let Some(largest) = largest_bytes
                    && checks.within("largest_bytes", largest, positive)
                {
                    let (others, least) = (["smallest_bytes"], at_least(smallest_bytes));
                    checks.related_to(&others, "largest_bytes", largest, least, "below smallest");
                }
            }
            SizeDistribution::Triangular {
                smallest_bytes,
                mode_bytes,
                largest_bytes,
                step_bytes,
            } => {
                let sizes = [smallest_bytes, mode_bytes, largest_bytes];
                check_triangle(&mut checks, sizes, step_bytes);
            }
        }
        checks.finish()
    }
}

/// Rejects inconsistent sizes of a triangular distribution, bytes, and sizes that are not multiples
/// of the step.
fn check_triangle(checks: &mut Checks, [smallest, mode, largest]: [u64; 3], step: u64) {
    let positive = at_least(1_u64);
    let has_step = checks.within("step_bytes", step, positive);
    let is_whole = |bytes: u64| !has_step || bytes.is_multiple_of(step);
    for (field, bytes) in [("smallest_bytes", smallest), ("largest_bytes", largest)] {
        if !is_whole(bytes) {
            let (problem, advice) = ("not a multiple of step", "Use a multiple of it");
            checks.reject_with(&["step_bytes"], field, bytes, problem, advice);
        }
    }
    checks.within("smallest_bytes", smallest, positive);
    if checks.within("mode_bytes", mode, positive) {
        let least = at_least(smallest);
        checks.related_to(&["smallest_bytes"], "mode_bytes", mode, least, "below smallest");
    }
    if checks.within("largest_bytes", largest, positive) {
        checks.related_to(&["mode_bytes"], "largest_bytes", largest, at_least(mode), "below mode");
    }
}

/// Distribution of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TimeDistribution {
    /// Constant time.
    Fixed {
        /// Duration, ns.
        time_ns: u64,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean, ns.
        mean_ns: u64,
    },
}

impl TimeDistribution {
    /// Samples a time.
    pub fn draw(&self, stream: &mut Stream) -> Duration {
        match *self {
            TimeDistribution::Fixed { time_ns } => Duration::from_nanos(time_ns),
            TimeDistribution::Exponential { mean_ns } => {
                stream.exponential(Duration::from_nanos(mean_ns))
            }
        }
    }
}

impl TimeDistribution {
    /// Rejects a mean of 0. `field` is the name of the distribution.
    pub(crate) fn check_mean(&self, checks: &mut Checks, field: &str) {
        if let TimeDistribution::Exponential { mean_ns } = *self {
            checks.within(&format!("{field}.mean_ns"), mean_ns, at_least(1_u64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const SIZES: Law = Law {
        area: "Traffic",
        source: "The exponential, the bounded Pareto and the triangular law: sizes of transfers",
        allows: "five standard deviations of the result of 100 000 samples; at the ends of a distribution, floating-point rounding",
    };

    fn draws(distribution: SizeDistribution) -> Vec<f64> {
        let mut stream = Stream::new(11, 0, "sizes");
        (0..100_000).map(|_| distribution.draw(&mut stream) as f64).collect()
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    /// Rounding up to an integer number of bytes adds half a byte to the mean. Tolerance: five
    /// standard errors.
    #[test]
    fn exponential_sizes_have_their_mean() {
        let draws = draws(SizeDistribution::Exponential { mean_bytes: 10_000 });
        let five_errors = 5.0 * 10_000.0 / 1e5f64.sqrt();
        SIZES.close("exponential: mean", "B", mean(&draws), 10_000.5, five_errors);
        assert!(draws.iter().all(|bytes| *bytes >= 1.0));
    }

    /// Distribution function of the bounded Pareto distribution at several sizes. Tolerance: five
    /// standard errors.
    #[test]
    fn pareto_sizes_follow_their_distribution_function() {
        let (shape, low, high) = (1.2, 1e3f64, 1e6f64);
        let largest_bytes = Some(1_000_000);
        let draws = draws(SizeDistribution::Pareto { shape, smallest_bytes: 1000, largest_bytes });
        assert!(draws.iter().all(|bytes| (1e3..=1e6).contains(bytes)));
        let tail = 1.0 - (low / high).powf(shape);
        for bytes in [1300.0, 2000.0, 5000.0, 100_000.0] {
            let expected = (1.0 - (low / bytes).powf(shape)) / tail;
            // Sizes are integers, rounded down.
            let share = draws.iter().filter(|draw| **draw < bytes).count() as f64 / 1e5;
            let bound = 5.0 * (expected * (1.0 - expected) / 1e5).sqrt();
            let what = format!("Pareto, shape 1.2: share below {bytes} B");
            SIZES.close(what, "", share, expected, bound);
        }
    }

    /// The mean is α L^α/(α − 1) · (L^(1−α) − H^(1−α))/(1 − (L/H)^α): 1998.0 for α = 2, L = 1000
    /// and H = 1 000 000.
    #[test]
    fn bounded_pareto_sizes_have_the_expected_mean() {
        let distribution = SizeDistribution::Pareto {
            shape: 2.0,
            smallest_bytes: 1000,
            largest_bytes: Some(1_000_000),
        };
        // Variance: L² α (ln H/L)/(1 − …) − mean² = 9.8·10⁶.
        let five_errors = 5.0 * 9.8e6f64.sqrt() / 1e5f64.sqrt();
        let found = mean(&draws(distribution));
        SIZES.close("Pareto, shape 2: mean", "B", found, 1998.0 - 0.5, five_errors);
    }

    #[test]
    fn unbounded_pareto_is_the_limit_of_the_bounded_distribution() {
        let median = pareto(0.5, 1.0, 1000.0, f64::INFINITY);
        SIZES.close("Pareto, shape 1, unbounded: median", "B", median, 2000.0, 1e-9);
        let least = pareto(0.0, 1.5, 1000.0, 1e6);
        SIZES.close("Pareto, shape 1.5: least", "B", least, 1000.0, 1e-9);
        let greatest = pareto(1.0, 1.5, 1000.0, 1e6);
        SIZES.close("Pareto, shape 1.5: greatest", "B", greatest, 1e6, 1e-3);
        let distribution =
            SizeDistribution::Pareto { shape: 0.01, smallest_bytes: 1, largest_bytes: None };
        assert!(draws(distribution).iter().all(|bytes| *bytes <= LARGEST as f64));
    }

    const PACKET: u64 = 1460;

    /// The triangular distributions of clamp-2008 §5.8, in packets of 1460 B, with minimum a, mode
    /// b and maximum c. The mean is (a + b + c)/3. The variance is (a² + b² + c² − ab − ac −
    /// bc)/18, plus 1/12 because of rounding.
    #[test]
    fn triangular_sizes_have_their_mean_and_variance() {
        for (mode, what) in [(2000.5, "symmetric"), (1.0, "mode at 1 packet")] {
            let (a, b, c) = (1.0, mode, 4000.0);
            let sizes = draws(SizeDistribution::Triangular {
                smallest_bytes: PACKET,
                mode_bytes: (mode * PACKET as f64) as u64,
                largest_bytes: 4000 * PACKET,
                step_bytes: PACKET,
            });
            let whole = |bytes: &f64| bytes % PACKET as f64 == 0.0;
            assert!(sizes.iter().all(whole), "{what}");
            let packets: Vec<f64> = sizes.iter().map(|bytes| bytes / PACKET as f64).collect();
            assert!(packets.iter().all(|packets| (1.0..=4000.0).contains(packets)), "{what}");
            let variance = (a * a + b * b + c * c - a * b - a * c - b * c) / 18.0 + 1.0 / 12.0;
            let (found, n) = (mean(&packets), packets.len() as f64);
            let law = format!("triangular, {what}: mean");
            let five_errors = 5.0 * (variance / n).sqrt();
            SIZES.close(law, "packets", found, (a + b + c) / 3.0, five_errors);
            let squares: Vec<f64> = packets.iter().map(|x| (x - found).powi(2)).collect();
            // The fourth central moment of a triangular distribution is 12/5 of its squared
            // variance.
            let five_errors = 5.0 * variance * (1.4 / n).sqrt();
            let law = format!("triangular, {what}: variance");
            SIZES.close(law, "packets²", mean(&squares), variance, five_errors);
        }
    }

    #[test]
    fn triangular_inverse_matches_hand_computed_values() {
        // A quarter of the probability lies below the mode, 2.
        let at = |u: f64| triangular(u, 0.0, 2.0, 8.0);
        assert_eq!((at(0.0), at(1.0)), (0.0, 8.0));
        assert!((at(0.25) - 2.0).abs() < 1e-12 && (at(1.0 / 16.0) - 1.0).abs() < 1e-12);
        assert!((at(13.0 / 16.0) - 5.0).abs() < 1e-12);
        // The mode at the lower end, the mode at the upper end, and a triangle of zero width.
        assert_eq!(triangular(0.75, 1.0, 1.0, 5.0), 3.0);
        assert_eq!(triangular(0.25, 1.0, 5.0, 5.0), 3.0);
        assert_eq!(triangular(0.5, 7.0, 7.0, 7.0), 7.0);
    }

    #[test]
    fn invalid_triangular_sizes_are_rejected() {
        let refused = |[smallest_bytes, mode_bytes, largest_bytes, step_bytes]: [u64; 4]| {
            let triangle = SizeDistribution::Triangular {
                smallest_bytes,
                mode_bytes,
                largest_bytes,
                step_bytes,
            };
            let error = triangle.validate().err();
            let found = error.iter().flat_map(ConfigError::problems);
            found.map(|problem| problem.field.clone()).collect::<Vec<_>>()
        };
        assert!(refused([10, 15, 30, 10]).is_empty());
        assert!(refused([10, 10, 10, 10]).is_empty());
        for (sizes, fields) in [
            ([0, 15, 30, 10], vec!["smallest_bytes"]),
            ([10, 15, 30, 0], vec!["step_bytes"]),
            ([10, 9, 30, 10], vec!["mode_bytes"]),
            ([10, 15, 10, 10], vec!["largest_bytes"]),
            ([10, 15, 29, 10], vec!["largest_bytes"]),
            ([9, 15, 30, 10], vec!["smallest_bytes"]),
            ([9, 8, 0, 2], vec!["smallest_bytes", "mode_bytes", "largest_bytes"]),
        ] {
            assert_eq!(refused(sizes), fields, "{sizes:?}");
        }
    }

    #[test]
    fn invalid_distributions_are_rejected() {
        let pareto = |shape, smallest_bytes, largest_bytes| {
            SizeDistribution::Pareto { shape, smallest_bytes, largest_bytes }.validate().is_err()
        };
        assert!(SizeDistribution::Fixed { bytes: 0 }.validate().is_err());
        assert!(SizeDistribution::Exponential { mean_bytes: 0 }.validate().is_err());
        assert!(pareto(0.0, 1, None) && pareto(f64::NAN, 1, None) && pareto(1.0, 0, None));
        assert!(pareto(1.0, 10, Some(9)) && !pareto(1.0, 10, Some(10)));
    }
}
