//! ACKs with ECN-Echo.

use super::{FLOW, HEADER, SenderScript, block};
use airpath_core::{Flags, Packet};
use std::ops::Range;

impl SenderScript {
    /// Delivers an ACK of everything before `next`, with ECN-Echo.
    pub(crate) fn echo_ack(&mut self, next: u64) -> &mut Self {
        self.echo_ack_with_window(next, self.window)
    }

    /// Does the same with a window of `window` bytes.
    pub(crate) fn echo_ack_with_window(&mut self, next: u64, window: u32) -> &mut Self {
        self.window = window;
        self.una = self.una.max(next);
        let mut packet = Packet::ack(FLOW, next, window, HEADER);
        packet.flags = Flags::ECE;
        self.receive(packet)
    }

    /// Delivers an ACK with ECN-Echo and these SACK blocks.
    pub(crate) fn echo_sack<const N: usize>(
        &mut self,
        next: u64,
        blocks: [Range<u64>; N],
    ) -> &mut Self {
        self.una = self.una.max(next);
        let mut ack = Packet::ack(FLOW, next, self.window, HEADER);
        ack.flags = Flags::ECE;
        blocks.iter().for_each(|range| ack.push_sack(block(next, range)));
        self.receive(ack)
    }
}
