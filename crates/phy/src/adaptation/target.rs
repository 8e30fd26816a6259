//! Selects the fastest MCS whose error rate is below a threshold.

use super::Candidate;
use airpath_core::{Checks, above};
use std::cmp::Ordering;

/// Returns the index of the candidate with the highest efficiency among the candidates whose
/// `error` is below `threshold`. If several have this efficiency, the candidate with the smallest
/// error rate is returned.
///
/// If no error rate is below the threshold, returns the candidate with the smallest error rate. If
/// several have this error rate, the candidate with the lowest efficiency is returned. If
/// candidates are equal in both values, the first is returned.
pub(super) fn fastest_below(
    candidates: &[Candidate],
    threshold: f64,
    error: impl Fn(&Candidate) -> f64,
) -> usize {
    let by_error = |a: &Candidate, b: &Candidate| error(a).total_cmp(&error(b));
    let by_efficiency = |a: &Candidate, b: &Candidate| a.efficiency.total_cmp(&b.efficiency);
    let qualified = candidates.iter().enumerate().filter(|(_, c)| error(c) < threshold);
    let fastest = first_of(qualified, |a, b| by_efficiency(b, a).then(by_error(a, b)));
    fastest
        .or_else(|| {
            first_of(candidates.iter().enumerate(), |a, b| by_error(a, b).then(by_efficiency(a, b)))
        })
        .unwrap_or(0)
}

/// Returns the index of the first candidate in the order defined by `compare`.
pub(super) fn first_of<'a>(
    candidates: impl Iterator<Item = (usize, &'a Candidate)>,
    compare: impl Fn(&Candidate, &Candidate) -> Ordering,
) -> Option<usize> {
    candidates.min_by(|(_, a), (_, b)| compare(a, b)).map(|(number, _)| number)
}

/// Rejects an error-rate threshold outside (0, 1].
pub(super) fn check_error_threshold(field: &str, threshold: f64, checks: &mut Checks) {
    checks.within(field, threshold, above(0.0).up_to(1.0));
}
