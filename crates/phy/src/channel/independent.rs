//! Independent errors: one draw per frame, whatever its length and whenever it is sent.

use super::{Channel, probability};
use airpath_core::{ConfigError, Part, Setup, Stream, Time};
use serde::Deserialize;

/// What the user sets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndependentConfig {
    /// Probability that a frame is destroyed, in [0, 1].
    pub loss: f64,
}

/// A channel without memory.
#[derive(Clone, Debug)]
pub struct Independent {
    loss: f64,
    errors: Stream,
}

impl Part<dyn Channel + Send> for Independent {
    type Config = IndependentConfig;

    fn build(
        config: IndependentConfig,
        setup: Setup<'_, dyn Channel + Send>,
    ) -> Result<Self, ConfigError> {
        probability("loss", config.loss)?;
        Ok(Independent { loss: config.loss, errors: setup.seed.stream() })
    }
}

impl Channel for Independent {
    #[inline]
    fn destroys(&mut self, _began: Time, _ended: Time) -> bool {
        self.errors.bernoulli(self.loss)
    }
}
