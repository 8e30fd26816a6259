//! Persist timer: probes of a closed window.
//!
//! Source: RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17. If there is data to send, no data is outstanding
//! and the window is zero, the sender sends a probe after one RTO. While the window remains closed,
//! it sends further probes with the exponential back-off of the retransmission timer. The number of
//! probes is not limited.
//!
//! A probe is one byte of new data beyond the window. The byte does not count as outstanding. A
//! receiver without buffer space rejects the probe; the byte is part of the first segment after the
//! window opens. If the receiver has buffer space but its window update was lost, it accepts the
//! probe. Probes are not ECN-capable and do not carry CWR (RFC 3168 §6.1.6).
//!
//! A rejected probe does not change the congestion window and provides no RTT sample. The ACK of an
//! accepted probe counts as an ACK of one new byte. With timestamps, it also provides an RTT
//! sample.

use super::{Phase, Sender, timestamp};
use crate::congestion::CongestionControl;
use crate::recovery::{LossRecovery, Sent};
use airpath_core::{Ctx, Flags, Packet, Port, Time};

impl Sender {
    /// Starts the persist timer if only a closed window prevents sending.
    #[cold]
    pub(super) fn persist_if_closed(&mut self, now: Time) {
        if self.is_blocked_by_window(now) {
            self.rto_deadline = now + self.rtt.rto();
        }
    }

    fn is_blocked_by_window(&self, now: Time) -> bool {
        let has_data = self.board.max() < self.end && now < self.stop;
        let is_closed = self.edge <= self.board.max() && self.board.flight() == 0;
        self.phase == Phase::Established && has_data && is_closed
    }

    /// Handles an expiry of the persist timer.
    #[cold]
    pub(super) fn probe_window(&mut self, ctx: &mut Ctx<'_>) {
        if !self.is_blocked_by_window(ctx.now) {
            return;
        }
        let mut probe = Packet::data(self.flow, self.board.max(), 1, self.header, ctx.now);
        probe.ecn = self.ecn.field;
        if self.probes > 0 {
            probe.flags = Flags::RETRANSMITTED;
        }
        if self.timestamps {
            probe.tsval = timestamp(ctx.now);
            probe.tsecr = self.ts_recent;
        }
        self.probes += 1;
        self.measured.sent += 1;
        self.measured.window_probes += 1;
        self.rtt.back_off();
        self.rto_deadline = ctx.now + self.rtt.rto();
        ctx.emit(Port(0), probe);
    }

    /// Handles an ACK while no data is outstanding. Stops the persist timer if the ACK opens the
    /// window.
    #[cold]
    pub(super) fn on_window_update(&mut self, now: Time) {
        let is_persisting = self.rto_deadline < Time::NEVER && !self.ecn.waits_for_timer;
        if self.edge > self.board.max() && is_persisting {
            self.end_persisting(now);
        }
    }

    /// Checks whether the receiver has accepted a probe, that is, whether `ack` covers exactly the
    /// probe's byte. If so, counts the byte as sent and returns true.
    #[cold]
    pub(super) fn is_answer_to_probe(&mut self, ack: &Packet, now: Time) -> bool {
        if self.probes == 0 || self.board.flight() > 0 || ack.seq != self.board.max() + 1 {
            return false;
        }
        let probed = self.board.max();
        // Update the recovery's window, because fast path ACKs have moved the window without
        // notifying the recovery. The probe's byte is now inside the window.
        self.recovery.allowance(&self.board, self.congestion.cwnd());
        self.board.push(ack.seq, now);
        // No RTT sample, because it is unknown which of the probes was accepted (Karn's algorithm).
        self.board.forget_time(probed);
        self.recovery.on_sent(Sent::New, probed, ack.seq, &self.board, &self.congestion);
        // The application's burst may have ended while the probe was in flight.
        self.end = self.end.max(ack.seq);
        self.ecn.on_taken_probe(ack.seq);
        self.end_persisting(now);
        true
    }

    fn end_persisting(&mut self, now: Time) {
        if self.probes > 0 {
            self.rtt.forget_back_off();
        }
        self.end_idle(now);
        self.probes = 0;
        self.rto_deadline = Time::NEVER;
    }
}
