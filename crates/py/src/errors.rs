//! Rust errors as Python exceptions.

use airpath_core::ConfigError;
use airpath_sim::RunError;
use airpath_solve::SolveError;
use airpath_solve::fixed_point::batch::Failure;
use airpath_trace::TraceError;
use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

/// A value that a part does not accept: `ValueError`.
pub(crate) fn config(error: ConfigError) -> PyErr {
    PyValueError::new_err(error.to_string())
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
