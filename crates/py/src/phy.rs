//! Python functions for error rates: measurement of single points on background threads, and
//! interpolation of tables; and functions for link budgets.

use crate::errors::{self, ProblemParts};
use crate::simulate::wait;
use airpath_core::Bytes;
use airpath_phy::fading::Fading;
use airpath_phy::link_budget::{self, LinkBudget};
use airpath_phy::mcs::MCSS;
use airpath_phy::monte_carlo::{self, ALGORITHMS, Count, DEMAPPERS, MeasurementConfig, Outcome};
use airpath_phy::ofdm::Mapping;
use airpath_phy::path_loss::Cost231Hata;
use airpath_phy::per_table::{self, PerCurve};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use serde_json::json;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Returns the accepted component names of a measurement as JSON: MCSs, channels, subcarrier
/// mappings, decoder algorithms, demapper algorithms.
#[pyfunction]
pub(crate) fn phy_components() -> String {
    let mcss = MCSS.map(|mcs| {
        let (bits, of) = mcs.code_rate;
        json!({
            "name": mcs.name(),
            "label": mcs.label(),
            "bits_per_symbol": mcs.modulation.bits(),
            "code_rate": bits as f64 / of as f64,
            "block_bytes": mcs.block_bytes,
            "rate_bps": mcs.rate_bps(),
        })
    });
    json!({
        "mcss": mcss,
        "channels": Fading::all(),
        "mappings": Mapping::ALL.map(Mapping::name),
        "algorithms": ALGORITHMS.map(|(name, _)| name),
        "demappers": DEMAPPERS.map(|(name, _)| name),
    })
    .to_string()
}

/// Returns the full name of a channel, which includes the subcarrier mapping unless this is the
/// reference mapping. Returns `None` for an unknown channel.
#[pyfunction]
pub(crate) fn phy_channel(name: &str) -> Option<String> {
    Fading::from_name(name).map(|fading| fading.name())
}

/// Returns all problems of the description of a measurement.
#[pyfunction]
pub(crate) fn phy_problems(config_json: &str) -> PyResult<Vec<ProblemParts>> {
    let config: MeasurementConfig = serde_json::from_str(config_json).map_err(errors::json)?;
    Ok(config.check().err().map_or_else(Vec::new, |error| errors::parts_of(&error)))
}

/// Returns the Wilson confidence interval of an error rate, at `z` standard deviations.
#[pyfunction]
pub(crate) fn wilson_interval(errors: u64, blocks: u64, z: f64) -> (f64, f64) {
    monte_carlo::wilson(errors, blocks, z)
}

/// Measures the point at the given index on several threads, without the interpreter lock. Returns
/// (errors, blocks, iterations, skipped blocks).
///
/// `progress(errors, blocks)` is called about ten times per second. Ctrl-C ends the measurement
/// with `KeyboardInterrupt`.
#[pyfunction]
#[pyo3(signature = (config_json, number, threads, progress=None))]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn phy_measure(
    py: Python<'_>,
    config_json: &str,
    number: usize,
    threads: NonZero<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64, u64, u64)> {
    let config: MeasurementConfig = serde_json::from_str(config_json).map_err(errors::json)?;
    let settings = config.settings(threads).map_err(errors::config)?;
    let no_point = || PyIndexError::new_err(format!("no point {number}"));
    let point = config.point(number).ok_or_else(no_point)?;
    let (cancel, counted) = (AtomicBool::new(false), Mutex::new(Count::default()));
    let mut raised: Option<PyErr> = None;
    let outcome: Outcome = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            monte_carlo::measure(&point, &settings, &cancel, &mut |count| {
                *counted.lock().expect("no thread panics with the lock") = count;
            })
        });
        while !worker.is_finished() {
            py.detach(|| wait(&worker));
            let Count { errors, blocks, .. } =
                *counted.lock().expect("no thread panics with the lock");
            let looked = py.check_signals().and_then(|()| match &progress {
                Some(call) => call.call1(py, (errors, blocks)).map(drop),
                None => Ok(()),
            });
            if let Err(error) = looked {
                cancel.store(true, Relaxed);
                raised.get_or_insert(error);
            }
        }
        worker.join().expect("a checked point is measured without panicking")
    });
    let Count { errors, blocks, iterations, skipped } = outcome.count;
    raised.map_or(Ok((errors, blocks, iterations, skipped)), Err)
}

/// A table of error rates.
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct PerTable {
    inner: per_table::PerTable,
}

impl PerTable {
    fn curve(&self, curve: usize) -> PyResult<&PerCurve> {
        let no_curve = || PyIndexError::new_err(format!("no curve {curve}"));
        self.inner.curves.get(curve).ok_or_else(no_curve)
    }
}

#[pymethods]
#[allow(clippy::needless_pass_by_value)]
impl PerTable {
    /// Parses a table.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<PerTable> {
        let inner = per_table::PerTable::from_json(text).map_err(errors::config)?;
        Ok(PerTable { inner })
    }

    /// Lowest and highest SNR for which the table was measured, dB.
    #[getter]
    fn snr_range_db(&self) -> (f64, f64) {
        self.inner.snr_range_db
    }

    /// Returns frame error rates of a curve.
    fn fer(&self, curve: usize, snrs_db: Vec<f64>) -> PyResult<Vec<f64>> {
        let curve = self.curve(curve)?;
        Ok(snrs_db.into_iter().map(|snr_db| curve.fer(snr_db)).collect())
    }

    /// Returns error rates of packets of `packet_bytes` bytes.
    fn per(&self, curve: usize, snrs_db: Vec<f64>, packet_bytes: u64) -> PyResult<Vec<f64>> {
        let curve = self.curve(curve)?;
        Ok(snrs_db.into_iter().map(|snr_db| curve.per(snr_db, Bytes(packet_bytes))).collect())
    }

    /// Returns true if the measured points of a curve cover all SNRs.
    fn covers(&self, curve: usize, snrs_db: Vec<f64>) -> PyResult<bool> {
        let (curve, (low, high)) = (self.curve(curve)?, self.inner.snr_range_db);
        let covers = |&snr_db: &f64| (low..=high).contains(&snr_db) && curve.covers(snr_db);
        Ok(snrs_db.iter().all(covers))
    }
}

/// Computes mean path losses by COST-231 Hata, dB. Also returns the fields that have values outside
/// the range of validity of the model: (field, lowest, highest). All lists have the same length.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, clippy::type_complexity)]
pub(crate) fn cost231_hata_db(
    frequencies_hz: Vec<f64>,
    distances_m: Vec<f64>,
    base_heights_m: Vec<f64>,
    mobile_heights_m: Vec<f64>,
    is_metropolitan: bool,
) -> PyResult<(Vec<f64>, Vec<(&'static str, f64, f64)>)> {
    let mut outside: Vec<(&'static str, f64, f64)> = Vec::new();
    let values = frequencies_hz.into_iter().zip(distances_m);
    let heights = base_heights_m.into_iter().zip(mobile_heights_m);
    let loss_db = |((frequency_hz, distance_m), (base_height_m, mobile_height_m))| {
        let model = Cost231Hata {
            frequency_hz,
            distance_m,
            base_height_m,
            mobile_height_m,
            is_metropolitan,
        };
        for (field, range) in model.outside() {
            if !outside.iter().any(|(other, ..)| *other == field) {
                outside.push((field, *range.start(), *range.end()));
            }
        }
        model.loss_db().map_err(errors::config)
    };
    let losses_db: Vec<f64> = values.zip(heights).map(loss_db).collect::<PyResult<_>>()?;
    Ok((losses_db, outside))
}

/// Computes mean signal-to-noise ratios, dB, of link budgets. A budget contains transmit power,
/// gains of transmitter and receiver, loss, bandwidth, and noise figure.
#[pyfunction]
pub(crate) fn link_budget_snr_db(budgets: Vec<[f64; 6]>) -> Vec<f64> {
    let snr_db = |budget: [f64; 6]| {
        let [power_dbm, transmit_db, receive_db, loss_db, bandwidth_hz, noise_figure_db] = budget;
        let budget = LinkBudget {
            transmit_power_dbm: power_dbm,
            transmit_gain_db: transmit_db,
            receive_gain_db: receive_db,
            loss_db,
            bandwidth_hz,
            noise_figure_db,
        };
        budget.snr_db()
    };
    budgets.into_iter().map(snr_db).collect()
}

/// Computes signal-to-interference-and-noise ratios, dB, from SNRs and interference-to-noise
/// ratios, dB.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn sinr_db(snrs_db: Vec<f64>, inrs_db: Vec<Vec<f64>>) -> Vec<f64> {
    snrs_db
        .iter()
        .zip(&inrs_db)
        .map(|(snr_db, inrs_db)| link_budget::sinr_db(*snr_db, inrs_db))
        .collect()
}
