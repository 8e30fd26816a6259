//! Rust errors as Python exceptions.

use airpath_core::{Accepted, Bounds, ConfigError, Number, Problem};
use airpath_sim::RunError;
use airpath_solve::SolveError;
use airpath_solve::fixed_point::batch::Failure;
use airpath_trace::TraceError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::{IntoPyObject, PyErr};
use std::ops::Bound;

/// A value that a component does not accept: `ValueError`.
pub(crate) fn config(error: ConfigError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A problem as Python words it: path, value, reason, what is accepted, and the other fields that the
/// rule reads. The reason is empty for a number outside a constant range.
pub(crate) type ProblemParts = (String, String, String, AcceptedParts, Vec<String>);

/// Accepted values: text, a range, or unspecified.
#[derive(IntoPyObject)]
pub(crate) enum AcceptedParts {
    Advice(String),
    /// Lowest number, whether it is accepted itself, and the same of the highest.
    Within((Option<NumberParts>, bool, Option<NumberParts>, bool)),
    Unstated(Option<String>),
}

/// A number, integer or not.
#[derive(IntoPyObject)]
pub(crate) enum NumberParts {
    Integer(u64),
    Real(f64),
}

/// Every problem of an error: field, value, reason, what is accepted.
pub(crate) fn parts_of(error: &ConfigError) -> Vec<ProblemParts> {
    error.problems().iter().map(problem_parts).collect()
}

fn problem_parts(problem: &Problem) -> ProblemParts {
    let Problem { field, value, problem, accepted, others } = problem.clone();
    let (problem, accepted) = match accepted {
        Accepted::Unstated => (problem, AcceptedParts::Unstated(None)),
        Accepted::Advice(advice) => (problem, AcceptedParts::Advice(advice)),
        Accepted::Within(bounds) => (String::new(), bounds_parts(bounds)),
        Accepted::Related(bounds) => (problem, bounds_parts(bounds)),
    };
    (field, value, problem, accepted, others)
}

fn bounds_parts(bounds: Bounds) -> AcceptedParts {
    let end = |bound: Bound<Number>| match bound {
        Bound::Unbounded => (None, false),
        Bound::Included(number) => (Some(number_parts(number)), true),
        Bound::Excluded(number) => (Some(number_parts(number)), false),
    };
    let ((low, takes_low), (high, takes_high)) = (end(bounds.low), end(bounds.high));
    AcceptedParts::Within((low, takes_low, high, takes_high))
}

fn number_parts(number: Number) -> NumberParts {
    match number {
        Number::Integer(number) => NumberParts::Integer(number),
        Number::Real(number) => NumberParts::Real(number),
    }
}

/// A value that is not accepted: `ValueError`.
pub(crate) fn value(field: &str, value: impl ToString, problem: &str) -> PyErr {
    config(ConfigError::new(field, value, problem))
}

/// A text that is not JSON: `ValueError`.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn json(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A trace that cannot be read or made: `ValueError`.
pub(crate) fn trace(error: TraceError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A scenario that no model solves, a line for each reason: `ValueError`.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn unsolved(error: SolveError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// One of many problems that has no solution: `ValueError`.
pub(crate) fn unsolved_one(failure: &Failure) -> PyErr {
    PyValueError::new_err(failure.to_string())
}

/// A run that failed: `RuntimeError`.
pub(crate) fn run(replication: u64, error: &RunError) -> PyErr {
    PyRuntimeError::new_err(format!("replication {replication}: {error}"))
}
