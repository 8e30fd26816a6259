//! QAWLA(th_PER, H, B): queue-aware link adaptation by the packet error rate.
//!
//! ```text
//! below B packets waiting:  the most efficient m with per_m < th_PER/H
//! from B on:                the most efficient m with per_m < th_PER
//! ```
//!
//! Source: qawla-2015 §2. per_m is the packet error rate of MCS m. With H = 1, QAWLA equals TAGLA.
//! Cases that the source does not define are documented in `target.rs` and `dual_regime.rs`.

use super::target::{check_error_threshold, fastest_below};
use super::{Candidate, Policy, SchemeNames};
use airpath_core::{Checks, Component, ConfigError, Setup, at_least};
use serde::Deserialize;

/// Configuration of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QawlaConfig {
    /// th_PER, in (0, 1].
    pub th_per: f64,
    /// H, at least 1, finite.
    pub h: f64,
    /// B, queue length, packets. Above 0.
    pub threshold: u64,
}

/// Two thresholds of the packet error rate, selected by the queue length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Qawla {
    /// Threshold of the packet error rate in each regime.
    th_per: [f64; 2],
    threshold: [u64; 1],
}

impl Component<dyn Policy + Send, SchemeNames> for Qawla {
    type Config = QawlaConfig;

    fn check(config: &QawlaConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_error_threshold("th_per", config.th_per, &mut checks);
        checks.within("h", config.h, at_least(1.0));
        checks.within("threshold", config.threshold, at_least(1_u64));
        checks.finish()
    }

    fn build(
        config: QawlaConfig,
        _setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        let QawlaConfig { th_per, h, threshold } = config;
        Ok(Qawla { th_per: [th_per / h, th_per], threshold: [threshold] })
    }
}

impl Policy for Qawla {
    fn thresholds(&self) -> &[u64] {
        &self.threshold
    }

    fn choose(&self, candidates: &[Candidate], regime: usize) -> usize {
        fastest_below(candidates, self.th_per[regime], |candidate| candidate.per)
    }
}
