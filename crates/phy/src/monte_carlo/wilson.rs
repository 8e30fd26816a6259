//! Confidence interval of an error rate.
//!
//! Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
//! 1927: the bounds are the shares that a test of `errors` among `trials` with normal deviate `z`
//! just accepts.

/// Returns the lower and the upper bound of the error rate; 0 and 1 if there are no trials.
pub fn wilson(errors: u64, trials: u64, z: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (trials as f64, errors as f64 / trials as f64);
    let square = z * z / n;
    let middle = share + square / 2.0;
    let half = (share * (1.0 - share) * square + square * square / 4.0).sqrt();
    let low = if errors == 0 { 0.0 } else { (middle - half) / (1.0 + square) };
    let high = if errors == trials { 1.0 } else { (middle + half) / (1.0 + square) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both bounds p solve (p − share)² = z²·p·(1 − p)/n.
    #[test]
    fn bounds_solve_test_equation() {
        for (errors, trials) in [(1, 10), (5, 10), (400, 1_000_000), (9, 10)] {
            let (low, high) = wilson(errors, trials, 1.96);
            let share = errors as f64 / trials as f64;
            assert!(low < share && share < high);
            for p in [low, high] {
                let deviate = (p - share).abs() / (p * (1.0 - p) / trials as f64).sqrt();
                assert!((deviate - 1.96).abs() < 1e-6, "{deviate}");
            }
        }
    }

    #[test]
    fn interval_begins_at_zero_without_errors() {
        let (low, high) = wilson(0, 10_000_000, 1.96);
        assert_eq!(low, 0.0);
        assert!((high - 3.8416e-7).abs() < 1e-11, "{high}");
        assert_eq!(wilson(10, 10, 1.96).1, 1.0);
        assert_eq!(wilson(0, 0, 1.96), (0.0, 1.0));
    }
}
