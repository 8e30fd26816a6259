//! The packet: 64 bytes, passed by value.
//!
//! One layout serves data segments, acknowledgements and datagrams; which fields mean something
//! is said at each. Sequence numbers are 64-bit stream offsets and never wrap; a capture writes
//! their low 32 bits.

use crate::units::{Bytes, Time};

/// Number of a flow, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// What a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    /// A TCP segment from the sender: SYN or payload.
    #[default]
    Data,
    /// A TCP segment from the receiver, without payload.
    Ack,
    /// A datagram without a transport.
    Datagram,
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 10.
    Ect0,
    /// ECN-capable, codepoint 01.
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Whether a queue may mark this packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// TCP flags and one bit of bookkeeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No flag set.
    pub const NONE: Flags = Flags(0);
    /// SYN.
    pub const SYN: Flags = Flags(1);
    /// ECN-Echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(2);
    /// Congestion Window Reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(4);
    /// Not on the wire: this segment has been sent before.
    pub const RETRANSMITTED: Flags = Flags(8);
    /// Not on the wire: this ACK was sent because the window opened; no segment had arrived.
    pub const WINDOW_UPDATE: Flags = Flags(16);

    /// Whether every flag of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Handle of a real payload (emulation); 0 means that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadHandle(pub u32);

/// A selectively acknowledged range (RFC 2018), relative to the cumulative acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte of the range, counted from the cumulative acknowledgement.
    pub offset: u32,
    /// Length of the range, bytes.
    pub length: u32,
}

impl SackBlock {
    /// An instant kept in the place of a block that a packet does not need.
    const fn from_time(time: Time) -> SackBlock {
        let nanos = time.as_nanos();
        SackBlock { offset: nanos as u32, length: (nanos >> 32) as u32 }
    }

    const fn as_time(self) -> Time {
        Time::from_valid_nanos(self.offset as u64 | (self.length as u64) << 32)
    }
}

/// A packet on its way. A plain value, so that rings and outboxes copy it as one block; a stage
/// that hands one on keeps none (the conservation tests count them).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Packet {
    /// Data: stream offset of the first payload byte. ACK: next byte expected (cumulative).
    /// Datagram: its number, from 0.
    pub seq: u64,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Bytes of the whole IP packet.
    pub size: u32,
    /// ACK: bytes that the receiver allows beyond `seq`. Data: payload bytes.
    pub window: u32,
    /// Timestamp value (RFC 7323), the sender's clock in microseconds.
    pub tsval: u32,
    /// Timestamp echo reply (RFC 7323).
    pub tsecr: u32,
    /// Explicit feedback: a price (CLAMP) or a load code (VCP), written by queues, echoed in ACKs.
    pub feedback: f32,
    /// Real bytes, in emulation.
    pub payload: PayloadHandle,
    /// What the packet is.
    pub kind: PacketKind,
    /// The ECN field.
    pub ecn: Ecn,
    /// TCP flags.
    pub flags: Flags,
    /// Number of SACK blocks in use, at most 3 (ACK only).
    sack_count: u8,
    /// ACK: SACK blocks. Others: the instants of sending and of queueing, in the first two.
    blocks: [SackBlock; 3],
}

impl Packet {
    /// A data segment of `payload` bytes from stream offset `seq`, in an IP packet that is
    /// `header` bytes longer, sent at `now`.
    pub fn data(flow: FlowId, seq: u64, payload: u32, header: u32, now: Time) -> Packet {
        Packet { kind: PacketKind::Data, ..Packet::sent(flow, seq, payload, header, now) }
    }

    /// A datagram with number `seq` of `size` bytes in all, sent at `now`.
    pub fn datagram(flow: FlowId, seq: u64, size: Bytes, now: Time) -> Packet {
        Packet { kind: PacketKind::Datagram, ..Packet::sent(flow, seq, size.0 as u32, 0, now) }
    }

    fn sent(flow: FlowId, seq: u64, payload: u32, header: u32, now: Time) -> Packet {
        Packet {
            seq,
            flow,
            size: payload + header,
            window: payload,
            tsval: 0,
            tsecr: 0,
            feedback: 0.0,
            payload: PayloadHandle(0),
            kind: PacketKind::Data,
            ecn: Ecn::NotEct,
            flags: Flags::NONE,
            sack_count: 0,
            blocks: [SackBlock::from_time(now), SackBlock::default(), SackBlock::default()],
        }
    }

    /// An acknowledgement of everything before `ack` that allows `window` more bytes,
    /// in an IP packet of `size` bytes.
    pub fn ack(flow: FlowId, ack: u64, window: u32, size: u32) -> Packet {
        Packet {
            seq: ack,
            flow,
            size,
            window,
            tsval: 0,
            tsecr: 0,
            feedback: 0.0,
            payload: PayloadHandle(0),
            kind: PacketKind::Ack,
            ecn: Ecn::NotEct,
            flags: Flags::NONE,
            sack_count: 0,
            blocks: [SackBlock::default(); 3],
        }
    }

    /// Bytes of the whole IP packet.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }

    /// Payload bytes (data and datagrams).
    #[inline]
    pub fn payload_bytes(&self) -> u64 {
        u64::from(self.window)
    }

    /// Stream offset behind the last payload byte (data).
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.window)
    }

    /// When this copy of the packet left its source (data and datagrams).
    #[inline]
    pub fn sent_at(&self) -> Time {
        self.blocks[0].as_time()
    }

    /// When a queue took this packet last; `None` for an ACK, which has no room for it.
    #[inline]
    pub fn queued_at(&self) -> Option<Time> {
        (self.kind != PacketKind::Ack).then(|| self.blocks[1].as_time())
    }

    /// Notes that a queue takes this packet at `now`; an ACK stays as it is.
    #[inline]
    pub fn set_queued_at(&mut self, now: Time) {
        if self.kind != PacketKind::Ack {
            self.blocks[1] = SackBlock::from_time(now);
        }
    }

    /// The SACK blocks (ACK).
    pub fn sack(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.sack_count)]
    }

    /// Appends a SACK block; the fourth and later ones are left out, as RFC 2018 does.
    pub fn push_sack(&mut self, block: SackBlock) {
        if let Some(free) = self.blocks.get_mut(usize::from(self.sack_count)) {
            *free = block;
            self.sack_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_64_bytes() {
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn the_instant_of_sending_survives_the_packing() {
        let at = Time::from_nanos(0x1234_5678_9abc_def0);
        assert_eq!(Packet::data(FlowId(1), 7, 100, 40, at).sent_at(), at);
    }

    #[test]
    fn a_fourth_sack_block_is_left_out() {
        let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
        for offset in 0..4 {
            ack.push_sack(SackBlock { offset, length: 1 });
        }
        assert_eq!(ack.sack().iter().map(|b| b.offset).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
