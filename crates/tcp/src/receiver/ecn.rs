//! Echo of congestion marks by the receiver.
//!
//! Source: RFC 3168 §6.1.3. For DCTCP: RFC 8257 §3.2, including the separate ACK for data that
//! arrived before the mark changed ("MAY" in the RFC). The receiver echoes VCP's load code in
//! `feedback`, not in the flags.

use super::Receiver;
use crate::config::EcnUse;
use airpath_core::{Ctx, Ecn, Flags, Packet};

/// Echo state of one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    pub(super) kind: EcnUse,
    /// Flags of the next ACKs: ECE or none. With DCTCP's echo, ECE corresponds to DCTCP.CE = 1.
    pub(super) flags: Flags,
    /// Highest load code of the unacknowledged segments; stale if there are no unacknowledged
    /// segments.
    pub(super) load: u8,
}

impl Echo {
    pub(super) fn new(kind: EcnUse) -> Echo {
        Echo { kind, flags: Flags::NONE, load: 0 }
    }

    /// Returns the ECN flags of the SYN-ACK that answers `syn` (RFC 3168 §6.1.1).
    pub(super) fn answer(&self, syn: &Packet) -> Flags {
        let asks = syn.flags.contains(Flags::ECE.with(Flags::CWR));
        if asks && self.kind.is_negotiated() { Flags::ECE } else { Flags::NONE }
    }
}

impl Receiver {
    /// Handles the mark of a data segment, before the segment is added to the stream.
    #[cold]
    pub(super) fn note_mark(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let is_marked = packet.ecn == Ecn::Ce;
        if packet.end() <= self.stream.next() {
            return; // RFC 3168 §6.1.5: ignore a mark on data outside the window.
        }
        if self.echo.kind == EcnUse::Dctcp {
            return self.follow_marks(is_marked, ctx);
        }
        if packet.flags.contains(Flags::CWR) {
            self.echo.flags = Flags::NONE;
        }
        if is_marked {
            self.echo.flags = Flags::ECE;
        }
    }

    /// Handles the load code of a SYN or data segment. On a VCP connection, the next ACK carries
    /// the highest load code since the last ACK.
    #[inline]
    pub(super) fn note_load(&mut self, packet: &Packet) {
        if self.echo.kind == EcnUse::Vcp {
            let earlier = if self.unacknowledged > 0 { self.echo.load } else { 0 };
            self.echo.load = earlier.max(packet.ecn.bits());
            self.feedback = f32::from(self.echo.load);
        }
    }

    /// Echoes marks as RFC 8257 §3.2 specifies. When a segment's mark differs from the mark of the
    /// previous segment, sends two ACKs: one with the old state for the unacknowledged segments,
    /// then one with the new state for the new segment.
    fn follow_marks(&mut self, is_marked: bool, ctx: &mut Ctx<'_>) {
        let flags = if is_marked { Flags::ECE } else { Flags::NONE };
        if flags == self.echo.flags {
            return;
        }
        if self.unacknowledged > 0 {
            self.send_ack(Flags::NONE, ctx);
        }
        self.echo.flags = flags;
        self.unacknowledged = self.delay_segments;
    }
}
