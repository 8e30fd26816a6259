//! Python functions for link adaptation.

use crate::errors;
use airpath_core::{Bytes, Seed};
use airpath_link::Tables;
use airpath_phy::adaptation::{Chooser, PolicyRegistry};
use airpath_phy::per_table::PerTable;
use airpath_phy::snr::{SnrSteps, SnrTraces};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maps the key with which a scenario refers to an error-rate table to the text of the table's
/// file.
pub(crate) type TableTexts = BTreeMap<String, String>;

/// Parses error-rate tables. Raises `ValueError` if a table is invalid.
pub(crate) fn tables(texts: Option<TableTexts>) -> PyResult<Tables> {
    let read = |(key, text): (String, String)| match PerTable::from_json(&text) {
        Ok(table) => Ok((key, Arc::new(table))),
        Err(error) => Err(errors::config(error.under(&key))),
    };
    texts.unwrap_or_default().into_iter().map(read).collect()
}

/// Parses SNR traces. `texts` maps the key with which a scenario refers to a trace to the text of
/// the trace's file.
pub(crate) fn snr_traces(texts: Option<BTreeMap<String, String>>) -> PyResult<SnrTraces> {
    let read = |(key, text): (String, String)| match SnrSteps::parse(&key, &text) {
        Ok(steps) => Ok((key, Arc::new(steps))),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    };
    texts.unwrap_or_default().into_iter().map(read).collect()
}

/// Returns, for each SNR estimate, the index of the MCS that a policy selects in each regime.
///
/// Error rates are computed for packets of `packet_bytes` bytes. MCS indices count from 0 in the
/// order of the table.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn policy_choices(
    policy_json: &str,
    table_json: &str,
    snrs_db: Vec<f64>,
    packet_bytes: u64,
) -> PyResult<Vec<Vec<usize>>> {
    let policy: Value = serde_json::from_str(policy_json).map_err(errors::json)?;
    let table = PerTable::from_json(table_json).map_err(errors::config)?;
    if let Some(snr_db) = snrs_db.iter().find(|snr_db| !snr_db.is_finite()) {
        return Err(errors::value("snrs_db", *snr_db, "not a finite number of dB"));
    }
    let setup = (Seed::new(0, 0, "policy"), &PolicyRegistry::default());
    let mut chooser = Chooser::new(&policy, Arc::new(table), Bytes(packet_bytes), setup)
        .map_err(|error| errors::config(error.under("policy")))?;
    let mut choices = |snr_db: f64| {
        let mut chosen = vec![0; chooser.regimes()];
        let done = chooser.choose(snr_db, &mut chosen);
        done.map_err(|error| errors::value("policy", &policy, &error.to_string()))?;
        Ok(chosen)
    };
    snrs_db.into_iter().map(&mut choices).collect()
}
