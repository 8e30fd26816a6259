//! Python class for link traces.

use crate::errors;
use airpath_trace::{FadedLinkConfig, PERCENTILES};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A recorded or generated trace of a link.
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct Trace {
    pub(crate) inner: Arc<airpath_trace::Trace>,
}

impl Trace {
    fn new(inner: airpath_trace::Trace) -> Trace {
        Trace { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Trace {
    /// Parses the Mahimahi format. `name` is the file name for error messages.
    #[staticmethod]
    #[pyo3(signature = (text, name = "trace"))]
    fn from_mahimahi(text: &str, name: &str) -> PyResult<Trace> {
        airpath_trace::Trace::parse_mahimahi(name, text).map(Trace::new).map_err(errors::trace)
    }

    /// Parses a `time_s,rate_bps` CSV. `name` is the file name for error messages.
    #[staticmethod]
    #[pyo3(signature = (text, name = "trace"))]
    fn from_csv(text: &str, name: &str) -> PyResult<Trace> {
        airpath_trace::Trace::parse_csv(name, text).map(Trace::new).map_err(errors::trace)
    }

    /// Kind of the trace: `opportunities` or `rate`.
    #[getter]
    fn kind(&self) -> &'static str {
        match &*self.inner {
            airpath_trace::Trace::Opportunities(_) => "opportunities",
            airpath_trace::Trace::Rate(_) => "rate",
        }
    }

    /// Period of the trace, s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.period_ns() as f64 / 1e9
    }

    /// Returns the trace in the Mahimahi format.
    fn to_mahimahi(&self) -> PyResult<String> {
        self.inner.to_mahimahi().map_err(errors::trace)
    }

    /// Returns the trace as CSV. Opportunities are averaged over bins of `bin_ns`.
    #[pyo3(signature = (bin_ns, provenance = ""))]
    fn to_csv(&self, bin_ns: u64, provenance: &str) -> PyResult<String> {
        self.inner.to_csv(bin_ns, provenance).map_err(errors::trace)
    }

    /// Returns the summary statistics (duration, rates, outages) as JSON.
    fn info(&self) -> String {
        let stats = self.inner.stats();
        let percentiles: BTreeMap<String, f64> =
            PERCENTILES.iter().map(|p| p.to_string()).zip(stats.percentiles_bps).collect();
        json!({
            "kind": self.kind(),
            "duration_s": stats.duration_ns as f64 / 1e9,
            "opportunities": stats.opportunities,
            "mean_bps": stats.mean_bps,
            "percentiles_bps": percentiles,
            "longest_outage_s": stats.longest_outage.length_ns as f64 / 1e9,
            "longest_outage_start_s": stats.longest_outage.start_ns as f64 / 1e9,
            "zero_bins_fraction": stats.empty_bins_fraction,
        })
        .to_string()
    }

    /// Returns the rate in each bin, bit/s, as little-endian doubles.
    fn rates<'py>(&self, py: Python<'py>, bin_ns: u64) -> PyResult<Bound<'py, PyBytes>> {
        let rates = self.inner.rates(bin_ns).map_err(errors::trace)?;
        doubles(py, rates.into_iter())
    }
}

/// Returns a column of doubles as little-endian bytes. Raises `MemoryError` if the column is too
/// long.
pub(crate) fn doubles<'py>(
    py: Python<'py>,
    values: impl ExactSizeIterator<Item = f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    column(py, values.map(f64::to_le_bytes))
}

/// Returns a column of numbers as bytes. Raises `MemoryError` if the column is too long.
pub(crate) fn column<'py, const BYTES: usize>(
    py: Python<'py>,
    numbers: impl ExactSizeIterator<Item = [u8; BYTES]>,
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, numbers.len() * BYTES, |bytes| {
        for (place, number) in bytes.chunks_exact_mut(BYTES).zip(numbers) {
            place.copy_from_slice(&number);
        }
        Ok(())
    })
}

/// Configuration of `generate_trace`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GenerateConfig {
    duration_ns: u64,
    mean_snr_db: f64,
    bandwidth_hz: f64,
    cap_bps: f64,
    speed_mps: f64,
    carrier_hz: f64,
    seed: u64,
}

/// Generates the delivery opportunities of a link with Rayleigh fading and Shannon rate.
#[pyfunction]
pub(crate) fn generate_trace(config_json: &str) -> PyResult<Trace> {
    let config: GenerateConfig =
        serde_json::from_str(config_json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let generated = airpath_trace::generate(&FadedLinkConfig {
        duration_ns: config.duration_ns,
        mean_snr_db: config.mean_snr_db,
        bandwidth_hz: config.bandwidth_hz,
        cap_bps: config.cap_bps,
        speed_mps: config.speed_mps,
        carrier_hz: config.carrier_hz,
        seed: config.seed,
    });
    generated
        .map(|trace| Trace::new(airpath_trace::Trace::Opportunities(trace)))
        .map_err(errors::trace)
}
