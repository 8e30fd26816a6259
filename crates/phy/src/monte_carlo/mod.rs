//! Measures error rates by Monte Carlo simulation: random blocks pass through encoder, channel and
//! decoder.

mod chain;
mod config;
mod driver;
mod front_end;
mod skip;
mod wilson;

pub use chain::Chain;
pub use config::{ALGORITHMS, DEMAPPERS, MeasurementConfig};
pub use driver::{BATCH, Outcome, Settings, measure};
pub use skip::skip_iterations;
pub use wilson::wilson;

use crate::fading::Fading;
use crate::mcs::Mcs;
use std::fmt;
use std::ops::AddAssign;

/// A point of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Modulation and coding scheme.
    pub mcs: Mcs,
    /// Fading channel.
    pub fading: Fading,
    /// Mean Es/N0 of a data subcarrier, dB.
    pub snr_db: f64,
}

/// Formats the name of the point's random streams.
impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{} dB", self.mcs.name(), self.fading.name(), self.snr_db)
    }
}

/// Counts of decoded blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of all blocks.
    pub blocks: u64,
    /// Number of blocks in error after the last iteration.
    pub errors: u64,
    /// Sum of the iterations of all blocks.
    pub iterations: u64,
    /// Number of blocks that the skip rule counted as correct without decoding.
    pub skipped: u64,
}

impl Count {
    /// Returns the FER, the share of blocks in error; NaN without blocks.
    pub fn frame_error_rate(&self) -> f64 {
        self.errors as f64 / self.blocks as f64
    }

    /// Returns the confidence interval of the frame error rate at `z` standard deviations.
    pub fn interval(&self, z: f64) -> (f64, f64) {
        wilson(self.errors, self.blocks, z)
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.blocks += other.blocks;
        self.errors += other.errors;
        self.iterations += other.iterations;
        self.skipped += other.skipped;
    }
}
