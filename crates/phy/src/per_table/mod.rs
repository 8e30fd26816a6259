//! Tables of error rates: what was counted on a grid of signal-to-noise ratios, and what it says
//! in between.
//!
//! A table carries the data of its modulation and coding schemes, so that one of another radio
//! works without code. Files are JSON: `docs/reference/file-formats.md`.

mod curve;
mod read;

pub use curve::PerCurve;

use airpath_core::ConfigError;
use serde_json::Value;

/// Blocks counted at one signal-to-noise ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerPoint {
    /// Mean Es/N0, dB.
    pub snr_db: f64,
    /// Blocks in error, no more than `blocks`.
    pub errors: u64,
    /// Blocks decoded, at least 1.
    pub blocks: u64,
}

/// A modulation and coding scheme as a table knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableMcs {
    /// Name in the table; no other curve of the table has the name.
    pub name: String,
    /// Coded bits of a symbol, at least 1.
    pub bits_per_symbol: u64,
    /// R, in (0, 1].
    pub code_rate: f64,
    /// k_m, information bytes of a block, at least 1.
    pub block_bytes: u64,
    /// c_m, bit/s: information bits in full blocks. Above 0.
    pub rate_bps: f64,
}

/// Curves of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct PerTable {
    /// The channel.
    pub channel: String,
    /// Lowest and highest signal-to-noise ratio that the table was made for, dB.
    pub snr_range_db: (f64, f64),
    /// A curve for every scheme, at least one.
    pub curves: Vec<PerCurve>,
    /// Provenance of the table, as in the file; null without it.
    pub provenance: Value,
}

impl PerTable {
    /// Reads a table.
    ///
    /// # Errors
    /// When the text is not JSON, a field is missing or of another type, or a value is not
    /// accepted; the field is a dotted path, `curves.0.points.3.errors`.
    pub fn from_json(text: &str) -> Result<PerTable, ConfigError> {
        read::table(text)
    }

    /// Whether all curves were measured about `snr_db`: it is in the table's range, not before the
    /// first point of a curve, and not after the last one unless that had no error.
    pub fn covers(&self, snr_db: f64) -> bool {
        let (low, high) = self.snr_range_db;
        (low..=high).contains(&snr_db) && self.curves.iter().all(|curve| curve.covers(snr_db))
    }

    /// The curve of the scheme called `name`.
    pub fn curve(&self, name: &str) -> Option<&PerCurve> {
        self.curves.iter().find(|curve| curve.mcs.name == name)
    }
}

#[cfg(test)]
mod tests;
