//! Files of a scenario, and values that links share.

use airpath_core::ConfigError;
use airpath_phy::per_table::PerTable;
use airpath_phy::snr::SnrTraces;
use airpath_trace::Trace;
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maps the key of a trace in the configuration to the trace.
pub type Traces = BTreeMap<String, Arc<Trace>>;

/// Maps the key of an error-rate table in the configuration to the table.
pub type Tables = BTreeMap<String, Arc<PerTable>>;

/// Parsed files of a scenario, and values that are computed once for all replications.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Recorded traces.
    pub traces: Traces,
    /// Error-rate tables.
    pub tables: Tables,
    /// Recorded SNRs.
    pub snr: SnrTraces,
    /// Values that links of all replications, threads and directions share.
    pub shared: Arc<Shared>,
}

impl Files {
    /// Returns the error-rate table with the key `key`.
    ///
    /// # Errors
    /// If no table has this key.
    pub fn table(&self, key: &str) -> Result<Arc<PerTable>, ConfigError> {
        self.tables.get(key).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.tables.keys().map(String::as_str).collect();
            let problem = format!("not given. Given: {}", known.join(", "));
            ConfigError::new("table", key, problem)
        })
    }
}

impl From<Traces> for Files {
    fn from(traces: Traces) -> Files {
        Files { traces, ..Files::default() }
    }
}

/// Store of shared values: one value of each type, created on first use. A value must depend only
/// on the scenario, not on the link that creates it.
#[derive(Debug, Default)]
pub struct Shared {
    values: Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Shared {
    /// Returns the value of type `T`. Creates a default value on first use.
    pub fn get<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().expect("the key is the type of the value")
    }
}
