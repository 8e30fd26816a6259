//! A constant SNR.

use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time};
use serde::Deserialize;

/// Configuration of the process.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantConfig {
    /// SNR, dB, -200 to 200.
    pub mean_db: f64,
}

/// SNR process with one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    snr_db: f64,
    /// SNR as a power ratio.
    snr: f64,
}

impl Component<dyn SnrProcess + Send, SnrContext> for Constant {
    type Config = ConstantConfig;

    fn check(config: &ConstantConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        checks.finish()
    }

    fn build(
        config: ConstantConfig,
        _setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<Constant, ConfigError> {
        Ok(Constant { snr_db: config.mean_db, snr: from_db(config.mean_db) })
    }
}

impl SnrProcess for Constant {
    #[inline]
    fn sample(&mut self, _at: Time) -> Sample {
        Sample { snr_db: self.snr_db, until: Time::NEVER }
    }

    fn constant_db(&self) -> Option<f64> {
        Some(self.snr_db)
    }

    #[inline]
    fn at_slot_start(&mut self, _slot: u64, _length: Duration) -> f64 {
        self.snr
    }

    #[inline]
    fn at_slot_end(&mut self, _slot: u64, _length: Duration) -> f64 {
        self.snr
    }
}
