//! Error processes, which determine the frames that the radio corrupts.
//!
//! An error process does not model signals or codes. It is called for each frame at the end of the
//! frame's transmission. A new process requires its file and one line in `registry.rs`.
//!
//! | file | process |
//! | --- | --- |
//! | `independent.rs` | each frame independently |
//! | `gilbert_elliott.rs` | two states that alternate, slot by slot |
//! | `burst.rs` | two states, alternating like the fades of a moving receiver (`fading_chain.rs`) |

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

/// Description of a transmitted frame for an error process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Start of the frame's first bit.
    pub began: Time,
    /// End of the frame's last bit (exclusive).
    pub ended: Time,
    /// Link capacity used by the frame, bytes: packet, framing, and padding of the last block.
    pub bytes: Bytes,
    /// Index of the modulation and coding scheme (MCS) in the link's table. `None` on a link
    /// without MCSs.
    pub mcs: Option<usize>,
}

/// Process that corrupts frames.
pub trait ErrorProcess {
    /// Returns true if `frame` is corrupted. Calls are in order of `began`; frames may overlap.
    fn corrupts(&mut self, frame: &Frame) -> bool;
}
