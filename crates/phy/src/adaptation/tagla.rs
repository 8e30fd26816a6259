//! TAGLA(th_PER): traffic-agnostic link adaptation by the packet error rate.
//!
//! ```text
//! MCS = the most efficient m with per_m < th_PER
//! ```
//!
//! Source: qawla-2015 §2. The source does not define the choice if no MCS is below the threshold,
//! nor the choice between two MCSs of equal efficiency; `target.rs` defines both.

use super::target::{check_error_threshold, fastest_below};
use super::{Candidate, Policy, SchemeNames};
use airpath_core::{Checks, Component, ConfigError, Setup};
use serde::Deserialize;

/// Configuration of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaglaConfig {
    /// th_PER, in (0, 1].
    pub th_per: f64,
}

/// One threshold of the packet error rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tagla {
    th_per: f64,
}

impl Component<dyn Policy + Send, SchemeNames> for Tagla {
    type Config = TaglaConfig;

    fn check(config: &TaglaConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_error_threshold("th_per", config.th_per, &mut checks);
        checks.finish()
    }

    fn build(
        config: TaglaConfig,
        _setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        Ok(Tagla { th_per: config.th_per })
    }
}

impl Policy for Tagla {
    fn choose(&self, candidates: &[Candidate], _regime: usize) -> usize {
        fastest_below(candidates, self.th_per, |candidate| candidate.per)
    }
}
