//! The list of channels: one line each.

use super::{Burst, Channel, GilbertElliott, Independent};
use airpath_core::{Registry, Time, built_in_parts};

/// Channels that were registered at run time.
pub type ChannelRegistry = Registry<dyn Channel + Send>;

built_in_parts! {
    /// Any channel.
    enum AnyChannel: dyn Channel + Send, () {
        "independent" => Independent(Independent): "Each frame is destroyed with the same probability.",
        "gilbert-elliott" => GilbertElliott(GilbertElliott):
            "A good and a bad state that take turns, each with its loss.",
        "burst" => Burst(Burst):
            "Bursts of errors as long as the fades of a moving receiver (Chockalingam, Zorzi).",
    }
}

impl Channel for AnyChannel {
    #[inline]
    fn destroys(&mut self, began: Time, ended: Time) -> bool {
        each_part!(self, channel => channel.destroys(began, ended))
    }
}
