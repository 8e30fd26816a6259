//! Stepwise SNR from a file, which is repeated until the end of the run.

use super::{Sample, SnrContext, SnrProcess, SnrSteps};
use airpath_core::{Component, ConfigError, Setup, Time};
use serde::Deserialize;
use std::sync::Arc;

/// Configuration of the process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Key of the recorded SNR among those passed with the description.
    pub trace: String,
}

/// SNR process that consists of steps. Time 0 of the run is the start of the file.
#[derive(Clone, Debug)]
pub struct Trace {
    steps: Arc<SnrSteps>,
}

impl Component<dyn SnrProcess + Send, SnrContext> for Trace {
    type Config = TraceConfig;

    fn build(
        config: TraceConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<Trace, ConfigError> {
        match setup.extra.traces.get(&config.trace) {
            Some(steps) => Ok(Trace { steps: Arc::clone(steps) }),
            None => Err(ConfigError::new("trace", config.trace, "not among the SNR traces given")),
        }
    }
}

impl SnrProcess for Trace {
    fn sample(&mut self, at: Time) -> Sample {
        let (round, in_round) =
            (at.as_nanos() / self.steps.period_ns(), at.as_nanos() % self.steps.period_ns());
        let (snr_db, ends_ns) = self.steps.at(in_round);
        let until = round.saturating_mul(self.steps.period_ns()).saturating_add(ends_ns);
        Sample { snr_db, until: Time::from_nanos(until) }
    }

    fn constant_db(&self) -> Option<f64> {
        self.steps.constant_db()
    }
}
