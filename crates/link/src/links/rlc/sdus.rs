//! SDUs of one direction: segmentation into PDUs, storage until acknowledged, delivery in order.
//!
//! Source: 3GPP TS 25.322 §9.2.2.8 (length indicators), §11.3 (segmentation and concatenation). One
//! ring represents the SDU buffers of both peers. The sender frees an SDU when all its PDUs are
//! acknowledged. The receiver delivers an SDU when the SDU and all previous SDUs have arrived. The
//! receiver reads the last PDU of an SDU from this structure instead of from length indicators.

use airpath_aqm::Queue;
use airpath_core::{Bytes, Ctx, Packet, PacketInstant, Ring, Time};
use std::ops::Range;

/// Size of a length indicator, bytes. PDUs of up to 126 bytes have indicators of this size.
const LENGTH_INDICATOR: u64 = 1;
/// Value of `Sdu::last` if the SDU is not completely segmented.
const NOT_ENDED: u64 = u64::MAX;

/// An SDU whose transmission has started.
#[derive(Clone, Copy, Debug)]
struct Sdu {
    packet: Packet,
    /// Number of the first PDU that carries a part of the SDU.
    first: u64,
    /// Number of the last PDU of the SDU, or [`NOT_ENDED`].
    last: u64,
    /// True if the sender has released the SDU because it was acknowledged or discarded.
    freed: bool,
    /// True if the sender has discarded the SDU.
    abandoned: bool,
    /// True if the SDU was discarded before it was completely sent. The receiver must then skip it.
    cut_short: bool,
    /// True if the receiver has been ordered to skip the SDU.
    skipped: bool,
    /// True if the reception of the SDU has been recorded.
    is_noted: bool,
}

/// PDUs and SDUs that the receiver must skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skip {
    /// Number of the first PDU that carries only discarded SDUs.
    pub(super) first: u64,
    /// Number of the last PDU that carries only discarded SDUs, plus one.
    pub(super) end: u64,
    /// Number of the first SDU.
    first_sdu: u64,
    /// Number of the last SDU plus one.
    end_sdu: u64,
}

impl Skip {
    /// Range of the PDUs to skip.
    pub(super) fn pdus(&self) -> Range<u64> {
        self.first..self.end
    }
}

/// SDUs that have left the queue and are still needed by the sender or the receiver.
#[derive(Clone, Debug)]
pub(super) struct Sdus {
    payload: u64,
    concatenation: bool,
    ring: Ring<Sdu>,
    /// Number of the SDU at the front of the ring.
    base: u64,
    /// Number of the next SDU to deliver.
    next_delivery: u64,
    /// Number of the oldest SDU that the sender may still hold.
    next_freed: u64,
    /// Number of bytes of the last SDU that no PDU carries yet.
    unsent: u64,
    /// Buffer for the packet that is being dequeued.
    packet: Packet,
}

impl Sdus {
    /// Creates an empty store; PDUs carry `payload` bytes.
    pub(super) fn new(payload: u64, concatenation: bool) -> Sdus {
        Sdus {
            payload,
            concatenation,
            ring: Ring::default(),
            base: 0,
            next_delivery: 0,
            next_freed: 0,
            unsent: 0,
            packet: Packet::default(),
        }
    }

    /// Returns the granularity of an SDU in bytes: the payload of a PDU, or 1 if two SDUs may share
    /// a PDU.
    pub(super) fn block(&self) -> Bytes {
        Bytes(if self.concatenation { 1 } else { self.payload })
    }

    /// Returns true if an SDU is partly sent.
    #[inline]
    pub(super) fn has_partial(&self) -> bool {
        self.unsent > 0
    }

    /// Number of packets that have left the queue and are neither delivered nor lost.
    pub(super) fn undelivered(&self) -> usize {
        (self.next_delivery.max(self.base)..self.end())
            .filter(|number| !self.sdu(*number).skipped)
            .count()
    }

    #[inline]
    fn end(&self) -> u64 {
        self.base + self.ring.len() as u64
    }

    #[inline]
    fn sdu(&self, number: u64) -> &Sdu {
        &self.ring[(number - self.base) as usize]
    }

    #[inline]
    fn sdu_mut(&mut self, number: u64) -> &mut Sdu {
        &mut self.ring[(number - self.base) as usize]
    }

    /// Fills up to `space` PDUs with the rest of the last SDU and with packets from `queue`. The
    /// first PDU has the number `first`. Returns the number of PDUs.
    pub(super) fn segment(
        &mut self,
        first: u64,
        space: u64,
        queue: &mut Queue,
        ctx: &mut Ctx<'_>,
    ) -> u64 {
        let (mut pdu, mut filled, end) = (first, 0, first + space);
        while pdu < end {
            if self.unsent == 0 && !self.begin_next(pdu, queue, ctx) {
                break;
            }
            let free = (end - pdu) * self.payload - filled;
            let taken = self.unsent.min(free);
            self.unsent -= taken;
            filled += taken;
            pdu += filled / self.payload;
            filled %= self.payload;
            if self.unsent > 0 {
                break;
            }
            // An SDU that fills its last PDU exactly needs no length indicator (assumption).
            let is_shared = filled > 0 || taken == 0;
            let number = self.end() - 1;
            self.sdu_mut(number).last = if is_shared { pdu } else { pdu - 1 };
            if is_shared {
                filled += LENGTH_INDICATOR;
                if filled == self.payload || !self.concatenation {
                    (pdu, filled) = (pdu + 1, 0);
                }
            }
        }
        pdu + u64::from(filled > 0) - first
    }

    fn begin_next(&mut self, pdu: u64, queue: &mut Queue, ctx: &mut Ctx<'_>) -> bool {
        if queue.is_empty() || !queue.dequeue_held_into(&mut self.packet, ctx) {
            return false;
        }
        self.unsent = u64::from(self.packet.size);
        self.ring.push_back(Sdu {
            packet: self.packet,
            first: pdu,
            last: NOT_ENDED,
            freed: false,
            abandoned: false,
            cut_short: false,
            skipped: false,
            is_noted: false,
        });
        true
    }

    /// Records the end of the first transmission, at `at`, of the SDUs that end in the PDU `first`
    /// or later.
    #[cold]
    pub(super) fn note_sent(&self, first: u64, at: Time, ctx: &mut Ctx<'_>) {
        for number in (self.base..self.end()).rev() {
            let sdu = self.sdu(number);
            if sdu.last < first {
                return;
            }
            if sdu.last != NOT_ENDED {
                ctx.note_instant(&sdu.packet, PacketInstant::Sent, at);
            }
        }
    }

    /// Records the reception of the undelivered SDUs of which all PDUs have arrived. `received` is
    /// the number of the first missing PDU.
    #[cold]
    pub(super) fn note_received(
        &mut self,
        received: u64,
        has_arrived: impl Fn(Range<u64>) -> bool,
        ctx: &mut Ctx<'_>,
    ) {
        for number in self.next_delivery.max(self.base)..self.end() {
            let sdu = self.sdu_mut(number);
            let is_open = sdu.last != NOT_ENDED && !sdu.is_noted && !sdu.cut_short;
            if is_open && has_arrived(sdu.first.max(received)..sdu.last + 1) {
                sdu.is_noted = true;
                ctx.note_instant(&sdu.packet, PacketInstant::Received, ctx.now);
            }
        }
    }

    /// Calls `deliver`, in order, with each SDU that ends before the PDU `received`.
    #[inline]
    pub(super) fn deliver(&mut self, received: u64, mut deliver: impl FnMut(&mut Packet)) {
        while self.next_delivery < self.end() {
            let number = self.next_delivery;
            let sdu = self.sdu_mut(number);
            if sdu.last >= received || (sdu.cut_short && !sdu.skipped) {
                break;
            }
            if !sdu.skipped {
                deliver(&mut sdu.packet);
            }
            self.next_delivery += 1;
        }
        self.forget();
    }

    /// Frees the SDUs of which all PDUs are known to have arrived, in any order. Returns the number
    /// and the bytes of these SDUs. No PDU with a number of `known_end` or above is known to have
    /// arrived.
    pub(super) fn free(
        &mut self,
        known_end: u64,
        is_known: impl Fn(Range<u64>) -> bool,
    ) -> (usize, Bytes) {
        let (mut count, mut bytes) = (0, 0);
        for number in self.next_freed.max(self.base)..self.end() {
            let sdu = self.sdu_mut(number);
            // Later SDUs end at the same PDU or later.
            if sdu.last >= known_end {
                break;
            }
            if !sdu.freed && is_known(sdu.first..sdu.last + 1) {
                sdu.freed = true;
                count += 1;
                bytes += u64::from(sdu.packet.size);
            }
        }
        self.forget();
        (count, Bytes(bytes))
    }

    /// Discards the SDUs of which the PDU `given_up` carries parts. `next` is the number of the
    /// next new PDU. Returns the skip for the receiver, and the number and the bytes of the SDUs
    /// that the sender has freed.
    pub(super) fn abandon(&mut self, given_up: u64, next: u64) -> (Skip, usize, Bytes) {
        let carried = |sdu: &Sdu| sdu.first <= given_up && given_up <= sdu.last;
        let numbers = self.base..self.end();
        let first_sdu = numbers.clone().find(|number| carried(self.sdu(*number)));
        let first_sdu = first_sdu.unwrap_or(numbers.end);
        let end_sdu = (first_sdu..numbers.end).find(|number| !carried(self.sdu(*number)));
        let end_sdu = end_sdu.unwrap_or(numbers.end);
        let (mut count, mut bytes) = (0, 0);
        for number in first_sdu..end_sdu {
            let sdu = self.sdu_mut(number);
            if sdu.last == NOT_ENDED {
                sdu.last = next - 1;
                sdu.cut_short = true;
            }
            if !sdu.freed {
                count += 1;
                bytes += u64::from(sdu.packet.size);
            }
            (sdu.freed, sdu.abandoned) = (true, true);
        }
        if end_sdu == numbers.end {
            self.unsent = 0;
        }
        let pdus = self.pdus_of_none_but(first_sdu..end_sdu, given_up);
        (Skip { first: pdus.start, end: pdus.end, first_sdu, end_sdu }, count, Bytes(bytes))
    }

    /// Returns the PDUs that carry parts of the SDUs `numbers` but no parts of an SDU that is still
    /// in use.
    fn pdus_of_none_but(&self, numbers: Range<u64>, given_up: u64) -> Range<u64> {
        if numbers.is_empty() {
            return given_up..given_up + 1;
        }
        let (first, last) = (self.sdu(numbers.start).first, self.sdu(numbers.end - 1).last);
        let before = (numbers.start > self.base).then(|| self.sdu(numbers.start - 1));
        let behind = (numbers.end < self.end()).then(|| self.sdu(numbers.end));
        let shares_first = before.is_some_and(|sdu| !sdu.abandoned && sdu.last == first);
        let shares_last = behind.is_some_and(|sdu| !sdu.abandoned && sdu.first == last);
        first + u64::from(shares_first)..last + 1 - u64::from(shares_last)
    }

    /// Performs `skip` at the receiver: calls `lose` with each undelivered SDU of the skip.
    pub(super) fn skip(&mut self, skip: Skip, mut lose: impl FnMut(Packet)) {
        for number in skip.first_sdu.max(self.next_delivery)..skip.end_sdu {
            let sdu = self.sdu_mut(number);
            if !sdu.skipped {
                sdu.skipped = true;
                lose(sdu.packet);
            }
        }
    }

    /// Resets both peers: calls `lose` for each undelivered SDU. Returns the number and bytes of
    /// the SDUs that the sender still held.
    pub(super) fn reset(&mut self, mut lose: impl FnMut(Packet)) -> (usize, Bytes) {
        let (mut count, mut bytes) = (0, 0);
        for number in self.base..self.end() {
            let sdu = *self.sdu(number);
            if number >= self.next_delivery && !sdu.skipped {
                lose(sdu.packet);
            }
            if !sdu.freed {
                count += 1;
                bytes += u64::from(sdu.packet.size);
            }
        }
        *self = Sdus::new(self.payload, self.concatenation);
        (count, Bytes(bytes))
    }

    /// Releases SDUs that neither peer needs.
    #[inline]
    fn forget(&mut self) {
        while let Some(sdu) = self.ring.front()
            && sdu.freed
            && self.base < self.next_delivery
        {
            self.ring.drop_front();
            self.base += 1;
        }
        self.next_freed = self.next_freed.max(self.base);
    }
}
