//! Combines a link-adaptation policy with an error-rate table. The result maps an SNR to the MCS
//! (modulation and coding scheme) of each queue-length regime.

use super::{AnyPolicy, Candidate, Policy, PolicyRegistry, SchemeNames};
use crate::per_table::PerTable;
use airpath_core::{Bytes, ConfigError, Seed, Setup};
use serde_json::Value;
use std::sync::Arc;

/// A policy with its error-rate table.
pub struct Chooser {
    policy: AnyPolicy,
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
    /// If the kind is unknown, a parameter is not accepted, or the thresholds of a plug-in policy
    /// do not ascend.
    pub fn new(
        description: &Value,
        table: Arc<PerTable>,
        reference: Bytes,
        (seed, registry): (Seed, &PolicyRegistry),
    ) -> Result<Chooser, ConfigError> {
        let extra: SchemeNames = table.curves.iter().map(|curve| curve.mcs.name.clone()).collect();
        let policy = AnyPolicy::build(description, Setup { seed, registry, extra })?;
        let thresholds = policy.thresholds();
        if !thresholds.is_sorted_by(|a, b| a < b) {
            return Err(ConfigError::new("thresholds", format!("{thresholds:?}"), "not ascending"));
        }
        let candidates = Vec::with_capacity(table.curves.len());
        Ok(Chooser { policy, table, reference, candidates })
    }

    /// Returns the queue lengths, packets, at which the next regime begins, ascending.
    pub fn thresholds(&self) -> &[u64] {
        self.policy.thresholds()
    }

    /// Returns the number of regimes.
    pub fn regimes(&self) -> usize {
        self.thresholds().len() + 1
    }

    /// Returns true if the choice depends on the SNR estimate.
    pub fn uses_estimate(&self) -> bool {
        self.policy.uses_estimate()
    }

    /// Writes the index of the MCS of each regime into `chosen`, for an estimated SNR of `snr_db`.
    ///
    /// # Panics
    /// If a plug-in policy chooses an MCS that does not exist.
    pub fn choose(&mut self, snr_db: f64, chosen: &mut [usize]) {
        let reference = self.reference;
        self.candidates.clear();
        self.candidates.extend(self.table.curves.iter().map(|curve| Candidate {
            efficiency: curve.mcs.bits_per_symbol as f64 * curve.mcs.code_rate,
            fer: curve.fer(snr_db),
            per: curve.per(snr_db, reference),
        }));
        for (regime, chosen) in chosen.iter_mut().enumerate() {
            *chosen = self.policy.choose(&self.candidates, regime);
            let count = self.candidates.len();
            assert!(*chosen < count, "a policy chose MCS {chosen} of {count}");
        }
    }
}
