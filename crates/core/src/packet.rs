//! Packet of the simulation: 64 bytes, passed by value.
//!
//! One layout serves data segments, acknowledgements and datagrams. The comment of a field states
//! for which packets it is valid. Sequence numbers are 64-bit stream offsets and never wrap. A
//! capture contains their low 32 bits.

pub(crate) mod identity;
#[cfg(test)]
mod tests;

use crate::ecn::Ecn;
use crate::units::{Bytes, Duration, Time};
use serde::Serialize;
use std::ops::{Deref, DerefMut};

/// Flow ID: index of the flow, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// User ID: index of a user of a shared link, from 0. A user is a device in a cell, or a station.
/// All flows of a user share that user's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct UserId(pub u32);

/// Kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    /// A TCP segment from the sender: SYN or payload.
    #[default]
    Data,
    /// A TCP segment from the receiver, without payload.
    Ack,
    /// A UDP datagram.
    Datagram,
}

/// TCP flags, and internal flags that are not transmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No flag set.
    pub const NONE: Flags = Flags(0);
    /// SYN: first segment of a connection.
    pub const SYN: Flags = Flags(1);
    /// ECN-Echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(2);
    /// Congestion Window Reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(4);
    /// Internal: this segment has been sent before.
    pub const RETRANSMITTED: Flags = Flags(8);
    /// Internal: this ACK was sent because the receive window opened, not because a segment
    /// arrived.
    pub const WINDOW_UPDATE: Flags = Flags(16);

    /// Internal: this ACK has a handle of real packet bytes (emulation).
    const REAL_BYTES: Flags = Flags(32);
    /// PSH: the receiver acknowledges this segment immediately.
    pub const PSH: Flags = Flags(64);
    /// AE (RFC 9768 §3.2.1): the most significant of the three bits of the ACE field, whose other
    /// bits are CWR and ECE.
    pub const AE: Flags = Flags(128);

    /// Returns the lowest three bits of `counter` as the ACE field (RFC 9768 §3.2.2).
    #[must_use]
    pub const fn with_ace(counter: u8) -> Flags {
        Flags((counter & 1) << 1 | (counter & 2) << 1 | (counter & 4) << 5)
    }

    /// Returns the value of the ACE field.
    #[must_use]
    pub const fn ace(self) -> u8 {
        (self.0 & Flags::ECE.0) >> 1 | (self.0 & Flags::CWR.0) >> 1 | (self.0 & Flags::AE.0) >> 5
    }

    /// Returns true if every flag of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if any flag of `other` is set.
    #[inline]
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of these flags and `other`.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Handle of real packet bytes (emulation). 0 means that the packet has no real bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadHandle(pub u32);

/// A selectively acknowledged range (RFC 2018), relative to the cumulative acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// Offset of the first byte of the range from the cumulative acknowledgement.
    pub offset: u32,
    /// Length of the range, bytes.
    pub length: u32,
}

impl SackBlock {
    /// Encodes a time as a SACK block, for a packet without SACK blocks.
    const fn from_time(time: Time) -> SackBlock {
        let nanos = time.as_nanos();
        SackBlock { offset: nanos as u32, length: (nanos >> 32) as u32 }
    }

    const fn as_time(self) -> Time {
        Time::from_valid_nanos(self.offset as u64 | (self.length as u64) << 32)
    }
}

/// A packet of 64 bytes, in two parts. The type is `Copy`, so that rings and outboxes copy a packet
/// as one block of memory. A stage that forwards a packet must not keep a copy, because
/// conservation tests count packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Packet {
    head: PacketHead,
    tail: PacketTail,
}

/// Fields of every packet. An ACK without SACK blocks uses no other fields, so that queues of such
/// ACKs need not store the tail. [`Packet`] dereferences to this type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PacketHead {
    /// Data: stream offset of the first payload byte. ACK: next expected byte (cumulative
    /// acknowledgement). Datagram: index of the datagram, from 0.
    pub seq: u64,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Size of the IP packet, bytes.
    pub size: u16,
    /// ACK: lower 16 bits of the send time, ns.
    low_nanos: u16,
    /// ACK: bytes that the receiver allows beyond `seq`. Data and datagrams: payload, bytes.
    pub window: u32,
    /// Timestamp value, TSval (RFC 7323): clock of the packet's sender, µs.
    pub tsval: u32,
    /// Timestamp echo reply, TSecr (RFC 7323). In an ACK of a connection without timestamps: bits
    /// 16 to 47 of the send time, which do not appear in captures.
    pub tsecr: u32,
    /// Explicit feedback: a price (CLAMP) or a load code (VCP), which queues write and ACKs echo.
    /// ACK of a connection with accurate ECN feedback: received payload with a mark, bytes modulo
    /// 2²⁴ (RFC 9768 §3.2.3).
    pub feedback: f32,
    /// ACK: lower 32 bits of the last enqueue time, ns. Data and datagrams: handle of a real
    /// payload (emulation).
    word: u32,
    /// Packet kind.
    pub kind: PacketKind,
    /// The ECN field.
    pub ecn: Ecn,
    /// TCP flags.
    pub flags: Flags,
    /// ACK only. Lower two bits: number of SACK blocks in use, at most 3. Upper six bits: bits 32
    /// to 37 of the enqueue time, whose lower bits are in `word`.
    sack_count: u8,
}

/// The last 24 bytes of a packet. ACK: SACK blocks, or in the third block the handle of a real
/// payload (emulation). Data and datagrams: the send time in the first block, and the enqueue time
/// in the second block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PacketTail([SackBlock; 3]);

impl Deref for Packet {
    type Target = PacketHead;

    #[inline]
    fn deref(&self) -> &PacketHead {
        &self.head
    }
}

impl DerefMut for Packet {
    #[inline]
    fn deref_mut(&mut self) -> &mut PacketHead {
        &mut self.head
    }
}

impl PacketHead {
    /// Returns true if the tail differs from the default tail.
    #[inline]
    pub fn has_tail(&self) -> bool {
        if self.kind != PacketKind::Ack {
            return true;
        }
        self.sack_count & SACK_COUNT | self.flags.0 & Flags::REAL_BYTES.0 != 0
    }
}

/// Converts the size of an IP packet to the type of the field `size`. The checks of scenarios
/// ensure that the size fits.
#[inline]
fn ip_size(bytes: u32) -> u16 {
    debug_assert!(bytes <= u32::from(u16::MAX), "{bytes} B are more than an IP packet");
    bytes as u16
}

/// Header bytes of a datagram: IPv4 without options (RFC 791 §3.1) and UDP (RFC 768).
const DATAGRAM_HEADER: u32 = 20 + 8;
/// Bits of `sack_count` that hold the number of blocks.
const SACK_COUNT: u8 = 0b11;
/// Mask of the bits of the enqueue time that an ACK stores, ns.
const ACK_CLOCK: u64 = (1 << 38) - 1;
/// Mask of the bits of the send time that an ACK of a connection without timestamps stores, ns.
const ACK_SENT_CLOCK: u64 = (1 << 48) - 1;

impl Packet {
    /// Creates a data segment of `payload` bytes from stream offset `seq`, sent at `now`. The IP
    /// packet is `header` bytes longer than the payload.
    pub fn data(flow: FlowId, seq: u64, payload: u32, header: u32, now: Time) -> Packet {
        Packet::sent(PacketKind::Data, flow, seq, payload, header, now)
    }

    /// Creates the datagram with index `seq` in an IP packet of `size` bytes, sent at `now`. The
    /// payload is empty if `size` is at most the size of the headers.
    pub fn datagram(flow: FlowId, seq: u64, size: Bytes, now: Time) -> Packet {
        let size = size.0 as u32;
        let payload = size.saturating_sub(DATAGRAM_HEADER);
        Packet::sent(PacketKind::Datagram, flow, seq, payload, size - payload, now)
    }

    fn sent(
        kind: PacketKind,
        flow: FlowId,
        seq: u64,
        payload: u32,
        header: u32,
        now: Time,
    ) -> Packet {
        let size = ip_size(payload + header);
        let head = PacketHead { seq, flow, size, window: payload, kind, ..PacketHead::default() };
        let sent = SackBlock::from_time(now);
        Packet { head, tail: PacketTail([sent, SackBlock::default(), SackBlock::default()]) }
    }

    /// Creates an ACK with the acknowledgement number `ack` and an advertised window of `window`
    /// bytes, in an IP packet of `size` bytes.
    pub fn ack(flow: FlowId, ack: u64, window: u32, size: u32) -> Packet {
        let (kind, size) = (PacketKind::Ack, ip_size(size));
        let head = PacketHead { seq: ack, flow, size, window, kind, ..PacketHead::default() };
        Packet { head, tail: PacketTail::default() }
    }

    /// Returns the head and the tail. If [`PacketHead::has_tail`] is false, the tail is the default
    /// tail.
    #[inline]
    pub fn parts(&self) -> (&PacketHead, &PacketTail) {
        (&self.head, &self.tail)
    }

    /// Replaces the head.
    #[inline]
    pub fn set_head(&mut self, head: &PacketHead) {
        self.head = *head;
    }

    /// Replaces the tail.
    #[inline]
    pub fn set_tail(&mut self, tail: PacketTail) {
        self.tail = tail;
    }

    /// Returns the size of the IP packet.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }

    /// Returns the number of payload bytes (data and datagrams).
    #[inline]
    pub fn payload_bytes(&self) -> u64 {
        u64::from(self.window)
    }

    /// Returns the stream offset after the last payload byte (data).
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.window)
    }

    /// Stores `now` as the send time of this ACK. `echo` is the timestamp echo reply if the
    /// connection uses timestamps.
    #[inline]
    pub fn set_ack_sent_at(&mut self, now: Time, echo: Option<u32>) {
        let nanos = now.as_nanos();
        self.low_nanos = nanos as u16;
        match echo {
            Some(echo) => (self.tsval, self.tsecr) = ((nanos / 1000) as u32, echo),
            None => self.tsecr = (nanos >> 16) as u32,
        }
    }

    /// Returns the time from the transmission of this ACK to `now`. With timestamps the result is
    /// modulo 2³² µs (71 minutes), without timestamps modulo 2⁴⁸ ns (78 hours).
    #[inline]
    pub fn ack_age(&self, now: Time, uses_timestamps: bool) -> Duration {
        let nanos = now.as_nanos();
        if uses_timestamps {
            return self.ack_age_by_timestamp(nanos);
        }
        let sent = u64::from(self.low_nanos) | u64::from(self.tsecr) << 16;
        Duration::from_nanos(nanos.wrapping_sub(sent) & ACK_SENT_CLOCK)
    }

    /// Computes the age of an ACK from its timestamp, which has a resolution of 1 µs, and the
    /// stored lower bits of the nanoseconds.
    fn ack_age_by_timestamp(&self, nanos: u64) -> Duration {
        let micros = ((nanos / 1000) as u32).wrapping_sub(self.tsval);
        let about = u64::from(micros) * 1000;
        let low = (nanos as u16).wrapping_sub(self.low_nanos);
        let correction = low.wrapping_sub(about as u16) as i16;
        Duration::from_nanos(about.saturating_add_signed(i64::from(correction)))
    }

    /// Returns the send time of this copy of the packet (data and datagrams).
    #[inline]
    pub fn sent_at(&self) -> Time {
        self.tail.0[0].as_time()
    }

    /// Returns the time of the last enqueue. `None` for an ACK, which stores only some bits of the
    /// time.
    #[inline]
    pub fn queued_at(&self) -> Option<Time> {
        (self.kind != PacketKind::Ack).then(|| self.tail.0[1].as_time())
    }

    /// Stores `now` as the enqueue time.
    #[inline]
    pub fn set_queued_at(&mut self, now: Time) {
        if self.kind != PacketKind::Ack {
            self.tail.0[1] = SackBlock::from_time(now);
        } else {
            let nanos = now.as_nanos();
            self.word = nanos as u32;
            self.sack_count = self.sack_count & SACK_COUNT | ((nanos >> 32) as u8) << 2;
        }
    }

    /// Returns the time from the last enqueue to `now`. For an ACK, which stores 38 bits of the
    /// enqueue time, the result is modulo 2³⁸ ns (274 s).
    #[inline]
    pub fn waited(&self, now: Time) -> Duration {
        if self.kind != PacketKind::Ack {
            return now.saturating_since(self.tail.0[1].as_time());
        }
        let queued = u64::from(self.word) | u64::from(self.sack_count >> 2) << 32;
        Duration::from_nanos(now.as_nanos().wrapping_sub(queued) & ACK_CLOCK)
    }

    #[inline]
    fn sack_blocks(&self) -> usize {
        usize::from(self.sack_count & SACK_COUNT)
    }

    /// Returns the SACK blocks (ACK).
    pub fn sack(&self) -> &[SackBlock] {
        &self.tail.0[..self.sack_blocks()]
    }

    /// Appends a SACK block. Ignores the fourth and later blocks, because three blocks fit into the
    /// option (RFC 2018). Ignores every block if the ACK has real bytes, because these already
    /// contain the SACK blocks.
    pub fn push_sack(&mut self, block: SackBlock) {
        let count = self.sack_blocks();
        if count < 3 && self.payload() == PayloadHandle::default() {
            self.tail.0[count] = block;
            self.sack_count += 1;
        }
    }

    /// Returns the handle of the real payload (emulation).
    pub fn payload(&self) -> PayloadHandle {
        match self.kind {
            PacketKind::Ack if self.flags.contains(Flags::REAL_BYTES) => {
                PayloadHandle(self.tail.0[2].offset)
            }
            PacketKind::Ack => PayloadHandle::default(),
            PacketKind::Data | PacketKind::Datagram => PayloadHandle(self.word),
        }
    }

    /// Sets the handle of the real payload (emulation).
    ///
    /// # Panics
    /// If the packet is an ACK with SACK blocks: a real ACK contains its own SACK blocks.
    pub fn set_payload(&mut self, handle: PayloadHandle) {
        if self.kind == PacketKind::Ack {
            assert!(self.sack().is_empty(), "real bytes hold their own SACK blocks");
            self.flags = self.flags.with(Flags::REAL_BYTES);
            self.tail.0[2].offset = handle.0;
        } else {
            self.word = handle.0;
        }
    }
}
