//! The sender under ns-3's procedures: what `TcpSocketBase` does with an ACK, a timeout, a window.
//!
//! The decisions are in `crate::ns3`; here they are carried out.

use super::{Phase, Sender};
use crate::congestion::{AckEvent, CongestionControl, LossEvent};
use crate::ns3::{Ack, Next, Ns3Recovery, Progress};
use airpath_core::{Ctx, Packet, Time};

impl Sender {
    fn ns3(&mut self) -> &mut Ns3Recovery {
        self.ns3.as_mut().expect("called only where ns-3's procedures rule")
    }

    #[cold]
    pub(super) fn on_ack_as_ns3(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        let una = self.snd_una;
        let told = Ack { number: ack.seq, blocks: ack.sack() };
        if ack.seq < una {
            let snd_max = self.snd_max;
            return self.ns3().on_old_ack(&told, snd_max);
        }
        if ack.seq > self.snd_max && !self.is_answer_to_probe(ack, ctx.now) {
            return;
        }
        let snd_max = self.snd_max;
        self.edge = self.edge.max(ack.seq + u64::from(ack.window));
        if snd_max == una {
            self.on_window_update(ctx.now);
        }
        let ssthresh = self.congestion.ssthresh();
        let begins = self.ns3().on_ack(&told, snd_max, ssthresh);
        let rtt = if ack.seq > una { self.rtt_sample(ack, ctx.now) } else { None };
        self.snd_una = ack.seq;
        if let Some(rtt) = rtt {
            self.sample(rtt, ctx);
        }
        if begins {
            self.enter_recovery_as_ns3(ctx);
        }
        if ack.seq > una {
            let ssthresh = self.congestion.ssthresh();
            let progress = self.ns3().on_progress(una, ack.seq, ssthresh);
            let (acked, event) = (ack.seq - una, self.ack_event_as_ns3(ack, ctx.now));
            let event = AckEvent { acked, rtt, duplicate: false, ..event };
            self.make_progress_as_ns3(progress, event, ctx);
        } else {
            let event = self.ack_event_as_ns3(ack, ctx.now);
            self.congestion.on_ack(&event);
        }
        self.transmit_as_ns3(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
        self.record_windows(ctx);
    }

    /// What an ACK tells the window law, but for what it acknowledges cumulatively.
    fn ack_event_as_ns3(&mut self, ack: &Packet, now: Time) -> AckEvent {
        let delivered = self.ns3().delivered();
        let sacked = self.ns3().sacked_bytes();
        AckEvent { delivered, sacked, ..self.event_without_data(ack, now) }
    }

    fn enter_recovery_as_ns3(&mut self, ctx: &mut Ctx<'_>) {
        self.measured.fast_retransmits += 1;
        let cwnd = self.congestion.cwnd();
        let flight = self.ns3().pipe();
        self.congestion.on_loss(&LossEvent { now: ctx.now, flight, cwnd });
        let ssthresh = self.congestion.ssthresh();
        self.ns3().enter(ssthresh);
        self.send_as_ns3(Next::Resend(self.snd_una), ctx);
    }

    fn make_progress_as_ns3(&mut self, progress: Progress, event: AckEvent, ctx: &mut Ctx<'_>) {
        if progress.forces && self.snd_una < self.snd_max {
            let unsent = self.unsent(ctx.now);
            let forced = self.ns3().forced(unsent);
            self.send_as_ns3(forced, ctx);
        }
        if progress.recovered {
            self.congestion.on_recovered(u64::MAX);
        }
        let is_limited = self.ns3().is_cwnd_limited();
        let growth = progress.grows_by * u64::from(self.mss);
        self.congestion.on_ack(&AckEvent {
            phase: self.recovery_phase(),
            growth: (growth > 0).then_some(growth),
            sent: self.snd_max,
            in_flight: self.snd_max - self.snd_una,
            app_limited: !is_limited,
            ..event
        });
        if self.snd_una == self.snd_max {
            self.rto_deadline = Time::NEVER;
            self.complete_if_all_sent(ctx);
        } else if progress.restarts_timer {
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
    }

    pub(super) fn on_timeout_as_ns3(&mut self, ctx: &mut Ctx<'_>) {
        let (cwnd, snd_max) = (self.congestion.cwnd(), self.snd_max);
        let cwnd = self.ns3().cwnd(cwnd);
        let flight = self.ns3().pipe();
        self.ns3().on_rto(snd_max);
        self.congestion.on_rto(&LossEvent { now: ctx.now, flight, cwnd });
        self.transmit_as_ns3(ctx);
        self.record_windows(ctx);
    }

    /// New data that the receive window takes; `None` when there is none.
    fn unsent(&self, now: Time) -> Option<u64> {
        let left = if now < self.stop { self.end - self.snd_max } else { 0 };
        (left > 0).then(|| left.min(self.edge.saturating_sub(self.snd_max)))
    }

    #[cold]
    pub(super) fn transmit_as_ns3(&mut self, ctx: &mut Ctx<'_>) {
        self.send_pending_data(ctx);
        let cwnd = self.congestion.cwnd();
        let room = self.ns3().cwnd(cwnd).saturating_sub(self.ns3().pipe());
        self.note_receive_window(self.snd_max + room, ctx.now);
    }

    /// `SendPendingData`.
    fn send_pending_data(&mut self, ctx: &mut Ctx<'_>) {
        let mss = u64::from(self.mss);
        while self.phase == Phase::Established && self.pacer.is_free(ctx.now) {
            let unsent = self.unsent(ctx.now);
            let cwnd = self.congestion.cwnd();
            let offered = self.edge - self.snd_una;
            let window = offered.min(self.ns3().cwnd(cwnd));
            let available = window.saturating_sub(self.ns3().pipe());
            let Some(next) = self.ns3().next(unsent).filter(|_| available > 0) else { return };
            let start = match next {
                Next::New(_) => self.snd_max,
                Next::Resend(start) => start,
            };
            if available < mss && self.end - start > available {
                return;
            }
            self.send_as_ns3(next, ctx);
        }
    }

    fn send_as_ns3(&mut self, next: Next, ctx: &mut Ctx<'_>) {
        let cwnd = self.congestion.cwnd();
        match next {
            Next::New(bytes) => {
                let end = self.snd_max + bytes;
                self.send(self.snd_max, end, ctx);
                self.snd_nxt = end;
                self.ns3().on_new(end, cwnd);
            }
            Next::Resend(start) => {
                let end = self.board.end_of(start);
                self.send(start, end, ctx);
                self.ns3().on_resent(start, cwnd);
            }
        }
    }
}
