//! Dual-regime policy: one MCS if the queue length is below a threshold, another MCS otherwise.
//!
//! Source: qawla-2015 §2, where the regime above the threshold is faster and has more errors. Here
//! any two MCSs are accepted. The source does not define the regime at the threshold itself; here
//! the upper regime applies.

use super::{Candidate, NamedScheme, Policy, SchemeNames};
use airpath_core::{Checks, Component, ConfigError, Setup, at_least};
use serde::Deserialize;

/// Configuration of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualRegimeConfig {
    /// MCS₁, used if the queue length is below the threshold.
    pub mcs_below: NamedScheme,
    /// MCS₂, used if the queue length is at or above the threshold.
    pub mcs_above: NamedScheme,
    /// B, smallest queue length at which MCS₂ is used, packets. Above 0.
    pub threshold: u64,
}

/// Returns the pairs of schemes (below, above the threshold) that form a dual-regime link as
/// defined in qawla-2015: the same scheme twice, or a faster scheme with at least the same error
/// rate above the threshold. `schemes` contains the rate and the packet error rate of each scheme.
/// Two different schemes of equal rate do not form a pair.
pub fn dual_regime_pairs(schemes: &[(f64, f64)]) -> Vec<(usize, usize)> {
    let all = 0..schemes.len();
    let pairs = all.clone().flat_map(|below| all.clone().map(move |above| (below, above)));
    let admissible = |&(below, above): &(usize, usize)| {
        let ((slow, few), (fast, many)) = (schemes[below], schemes[above]);
        below == above || (slow < fast && few <= many)
    };
    pairs.filter(admissible).collect()
}

/// Two MCSs, selected by the queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualRegime {
    mcs: [usize; 2],
    threshold: [u64; 1],
}

impl Component<dyn Policy + Send, SchemeNames> for DualRegime {
    type Config = DualRegimeConfig;

    fn check(config: &DualRegimeConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("threshold", config.threshold, at_least(1_u64));
        checks.finish()
    }

    fn build(
        config: DualRegimeConfig,
        setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        let below = config.mcs_below.place("mcs_below", &setup.extra)?;
        let above = config.mcs_above.place("mcs_above", &setup.extra)?;
        Ok(DualRegime { mcs: [below, above], threshold: [config.threshold] })
    }
}

impl Policy for DualRegime {
    fn thresholds(&self) -> &[u64] {
        &self.threshold
    }

    fn uses_estimate(&self) -> bool {
        false
    }

    fn choose(&self, _candidates: &[Candidate], regime: usize) -> usize {
        self.mcs[regime]
    }
}
