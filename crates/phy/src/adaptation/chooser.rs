//! Combines a link-adaptation policy with an error-rate table. The result maps an SNR to the MCS
//! (modulation and coding scheme) of each queue-length regime.

use super::{AnyPolicy, Candidate, Policy, PolicyRegistry, SchemeNames};
use crate::per_table::PerTable;
use airpath_core::{Bytes, ConfigError, Seed, Setup, StageError, check_index, registry::kind_of};
use serde_json::Value;
use std::sync::Arc;

/// A policy with its error-rate table.
pub struct Chooser {
    policy: AnyPolicy,
    thresholds: Vec<u64>,
    uses_estimate: bool,
    table: Arc<PerTable>,
    /// Packet size for which the packet error rates are computed.
    reference: Bytes,
    /// Candidates at the latest SNR; a reused buffer.
    candidates: Vec<Candidate>,
}

impl Chooser {
    /// Builds the policy that `description` selects. It reads the error rates from `table`, for
    /// packets of `reference` bytes including framing.
    ///
    /// # Errors
    /// If the kind is unknown, a parameter is not accepted, or a plug-in policy fails or its
    /// thresholds do not ascend.
    pub fn new(
        description: &Value,
        table: Arc<PerTable>,
        reference: Bytes,
        (seed, registry): (Seed, &PolicyRegistry),
    ) -> Result<Chooser, ConfigError> {
        let extra: SchemeNames = table.curves.iter().map(|curve| curve.mcs.name.clone()).collect();
        let mut policy = AnyPolicy::build(description, Setup { seed, registry, extra })?;
        let thresholds = policy.thresholds().to_vec();
        let uses_estimate = policy.uses_estimate();
        if let Some(error) = policy.take_error() {
            return Err(ConfigError::new("kind", kind_of(description)?, error.to_string()));
        }
        if !thresholds.is_sorted_by(|a, b| a < b) {
            return Err(ConfigError::new("thresholds", format!("{thresholds:?}"), "not ascending"));
        }
        let candidates = Vec::with_capacity(table.curves.len());
        Ok(Chooser { policy, thresholds, uses_estimate, table, reference, candidates })
    }

    /// Returns the queue lengths, packets, at which the next regime begins, ascending.
    pub fn thresholds(&self) -> &[u64] {
        &self.thresholds
    }

    /// Returns the number of regimes.
    pub fn regimes(&self) -> usize {
        self.thresholds.len() + 1
    }

    /// Returns true if the choice depends on the SNR estimate.
    pub fn uses_estimate(&self) -> bool {
        self.uses_estimate
    }

    /// Writes the index of the MCS of each regime into `chosen`, for an estimated SNR of `snr_db`.
    ///
    /// # Errors
    /// If a plug-in policy fails or chooses an MCS that does not exist. `chosen` then contains valid
    /// indices if it did before.
    pub fn choose(&mut self, snr_db: f64, chosen: &mut [usize]) -> Result<(), StageError> {
        let reference = self.reference;
        self.candidates.clear();
        self.candidates.extend(self.table.curves.iter().map(|curve| Candidate {
            efficiency: curve.mcs.bits_per_symbol as f64 * curve.mcs.code_rate,
            fer: curve.fer(snr_db),
            per: curve.per(snr_db, reference),
        }));
        for (regime, chosen) in chosen.iter_mut().enumerate() {
            let number = self.policy.choose(&self.candidates, regime);
            if let Some(error) = self.policy.take_error() {
                return Err(error);
            }
            *chosen = check_index("`choose` of the policy", number, self.candidates.len())?;
        }
        Ok(())
    }
}
