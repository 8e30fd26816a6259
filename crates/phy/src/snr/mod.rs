//! The signal-to-noise ratio over time: SNR(t), of which a link's rate and errors are made.
//!
//! A process is a function of time with a separate stream: it does not depend on what is sent, so
//! that compared mechanisms see the same radio. To add one: its file and one line in `registry.rs`.
//!
//! | file | process |
//! | --- | --- |
//! | `constant.rs` | one value |
//! | `block.rs` | independent from block to block, exponential |
//! | `jakes.rs` | flat fading, a sum of 20 oscillators |
//! | `rayleigh.rs` | flat fading with Clarke's spectrum |
//! | `rician.rs` | the same with a line of sight |
//! | tapped_delay_line.rs | several such channels, the taps of a power delay profile |
//! | `beamforming.rs` | two antennas with changing weights, which users share |
//! | `shadowed.rs` | any of them under log-normal shadowing |
//! | `trace.rs` | the steps of a file |
//! | `steps.rs` | that file: `time_s,snr_db` |
//! | `motion.rs` | the Doppler shift of a description |
//! | `oscillators.rs` | sums of oscillators, slot by slot |
//! | `slotted.rs` | any of them, sampled by the number of a slot |

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

/// Recorded SNRs by the key under which a description names them.
pub type SnrTraces = BTreeMap<String, Arc<SnrSteps>>;

/// Inputs of the construction of an SNR process, apart from its own configuration.
#[derive(Clone, Debug, Default)]
pub struct SnrContext {
    /// Recorded SNRs.
    pub traces: SnrTraces,
    /// The length of a slot, of a link that has slots.
    pub slot: Option<Duration>,
    /// Where randomness comes from that all users of a link have in common, of a link with users.
    pub shared: Option<Seed>,
}

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
    /// The SNR at `at`. Calls come in rising order of time; the same instant may be sampled again.
    fn sample(&mut self, at: Time) -> Sample;

    /// The SNR, dB, of a process that never changes.
    fn constant_db(&self) -> Option<f64> {
        None
    }

    /// The SNR at the start of slot number `slot`, a power ratio: slot 0 starts at time 0, each is
    /// of `length`, which stays. A process that is sampled by slots is sampled only so; numbers do
    /// not fall. The result depends on the number only.
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        from_db(self.sample(slotted::start_of(slot, length)).snr_db)
    }

    /// The SNR at the end of slot number `slot`, a power ratio: before the next one starts, where
    /// it jumps then.
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        from_db(self.sample(slotted::last_of(slot, length)).snr_db)
    }
}

/// Rejects an SNR outside [`RANGE_DB`].
fn check_level(field: &str, snr_db: f64, checks: &mut Checks) {
    checks.within(field, snr_db, RANGE_DB);
}
