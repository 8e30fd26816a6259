//! The SDUs of one direction: cut into PDUs, held until acknowledged, delivered in order.
//!
//! Source: 3GPP TS 25.322 §9.2.2.8 (length indicators), §11.3 (segmentation and concatenation). The
//! ring stands for the SDU buffers of both peers: the sender frees an SDU when it sees all its PDUs
//! acknowledged, the receiver delivers it when all before have arrived. The receiver reads here
//! which PDU ends an SDU, instead of length indicators.

use airpath_aqm::Queue;
use airpath_core::{Bytes, Ctx, Packet, Ring};
use std::ops::Range;

/// Bytes of a length indicator; PDUs of up to 126 bytes have short ones.
const LENGTH_INDICATOR: u64 = 1;
/// The last PDU of an SDU that has none yet.
const NOT_ENDED: u64 = u64::MAX;

/// An SDU whose transmission has begun.
#[derive(Clone, Copy, Debug)]
struct Sdu {
    packet: Packet,
    /// The first PDU with a part of it.
    first: u64,
    /// The last one, or [`NOT_ENDED`].
    last: u64,
    /// The sender keeps it no more: acknowledged, or discarded.
    freed: bool,
    /// The sender has given it up.
    abandoned: bool,
    /// It was discarded before all of it was sent: it can only be skipped.
    cut_short: bool,
    /// The receiver has been ordered to skip it.
    skipped: bool,
}

/// PDUs and SDUs that the receiver is to skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skip {
    /// The first PDU with nothing but given-up SDUs.
    pub(super) first: u64,
    /// The PDU behind the last such.
    pub(super) end: u64,
    /// Number of the first SDU.
    first_sdu: u64,
    /// Number of the SDU behind the last.
    end_sdu: u64,
}

impl Skip {
    /// The PDUs.
    pub(super) fn pdus(&self) -> Range<u64> {
        self.first..self.end
    }
}

/// The SDUs between the queue and their delivery.
#[derive(Clone, Debug)]
pub(super) struct Sdus {
    payload: u64,
    concatenation: bool,
    ring: Ring<Sdu>,
    /// Number of the SDU at the front of the ring.
    base: u64,
    /// Number of the next SDU to deliver.
    next_delivery: u64,
    /// Number of the first SDU that the sender may still hold.
    next_freed: u64,
    /// Bytes of the last SDU that no PDU carries yet.
    unsent: u64,
    /// The packet that is being taken from the queue.
    packet: Packet,
}

impl Sdus {
    /// No SDUs yet; PDUs carry `payload` bytes.
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

    /// Granularity of an SDU in bytes: a PDU's payload, or 1 where the end of an SDU and the start
    /// of the next share a PDU.
    pub(super) fn block(&self) -> Bytes {
        Bytes(if self.concatenation { 1 } else { self.payload })
    }

    /// Whether an SDU is sent in part.
    #[inline]
    pub(super) fn has_partial(&self) -> bool {
        self.unsent > 0
    }

    /// Packets that have left the queue and are neither delivered nor lost.
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

    /// Fills up to `space` PDUs, numbered from `first` on, with what is left of the last SDU and
    /// with those that wait in `queue`; returns how many were made.
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
            // An SDU that fills its last PDU exactly is taken to need no length indicator.
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
        });
        true
    }

    /// Hands the SDUs that end before the PDU `received` to `deliver`, in order.
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

    /// Frees the SDUs all of whose PDUs are known to have arrived, in any order; returns their
    /// number and bytes. No PDU from `known_end` on is known.
    pub(super) fn free(
        &mut self,
        known_end: u64,
        is_known: impl Fn(Range<u64>) -> bool,
    ) -> (usize, Bytes) {
        let (mut count, mut bytes) = (0, 0);
        for number in self.next_freed.max(self.base)..self.end() {
            let sdu = self.sdu_mut(number);
            // Those behind it end there or later.
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

    /// Gives up the SDUs that the PDU `given_up` carries parts of; `next` is the next new PDU.
    /// Returns the orders for the receiver to skip, and the SDUs and bytes that the sender has
    /// freed.
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

    /// The PDUs that carry parts of the SDUs `numbers` and of no SDU that lives.
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

    /// The receiver learns of `skip`: its SDUs that are not delivered are handed to `lose`.
    pub(super) fn skip(&mut self, skip: Skip, mut lose: impl FnMut(Packet)) {
        for number in skip.first_sdu.max(self.next_delivery)..skip.end_sdu {
            let sdu = self.sdu_mut(number);
            if !sdu.skipped {
                sdu.skipped = true;
                lose(sdu.packet);
            }
        }
    }

    /// Resets both peers: calls `lose` for each SDU that is not delivered; returns how many the
    /// sender still held, and their bytes.
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
