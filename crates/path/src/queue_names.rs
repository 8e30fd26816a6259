//! Names of the queues of a network.

use airpath_core::{ConfigError, QueueId};
use std::collections::BTreeSet;

/// Names of the queues of a network, in the order of creation.
#[derive(Default)]
pub(crate) struct QueueNames {
    pub(crate) names: Vec<String>,
    taken: BTreeSet<String>,
    /// First error of a queue that could not be built.
    pub(crate) failure: Option<ConfigError>,
}

impl QueueNames {
    pub(crate) fn add(&mut self, name: String) -> Result<QueueId, ConfigError> {
        if !self.taken.insert(name.clone()) {
            return Err(ConfigError::new("", name, "made twice by its link"));
        }
        self.names.push(name);
        Ok(QueueId(self.names.len() as u32 - 1))
    }

    pub(crate) fn note(&mut self, error: ConfigError) -> ConfigError {
        self.failure.get_or_insert(error).clone()
    }
}
