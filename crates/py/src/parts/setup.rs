//! Parameters that a part receives at its start.

use super::{BuiltInCongestion, Random};
use airpath_aqm::Limit;
use airpath_core::{Registry, Seed, Setup};
use airpath_tcp::congestion::{AnyCongestion, CongestionSetup};
use pyo3::prelude::*;

/// Parameters of the connection for a congestion control.
#[pyclass(frozen, name = "CongestionSetup", module = "airpath.parts")]
pub(crate) struct CongestionSetupView {
    setup: CongestionSetup,
    seed: Seed,
    random: Py<Random>,
}

impl CongestionSetupView {
    pub(super) fn new(py: Python<'_>, setup: CongestionSetup, seed: Seed) -> PyResult<Self> {
        let random = Py::new(py, Random::new(seed.child("part").stream()))?;
        Ok(CongestionSetupView { setup, seed, random })
    }
}

#[pymethods]
impl CongestionSetupView {
    /// Name of the connection in the network.
    #[getter]
    fn name(&self) -> &str {
        &self.seed.name
    }

    /// Index of the replication.
    #[getter]
    fn replication(&self) -> u64 {
        self.seed.replication
    }

    /// Random numbers of this connection.
    #[getter]
    fn rng(&self, py: Python<'_>) -> Py<Random> {
        self.random.clone_ref(py)
    }

    /// Maximum segment size, payload bytes.
    #[getter]
    fn mss(&self) -> u32 {
        self.setup.options.mss
    }

    /// Size of the IP and TCP headers of each packet, bytes.
    #[getter]
    fn header_bytes(&self) -> u32 {
        self.setup.options.header_bytes
    }

    /// Initial window, bytes.
    #[getter]
    fn initial_window(&self) -> u64 {
        self.setup.options.initial_window
    }

    /// Initial slow-start threshold, bytes; None if it is unlimited.
    #[getter]
    fn initial_ssthresh(&self) -> Option<u64> {
        self.setup.options.initial_ssthresh
    }

    /// Receive window, bytes.
    #[getter]
    fn receive_window(&self) -> u64 {
        self.setup.options.receive_window
    }

    /// True if a window may grow that is not fully used.
    #[getter]
    fn grow_unused(&self) -> bool {
        self.setup.options.grow_unused
    }

    /// Create a built-in congestion control for this connection.
    ///
    /// `description` is its resolved form: the key ``kind`` and the parameters in base units.
    fn make(&self, description: &str) -> PyResult<BuiltInCongestion> {
        let description = serde_json::from_str(description).map_err(crate::errors::json)?;
        let registry = Registry::default();
        let seed = self.seed.clone();
        let setup = Setup { seed, registry: &registry, extra: self.setup.clone() };
        let inner = AnyCongestion::build(&description, setup).map_err(crate::errors::config)?;
        Ok(BuiltInCongestion::new(inner))
    }

    fn __repr__(&self) -> String {
        let options = &self.setup.options;
        format!(
            "CongestionSetup(name={:?}, mss={}, initial_window={})",
            self.seed.name, options.mss, options.initial_window
        )
    }
}

/// Parameters that a queue discipline receives at its start.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct QueueSetup {
    seed: Seed,
    limit: Limit,
    random: Py<Random>,
}

impl QueueSetup {
    pub(super) fn new(py: Python<'_>, limit: Limit, seed: Seed) -> PyResult<QueueSetup> {
        let random = Py::new(py, Random::new(seed.child("part").stream()))?;
        Ok(QueueSetup { seed, limit, random })
    }
}

#[pymethods]
impl QueueSetup {
    /// Name of the queue in the network.
    #[getter]
    fn name(&self) -> &str {
        &self.seed.name
    }

    /// Index of the replication.
    #[getter]
    fn replication(&self) -> u64 {
        self.seed.replication
    }

    /// Random numbers of this queue.
    #[getter]
    fn rng(&self, py: Python<'_>) -> Py<Random> {
        self.random.clone_ref(py)
    }

    /// Limit of the queue, packets; None if the limit is in bytes.
    #[getter]
    fn limit_packets(&self) -> Option<usize> {
        match self.limit {
            Limit::Packets(packets) => Some(packets),
            Limit::Bytes(_) => None,
        }
    }

    /// Limit of the queue, bytes; None if the limit is in packets.
    #[getter]
    fn limit_bytes(&self) -> Option<u64> {
        match self.limit {
            Limit::Bytes(bytes) => Some(bytes),
            Limit::Packets(_) => None,
        }
    }
}
