//! Receiving side of an acknowledged-mode entity.
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
    /// LSN: all PDUs before this number have arrived, except the PDUs in `missing`.
    pub(super) last: Sn,
    /// Missing PDUs before `last`, in order.
    pub(super) missing: Vec<PduRun>,
    /// MRW_ACK: number of skips that the receiver has performed.
    pub(super) skips_made: u32,
}

/// Parameters of a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverRules {
    /// Window VR(MR) − VR(R), PDUs.
    pub(super) window: u64,
    pub(super) status_prohibit: Duration,
    pub(super) missing_pdu_indicator: bool,
}

/// Receiving side of one direction.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    rules: ReceiverRules,
    /// VR(R): the next PDU expected in sequence.
    next: u64,
    /// VR(H): the highest received number plus one.
    highest: u64,
    /// Received PDUs between VR(R) and VR(H).
    received: PduSet,
    /// Earliest time of the next report; [`Time::NEVER`] if no report is required.
    status_at: Time,
    /// Number of performed skips.
    skips_made: u32,
    /// Expiry of Timer_Status_Prohibit.
    prohibited_until: Time,
    /// Number of received PDUs that had already arrived or were outside the window.
    pub(super) duplicates: u64,
}

impl Receiver {
    /// Creates a receiver in the initial state.
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

    /// Returns true if all of `pdus`, which are VR(R) or later, have arrived.
    pub(super) fn has_received(&self, pdus: Range<u64>) -> bool {
        pdus.is_empty() || pdus.end <= self.highest && self.received.first_missing(pdus).is_none()
    }

    /// Processes arrived PDUs.
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
        // All PDUs are new, so they are processed in one step. The result is the same as for one
        // PDU at a time.
        if end <= self.next + self.rules.window && self.received.first_in(first..end).is_none() {
            if first > self.highest && self.rules.missing_pdu_indicator {
                self.want_status();
            }
            self.received.insert(first..end);
            self.highest = self.highest.max(end);
            return self.advance();
        }
        for number in first..end {
            // When VR(R) moves, numbers below VR(R) are interpreted as numbers far ahead.
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

    /// Moves VR(R) over the PDUs received in sequence.
    fn advance(&mut self) {
        let in_sequence = self.received.first_missing(self.next..self.highest);
        let in_sequence = in_sequence.unwrap_or(self.highest);
        self.received.remove(self.next..in_sequence);
        self.next = in_sequence;
    }

    /// Performs skip number `number`: the PDUs `pdus`, which the sender has discarded, count as
    /// received.
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

    /// Triggers a status report, after a poll or an order to move the window.
    #[inline]
    pub(super) fn want_status(&mut self) {
        self.status_at = self.prohibited_until;
    }

    /// Earliest time of the next report; [`Time::NEVER`] if no report is required.
    #[inline]
    pub(super) fn status_at(&self) -> Time {
        self.status_at
    }

    /// Writes the report that is sent at `now` to `report`.
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
