//! One direction of the radio link: the sender, the channel, and the receiver at the peer.

use super::clock::Clock;
use super::receiver::Receiver;
use super::sdus::Sdus;
use super::sender::{Payload, Sender};
use super::sequence::PduRun;
use crate::links::meter::Meter;
use airpath_aqm::Queue;
use airpath_core::{Bytes, Ctx, DropReason, Duration, Framing, LinkRate, Packet, Ring, Time};
use airpath_phy::errors::{self, AnyErrors, ErrorProcess};

/// PDUs of one TTI on the air.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// Arrival time at the peer.
    pub(super) arrives: Time,
    /// Number of entries of `Direction::runs` that are data PDUs of this frame.
    pub(super) runs: u32,
    /// True if one of the data PDUs polls.
    pub(super) poll: bool,
    /// Status report about the other direction, as an index in the link's store.
    pub(super) status: Option<u32>,
    /// Number of the last skip that the receiver must perform (order to move the receiving window).
    pub(super) skip_until: Option<u32>,
    /// True if the frame contains a RESET PDU.
    pub(super) reset: bool,
    /// True if the frame contains a RESET ACK PDU.
    pub(super) reset_ack: bool,
}

/// Counters of a bearer since measurement started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Number of PDUs that could have been sent at the nominal rate up to `rate_since`.
    pub(super) offered: f64,
    /// Time since which the current rate applies.
    pub(super) rate_since: Time,
    pub(super) frames: u64,
    pub(super) frames_lost: u64,
    pub(super) new_pdus: u64,
    pub(super) repeated_pdus: u64,
    pub(super) control_pdus: u64,
    pub(super) status_reports: u64,
    pub(super) duplicates_before: u64,
    pub(super) stalled: Duration,
}

/// One direction of the radio link.
pub(super) struct Direction {
    /// Queue of waiting packets; `None` for a direction that carries only status reports.
    pub(super) queue: Option<Queue>,
    pub(super) sdus: Sdus,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) clock: Clock,
    pub(super) counts: Counts,
    /// Meter whose unit of capacity is the PDU.
    pub(super) meter: Meter,
    errors: Option<AnyErrors>,
    frames: Ring<Frame>,
    /// Data PDUs of the frames in `frames`.
    runs: Ring<PduRun>,
    payload: Payload,
    /// Start of the next TTI in which PDUs are sent.
    pub(super) next_tti: Time,
    /// End of the last TTI in which PDUs were sent. Packets that arrive before this time are not
    /// sent before this time.
    pub(super) tti_ends: Time,
    /// Time since which new data wait because the window is full; `None` if no data wait for the
    /// window.
    stalled_since: Option<Time>,
}

impl Direction {
    /// Creates a direction in the initial state.
    pub(super) fn new(
        queue: Option<Queue>,
        sdus: Sdus,
        sender: Sender,
        receiver: Receiver,
        clock: Clock,
        errors: Option<AnyErrors>,
    ) -> Direction {
        Direction {
            queue,
            sdus,
            sender,
            receiver,
            clock,
            counts: Counts::default(),
            meter: Meter::default(),
            errors,
            frames: Ring::default(),
            runs: Ring::default(),
            payload: Payload::default(),
            next_tti: Time::NEVER,
            tti_ends: Time::ZERO,
            stalled_since: None,
        }
    }

    /// Computes the next TTI in which PDUs are sent. `ready_at` is the earliest time with a PDU to
    /// send.
    #[inline]
    pub(super) fn plan(&mut self, ready_at: Time, now: Time) {
        let from = ready_at.max(self.tti_ends).max(now);
        self.next_tti = self.clock.tti_at_or_after(from, self.tti_ends);
    }

    /// Returns true if new data wait: data that no PDU has carried yet.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        self.sdus.has_partial() || self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
    }

    /// Number of waiting and undelivered packets.
    pub(super) fn held(&self) -> usize {
        self.queue.as_ref().map_or(0, Queue::waiting) + self.sdus.undelivered()
    }

    /// Returns true if the `pdus` PDUs of the TTI that starts at `start` are corrupted.
    #[inline]
    pub(super) fn corrupts(&mut self, start: Time, pdus: u64) -> bool {
        let Some(errors) = &mut self.errors else { return false };
        let (ended, bytes) = (self.clock.end_of(start), self.clock.bytes_of(pdus));
        errors.corrupts(&errors::Frame { began: start, ended, bytes, mcs: None })
    }

    /// Fills up to `slots` PDUs with data. Returns the number of PDUs, and true if one of them
    /// polls.
    #[inline]
    pub(super) fn fill(&mut self, slots: u64, ctx: &mut Ctx<'_>) -> (u64, bool) {
        let Direction { sender, sdus, queue, payload, .. } = self;
        sender.fill(slots, sdus, queue.as_mut(), payload, ctx);
        let (new, again, poll) = (payload.new, payload.again, payload.poll);
        self.counts.new_pdus += new;
        self.counts.repeated_pdus += again;
        self.note_stall(new, ctx.now);
        (new + again, poll)
    }

    /// Records the end of the first transmission of the SDUs that end in the last call of `fill`.
    /// The PDUs arrive at `arrives`, unless they are corrupted.
    #[inline]
    pub(super) fn note_sent(&self, arrives: Time, ctx: &mut Ctx<'_>) {
        if ctx.records_instants() && self.payload.new > 0 {
            let first = self.sender.next_pdu() - self.payload.new;
            self.sdus.note_sent(first, arrives, ctx);
        }
    }

    /// Records the reception of SDUs, which may wait for earlier SDUs.
    #[inline]
    pub(super) fn note_received(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.records_instants() {
            let Direction { sdus, receiver, .. } = self;
            sdus.note_received(receiver.next(), |pdus| receiver.has_received(pdus), ctx);
        }
    }

    #[inline]
    fn note_stall(&mut self, new: u64, now: Time) {
        if let Some(since) = self.stalled_since
            && new > 0
        {
            self.counts.stalled += now.saturating_since(since.max(self.meter.since()));
            self.stalled_since = None;
        }
        if self.sender.window_left() == 0 && self.stalled_since.is_none() && self.has_data() {
            self.stalled_since = Some(self.clock.end_of(now));
        }
    }

    /// Sends `frame` with the PDUs of the last call of `fill`.
    #[inline]
    pub(super) fn send(&mut self, frame: Frame) {
        self.frames.push_back(Frame { runs: self.payload.runs.len() as u32, ..frame });
        for run in &self.payload.runs {
            self.runs.push_back(*run);
        }
    }

    /// Removes the PDUs of the last call of `fill`, so that the next frame does not carry them.
    #[inline]
    pub(super) fn forget_payload(&mut self) {
        self.payload.runs.clear();
    }

    /// Arrival time of the next frame.
    #[inline]
    pub(super) fn next_arrival(&self) -> Time {
        self.frames.front().map_or(Time::NEVER, |frame| frame.arrives)
    }

    /// Removes and returns a frame that has arrived by `now`.
    #[inline]
    pub(super) fn take_frame(&mut self, now: Time) -> Option<Frame> {
        self.frames.front().filter(|frame| frame.arrives <= now)?;
        self.frames.pop_front()
    }

    /// Passes the data PDUs of `frame` to the receiver.
    #[inline]
    pub(super) fn receive_pdus(&mut self, frame: &Frame) {
        for _ in 0..frame.runs {
            if let Some(run) = self.runs.pop_front() {
                self.receiver.on_pdus(run);
            }
        }
        if frame.poll {
            self.receiver.want_status();
        }
    }

    /// Removes the data PDUs of `frame` without passing them to the receiver.
    pub(super) fn ignore_pdus(&mut self, frame: &Frame) {
        (0..frame.runs).for_each(|_| self.runs.drop_front());
    }

    /// Performs the skips up to the number `until` at the receiver. A skip covers PDUs that the
    /// sender has discarded.
    #[cold]
    pub(super) fn skip(&mut self, until: u32, ctx: &mut Ctx<'_>) {
        let Direction { sender, receiver, sdus, queue, meter, .. } = self;
        for (number, skip) in sender.skips().filter(|(number, _)| *number < until) {
            sdus.skip(skip, |packet| {
                meter.lose();
                give_up(queue.as_mut(), packet, ctx);
            });
            receiver.skip(number, skip.pdus());
        }
        receiver.want_status();
    }

    /// Frees the SDUs of which all PDUs are acknowledged.
    #[inline]
    pub(super) fn free_acknowledged(&mut self, ctx: &mut Ctx<'_>) {
        let Direction { sender, sdus, .. } = self;
        let (count, bytes) = sdus.free(sender.known_end(), |pdus| sender.has_arrived(pdus));
        self.release(count, bytes, ctx);
    }

    #[inline]
    fn release(&mut self, count: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        if let Some(queue) = &mut self.queue
            && count > 0
        {
            queue.release(count, bytes, ctx);
        }
    }

    /// Resets sender and receiver. Data in flight are lost.
    pub(super) fn reset(&mut self, ctx: &mut Ctx<'_>) {
        let Direction { sdus, queue, meter, .. } = self;
        let (count, bytes) = sdus.reset(|packet| {
            meter.lose();
            give_up(queue.as_mut(), packet, ctx);
        });
        self.release(count, bytes, ctx);
        self.sender.reset();
        self.receiver.reset();
    }

    /// Sets the nominal rate.
    pub(super) fn set_rate(&mut self, rate: airpath_core::Rate, ctx: &mut Ctx<'_>) {
        self.counts.offered = self.offered(ctx.now);
        self.counts.rate_since = ctx.now.max(self.tti_ends);
        self.clock.set_rate(rate);
        self.notify_rate(ctx);
    }

    /// Notifies the queue discipline of the nominal rate.
    pub(super) fn notify_rate(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(queue) = &mut self.queue {
            let framing = Framing::default().in_blocks(self.sdus.block());
            queue.on_rate(LinkRate { nominal: self.clock.rate(), framing }, ctx);
        }
    }

    /// Number of PDUs that could have been sent at the nominal rate since measurement started.
    pub(super) fn offered(&self, now: Time) -> f64 {
        let span = now.max(self.tti_ends).saturating_since(self.counts.rate_since).as_secs_lossy();
        self.counts.offered + span * self.clock.pdus_per_second()
    }

    /// Number of duplicate PDUs since measurement started.
    pub(super) fn duplicates(&self) -> u64 {
        self.receiver.duplicates - self.counts.duplicates_before
    }

    /// Time for which new data have waited for the window since measurement started.
    pub(super) fn stalled(&self, now: Time) -> Duration {
        let still = self
            .stalled_since
            .map_or(Duration::ZERO, |since| now.saturating_since(since.max(self.meter.since())));
        self.counts.stalled + still
    }

    /// Restarts the measurement.
    pub(super) fn restart_measurement(&mut self, now: Time) {
        let duplicates_before = self.receiver.duplicates;
        self.counts = Counts { rate_since: now, duplicates_before, ..Counts::default() };
        self.meter.restart(now);
        if let Some(queue) = &mut self.queue {
            queue.restart_measurement(now);
        }
    }
}

/// Drops a dequeued packet, which is no longer retransmitted.
fn give_up(queue: Option<&mut Queue>, packet: Packet, ctx: &mut Ctx<'_>) {
    match queue {
        Some(queue) => queue.give_up(packet, DropReason::Retries, ctx),
        None => ctx.drop(packet, DropReason::Retries),
    }
}
