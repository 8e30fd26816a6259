//! Failures of parts.

use pyo3::PyErr;
use std::error::Error;
use std::fmt;

/// A failure of a part: an exception that a method raised, or a value outside its range.
#[derive(Debug)]
pub(crate) enum PartError {
    /// A method raised an exception.
    Raised {
        /// The part and its place in the network.
        place: String,
        /// Name of the method.
        method: &'static str,
        /// The exception.
        error: PyErr,
    },
    /// A method set or returned a value that is not accepted.
    Value {
        /// The part and its place in the network.
        place: String,
        /// Name of the method.
        method: &'static str,
        /// Name, value, problem and accepted values, for the message.
        problem: String,
    },
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartError::Raised { place, method, error } => write!(f, "{place}: {method}: {error}"),
            PartError::Value { place, method, problem } => {
                write!(f, "{place}: {method}: {problem}")
            }
        }
    }
}

impl Error for PartError {}

/// Failure of a call: an exception, or the problem of a value that is not accepted.
pub(super) enum CallError {
    Raised(PyErr),
    Value(String),
}

impl From<PyErr> for CallError {
    fn from(error: PyErr) -> CallError {
        CallError::Raised(error)
    }
}

impl CallError {
    /// Returns the failure of a call of `method`.
    #[cold]
    pub(super) fn of(self, place: &str, method: &'static str) -> PartError {
        let place = place.to_owned();
        match self {
            CallError::Raised(error) => PartError::Raised { place, method, error },
            CallError::Value(problem) => PartError::Value { place, method, problem },
        }
    }
}
