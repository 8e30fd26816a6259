//! The fastest MCS whose error rate is below a threshold.

use super::Candidate;
use airpath_core::{Checks, above};
use std::cmp::Ordering;

/// Returns the candidate with the highest efficiency whose `error` is below `threshold`; of
/// several, the one with the smallest error rate. If no error rate is below the threshold, returns
/// the candidate with the smallest error rate; of several, the one with the lowest efficiency. The
/// first candidate wins a complete tie.
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

/// Returns the number of the first candidate in the order defined by `compare`.
pub(super) fn first_of<'a>(
    candidates: impl Iterator<Item = (usize, &'a Candidate)>,
    compare: impl Fn(&Candidate, &Candidate) -> Ordering,
) -> Option<usize> {
    candidates.min_by(|(_, a), (_, b)| compare(a, b)).map(|(number, _)| number)
}

/// Rejects a threshold of an error rate that is not above 0 and at most 1.
pub(super) fn check_error_threshold(field: &str, threshold: f64, checks: &mut Checks) {
    checks.within(field, threshold, above(0.0).up_to(1.0));
}
