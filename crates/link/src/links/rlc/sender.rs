//! Sending side of an acknowledged-mode entity.
//!
//! Source: 3GPP TS 25.322 §9.4 (VT(S), VT(A), VT(DAT)), §9.5 (Timer_Poll), §9.7.1 (polls), §11.3.2
//! (transmission), §11.5.3 (reception of a status report), §11.6 (move receiving window). All PDUs
//! of a TTI are received or lost together, so a poll in any PDU is a poll of the TTI.

use super::pdu_set::PduSet;
use super::receiver::StatusReport;
use super::sdus::{Sdus, Skip};
use super::sequence::{PduRun, Sn};
use super::settings::{OnMaxDat, PollStop, Rules, WindowPoll};
use airpath_aqm::Queue;
use airpath_core::{Ctx, Ring, Time};
use std::ops::Range;

/// Data PDUs of one direction in a TTI.
#[derive(Clone, Debug, Default)]
pub(super) struct Payload {
    /// PDUs in order of transmission.
    pub(super) runs: Vec<PduRun>,
    /// True if one of the PDUs polls.
    pub(super) poll: bool,
    /// Number of PDUs that are transmitted for the first time.
    pub(super) new: u64,
    /// Number of retransmitted PDUs.
    pub(super) again: u64,
}

impl Payload {
    fn clear(&mut self) {
        self.runs.clear();
        (self.poll, self.new, self.again) = (false, 0, 0);
    }
}

/// State of Timer_Poll.
#[derive(Clone, Copy, Debug)]
struct Poll {
    /// Expiry of the timer.
    expires: Time,
    /// Value of VT(S) at the time of the poll.
    next: u64,
}

/// Sending side of one direction.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    rules: Rules,
    /// VT(A): the oldest unacknowledged PDU.
    acknowledged: u64,
    /// VT(S): the next new PDU.
    next: u64,
    /// PDUs to be retransmitted.
    nacked: PduSet,
    /// PDUs above VT(A) that are known to have arrived.
    known: PduSet,
    /// VT(DAT): number of transmissions of each PDU. The index is the PDU number modulo the length
    /// of the array.
    transmissions: Box<[u8]>,
    /// Time of the last transmission of each PDU. The index is the PDU number modulo the length of
    /// the array.
    sent_at: Box<[Time]>,
    poll: Option<Poll>,
    /// PDUs that the receiver still has to skip, oldest first.
    skips: Ring<Skip>,
    /// Time of the next skip order to the receiver.
    skip_at: Time,
    /// Number of skips since the start.
    skipped: u32,
    /// True if a PDU has reached MaxDAT transmissions and both peers must be reset.
    needs_reset: bool,
}

impl Sender {
    /// Creates a sender in the initial state.
    pub(super) fn new(rules: Rules) -> Sender {
        let places = rules.window.next_power_of_two() as usize;
        Sender {
            rules,
            acknowledged: 0,
            next: 0,
            nacked: PduSet::new(rules.window),
            known: PduSet::new(rules.window),
            transmissions: vec![0; places].into(),
            sent_at: vec![Time::ZERO; places].into(),
            poll: None,
            skips: Ring::default(),
            skip_at: Time::NEVER,
            skipped: 0,
            needs_reset: false,
        }
    }

    /// VT(S): the number of the next new PDU.
    pub(super) fn next_pdu(&self) -> u64 {
        self.next
    }

    /// Number of PDUs between VT(A) and VT(S).
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.next - self.acknowledged
    }

    /// Number of new PDUs that may be sent before the next acknowledgement.
    #[inline]
    pub(super) fn window_left(&self) -> u64 {
        self.rules.window - self.outstanding()
    }

    /// Returns true if both peers must be reset.
    pub(super) fn needs_reset(&self) -> bool {
        self.needs_reset
    }

    /// Returns the earliest time with a PDU to send. `has_data` is true if new data wait.
    #[inline]
    pub(super) fn ready_at(&self, has_data: bool) -> Time {
        if !self.nacked.is_empty() || (has_data && self.window_left() > 0) {
            return Time::ZERO;
        }
        self.poll.map_or(Time::NEVER, |poll| poll.expires).min(self.skip_at)
    }

    /// Returns the number of the last skip of an order to skip PDUs; `None` if no order must be
    /// sent now. An order occupies one PDU.
    pub(super) fn take_skip_order(&mut self, now: Time) -> Option<u32> {
        if self.skip_at > now {
            return None;
        }
        self.skip_at = now + self.rules.mrw_timer;
        Some(self.skipped)
    }

    /// Skips that the receiver has not confirmed, with their numbers.
    pub(super) fn skips(&self) -> impl Iterator<Item = (u32, Skip)> {
        let first = self.skipped - self.skips.len() as u32;
        (first..).zip(self.skips.iter().copied())
    }

    /// Fills a TTI of `slots` PDUs at `ctx.now`.
    pub(super) fn fill(
        &mut self,
        slots: u64,
        sdus: &mut Sdus,
        mut queue: Option<&mut Queue>,
        payload: &mut Payload,
        ctx: &mut Ctx<'_>,
    ) {
        payload.clear();
        let mut poll_at = None;
        self.retransmit(slots, sdus, queue.as_deref_mut(), payload, &mut poll_at, ctx);
        if self.needs_reset {
            payload.clear();
            return;
        }
        let space = (slots - payload.again).min(self.window_left());
        if let Some(queue) = queue
            && space > 0
        {
            self.send_new(space, sdus, queue, payload, &mut poll_at, ctx);
        }
        self.poll_on_expiry(slots, payload, &mut poll_at, ctx.now);
        if let Some(next) = poll_at {
            payload.poll = true;
            self.poll = Some(Poll { expires: ctx.now + self.rules.poll_timer, next });
        }
    }

    /// Retransmits PDUs that were reported missing, in order of their numbers.
    fn retransmit(
        &mut self,
        slots: u64,
        sdus: &mut Sdus,
        mut queue: Option<&mut Queue>,
        payload: &mut Payload,
        poll_at: &mut Option<u64>,
        ctx: &mut Ctx<'_>,
    ) {
        if self.nacked.is_empty() {
            return;
        }
        let window_polls = self.window_polls(self.next + 1, ctx.now);
        let mut from = self.acknowledged;
        while payload.again < slots
            && let Some(number) = self.nacked.take_first_in(from..self.next)
        {
            from = number + 1;
            if self.is_given_up(number) {
                self.give_up(number, sdus, queue.as_deref_mut(), ctx);
                if self.needs_reset {
                    return;
                }
                continue;
            }
            self.transmit(number, ctx.now);
            payload.again += 1;
            push(&mut payload.runs, number);
            let is_last = self.rules.last_retransmission_poll && self.nacked.is_empty();
            if is_last || window_polls {
                *poll_at = Some(self.next);
            }
        }
    }

    /// Transmits new PDUs.
    fn send_new(
        &mut self,
        space: u64,
        sdus: &mut Sdus,
        queue: &mut Queue,
        payload: &mut Payload,
        poll_at: &mut Option<u64>,
        ctx: &mut Ctx<'_>,
    ) {
        let made = sdus.segment(self.next, space, queue, ctx);
        if made == 0 {
            return;
        }
        let first = self.next;
        self.next += made;
        self.transmit_first(first..self.next, ctx.now);
        payload.new = made;
        payload.runs.push(PduRun::between(first, self.next));
        let is_last = self.rules.last_pdu_poll && !sdus.has_partial() && queue.is_empty();
        if is_last || self.window_polls(self.next, ctx.now) {
            *poll_at = Some(self.next);
        }
    }

    /// Poll_Window: returns true if a PDU polls. `next` is the value of VT(S) after this PDU.
    #[inline]
    fn window_polls(&self, next: u64, now: Time) -> bool {
        next - self.acknowledged >= self.rules.poll_from
            && match self.rules.window_poll {
                WindowPoll::Every => true,
                WindowPoll::Timed => self.poll.is_none_or(|poll| poll.expires <= now),
            }
    }

    /// Sets the poll of a TTI after the expiry of Timer_Poll: the last PDU of the TTI polls. If the
    /// TTI has no data PDU, a PDU is retransmitted for the poll.
    fn poll_on_expiry(
        &mut self,
        slots: u64,
        payload: &mut Payload,
        poll_at: &mut Option<u64>,
        now: Time,
    ) {
        let Some(poll) = self.poll.filter(|poll| poll.expires <= now) else { return };
        if self.outstanding() == 0 {
            self.poll = None;
        } else if payload.runs.is_empty() && poll_at.is_none() && slots > 0 {
            let number = self.pdu_that_polls();
            if self.is_given_up(number) {
                // The next TTI discards the PDU, unless an order to skip it is already in progress.
                if !self.is_skipped(number) {
                    self.nacked.insert(number..number + 1);
                }
                self.poll = Some(Poll { expires: now + self.rules.poll_timer, ..poll });
                return;
            }
            self.transmit(number, now);
            payload.again += 1;
            push(&mut payload.runs, number);
            *poll_at = Some(self.next);
        } else if poll_at.is_none() && !payload.runs.is_empty() {
            *poll_at = Some(self.next);
        }
    }

    /// Returns the number of the PDU that is retransmitted for a poll: VT(S) − 1. If that PDU has
    /// arrived and must not be retransmitted, returns the oldest unacknowledged PDU.
    fn pdu_that_polls(&self) -> u64 {
        let last = self.next - 1;
        if self.is_given_up(last) && self.known.contains(last) { self.acknowledged } else { last }
    }

    #[inline]
    fn place(&self, number: u64) -> usize {
        number as usize & (self.sent_at.len() - 1)
    }

    #[inline]
    fn transmit(&mut self, number: u64, now: Time) {
        let place = self.place(number);
        self.transmissions[place] = self.transmissions[place].saturating_add(1);
        self.sent_at[place] = now;
    }

    /// Records the first transmission of `pdus`. They are at least one PDU and at most a window of
    /// PDUs.
    #[inline]
    fn transmit_first(&mut self, pdus: Range<u64>, now: Time) {
        let (from, end) = (self.place(pdus.start), self.place(pdus.end - 1) + 1);
        if from < end {
            self.transmissions[from..end].fill(1);
            self.sent_at[from..end].fill(now);
        } else {
            // The range wraps around the end of the arrays.
            self.transmissions[from..].fill(1);
            self.transmissions[..end].fill(1);
            self.sent_at[from..].fill(now);
            self.sent_at[..end].fill(now);
        }
    }

    /// Returns true if VT(DAT) would reach MaxDAT with another transmission.
    #[inline]
    fn is_given_up(&self, number: u64) -> bool {
        self.transmissions[self.place(number)] >= self.rules.max_dat - 1
    }

    #[cold]
    fn give_up(
        &mut self,
        number: u64,
        sdus: &mut Sdus,
        queue: Option<&mut Queue>,
        ctx: &mut Ctx<'_>,
    ) {
        if self.rules.on_max_dat == OnMaxDat::Reset {
            self.needs_reset = true;
            return;
        }
        let (skip, count, bytes) = sdus.abandon(number, self.next);
        if let Some(queue) = queue {
            queue.release(count, bytes, ctx);
        }
        self.nacked.remove(skip.pdus());
        self.skips.push_back(skip);
        self.skipped += 1;
        self.skip_at = Time::ZERO;
    }

    /// Processes a status report. A report that is older than the current state has no effect.
    /// `sdus_wait` is true if there are SDUs whose transmission has not started.
    ///
    /// Timer_Poll stops when the PDU that polled is reported missing (§9.5), because that PDU is
    /// then retransmitted and polls again. A report of a missing PDU that the NACK guard ignores
    /// does not stop the timer.
    pub(super) fn on_status(&mut self, report: &StatusReport, sdus_wait: bool, now: Time) {
        let last = report.last.at_or_after(self.acknowledged);
        if last > self.next {
            return;
        }
        let mut from = self.acknowledged;
        let mut polled_is_missing = false;
        for run in &report.missing {
            let Some(pdus) = self.numbers_of(*run, last) else { continue };
            if pdus.end <= from {
                continue;
            }
            let first = pdus.start.max(from);
            self.arrived(from, first);
            self.missing(first..pdus.end, now);
            polled_is_missing |= self.poll.is_some_and(|poll| {
                let polled = poll.next - 1;
                pdus.contains(&polled) && (self.nacked.contains(polled) || self.is_skipped(polled))
            });
            from = pdus.end;
        }
        self.arrived(from, last);
        self.advance();
        let is_acknowledged = self.poll.is_some_and(|poll| self.acknowledged >= poll.next);
        if is_acknowledged || polled_is_missing || self.any_report_stops_poll(sdus_wait) {
            self.poll = None;
        }
        self.confirm_skips(report.skips_made);
    }

    /// Returns true if a report without information about the polling PDU stops Timer_Poll. The
    /// timer stops only if a later poll is certain: SDUs wait, they can be sent, and their last PDU
    /// polls.
    fn any_report_stops_poll(&self, sdus_wait: bool) -> bool {
        let asks_again = self.rules.last_pdu_poll && sdus_wait && self.window_left() > 0;
        self.rules.poll_stop == PollStop::Report && asks_again
    }

    /// Returns the PDU numbers of `run` in a report with the LSN `last`. In an old report the
    /// numbers may start below VT(A).
    fn numbers_of(&self, run: PduRun, last: u64) -> Option<Range<u64>> {
        let ahead = run.first.at_or_after(self.acknowledged);
        let first = if ahead < last { ahead } else { ahead.checked_sub(Sn::MODULUS)? };
        let end = first + u64::from(run.count);
        (end <= last).then_some(first..end)
    }

    fn arrived(&mut self, from: u64, end: u64) {
        self.known.insert(from..end);
        self.nacked.remove(from..end);
    }

    /// Schedules the retransmission of `pdus`, except PDUs that were sent too recently for the
    /// report to include them.
    fn missing(&mut self, pdus: Range<u64>, now: Time) {
        let mut from = pdus.start;
        for number in pdus.clone() {
            let too_recent = self.sent_at[self.place(number)] + self.rules.nacks_from > now;
            if too_recent || self.is_skipped(number) || self.known.contains(number) {
                self.nacked.insert(from..number);
                from = number + 1;
            }
        }
        self.nacked.insert(from..pdus.end);
    }

    /// Moves VT(A) over the PDUs that are known to have arrived.
    fn advance(&mut self) {
        let old = self.acknowledged;
        self.acknowledged = self.known.first_missing(old..self.next).unwrap_or(self.next);
        self.known.remove(old..self.acknowledged);
    }

    /// Returns true if an order to skip `number` is in progress.
    fn is_skipped(&self, number: u64) -> bool {
        self.skips.iter().any(|skip| skip.pdus().contains(&number))
    }

    /// Removes the skips before the number `made`, which the receiver has performed.
    fn confirm_skips(&mut self, made: u32) {
        let open = self.skipped.saturating_sub(made) as usize;
        while self.skips.len() > open {
            self.skips.drop_front();
        }
        if self.skips.is_empty() {
            self.skip_at = Time::NEVER;
        }
    }

    /// Returns a PDU number N such that no PDU with a number of at least N is known to have
    /// arrived. N is not always the lowest possible number.
    #[inline]
    pub(super) fn known_end(&self) -> u64 {
        if self.known.is_empty() { self.acknowledged } else { self.next }
    }

    /// Returns true if all of `pdus` are known to have arrived.
    #[inline]
    pub(super) fn has_arrived(&self, pdus: Range<u64>) -> bool {
        let open = pdus.start.max(self.acknowledged)..pdus.end;
        open.is_empty() || (pdus.end <= self.next && self.known.first_missing(open).is_none())
    }

    /// Resets the sender.
    pub(super) fn reset(&mut self) {
        *self = Sender::new(self.rules);
    }
}

/// Appends a PDU: extends the last run if possible, otherwise adds a run.
fn push(runs: &mut Vec<PduRun>, number: u64) {
    let pdu = PduRun::between(number, number + 1);
    match runs.last_mut() {
        Some(run)
            if run.first.at_or_after(0) + u64::from(run.count) == pdu.first.at_or_after(0) =>
        {
            run.count += 1;
        }
        _ => runs.push(pdu),
    }
}
