//! The receiving side of an acknowledged-mode entity.
//!
//! Source: 3GPP TS 25.322 §9.4 (VR(R), VR(H), VR(MR)), §9.7.2 (triggers of a status report), §9.5
//! (Timer_Status_Prohibit), §11.3.3 (reception), §11.5 (status transfer).

use super::pdu_set::PduSet;
use super::sequence::{PduRun, Sn};
use airpath_core::{Duration, Time};
use std::ops::Range;

/// A status report (STATUS PDU): the ACK and LIST super-fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatusReport {
    /// LSN: everything before it except `missing` has arrived.
    pub(super) last: Sn,
    /// PDUs missing before it, in order.
    pub(super) missing: Vec<PduRun>,
    /// MRW_ACK: how many skips the receiver has made.
    pub(super) skips_made: u32,
}

/// Parameters of a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverRules {
    /// VR(MR) − VR(R), PDUs.
    pub(super) window: u64,
    pub(super) status_prohibit: Duration,
    pub(super) missing_pdu_indicator: bool,
}

/// The receiving side of one direction.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    rules: ReceiverRules,
    /// VR(R): the next PDU in sequence.
    next: u64,
    /// VR(H): the one behind the highest that was seen.
    highest: u64,
    /// PDUs that have arrived between the two.
    received: PduSet,
    /// From when on a report is to be sent; [`Time::NEVER`] when none is wanted.
    status_at: Time,
    /// How many skips it has made.
    skips_made: u32,
    /// When Timer_Status_Prohibit ends.
    prohibited_until: Time,
    /// PDUs that had arrived before, or lay outside the window.
    pub(super) duplicates: u64,
}

impl Receiver {
    /// A receiver that has seen nothing.
    pub(super) fn new(rules: ReceiverRules) -> Receiver {
        Receiver {
            received: PduSet::new(rules.window),
            rules,
            next: 0,
            highest: 0,
            status_at: Time::NEVER,
            skips_made: 0,
            prohibited_until: Time::ZERO,
            duplicates: 0,
        }
    }

    /// Returns VR(R), the next PDU expected in order.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// PDUs arrive.
    #[inline]
    pub(super) fn on_pdus(&mut self, run: PduRun) {
        let (count, first) = (u64::from(run.count), run.first.at_or_after(self.next));
        if first == self.next && self.highest == self.next && count <= self.rules.window {
            self.next += count;
            self.highest = self.next;
        } else {
            self.on_pdus_out_of_sequence(run.first, count);
        }
    }

    fn on_pdus_out_of_sequence(&mut self, first: Sn, count: u64) {
        let first = first.at_or_after(self.next);
        let end = first + count;
        // All of them are new: as one by one, at once.
        if end <= self.next + self.rules.window && self.received.first_in(first..end).is_none() {
            if first > self.highest && self.rules.missing_pdu_indicator {
                self.want_status();
            }
            self.received.insert(first..end);
            self.highest = self.highest.max(end);
            return self.advance();
        }
        for number in first..end {
            // As VR(R) moves, numbers behind it look as if they were far ahead.
            self.on_pdu(Sn::of(number).at_or_after(self.next));
        }
        self.advance();
    }

    fn on_pdu(&mut self, number: u64) {
        let is_outside = number >= self.next + self.rules.window;
        if is_outside || (number < self.highest && self.received.contains(number)) {
            self.duplicates += 1;
            return;
        }
        if number > self.highest && self.rules.missing_pdu_indicator {
            self.want_status();
        }
        self.received.insert(number..number + 1);
        self.highest = self.highest.max(number + 1);
        if number == self.next {
            self.advance();
        }
    }

    /// Moves VR(R) over what has arrived.
    fn advance(&mut self) {
        let in_sequence = self.received.first_missing(self.next..self.highest);
        let in_sequence = in_sequence.unwrap_or(self.highest);
        self.received.remove(self.next..in_sequence);
        self.next = in_sequence;
    }

    /// The sender has discarded `pdus`: they count as arrived. This is the skip of that `number`.
    pub(super) fn skip(&mut self, number: u32, pdus: Range<u64>) {
        self.skips_made = number + 1;
        let from = pdus.start.max(self.next);
        if from < pdus.end {
            self.received.insert(from..pdus.end);
            self.highest = self.highest.max(pdus.end);
            self.advance();
        }
        self.want_status();
    }

    /// A report is triggered: a poll, or an order to move on.
    #[inline]
    pub(super) fn want_status(&mut self) {
        self.status_at = self.prohibited_until;
    }

    /// From when on a report is to be sent; [`Time::NEVER`] when none is wanted.
    #[inline]
    pub(super) fn status_at(&self) -> Time {
        self.status_at
    }

    /// Writes the report that leaves at `now` to `report`.
    pub(super) fn write_status(&mut self, now: Time, report: &mut StatusReport) {
        self.status_at = Time::NEVER;
        self.prohibited_until = now + self.rules.status_prohibit;
        report.last = Sn::of(self.highest);
        report.skips_made = self.skips_made;
        report.missing.clear();
        let mut from = self.next;
        while let Some(first) = self.received.first_missing(from..self.highest) {
            let end = self.received.first_in(first..self.highest).unwrap_or(self.highest);
            report.missing.push(PduRun::between(first, end));
            from = end;
        }
    }

    /// Resets the receiver except its counters.
    pub(super) fn reset(&mut self) {
        let duplicates = self.duplicates;
        *self = Receiver { duplicates, ..Receiver::new(self.rules) };
    }
}
