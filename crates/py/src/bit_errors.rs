//! Python functions for symbol error rates, two-state error chains, and packet codes.

use crate::errors;
use airpath_core::Bytes;
use airpath_phy::bit_errors::{self, FadingChannel};
use airpath_phy::code::reed_solomon;
use airpath_phy::shadowing;
use airpath_phy::shannon::from_db;
use airpath_phy::symbol_error::{
    Branches, Constellation, Fading, by_integral, eq5, symbol_error_rate,
};
use pyo3::prelude::*;

/// Computes symbol error rates at mean SNRs, dB. `antennas` is the number of transmitting and
/// receiving antennas.
///
/// `fading` contains the name of the fading type, the Rice factor K in dB, and m (Nakagami).
/// `method` is `exact`, `closed-form` (eq. 5 of the paper) or `integral`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn symbol_error_rates(
    py: Python<'_>,
    snrs_db: Vec<f64>,
    modulation: &str,
    antennas: (u32, u32),
    fading: (String, Option<f64>, Option<f64>),
    method: &str,
) -> PyResult<Vec<f64>> {
    let constellation = Constellation::from_name(modulation).map_err(errors::config)?;
    let (name, k_factor_db, m) = fading;
    let fading = Fading::from_name(&name, k_factor_db, m).map_err(errors::config)?;
    let rate: fn(Constellation, Branches, Fading) -> f64 = match (method, constellation, fading) {
        ("exact", ..) => symbol_error_rate,
        ("integral", ..) => by_integral,
        ("closed-form", Constellation::Psk(_), Fading::Rayleigh) => {
            |constellation, branches, _| eq5(constellation.points(), branches)
        }
        ("closed-form", ..) => {
            let problem = "of phase-shift keying over Rayleigh fading alone";
            return Err(errors::value("method", method, problem));
        }
        _ => return Err(errors::value("method", method, "unknown")),
    };
    let (tx, rx) = antennas;
    let branches = |snr_db: f64| Branches::of_antennas(tx, rx, from_db(snr_db));
    let branches: Vec<Branches> =
        snrs_db.into_iter().map(branches).collect::<Result<_, _>>().map_err(errors::config)?;
    Ok(py.detach(|| branches.into_iter().map(|one| rate(constellation, one, fading)).collect()))
}

/// Returns the names of the modulations and of the fading types.
#[pyfunction]
pub(crate) fn symbol_error_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (Constellation::NAMES.to_vec(), Fading::NAMES.to_vec())
}

/// Returns the levels of log-normal shadowing, dB, and their weights.
#[pyfunction]
pub(crate) fn shadowing_levels(deviation_db: f64) -> (Vec<f64>, Vec<f64>) {
    shadowing::levels(deviation_db).into_iter().unzip()
}

/// Two-state Markov chain of the errors of single units (symbols or bytes).
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct ErrorChain {
    inner: bit_errors::ErrorChain,
}

#[pymethods]
impl ErrorChain {
    /// Creates a chain from its transition and error probabilities.
    #[staticmethod]
    fn checked(
        p_good_to_bad: f64,
        p_bad_to_good: f64,
        error_good: f64,
        error_bad: f64,
    ) -> PyResult<ErrorChain> {
        let inner =
            bit_errors::ErrorChain::new(p_good_to_bad, p_bad_to_good, error_good, error_bad);
        Ok(ErrorChain { inner: inner.map_err(errors::config)? })
    }

    /// Creates the chain of a fading channel. `given` contains SNR and threshold in dB, Doppler
    /// shift and symbol rate in Hz.
    #[staticmethod]
    fn from_doppler(
        given: [f64; 4],
        modulation: &str,
        antennas: (u32, u32),
    ) -> PyResult<ErrorChain> {
        let [snr_db, threshold_db, doppler_hz, symbol_rate_hz] = given;
        let (tx, rx) = antennas;
        let made = || {
            bit_errors::ErrorChain::from_doppler(&FadingChannel {
                constellation: Constellation::from_name(modulation)?,
                branches: Branches::of_antennas(tx, rx, from_db(snr_db))?,
                threshold_db,
                doppler_hz,
                symbol_rate_hz,
            })
        };
        Ok(ErrorChain { inner: made().map_err(errors::config)? })
    }

    /// Returns the probabilities of the transitions from good to bad and from bad to good, and the
    /// error probabilities in the good and in the bad state.
    #[getter]
    fn probabilities(&self) -> (f64, f64, f64, f64) {
        self.inner.probabilities().into()
    }

    /// Stationary probabilities of the good and the bad state.
    #[getter]
    fn shares(&self) -> (f64, f64) {
        self.inner.shares().into()
    }

    /// Mean durations of a stay in the good and in the bad state, units.
    #[getter]
    fn mean_runs(&self) -> (f64, f64) {
        self.inner.mean_runs().into()
    }

    /// Share of units in error.
    #[getter]
    fn error_rate(&self) -> f64 {
        self.inner.error_rate()
    }

    /// Returns, for each r, the probabilities that r of `units` units are received and the last
    /// unit is in the good or in the bad state.
    fn received_by_state(&self, py: Python<'_>, units: usize) -> Vec<[f64; 2]> {
        py.detach(|| self.inner.received_by_state(units))
    }

    /// Returns the failure probability of a packet without a code.
    fn packet_failure(&self, units: u64) -> f64 {
        self.inner.packet_failure(units)
    }

    /// Returns the failure probability of a block of `symbols` symbols.
    fn block_failure(
        &self,
        py: Python<'_>,
        symbols: u64,
        correctable: u64,
        symbol_units: u64,
    ) -> f64 {
        py.detach(|| self.inner.block_failure(symbols, correctable, symbol_units))
    }

    /// Returns the failure probability of a packet of `packet_bytes` bytes with a code.
    fn coded_failure(
        &self,
        py: Python<'_>,
        packet_bytes: u64,
        code: &ReedSolomon,
        symbol_units: u64,
    ) -> PyResult<f64> {
        let blocks = code.inner.blocks(Bytes(packet_bytes)).map_err(errors::config)?;
        Ok(py.detach(|| self.inner.failure(&self.inner.coded_outcome(&blocks, symbol_units))))
    }
}

/// A Reed–Solomon code for packets.
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct ReedSolomon {
    inner: reed_solomon::ReedSolomon,
}

#[pymethods]
impl ReedSolomon {
    /// Creates a code from its parameters.
    #[staticmethod]
    fn checked(code_rate: f64, symbol_bits: u32, max_block: Option<u64>) -> PyResult<ReedSolomon> {
        let inner = reed_solomon::ReedSolomon::new(code_rate, symbol_bits, max_block);
        Ok(ReedSolomon { inner: inner.map_err(errors::config)? })
    }

    /// Returns, for the blocks of a packet, k (data symbols), b (transmitted symbols) and t_C
    /// (correctable symbols).
    fn blocks(&self, packet_bytes: u64) -> PyResult<Vec<(u64, u64, u64)>> {
        let blocks = self.inner.blocks(Bytes(packet_bytes)).map_err(errors::config)?;
        let of = |block: reed_solomon::Block| (block.data, block.symbols, block.correctable);
        Ok(blocks.into_iter().map(of).collect())
    }

    /// Returns the transmitted bytes of a packet, including parity.
    fn on_air(&self, packet_bytes: u64) -> u64 {
        self.inner.on_air(Bytes(packet_bytes)).0
    }
}
