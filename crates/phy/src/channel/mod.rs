//! Error channels: which frames the radio destroys.
//!
//! A channel knows nothing of signals and codes, only when frames are lost. To add one: its file
//! and one line in `registry.rs`.
//!
//! | file | channel |
//! | --- | --- |
//! | `independent.rs` | each frame by itself |
//! | `gilbert_elliott.rs` | two states that take turns, slot by slot |
//! | `burst.rs` | two states with the fades of a moving receiver (`burst_law.rs`) |

mod burst;
pub mod burst_law;
mod gilbert_elliott;
mod independent;
mod registry;
mod two_states;

pub use burst::{Burst, BurstConfig};
pub use gilbert_elliott::{GilbertElliott, GilbertElliottConfig};
pub use independent::{Independent, IndependentConfig};
pub use registry::{AnyChannel, ChannelRegistry};
pub use two_states::TwoStates;

use airpath_core::{ConfigError, Time};

/// What destroys frames.
pub trait Channel {
    /// Whether a frame on the air from `began` to `ended` (exclusive) is destroyed. Calls come in
    /// order of `began`; frames may overlap.
    fn destroys(&mut self, began: Time, ended: Time) -> bool;
}

/// Accepts a probability.
fn probability(field: &str, p: f64) -> Result<(), ConfigError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(ConfigError::new(field, p, "not a probability. Write a number in [0, 1]"));
    }
    Ok(())
}

/// Accepts a slot of at least a nanosecond.
fn positive_slot(slot_ns: u64) -> Result<(), ConfigError> {
    if slot_ns == 0 {
        return Err(ConfigError::new("slot_ns", 0, "not positive. Write a time above 0 ns"));
    }
    Ok(())
}
