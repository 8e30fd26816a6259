//! Independent errors: one Bernoulli variate per frame, regardless of its length and time.

use super::{ErrorProcess, Frame};
use airpath_core::{Checks, Component, ConfigError, Setup, Stream};
use serde::Deserialize;

/// Configuration of the error process.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndependentConfig {
    /// Probability that a frame is corrupted, in [0, 1].
    pub loss: f64,
}

/// Error process without memory.
#[derive(Clone, Debug)]
pub struct Independent {
    loss: f64,
    errors: Stream,
}

impl Component<dyn ErrorProcess + Send> for Independent {
    type Config = IndependentConfig;

    fn check(config: &IndependentConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("loss", config.loss, 0.0..=1.0);
        checks.finish()
    }

    fn build(
        config: IndependentConfig,
        setup: Setup<'_, dyn ErrorProcess + Send>,
    ) -> Result<Self, ConfigError> {
        Ok(Independent { loss: config.loss, errors: setup.seed.stream() })
    }
}

impl ErrorProcess for Independent {
    #[inline]
    fn corrupts(&mut self, _frame: &Frame) -> bool {
        self.errors.bernoulli(self.loss)
    }
}
