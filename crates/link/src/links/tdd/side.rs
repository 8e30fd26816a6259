//! State of one direction of a station: its queue, the packets in flight, and the MPDUs that carry
//! the packets.
//!
//! MPDUs carry packets (MSDUs) in three ways: one packet per MPDU, fragments with a subheader each
//! (fragmentation), or several packets with a subheader each (packing). A packet is complete when
//! all its fragments have arrived, and lost when a fragment is lost.

use super::slots::SlotSize;
use crate::retransmission::resequencer::Resequencer;
use airpath_aqm::Queue;
use airpath_core::{Ctx, Packet, PacketInstant};
use std::ops::Range;

/// Octets of a fragmentation or packing subheader.
pub(super) const SUBHEADER: u64 = 2;
/// Size of the largest MPDU with a subheader, bytes. It is limited by the length field of 11 bits.
pub(super) const LARGEST_MPDU: u64 = 2047;

/// Rules of the segmentation of packets into MPDUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segmentation {
    /// Header and trailer of an MPDU, bytes.
    pub(super) header: u64,
    pub(super) fragments: bool,
    pub(super) packs: bool,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Msdu {
    pub(super) packet: Packet,
    /// Number of sent fragments whose outcome is not known yet.
    missing: u32,
    /// True if the packet is completely sent.
    is_whole: bool,
    is_lost: bool,
    /// True if the packet is the last one that ends in its MPDU.
    pub(super) ends_mpdu: bool,
}

/// An MPDU on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mpdu {
    pub(super) station: u32,
    /// Number of the first packet with data in the MPDU.
    first: u64,
    /// Number of packets with data in the MPDU.
    packets: u32,
    /// Number of packets that end in the MPDU.
    pub(super) ends: u32,
    /// Size of the MPDU including its header, octets.
    pub(super) bytes: u64,
    /// Index of the MCS, if the MCS is adaptive.
    pub(super) scheme: u8,
    /// Combined SNR of all attempts so far, as a power ratio.
    pub(super) combined: f32,
    /// Number of the piggyback request that is read together with the MPDU; 0 if there is none.
    pub(super) request_number: u32,
}

/// Dequeued packet that is not completely sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    number: u64,
    /// Bytes that are not sent yet.
    left: u64,
    /// True if a part of the packet has been sent.
    is_begun: bool,
}

/// One direction of a station.
pub(super) struct Side {
    pub(super) queue: Queue,
    pub(super) slot: SlotSize,
    /// Index of the MCS of `slot`, if the MCS is adaptive.
    pub(super) scheme: u8,
    pub(super) in_flight: Resequencer<Msdu>,
    head: Option<Head>,
}

impl Mpdu {
    /// Numbers of the packets with data in the MPDU.
    #[inline]
    pub(super) fn numbers(&self) -> Range<u64> {
        self.first..self.first + u64::from(self.packets)
    }
}

impl Side {
    pub(super) fn new(queue: Queue, slot: SlotSize, in_order: bool) -> Side {
        Side { queue, slot, scheme: 0, in_flight: Resequencer::new(in_order), head: None }
    }

    /// Returns true if there is data to send.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        self.head.is_some() || !self.queue.is_empty()
    }

    /// Number of waiting packets and packets in flight.
    pub(super) fn held(&self) -> usize {
        self.queue.waiting() + self.in_flight.len()
    }

    /// Data to send, including a header for each packet, bytes.
    #[inline]
    pub(super) fn backlog(&self, segmentation: &Segmentation) -> u64 {
        let head = self.head.map_or(0, |head| {
            let subheader = if head.is_begun { SUBHEADER } else { 0 };
            head.left + subheader + segmentation.header
        });
        head + self.queue.backlog().0 + self.queue.packets() as u64 * segmentation.header
    }

    /// Returns the packet that is sent next.
    #[inline]
    pub(super) fn head_packet(&mut self) -> Option<&Packet> {
        match self.head {
            Some(head) => self.in_flight.get_mut(head.number).map(|msdu| &msdu.packet),
            None => self.queue.peek(),
        }
    }

    /// Dequeues the next packet, unless a dequeued packet is not completely sent.
    #[inline]
    fn take_head(&mut self, ctx: &mut Ctx<'_>) -> Option<Head> {
        if self.head.is_none() {
            // The packet is moved to the resequencer without another copy.
            let number = self.in_flight.push(Msdu::default());
            let msdu = self.in_flight.get_mut(number)?;
            if !self.queue.dequeue_into(&mut msdu.packet, ctx) {
                self.in_flight.take_back();
                return None;
            }
            let left = u64::from(msdu.packet.size);
            self.head = Some(Head { number, left, is_begun: false });
        }
        self.head
    }

    /// Returns the next MPDU, of at most `space` bytes; `None` if no MPDU fits or no packet waits.
    pub(super) fn next_mpdu(
        &mut self,
        station: u32,
        space: u64,
        segmentation: &Segmentation,
        ctx: &mut Ctx<'_>,
    ) -> Option<Mpdu> {
        let mut head = self.take_head(ctx)?;
        let mut mpdu = Mpdu {
            station,
            first: head.number,
            packets: 0,
            ends: 0,
            bytes: segmentation.header,
            scheme: self.scheme,
            combined: 0.0,
            request_number: 0,
        };
        if !head.is_begun && !segmentation.packs && mpdu.bytes + head.left <= space {
            // The common case: one packet per MPDU.
            (mpdu.packets, mpdu.ends, mpdu.bytes) = (1, 1, mpdu.bytes + head.left);
            let msdu = self.in_flight.get_mut(head.number)?;
            (msdu.missing, msdu.is_whole, msdu.ends_mpdu) = (1, true, true);
            self.head = None;
            return Some(mpdu);
        }
        let mut last_end = None;
        loop {
            // An unfragmented packet has no subheader while it is the only packet in the MPDU. A
            // second packet therefore also adds the subheader of the first packet.
            let for_others = if mpdu.packets == 1
                && mpdu.ends == 1
                && last_end.is_some_and(|(_, plain)| plain)
            {
                SUBHEADER
            } else {
                0
            };
            let is_plain = mpdu.packets == 0 && !head.is_begun;
            let own = if is_plain { 0 } else { SUBHEADER };
            let limit = if is_plain { space } else { space.min(LARGEST_MPDU) };
            let used = mpdu.bytes + for_others;
            if used + own + head.left <= limit {
                mpdu.bytes = used + own + head.left;
                self.send_piece(head, head.left);
                last_end = Some((head.number, is_plain));
                mpdu.ends += 1;
            } else {
                let limit = space.min(LARGEST_MPDU);
                if segmentation.fragments && used + SUBHEADER < limit {
                    let piece = limit - used - SUBHEADER;
                    mpdu.bytes = limit;
                    self.send_piece(head, piece);
                    mpdu.packets += 1;
                }
                break;
            }
            mpdu.packets += 1;
            if !segmentation.packs {
                break;
            }
            match self.take_head(ctx) {
                Some(next) => head = next,
                None => break,
            }
        }
        if let Some((number, _)) = last_end
            && let Some(msdu) = self.in_flight.get_mut(number)
        {
            msdu.ends_mpdu = true;
        }
        (mpdu.packets > 0).then_some(mpdu)
    }

    /// Records that `bytes` of the packet `head` are in an MPDU.
    #[inline]
    fn send_piece(&mut self, head: Head, bytes: u64) {
        let is_whole = bytes == head.left;
        if let Some(msdu) = self.in_flight.get_mut(head.number) {
            msdu.missing += 1;
            msdu.is_whole = is_whole;
        }
        self.head = (!is_whole).then(|| Head { left: head.left - bytes, is_begun: true, ..head });
    }

    /// Records that the first transmission of `mpdu` has ended: that of each packet that ends in it.
    #[cold]
    pub(super) fn note_sent(&mut self, mpdu: &Mpdu, ctx: &mut Ctx<'_>) {
        for number in mpdu.numbers().take(mpdu.ends as usize) {
            if let Some(msdu) = self.in_flight.get_mut(number) {
                ctx.note_instant(&msdu.packet, PacketInstant::Sent, ctx.now);
            }
        }
    }

    /// Records the reception of packet number `number`, unless it is lost.
    #[cold]
    pub(super) fn note_received(&mut self, number: u64, ctx: &mut Ctx<'_>) {
        if let Some(msdu) = self.in_flight.get_mut(number).filter(|msdu| !msdu.is_lost) {
            ctx.note_instant(&msdu.packet, PacketInstant::Received, ctx.now);
        }
    }

    /// Drops the packet that is sent next, because it does not fit into any frame. Returns the
    /// number of the packet if its outcome is then known.
    pub(super) fn drop_head(&mut self) -> Option<u64> {
        let Head { number, .. } = self.head.take()?;
        let msdu = self.in_flight.get_mut(number)?;
        (msdu.is_whole, msdu.is_lost) = (true, true);
        if msdu.missing > 0 {
            return None;
        }
        self.in_flight.mark(number, false);
        Some(number)
    }

    /// Records the outcome of a fragment of packet number `number`: received or lost. Returns true
    /// if the outcome of the packet is now known.
    #[inline]
    pub(super) fn settle_piece(&mut self, number: u64, is_received: bool) -> bool {
        self.in_flight.mark_with(number, |msdu| {
            msdu.missing -= 1;
            msdu.is_lost |= !is_received;
            (msdu.is_whole && msdu.missing == 0).then_some(!msdu.is_lost)
        })
    }
}
