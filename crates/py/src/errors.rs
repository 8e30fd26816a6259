//! Conversion of Rust errors to Python exceptions.

use crate::parts::PartError;
use airpath_core::{Accepted, Bounds, ConfigError, Number, Problem};
use airpath_sim::RunError;
use airpath_solve::SolveError;
use airpath_solve::fixed_point::batch::Failure;
use airpath_trace::TraceError;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::{IntoPyObject, PyErr, Python};
use std::ops::Bound;

/// Converts an invalid value of a component to `ValueError`.
pub(crate) fn config(error: ConfigError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Parts of a problem, from which Python formats the message: field path, value, reason, accepted
/// values, and the other fields on which the violated rule depends. The reason is empty for a
/// number outside a constant range.
pub(crate) type ProblemParts = (String, String, String, AcceptedParts, Vec<String>);

/// Accepted values: text, a range, or unspecified.
#[derive(IntoPyObject)]
pub(crate) enum AcceptedParts {
    Advice(String),
    /// Lower bound, true if it is inclusive, upper bound, true if it is inclusive.
    Within((Option<NumberParts>, bool, Option<NumberParts>, bool)),
    Unstated(Option<String>),
}

/// An integer or a real number.
#[derive(IntoPyObject)]
pub(crate) enum NumberParts {
    Integer(u64),
    Real(f64),
}

/// Returns the parts of all problems of an error.
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

/// Returns a `ValueError` for an invalid value.
pub(crate) fn value(field: &str, value: impl ToString, problem: &str) -> PyErr {
    config(ConfigError::new(field, value, problem))
}

/// Converts a JSON parse error to `ValueError`.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn json(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Converts an error of a trace to `ValueError`.
pub(crate) fn trace(error: TraceError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Converts the error for an unsolved scenario to `ValueError`, with one line per reason.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn unsolved(error: SolveError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Converts the error for one unsolved problem of a batch to `ValueError`.
pub(crate) fn unsolved_one(failure: &Failure) -> PyErr {
    PyValueError::new_err(failure.to_string())
}

/// Converts the error of a failed run to `RuntimeError`. The exception of a part is the cause of the
/// error; `KeyboardInterrupt` in a part is returned unchanged.
pub(crate) fn run(py: Python<'_>, replication: u64, error: &RunError) -> PyErr {
    let text = format!("replication {replication}: {error}");
    match error {
        RunError::Stage { source, .. } => match source.downcast_ref::<PartError>() {
            Some(failure) => part(py, failure, text),
            None => PyRuntimeError::new_err(text),
        },
        _ => PyRuntimeError::new_err(text),
    }
}

/// Returns a `RuntimeError` with this text for the failure of a part, as [`run`] does.
pub(crate) fn part(py: Python<'_>, failure: &PartError, text: String) -> PyErr {
    let PartError::Raised { error, .. } = failure else { return PyRuntimeError::new_err(text) };
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return error.clone_ref(py);
    }
    let outer = PyRuntimeError::new_err(text);
    outer.set_cause(py, Some(error.clone_ref(py)));
    outer
}
