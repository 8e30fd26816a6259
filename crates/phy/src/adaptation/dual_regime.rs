//! One MCS below a threshold of the queue, another from it on: any dual-regime wireless link.
//!
//! Source: qawla-2015 §2, where the upper regime is the faster one with more errors. Any two are
//! accepted here. At the threshold itself, where the source leaves the choice open, the upper
//! regime holds.

use super::{Candidate, NamedScheme, Policy, SchemeNames};
use airpath_core::{Checks, Component, ConfigError, Setup, at_least};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualRegimeConfig {
    /// MCS₁.
    pub mcs_below: NamedScheme,
    /// MCS₂.
    pub mcs_above: NamedScheme,
    /// B, packets waiting. Above 0.
    pub threshold: u64,
}

/// The pairs of schemes that make a dual-regime link in the sense of the source: the same scheme
/// twice, or a faster one with no fewer errors above. `schemes` are rates and error rates of
/// packets. Two that are as fast make no pair.
pub fn dual_regime_pairs(schemes: &[(f64, f64)]) -> Vec<(usize, usize)> {
    let all = 0..schemes.len();
    let pairs = all.clone().flat_map(|below| all.clone().map(move |above| (below, above)));
    let admissible = |&(below, above): &(usize, usize)| {
        let ((slow, few), (fast, many)) = (schemes[below], schemes[above]);
        below == above || (slow < fast && few <= many)
    };
    pairs.filter(admissible).collect()
}

/// Two schemes by the queue.
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
