//! The packet: 64 bytes, passed by value.
//!
//! One layout serves data segments, acknowledgements and datagrams; which fields mean something
//! is said at each. Sequence numbers are 64-bit stream offsets and never wrap; a capture writes
//! their low 32 bits.

use crate::ecn::Ecn;
use crate::units::{Bytes, Duration, Time};
use serde::Serialize;
use std::ops::{Deref, DerefMut};

/// Number of a flow, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Number of a user of a shared link, from 0: a device in a cell, a station. Flows of one user share
/// its queue.
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

    /// Not on the wire: this ACK has real bytes, in emulation.
    const REAL_BYTES: Flags = Flags(32);
    /// PSH: the receiver acknowledges at once.
    pub const PSH: Flags = Flags(64);

    /// Whether every flag of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any flag of `other` is set.
    #[inline]
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
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
    /// An instant stored in an unused block of a packet.
    const fn from_time(time: Time) -> SackBlock {
        let nanos = time.as_nanos();
        SackBlock { offset: nanos as u32, length: (nanos >> 32) as u32 }
    }

    const fn as_time(self) -> Time {
        Time::from_valid_nanos(self.offset as u64 | (self.length as u64) << 32)
    }
}

/// A packet in flight: 64 bytes in two parts. A plain value, so that rings and outboxes copy it as
/// one block; a stage that hands one on keeps none (the conservation tests count them).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Packet {
    head: PacketHead,
    tail: PacketTail,
}

/// Fields of every packet, and all of an ACK without SACK blocks: where many wait, the tail of
/// these is not kept. Its fields are those of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PacketHead {
    /// Data: stream offset of the first payload byte. ACK: next byte expected (cumulative).
    /// Datagram: its number, from 0.
    pub seq: u64,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Bytes of the whole IP packet.
    pub size: u16,
    /// ACK: the lower 16 bits of the nanoseconds when it left.
    low_nanos: u16,
    /// ACK: bytes that the receiver allows beyond `seq`. Data and datagrams: payload bytes.
    pub window: u32,
    /// Timestamp value (RFC 7323), the sender's clock in microseconds.
    pub tsval: u32,
    /// Timestamp echo reply (RFC 7323). ACK of a connection without timestamps: 32 more
    /// bits of when it left, which no capture shows.
    pub tsecr: u32,
    /// Explicit feedback: a price (CLAMP) or a load code (VCP), written by queues, echoed in ACKs.
    pub feedback: f32,
    /// ACK: when a queue took it last, the lower 32 bits of the nanoseconds. Others: real bytes, in
    /// emulation.
    word: u32,
    /// Kind of the packet.
    pub kind: PacketKind,
    /// The ECN field.
    pub ecn: Ecn,
    /// TCP flags.
    pub flags: Flags,
    /// ACK only: the number of SACK blocks in use, at most 3, in the lower two bits; above them six
    /// more bits of `word`.
    sack_count: u8,
}

/// The last 24 bytes of a packet. ACK: SACK blocks; real bytes, in emulation, in the third. Others: the
/// instants of sending and of queueing, in the first two.
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
    /// Whether the packet has a tail other than the default.
    #[inline]
    pub fn has_tail(&self) -> bool {
        if self.kind != PacketKind::Ack {
            return true;
        }
        self.sack_count & SACK_COUNT | self.flags.0 & Flags::REAL_BYTES.0 != 0
    }
}

/// Of an IP packet, whose largest size scenarios keep to.
#[inline]
fn ip_size(bytes: u32) -> u16 {
    debug_assert!(bytes <= u32::from(u16::MAX), "{bytes} B are more than an IP packet");
    bytes as u16
}

/// Bytes of the headers of a datagram: IPv4 without options (RFC 791 §3.1) and UDP (RFC 768).
const DATAGRAM_HEADER: u32 = 20 + 8;
/// Bits of `sack_count` with the number of blocks.
const SACK_COUNT: u8 = 0b11;
/// Range of the enqueue time that an ACK stores, ns.
const ACK_CLOCK: u64 = (1 << 38) - 1;
/// Range of the send time that an ACK of a connection without timestamps stores, ns.
const ACK_SENT_CLOCK: u64 = (1 << 48) - 1;

impl Packet {
    /// A data segment of `payload` bytes from stream offset `seq`, in an IP packet that is
    /// `header` bytes longer, sent at `now`.
    pub fn data(flow: FlowId, seq: u64, payload: u32, header: u32, now: Time) -> Packet {
        Packet::sent(PacketKind::Data, flow, seq, payload, header, now)
    }

    /// A datagram with number `seq` in an IP packet of `size` bytes, sent at `now`. Without space for
    /// both headers it has no payload.
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

    /// An acknowledgement of everything before `ack` that allows `window` more bytes,
    /// in an IP packet of `size` bytes.
    pub fn ack(flow: FlowId, ack: u64, window: u32, size: u32) -> Packet {
        let (kind, size) = (PacketKind::Ack, ip_size(size));
        let head = PacketHead { seq: ack, flow, size, window, kind, ..PacketHead::default() };
        Packet { head, tail: PacketTail::default() }
    }

    /// The packet in two parts; the second is the default one unless [`PacketHead::has_tail`].
    #[inline]
    pub fn parts(&self) -> (&PacketHead, &PacketTail) {
        (&self.head, &self.tail)
    }

    /// Makes it a packet with this head.
    #[inline]
    pub fn set_head(&mut self, head: &PacketHead) {
        self.head = *head;
    }

    /// Makes it a packet with this tail.
    #[inline]
    pub fn set_tail(&mut self, tail: PacketTail) {
        self.tail = tail;
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

    /// Notes that this ACK leaves at `now`, with the timestamp echo of a connection that uses
    /// timestamps.
    #[inline]
    pub fn set_ack_sent_at(&mut self, now: Time, echo: Option<u32>) {
        let nanos = now.as_nanos();
        self.low_nanos = nanos as u16;
        match echo {
            Some(echo) => (self.tsval, self.tsecr) = ((nanos / 1000) as u32, echo),
            None => self.tsecr = (nanos >> 16) as u32,
        }
    }

    /// How long it is at `now` since this ACK left, of a connection that uses timestamps or does
    /// not. Of more than 71 minutes whole multiples of 2³² µs are left out, without timestamps of
    /// more than 78 hours those of 2⁴⁸ ns.
    #[inline]
    pub fn ack_age(&self, now: Time, uses_timestamps: bool) -> Duration {
        let nanos = now.as_nanos();
        if uses_timestamps {
            return self.ack_age_by_timestamp(nanos);
        }
        let sent = u64::from(self.low_nanos) | u64::from(self.tsecr) << 16;
        Duration::from_nanos(nanos.wrapping_sub(sent) & ACK_SENT_CLOCK)
    }

    /// The same by its timestamp: the microseconds are known to within one, and of the nanoseconds the lower bits.
    fn ack_age_by_timestamp(&self, nanos: u64) -> Duration {
        let micros = ((nanos / 1000) as u32).wrapping_sub(self.tsval);
        let about = u64::from(micros) * 1000;
        let low = (nanos as u16).wrapping_sub(self.low_nanos);
        let correction = low.wrapping_sub(about as u16) as i16;
        Duration::from_nanos(about.saturating_add_signed(i64::from(correction)))
    }

    /// When this copy of the packet left its source (data and datagrams).
    #[inline]
    pub fn sent_at(&self) -> Time {
        self.tail.0[0].as_time()
    }

    /// When a queue took this packet last; `None` for an ACK, which knows less of it.
    #[inline]
    pub fn queued_at(&self) -> Option<Time> {
        (self.kind != PacketKind::Ack).then(|| self.tail.0[1].as_time())
    }

    /// Notes that a queue takes this packet at `now`.
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

    /// How long it is at `now` since a queue took this packet last. An ACK stores 38 bits of the
    /// instant: of one that waits for more than 274 s whole multiples of 2³⁸ ns are left out.
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

    /// The SACK blocks (ACK).
    pub fn sack(&self) -> &[SackBlock] {
        &self.tail.0[..self.sack_blocks()]
    }

    /// Appends a SACK block; the fourth and later ones are left out, as RFC 2018 does, and those of
    /// an ACK of real bytes, which holds them itself.
    pub fn push_sack(&mut self, block: SackBlock) {
        let count = self.sack_blocks();
        if count < 3 && self.payload() == PayloadHandle::default() {
            self.tail.0[count] = block;
            self.sack_count += 1;
        }
    }

    /// Real bytes, in emulation.
    pub fn payload(&self) -> PayloadHandle {
        match self.kind {
            PacketKind::Ack if self.flags.contains(Flags::REAL_BYTES) => {
                PayloadHandle(self.tail.0[2].offset)
            }
            PacketKind::Ack => PayloadHandle::default(),
            PacketKind::Data | PacketKind::Datagram => PayloadHandle(self.word),
        }
    }

    /// Gives it real bytes, in emulation.
    ///
    /// # Panics
    /// If it is an ACK with SACK blocks: those of real bytes are in them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_64_bytes() {
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn a_parted_packet_is_whole_again_and_an_ack_without_sack_needs_its_head_alone() {
        assert_eq!((size_of::<PacketHead>(), size_of::<PacketTail>()), (40, 24));
        let plain = Packet::ack(FlowId(3), 1 << 40, 1000, 52);
        let (mut sacked, mut of_real_bytes, mut stamped) = (plain, plain, plain);
        sacked.push_sack(SackBlock { offset: 1, length: 1460 });
        of_real_bytes.set_payload(PayloadHandle(7));
        stamped.flags = Flags::ECE.with(Flags::WINDOW_UPDATE);
        stamped.feedback = 0.5;
        stamped.set_ack_sent_at(Time::from_secs(9), Some(17));
        stamped.set_queued_at(Time::from_secs(10));
        let data = Packet::data(FlowId(1), 7, 100, 40, Time::from_secs(1));
        for (packet, needs_tail) in
            [(plain, false), (stamped, false), (sacked, true), (of_real_bytes, true), (data, true)]
        {
            let (head, tail) = packet.parts();
            assert_eq!(head.has_tail(), needs_tail, "{packet:?}");
            let mut again = Packet::default();
            again.set_head(head);
            if needs_tail {
                again.set_tail(*tail);
            }
            assert_eq!(again, packet);
        }
    }

    #[test]
    fn the_instant_of_sending_survives_the_packing() {
        let at = Time::from_nanos(0x1234_5678_9abc_def0);
        assert_eq!(Packet::data(FlowId(1), 7, 100, 40, at).sent_at(), at);
    }

    #[test]
    fn an_ack_with_three_sack_blocks_knows_how_long_it_waits() {
        let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
        let blocks = [1, 2, 3].map(|offset| SackBlock { offset, length: u32::MAX });
        blocks.iter().for_each(|block| ack.push_sack(*block));
        for queued in [0, 1, u64::from(u32::MAX), ACK_CLOCK, ACK_CLOCK + 1, 0x1234_5678_9abc_def0] {
            for waits in [0, 1, 1 << 32, ACK_CLOCK] {
                ack.set_queued_at(Time::from_nanos(queued));
                let now = Time::from_nanos(queued + waits);
                assert_eq!(ack.waited(now), Duration::from_nanos(waits), "{queued} + {waits}");
                assert_eq!(ack.sack(), blocks);
            }
        }
        assert_eq!((ack.queued_at(), ack.payload()), (None, PayloadHandle(0)));
    }

    #[test]
    fn ack_keeps_its_departure_time_with_any_content() {
        let blocks = [1, 2, 3].map(|offset| SackBlock { offset, length: u32::MAX });
        let round = 1000 << 32;
        for echo in [None, Some(0), Some(u32::MAX)] {
            for left in [0, 999, 1000, 123_456_789, round - 1, round, 0x1234_5678_9abc_def0] {
                for takes in [0, 1, 999, 1000, 1001, 1 << 32, round - 1000] {
                    let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
                    ack.set_ack_sent_at(Time::from_nanos(left), echo);
                    blocks.iter().for_each(|block| ack.push_sack(*block));
                    let now = Time::from_nanos(left + takes);
                    ack.set_queued_at(now);
                    let age = ack.ack_age(now, echo.is_some());
                    assert_eq!(age, Duration::from_nanos(takes), "{left} + {takes}");
                    assert_eq!((ack.sack(), ack.size), (&blocks[..], 40));
                    assert!(echo.is_none_or(|echo| ack.tsecr == echo));
                }
            }
        }
    }

    #[test]
    fn data_know_how_long_they_wait_without_a_limit() {
        let mut data = Packet::data(FlowId(1), 7, 100, 40, Time::ZERO);
        data.set_queued_at(Time::from_secs(1));
        assert_eq!(data.waited(Time::from_secs(1001)), Duration::from_millis(1_000_000));
    }

    #[test]
    fn every_packet_may_carry_real_bytes() {
        let ack = Packet::ack(FlowId(0), 0, 1000, 40);
        for mut packet in [ack, Packet::datagram(FlowId(0), 0, Bytes(40), Time::ZERO)] {
            assert_eq!(packet.payload(), PayloadHandle(0));
            packet.set_payload(PayloadHandle(7));
            packet.set_queued_at(Time::from_secs(5));
            assert_eq!(packet.payload(), PayloadHandle(7));
            assert_eq!(packet.waited(Time::from_secs(6)), Duration::from_millis(1000));
        }
        let mut ack = ack;
        ack.set_payload(PayloadHandle(7));
        ack.push_sack(SackBlock { offset: 1, length: 1 });
        assert_eq!((ack.sack().len(), ack.payload()), (0, PayloadHandle(7)));
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
