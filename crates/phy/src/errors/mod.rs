//! Error processes: which frames the radio corrupts.
//!
//! An error process does not depend on signals and codes; it is called for each frame when that has
//! been sent. To add one: its file and one line in `registry.rs`.
//!
//! | file | process |
//! | --- | --- |
//! | `independent.rs` | each frame by itself |
//! | `gilbert_elliott.rs` | two states that take turns, slot by slot |
//! | `burst.rs` | two states with the fades of a moving receiver (`fading_chain.rs`) |

mod burst;
pub mod fading_chain;
mod gilbert_elliott;
mod independent;
mod registry;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/errors.rs.in"]
pub mod skeleton;
mod two_states;

pub use burst::{Burst, BurstConfig};
pub use gilbert_elliott::{GilbertElliott, GilbertElliottConfig};
pub use independent::{Independent, IndependentConfig};
pub use registry::{AnyErrors, ErrorsRegistry};
pub use two_states::TwoStates;

use airpath_core::{Bytes, Time};

/// A frame on the air, as an error process receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When its first bit is sent.
    pub began: Time,
    /// When its last bit has been sent (exclusive).
    pub ended: Time,
    /// Link capacity that it takes, bytes: packet, framing, and padding of the last block.
    pub bytes: Bytes,
    /// Its modulation and coding scheme: the number in the link's table. `None` on a link without.
    pub mcs: Option<usize>,
}

/// Corrupts frames.
pub trait ErrorProcess {
    /// Whether `frame` is corrupted. Calls come in order of `began`; frames may overlap.
    fn corrupts(&mut self, frame: &Frame) -> bool;
}
