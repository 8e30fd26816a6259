//! Error rates by experiment: random blocks through coder, channel and decoder.

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

/// A point that is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The modulation and coding scheme.
    pub mcs: Mcs,
    /// The channel.
    pub fading: Fading,
    /// Mean Es/N0 of a data subcarrier, dB.
    pub snr_db: f64,
}

/// The name of the point's random streams.
impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{} dB", self.mcs.name(), self.fading.name(), self.snr_db)
    }
}

/// Blocks decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All blocks.
    pub blocks: u64,
    /// Blocks in error after the last iteration.
    pub errors: u64,
    /// Iterations of all.
    pub iterations: u64,
    /// Those that the skip rule counted right without decoding.
    pub skipped: u64,
}

impl Count {
    /// FER: the share of blocks in error; not a number without blocks.
    pub fn frame_error_rate(&self) -> f64 {
        self.errors as f64 / self.blocks as f64
    }

    /// The interval of the frame error rate at `z` standard deviations.
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
