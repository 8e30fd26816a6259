//! The sender's side of explicit congestion notification, and the code that VCP's segments leave with.
//!
//! Source: RFC 3168 §6.1.1 (negotiation), §6.1.2 (reaction), §6.1.5 (retransmissions), §6.1.6
//! (probes of a closed window). For VCP the public ns-2 package: every segment leaves with the code
//! for low load, SYN and retransmissions included; nothing is negotiated. With `ecn_reaction =
//! "cwr"` the window is reduced as Linux `tcp_enter_cwr` and ns-3 `TcpSocketBase::EnterCwr` do, by
//! the recovery and without the wait of §6.1.2 at one segment.
//! Left out: retrying without ECN after a lost SYN (§6.1.1.1), and the nonce.

use super::{Phase, Sender};
use crate::config::{EcnUse, TcpConfig};
use crate::congestion::{CongestionControl, LossEvent};
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Ctx, Ecn, Flags, Packet};

/// An ECN-setup SYN (RFC 3168 §6.1.1).
pub(super) const SETUP: Flags = Flags::ECE.with(Flags::CWR);

/// ECN state of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// ECN field of every packet before the negotiation.
    pub(super) field: Ecn,
    deviations: Deviations,
    /// Whether the options request ECN.
    pub(super) is_wanted: bool,
    /// Whether both ends have agreed on ECN.
    pub(super) is_used: bool,
    /// The next new segment carries CWR.
    announces: bool,
    /// The window is one segment and was echoed upon: nothing new before the timer expires.
    pub(super) waits_for_timer: bool,
    /// The last reduction was a timeout's.
    after_timeout: bool,
    /// Everything before it was sent before the last reduction of the window.
    reduced_until: Option<u64>,
    /// The same, when an echo caused the reduction.
    echoed_until: Option<u64>,
}

impl EcnState {
    /// Before anything is agreed.
    pub(super) fn new(options: &TcpConfig) -> EcnState {
        EcnState {
            field: if options.ecn == EcnUse::Vcp { Ecn::Ect1 } else { Ecn::NotEct },
            deviations: Deviations::of(options),
            is_wanted: options.ecn.is_negotiated(),
            ..EcnState::default()
        }
    }

    /// Makes a segment ECN-capable, and announces a reduction with the first new one after it; what
    /// is retransmitted is left as it is (RFC 3168 §6.1.5), except in ns-2.
    #[cold]
    pub(super) fn stamp(&mut self, segment: &mut Packet, is_new: bool) {
        if is_new || self.deviations.has(Deviation::RetransmitsEcnCapable) {
            segment.ecn = Ecn::Ect0;
        }
        if self.announces && is_new {
            segment.flags = Flags::CWR;
            self.announces = false;
        }
    }

    /// Whether the window may grow on an ACK with an echo: if ECN was not negotiated, or if a
    /// timeout has reacted already, since slow start sends no new data to announce the reduction
    /// with. All others forbid it.
    #[cold]
    pub(super) fn may_grow_despite_echo(&self, ack: u64) -> bool {
        !self.is_used || self.after_timeout && !self.is_beyond_reduction(ack)
    }

    /// Whether everything sent before the last reduction lies before `ack`. An echo in an ACK for
    /// no more than that is from before CWR arrived.
    fn is_beyond_reduction(&self, ack: u64) -> bool {
        self.reduced_until.is_none_or(|until| ack > until)
    }

    /// A probe of a closed window, which announces nothing, was taken: everything before `snd_max`
    /// was sent before the announcement.
    pub(super) fn on_taken_probe(&mut self, snd_max: u64) {
        if self.announces {
            self.reduced_until = Some(snd_max);
        }
    }

    /// The window was reduced with everything before `snd_max` sent.
    fn on_reduction(&mut self, snd_max: u64) {
        self.announces = true;
        self.after_timeout = false;
        self.reduced_until = Some(snd_max);
        self.echoed_until = None;
    }
}

impl Sender {
    /// The answer to an ECN-setup SYN is an ECN-setup SYN-ACK: ECE without CWR.
    pub(super) fn negotiate_ecn(&mut self, answer: Flags) {
        let agrees = answer.contains(Flags::ECE) && !answer.contains(Flags::CWR);
        self.ecn.is_used = self.ecn.is_wanted && agrees;
    }

    /// Takes the echo in an ACK that arrived with `flight` bytes outstanding, from `una` on.
    #[cold]
    pub(super) fn on_echo(&mut self, ack: &Packet, una: u64, flight: u64, ctx: &mut Ctx<'_>) {
        let marked =
            ack.flags.contains(Flags::ECE) && self.recovery.answers_echo(ack.seq > una, flight);
        let is_news = marked && self.ecn.is_beyond_reduction(ack.seq);
        if is_news && self.phase == Phase::Established {
            self.reduce_for_echo(flight, ctx);
        }
        let is_open = self.phase == Phase::Established;
        if self.ecn.waits_for_timer && is_open && self.rto_deadline.is_never() {
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
    }

    /// RFC 3168 §6.1.2. It halves cwnd where RFC 8511 takes FlightSize: here the smaller one.
    fn reduce_for_echo(&mut self, flight: u64, ctx: &Ctx<'_>) {
        self.ecn.on_reduction(self.board.max());
        self.measured.ecn_reductions += 1;
        let cwnd = self.congestion.cwnd();
        if let Some(flight) = self.recovery.echo_base(&self.board, cwnd) {
            self.ecn.echoed_until = Some(self.board.max());
            self.congestion.on_ecn(&LossEvent::new(ctx.now, flight, cwnd));
            self.recovery.begin_cwr(&self.board, self.congestion.ssthresh());
        } else if cwnd < 2 * u64::from(self.mss)
            && !self.deviates(Deviation::SendsOneSegmentAfterEcho)
        {
            self.ecn.waits_for_timer = true;
            self.rto_deadline = ctx.now + self.rtt.rto();
        } else {
            self.ecn.echoed_until = Some(self.board.max());
            let is_offered = self.deviates(Deviation::ReducesOfferedWindow);
            let most = if is_offered { self.options.receive_window } else { flight };
            self.congestion.on_ecn(&LossEvent::new(ctx.now, most.min(cwnd), cwnd));
        }
    }

    /// A loss, found by duplicates, of a segment that begins at the oldest unacknowledged byte. The
    /// congestion control is not notified when it has reduced for an echo from the same window of
    /// data; echoes from behind that window are answered after the recovery.
    #[cold]
    pub(super) fn reduce_for_loss_with_ecn(&mut self, event: &LossEvent) {
        if self.ecn.echoed_until.is_some_and(|until| self.board.una() < until) {
            self.ecn.reduced_until = Some(self.board.max());
        } else {
            self.congestion.on_loss(event);
            self.ecn.on_reduction(self.board.max());
        }
    }

    /// The timer expired with data outstanding.
    #[cold]
    pub(super) fn timeout_with_ecn(&mut self) {
        self.ecn.waits_for_timer = false;
        self.ecn.on_reduction(self.board.max());
        self.ecn.after_timeout = true;
    }

    /// The timer expired with nothing outstanding: a window of one segment has waited for it, or
    /// the receive window is closed.
    #[cold]
    pub(super) fn on_idle_timeout(&mut self, ctx: &mut Ctx<'_>) {
        if !std::mem::take(&mut self.ecn.waits_for_timer) {
            return self.probe_window(ctx);
        }
        self.transmit(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
    }
}
