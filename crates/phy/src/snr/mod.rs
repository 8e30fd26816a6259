//! The signal-to-noise ratio over time: SNR(t), of which a link's rate and errors are made.
//!
//! A process is a function of time with a stream of its own: it does not depend on what is sent, so
//! that compared mechanisms see the same radio. To add one: its file and one line in `registry.rs`.
//!
//! | file | process |
//! | --- | --- |
//! | `constant.rs` | one value |
//! | `rayleigh.rs` | flat fading with Clarke's spectrum |
//! | `trace.rs` | the steps of a file |
//! | `steps.rs` | that file: `time_s,snr_db` |

mod constant;
mod rayleigh;
mod registry;
mod steps;
mod trace;

pub use constant::{Constant, ConstantConfig};
pub use rayleigh::{RayleighConfig, RayleighSnr};
pub use registry::{AnySnr, SnrRegistry};
pub use steps::{SnrFileError, SnrSteps};
pub use trace::{Trace, TraceConfig};

use airpath_core::{ConfigError, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Recorded SNRs by the key under which a description names them.
pub type SnrTraces = BTreeMap<String, Arc<SnrSteps>>;

/// The lowest and the highest SNR that a description may have, dB.
pub const RANGE_DB: std::ops::RangeInclusive<f64> = -200.0..=200.0;

/// The SNR at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The SNR, dB. Finite, or minus infinity where nothing of the signal arrives.
    pub snr_db: f64,
    /// Until when (exclusive) it stays so; the instant itself where it changes all the time.
    pub until: Time,
}

/// The SNR over time.
pub trait SnrProcess {
    /// The SNR at `at`. Calls come in rising order of time; the same instant may be asked again.
    fn sample(&mut self, at: Time) -> Sample;

    /// The SNR, dB, of a process that never changes.
    fn constant_db(&self) -> Option<f64> {
        None
    }
}

/// Accepts an SNR in [`RANGE_DB`].
fn level(field: &str, snr_db: f64) -> Result<(), ConfigError> {
    if !RANGE_DB.contains(&snr_db) {
        let (low, high) = (RANGE_DB.start(), RANGE_DB.end());
        let problem = format!("not of dB from {low} to {high}");
        return Err(ConfigError::new(field, snr_db, problem));
    }
    Ok(())
}
