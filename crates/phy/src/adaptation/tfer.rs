//! TFER(th_FER): target frame error rate, link adaptation by the error rate of FEC blocks.
//!
//! ```text
//! MCS = the most efficient m with fer_m < th_FER
//! ```
//!
//! Source: qawla-2015 §6, after its references 64 and 65. Cases that qawla-2015 does not define:
//! see `target.rs`.

use super::target::{check_error_threshold, fastest_below};
use super::{Candidate, Policy, SchemeNames};
use airpath_core::{Checks, Component, ConfigError, Setup};
use serde::Deserialize;

/// Configuration of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TferConfig {
    /// th_FER, in (0, 1].
    pub th_fer: f64,
}

/// One threshold of the block error rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tfer {
    th_fer: f64,
}

impl Component<dyn Policy + Send, SchemeNames> for Tfer {
    type Config = TferConfig;

    fn check(config: &TferConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_error_threshold("th_fer", config.th_fer, &mut checks);
        checks.finish()
    }

    fn build(
        config: TferConfig,
        _setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        Ok(Tfer { th_fer: config.th_fer })
    }
}

impl Policy for Tfer {
    fn choose(&self, candidates: &[Candidate], _regime: usize) -> usize {
        fastest_below(candidates, self.th_fer, |candidate| candidate.fer)
    }
}
