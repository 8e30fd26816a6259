//! Echo of congestion marks by the receiver.
//!
//! Source: RFC 3168 §6.1.3. For DCTCP: RFC 8257 §3.2, including the separate ACK for data that
//! arrived before the mark changed ("MAY" in the RFC). For accurate feedback: RFC 9768 §3.1
//! (negotiation), §3.2.2 (ACE field) and §3.2.2.5.1 (ACKs that marks trigger). The receiver echoes
//! VCP's load code in `feedback`, not in the flags.
//!
//! Simplified for accurate feedback: every ACK carries the byte counter of marked payload, which
//! the option of RFC 9768 §3.2.3 would carry, but the ACK has no bytes for the option. Not
//! modelled: counters of the other codepoints, the ACE field in data segments, and ECN-capable SYNs
//! and ACKs.

use super::Receiver;
use crate::config::EcnUse;
use airpath_core::{Ctx, Ecn, Flags, Packet};

/// Echo state of one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    pub(super) kind: EcnUse,
    /// Flags of the next ACKs: ECE or none. With DCTCP's echo, ECE corresponds to DCTCP.CE = 1.
    pub(super) flags: Flags,
    /// VCP: highest load code of the unacknowledged segments. Accurate feedback: r.cep at the last
    /// ACK. Stale if there are no unacknowledged segments.
    before: u8,
    /// Accurate feedback: true if the last data packet was marked.
    was_marked: bool,
}

/// Initial value of r.cep, the number of marked packets (RFC 9768 §3.2.1). The ACE field in `flags`
/// holds r.cep modulo 8. [`Receiver::feedback`] holds r.ceb, the number of marked bytes, modulo 2²⁴.
const INITIAL_PACKETS: u8 = 5;
/// Size of the byte counter's range (RFC 9768 §3.2.3).
pub(crate) const BYTE_COUNTER_RANGE: u32 = 1 << 24;
/// n: number of marked packets that request an ACK (RFC 9768 §3.2.2.5.1).
const MARKS_PER_ACK: u8 = 2;

impl Echo {
    pub(super) fn new(kind: EcnUse) -> Echo {
        let mut echo = Echo { kind, flags: Flags::NONE, before: 0, was_marked: false };
        echo.begin();
        echo
    }

    /// Sets the flags of ACKs before the first data packet.
    pub(super) fn begin(&mut self) {
        if self.kind == EcnUse::Accurate {
            self.flags = Flags::with_ace(INITIAL_PACKETS);
        }
    }

    /// Counts a data packet for accurate feedback. `is_first` is true if all earlier segments are
    /// acknowledged. Returns true if the packet requests an ACK (RFC 9768 §3.2.2.5.1).
    fn count(&mut self, is_marked: bool, is_first: bool) -> bool {
        let earlier = self.flags.ace();
        self.before = if is_first { earlier } else { self.before };
        let is_change = is_marked && !self.was_marked;
        self.was_marked = is_marked;
        self.flags = Flags::with_ace(earlier + u8::from(is_marked));
        let unreported = self.flags.ace().wrapping_sub(self.before) % 8;
        is_change || is_marked && unreported >= MARKS_PER_ACK
    }

    /// Returns the ECN flags of the SYN-ACK that answers `syn` (RFC 3168 §6.1.1, RFC 9768 §3.1).
    /// With a peer without accurate feedback, the feedback is that of RFC 3168.
    pub(super) fn answer(&mut self, syn: &Packet) -> Flags {
        self.flags = Flags::NONE;
        let requests = syn.flags.contains(Flags::ECE.with(Flags::CWR));
        if !requests || !self.kind.is_negotiated() {
            return Flags::NONE;
        }
        if self.kind != EcnUse::Accurate {
            return Flags::ECE;
        }
        if !syn.flags.contains(Flags::AE) {
            self.kind = EcnUse::On;
            return Flags::ECE;
        }
        match syn.ecn {
            Ecn::NotEct => Flags::CWR,
            Ecn::Ect1 => Flags::CWR.with(Flags::ECE),
            Ecn::Ect0 => Flags::AE,
            Ecn::Ce => Flags::AE.with(Flags::CWR),
        }
    }
}

impl Receiver {
    /// Handles the mark of a data segment, before the segment is added to the stream.
    #[cold]
    pub(super) fn note_mark(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let is_marked = packet.ecn == Ecn::Ce;
        if self.echo.kind == EcnUse::Accurate {
            return self.count_marks(packet, is_marked);
        }
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

    /// Counts a data segment for accurate feedback, also a segment without new data.
    fn count_marks(&mut self, packet: &Packet, is_marked: bool) {
        if self.echo.count(is_marked, self.unacknowledged == 0) {
            self.unacknowledged = self.unacknowledged.max(self.delay_segments);
        }
        if is_marked {
            let bytes = self.feedback as u32 + packet.payload_bytes() as u32;
            self.feedback = (bytes % BYTE_COUNTER_RANGE) as f32; // exact: 24 bits
        }
    }

    /// Sets the feedback of the next ACK after a data segment: that of the segment or, on a VCP
    /// connection, the highest load code since the last ACK. `count_marks` updates the counter of
    /// accurate feedback.
    #[inline]
    pub(super) fn note_feedback(&mut self, packet: &Packet) {
        match self.echo.kind {
            EcnUse::Accurate => {}
            EcnUse::Vcp => self.note_load(packet),
            EcnUse::Off | EcnUse::On | EcnUse::Dctcp => self.feedback = packet.feedback,
        }
    }

    /// Handles the load code of a SYN or data segment. On a VCP connection, the next ACK carries
    /// the highest load code since the last ACK.
    #[inline]
    pub(super) fn note_load(&mut self, packet: &Packet) {
        if self.echo.kind == EcnUse::Vcp {
            let earlier = if self.unacknowledged > 0 { self.echo.before } else { 0 };
            self.echo.before = earlier.max(packet.ecn.bits());
            self.feedback = f32::from(self.echo.before);
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
