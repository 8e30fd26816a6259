//! Transmission of segments: in order within a window, or in the order that the loss recovery
//! selects.

use super::rwnd::LimitedBy;
use super::{Phase, Sender};
use crate::congestion::CongestionControl;
use crate::receiver::timestamp;
use crate::recovery::{Allowance, LossRecovery, Next, SendLimits, Sent};
use airpath_core::{Ctx, Flags, Packet, Port, Series, Time};

impl Sender {
    /// Sends the data that the windows allow.
    #[inline(never)]
    pub(super) fn transmit(&mut self, ctx: &mut Ctx<'_>) {
        if self.phase != Phase::Established || self.ecn.waits_for_timer {
            return;
        }
        let cwnd = self.congestion.cwnd();
        match self.recovery.allowance(&self.board, cwnd) {
            Allowance::Window(window) => self.transmit_up_to(window, ctx),
            Allowance::ByFlight => self.transmit_by_flight(cwnd, ctx),
        }
    }

    /// Sends data in order within a window of `window` bytes from the oldest unacknowledged byte.
    fn transmit_up_to(&mut self, window: u64, ctx: &mut Ctx<'_>) {
        let allowed = self.board.una().saturating_add(window);
        let limit = self.edge.min(allowed);
        while !self.pacer.holds_segment(ctx.now)
            && let Some(end) = self.next_end(limit, ctx.now)
        {
            if !self.pacer.is_free(ctx.now) {
                self.wait_for_pacer();
                break;
            }
            let (start, is_new) = (self.board.nxt(), self.board.nxt() == self.board.max());
            self.send(start, end, if is_new { Sent::New } else { Sent::Again }, ctx);
        }
        self.pacer.end_burst();
        self.note_limit(allowed, ctx.now);
    }

    /// Updates the measurement of the limiting window after a transmission. The congestion window
    /// allows the transmission of all data before `allowed`.
    #[inline(always)]
    pub(super) fn note_limit(&mut self, allowed: u64, now: Time) {
        let end = self.board.nxt() + u64::from(self.mss);
        let is_held_as_before =
            self.limit.holder() == LimitedBy::CongestionWindow && end > allowed && end <= self.end;
        if !is_held_as_before {
            self.note_holder(allowed, now);
        }
    }

    /// Sends the segments that loss recovery selects, lost segments first (RFC 6675 §5 (C)), with a
    /// congestion window of `cwnd`.
    #[cold]
    fn transmit_by_flight(&mut self, mut cwnd: u64, ctx: &mut Ctx<'_>) {
        while self.pacer.is_free(ctx.now) {
            let offer = self.offer(cwnd, ctx.now);
            let Some(next) = self.recovery.next(&self.board, &offer) else { break };
            self.send_next(next, ctx);
            cwnd = self.congestion.cwnd();
        }
        self.pacer.end_burst();
        let reach = self.recovery.reach(&self.board, cwnd);
        if reach > self.board.max() && !self.pacer.is_free(ctx.now) {
            self.wait_for_pacer();
        }
        self.note_holder(reach, ctx.now);
    }

    /// Sends the segment that a partial ACK triggers, regardless of the window.
    #[cold]
    pub(super) fn send_forced(&mut self, ctx: &mut Ctx<'_>) {
        let offer = self.offer(self.congestion.cwnd(), ctx.now);
        let next = self.recovery.forced(&self.board, &offer);
        self.send_next(next, ctx);
    }

    fn offer(&self, cwnd: u64, now: Time) -> SendLimits {
        SendLimits {
            cwnd,
            edge: self.edge,
            stream_end: self.end,
            data_end: if now < self.stop { self.end } else { self.board.max() },
            new_end: self.new_end(now),
        }
    }

    /// Returns the end of the next new segment. Returns `None` if no segment fits into the receive
    /// window.
    pub(super) fn new_end(&self, now: Time) -> Option<u64> {
        self.next_end(self.edge, now)
    }

    fn send_next(&mut self, next: Next, ctx: &mut Ctx<'_>) {
        match next {
            Next::New(end) => self.send_one(self.board.max(), end, Sent::New, ctx),
            Next::Again(start) => self.retransmit(start, Sent::Again, ctx),
            Next::Rescue(byte) => self.retransmit(self.board.start_of(byte), Sent::Rescue, ctx),
        }
    }

    /// Retransmits the segment that contains the byte `start`, beginning at this byte.
    pub(super) fn retransmit(&mut self, start: u64, sent: Sent, ctx: &mut Ctx<'_>) {
        self.send_one(start, self.board.end_of(start), sent, ctx);
    }

    /// Sends one segment that the loss recovery has selected.
    #[cold]
    pub(super) fn send_one(&mut self, seq: u64, end: u64, sent: Sent, ctx: &mut Ctx<'_>) {
        let restarts_timer = seq == self.board.una() && self.recovery.rack_timers().is_some();
        self.send(seq, end, sent, ctx);
        if restarts_timer {
            // Linux tcp_xmit_retransmit_queue.
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
    }

    /// Returns the end of the next segment if this segment may be sent before the stream offset
    /// `limit`. Silly-window avoidance at the sender (RFC 1122 §4.2.3.4) allows a full-sized
    /// segment, the last segment of the transfer and, if no data is in flight, a segment that fills
    /// the window.
    fn next_end(&self, limit: u64, now: Time) -> Option<u64> {
        let nxt = self.board.nxt();
        if nxt == self.board.max() {
            return self.next_new_end(limit, now);
        }
        let room = limit.checked_sub(nxt)?;
        let end = self.board.end_of(nxt);
        (room >= end - nxt || nxt == self.board.una()).then_some(end)
    }

    /// Returns the same as `next_end` for the next segment of new data.
    #[inline(always)]
    pub(super) fn next_new_end(&self, limit: u64, now: Time) -> Option<u64> {
        let nxt = self.board.max();
        let room = limit.checked_sub(nxt)?;
        let is_idle = nxt == self.board.una();
        let whole = (self.end - nxt).min(u64::from(self.mss));
        let size = if room >= whole || !is_idle { whole } else { room };
        (size > 0 && room >= size && now < self.stop).then(|| nxt + size)
    }

    /// Sends the segment from `seq` to `end`: new data, or a segment that is on the scoreboard.
    fn send(&mut self, seq: u64, end: u64, sent: Sent, ctx: &mut Ctx<'_>) {
        let mut segment = Packet::data(self.flow, seq, (end - seq) as u32, self.header, ctx.now);
        segment.ecn = self.ecn.field;
        if sent == Sent::New {
            self.board.push(end, ctx.now);
        } else {
            if self.board.is_watched() && self.recovery.rack_timers().is_none() {
                self.board.lose_at(seq);
            }
            self.board.push_again(seq, ctx.now);
            self.measured.retransmissions += 1;
            segment.flags = Flags::RETRANSMITTED;
        }
        if end == self.end && self.pushes() {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if self.ecn.is_used {
            self.ecn.stamp(&mut segment, sent == Sent::New);
        }
        self.recovery.on_sent(sent, seq, end, &self.board, &self.congestion);
        self.note_release(&mut segment, ctx);
        match self.burst {
            None => ctx.emit(Port(0), segment),
            Some(_) => self.add_to_burst(segment, ctx),
        }
    }

    /// Sends the segment of new data that ends at `end`. Valid only without ECN and outside loss
    /// recovery.
    #[inline(always)]
    pub(super) fn send_new(&mut self, end: u64, ctx: &mut Ctx<'_>) {
        let seq = self.board.max();
        let mut segment = Packet::data(self.flow, seq, (end - seq) as u32, self.header, ctx.now);
        self.board.push_unwatched(end, ctx.now);
        self.note_release(&mut segment, ctx);
        ctx.emit(Port(0), segment);
    }

    /// Completes the transmission of a segment that is already on the scoreboard: timestamps,
    /// counters, pacing and timers.
    #[inline(always)]
    fn note_release(&mut self, segment: &mut Packet, ctx: &mut Ctx<'_>) {
        if self.timestamps {
            segment.tsval = timestamp(ctx.now);
            segment.tsecr = self.ts_recent;
        }
        self.measured.sent += 1;
        self.last_sent = ctx.now;
        self.congestion.on_sent(ctx.now, segment.payload_bytes());
        if let Some(rate) = self.pacing_rate() {
            self.pace(u32::from(segment.size), rate, ctx);
        }
        if self.rto_deadline.is_never() {
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
        ctx.record(Series::SeqSent, self.flow.0, segment.seq as f64);
    }
}
