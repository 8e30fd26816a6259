//! The signal-to-noise ratio over time, SNR(t), which determines a link's rate and errors.
//!
//! An SNR process is a function of time with a separate random stream. It does not depend on the
//! traffic. Therefore all mechanisms of a comparison experience the same channel. A new process
//! requires its file and one line in `registry.rs`.
//!
//! | file | process |
//! | --- | --- |
//! | `constant.rs` | one value |
//! | `block.rs` | independent between blocks, exponentially distributed |
//! | `jakes.rs` | flat fading, a sum of 20 oscillators |
//! | `rayleigh.rs` | flat fading with Clarke's spectrum |
//! | `rician.rs` | flat fading with Clarke's spectrum and a line of sight |
//! | `tapped_delay_line.rs` | several Rayleigh channels as taps of a power delay profile |
//! | `beamforming.rs` | two antennas with varying weights, shared by all users |
//! | `shadowed.rs` | any process under log-normal shadowing |
//! | `trace.rs` | stepwise SNR from a file |
//! | `steps.rs` | reader of files with `time_s,snr_db` |
//! | `motion.rs` | computation of the Doppler shift from a configuration |
//! | `oscillators.rs` | sums of oscillators, slot by slot |
//! | `slotted.rs` | any process, sampled by the number of a slot |

mod beamforming;
mod block;
mod constant;
mod jakes;
pub(crate) mod motion;
pub(crate) mod oscillators;
mod rayleigh;
mod registry;
mod rician;
mod shadowed;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/snr.rs.in"]
pub mod skeleton;
mod slotted;
mod steps;
mod tapped_delay_line;
mod trace;

pub use beamforming::{Beamforming, BeamformingConfig};
pub use block::{Block, BlockConfig};
pub use constant::{Constant, ConstantConfig};
pub use jakes::{Index, Jakes, JakesConfig};
pub use rayleigh::{RayleighConfig, RayleighSnr};
pub use registry::{AnySnr, SnrRegistry};
pub use rician::{RicianConfig, RicianSnr};
pub use shadowed::{Shadowed, ShadowedConfig};
pub use slotted::SlottedSnr;
pub use steps::{SnrFileError, SnrSteps};
pub use tapped_delay_line::{TappedDelayLineConfig, TappedDelayLineSnr};
pub use trace::{Trace, TraceConfig};

use crate::shannon::from_db;
use airpath_core::{Checks, Duration, Seed, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maps a key in the description to the recorded SNR.
pub type SnrTraces = BTreeMap<String, Arc<SnrSteps>>;

/// Inputs for the construction of an SNR process, in addition to its configuration.
#[derive(Clone, Debug, Default)]
pub struct SnrContext {
    /// Recorded SNRs.
    pub traces: SnrTraces,
    /// Duration of a slot, for a link with slots.
    pub slot: Option<Duration>,
    /// Seed of the random stream that all users of a link share, for a link with users.
    pub shared: Option<Seed>,
}

/// Lowest and highest SNR in a configuration, dB.
pub const RANGE_DB: std::ops::RangeInclusive<f64> = -200.0..=200.0;

/// SNR at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// SNR, dB. Finite, or minus infinity if no signal arrives.
    pub snr_db: f64,
    /// End (exclusive) of the interval with this SNR; equal to the sampling instant if the SNR
    /// changes continuously.
    pub until: Time,
}

/// An SNR process.
pub trait SnrProcess {
    /// Returns the SNR at `at`. Calls must be in ascending order of time; the same instant may be
    /// sampled repeatedly.
    fn sample(&mut self, at: Time) -> Sample;

    /// Returns the SNR, dB, if the process is constant.
    fn constant_db(&self) -> Option<f64> {
        None
    }

    /// Returns the SNR at the start of slot number `slot`, as a power ratio. Slot 0 starts at time
    /// 0, and all slots have the duration `length`, which must not change. A process that is
    /// sampled by slots must not also be sampled by time, and calls must be in ascending order of
    /// slots. The result depends only on `slot`.
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        from_db(self.sample(slotted::start_of(slot, length)).snr_db)
    }

    /// Returns the SNR at the end of slot number `slot`, as a power ratio: if the SNR jumps at the
    /// start of the next slot, this is the value before the jump.
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        from_db(self.sample(slotted::last_of(slot, length)).snr_db)
    }
}

/// Rejects an SNR outside [`RANGE_DB`].
fn check_level(field: &str, snr_db: f64, checks: &mut Checks) {
    checks.within(field, snr_db, RANGE_DB);
}
