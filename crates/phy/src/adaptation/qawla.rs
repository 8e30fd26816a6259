//! QAWLA(th_PER, H, B): queue-aware link adaptation by the packet error rate.
//!
//! ```text
//! below B packets waiting:  the most efficient m with per_m < th_PER/H
//! from B on:                the most efficient m with per_m < th_PER
//! ```
//!
//! Source: qawla-2015 §2. With H = 1 it is TAGLA. What the source leaves open is in `target.rs`
//! and `dual_regime.rs`.

use super::target::{error_threshold, fastest_below};
use super::{Candidate, Policy, SchemeNames, positive_threshold};
use airpath_core::{ConfigError, Part, Setup};
use serde::Deserialize;

/// What the user sets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QawlaConfig {
    /// th_PER, in (0, 1].
    pub th_per: f64,
    /// H, at least 1, finite.
    pub h: f64,
    /// B, packets waiting. Above 0.
    pub threshold: u64,
}

/// Two thresholds of the packet error rate, by the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Qawla {
    /// By regime.
    th_per: [f64; 2],
    threshold: [u64; 1],
}

impl Part<dyn Policy + Send, SchemeNames> for Qawla {
    type Config = QawlaConfig;

    fn build(
        config: QawlaConfig,
        _setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    ) -> Result<Self, ConfigError> {
        let QawlaConfig { th_per, h, threshold } = config;
        error_threshold("th_per", th_per)?;
        if !(h >= 1.0 && h.is_finite()) {
            let problem = "not a factor of 1 or more. Write a number from 1 on";
            return Err(ConfigError::new("h", h, problem));
        }
        positive_threshold(threshold)?;
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
