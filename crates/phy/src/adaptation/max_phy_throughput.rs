//! MaxPHYThru policy: chooses the MCS with the most correctly received information bits per symbol,
//! without a limit on the error rate.
//!
//! ```text
//! MCS = argmax (1 - e_m) log₂(V_m) R_m,  e = per (MaxPHYThru-PER) or fer (MaxPHYThru-FER)
//! ```
//!
//! Source: qawla-2015 §6, after its reference 66. V_m is the number of constellation points of MCS
//! m, R_m its code rate. If several MCSs have the same product, the MCS with the smallest error
//! rate is chosen, then the MCS with the lowest efficiency, then the first MCS. qawla-2015 does not
//! define this.

use super::target::first_of;
use super::{Candidate, Policy, SchemeNames};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Unit for which the error rate is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorRate {
    /// Packets of the reference size.
    Per,
    /// FEC blocks.
    Fer,
}

/// Configuration of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxPhyThroughputConfig {
    /// e, the error rate in the product.
    pub error_rate: ErrorRate,
}

/// Policy that maximises the product of efficiency and success probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPhyThroughput {
    error_rate: ErrorRate,
}

impl Component<dyn Policy + Send, SchemeNames> for MaxPhyThroughput {
    type Config = MaxPhyThroughputConfig;

    fn build(
        config: MaxPhyThroughputConfig,
        _setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        Ok(MaxPhyThroughput { error_rate: config.error_rate })
    }
}

impl Policy for MaxPhyThroughput {
    fn choose(&self, candidates: &[Candidate], _regime: usize) -> usize {
        let error = |candidate: &Candidate| match self.error_rate {
            ErrorRate::Per => candidate.per,
            ErrorRate::Fer => candidate.fer,
        };
        let carried = |candidate: &Candidate| (1.0 - error(candidate)) * candidate.efficiency;
        let best = first_of(candidates.iter().enumerate(), |a, b| {
            let by_error = error(a).total_cmp(&error(b));
            let by_efficiency = a.efficiency.total_cmp(&b.efficiency);
            carried(b).total_cmp(&carried(a)).then(by_error).then(by_efficiency)
        });
        best.unwrap_or(0)
    }
}
