//! Tables of error rates: numbers of blocks and of blocks in error at several signal-to-noise
//! ratios, and interpolation between them.
//!
//! A table also contains the parameters of its modulation and coding schemes, so that a table of
//! another radio requires no code. The format of the JSON files is documented in
//! `docs/reference/file-formats.md`.

mod curve;
mod read;

pub use curve::PerCurve;

use airpath_core::ConfigError;
use serde_json::Value;

/// Numbers of blocks and of blocks in error at one signal-to-noise ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerPoint {
    /// Mean Es/N0, dB.
    pub snr_db: f64,
    /// Blocks in error, at most `blocks`.
    pub errors: u64,
    /// Decoded blocks, at least 1.
    pub blocks: u64,
}

/// A modulation and coding scheme in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableMcs {
    /// Name, unique in the table.
    pub name: String,
    /// Coded bits per symbol, at least 1.
    pub bits_per_symbol: u64,
    /// R, in (0, 1].
    pub code_rate: f64,
    /// k_m, information bytes per block, at least 1.
    pub block_bytes: u64,
    /// c_m, rate of information bits in full blocks, bit/s. Above 0.
    pub rate_bps: f64,
}

/// Curves of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct PerTable {
    /// Name of the channel.
    pub channel: String,
    /// Lowest and highest signal-to-noise ratio of the measurement, dB.
    pub snr_range_db: (f64, f64),
    /// One curve per scheme; at least one.
    pub curves: Vec<PerCurve>,
    /// Provenance of the table, as in the file; null if absent.
    pub provenance: Value,
}

impl PerTable {
    /// Reads a table.
    ///
    /// # Errors
    /// If the text is not JSON, a field is missing or has another type, or a value is not accepted;
    /// the error's field is a dotted path, `curves.0.points.3.errors`.
    pub fn from_json(text: &str) -> Result<PerTable, ConfigError> {
        read::table(text)
    }

    /// Returns true if all curves cover `snr_db`: it is in the table's range, not below the first
    /// point of any curve, and not above the last point of any curve unless that point has no
    /// errors.
    pub fn covers(&self, snr_db: f64) -> bool {
        let (low, high) = self.snr_range_db;
        (low..=high).contains(&snr_db) && self.curves.iter().all(|curve| curve.covers(snr_db))
    }

    /// Returns the curve of the scheme called `name`.
    pub fn curve(&self, name: &str) -> Option<&PerCurve> {
        self.curves.iter().find(|curve| curve.mcs.name == name)
    }
}

#[cfg(test)]
mod tests;
