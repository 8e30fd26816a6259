//! Errors of configuration and of running parts.

use std::error::Error;

/// A value in a description that a part cannot accept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field} = {value}: {problem}")]
pub struct ConfigError {
    /// Where, as a dotted path: `bottleneck.queue.max_p`.
    pub field: String,
    /// What stood there.
    pub value: String,
    /// What is wrong and what is accepted.
    pub problem: String,
}

impl ConfigError {
    /// An error about `field`, whose value `value` has `problem`.
    pub fn new(
        field: impl Into<String>,
        value: impl ToString,
        problem: impl Into<String>,
    ) -> ConfigError {
        ConfigError { field: field.into(), value: value.to_string(), problem: problem.into() }
    }

    /// The same error with `parent` put before the field.
    #[must_use]
    pub fn under(mut self, parent: &str) -> ConfigError {
        self.field = if self.field.is_empty() {
            parent.to_owned()
        } else {
            format!("{parent}.{}", self.field)
        };
        self
    }
}

/// What a part reports when it cannot go on; it ends the run with its message.
pub type StageError = Box<dyn Error + Send + Sync>;
