//! Fixed policy: always the same MCS, regardless of the SNR and the queue length.

use super::{Candidate, NamedScheme, Policy, SchemeNames};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Configuration of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedConfig {
    /// MCS that the link always uses.
    pub mcs: NamedScheme,
}

/// Policy without adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    mcs: usize,
}

impl Component<dyn Policy + Send, SchemeNames> for Fixed {
    type Config = FixedConfig;

    fn build(
        config: FixedConfig,
        setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        config.mcs.place("mcs", &setup.extra).map(|mcs| Fixed { mcs })
    }
}

impl Policy for Fixed {
    fn uses_estimate(&self) -> bool {
        false
    }

    fn choose(&self, _candidates: &[Candidate], _regime: usize) -> usize {
        self.mcs
    }
}
