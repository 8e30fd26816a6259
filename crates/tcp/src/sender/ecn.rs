//! Explicit congestion notification at the sender, and the load code in segments of VCP.
//!
//! Source: RFC 3168 §6.1.1 (negotiation), §6.1.2 (reaction), §6.1.5 (retransmissions), §6.1.6
//! (probes of a closed window). For VCP the public ns-2 package: every segment, including SYN and
//! retransmissions, is sent with the code for low load, without negotiation. With `ecn_reaction =
//! "cwr"` the loss recovery reduces the window, as in Linux `tcp_enter_cwr` and ns-3
//! `TcpSocketBase::EnterCwr`, and without the wait of §6.1.2 at one segment.
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
    /// True if the configuration requests ECN.
    pub(super) is_wanted: bool,
    /// True if both ends have agreed on ECN.
    pub(super) is_used: bool,
    /// The next new segment carries CWR.
    announces: bool,
    /// The window is one segment and a mark was echoed: no new data is sent before the timer
    /// expires.
    pub(super) waits_for_timer: bool,
    /// The last reduction was caused by a timeout.
    after_timeout: bool,
    /// End of the data sent before the last reduction of the window.
    reduced_until: Option<u64>,
    /// End of the data sent before the last reduction, if an echo caused it.
    echoed_until: Option<u64>,
}

impl EcnState {
    /// Creates the state before the negotiation.
    pub(super) fn new(options: &TcpConfig) -> EcnState {
        EcnState {
            field: if options.ecn == EcnUse::Vcp { Ecn::Ect1 } else { Ecn::NotEct },
            deviations: Deviations::of(options),
            is_wanted: options.ecn.is_negotiated(),
            ..EcnState::default()
        }
    }

    /// Makes a segment ECN-capable. The first new segment after a reduction announces it with CWR.
    /// Retransmissions are not ECN-capable (RFC 3168 §6.1.5), except in ns-2.
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

    /// Returns true if the window may grow on an ACK with an echo: if ECN was not negotiated, or if
    /// a timeout has already reacted, since slow start then sends no new data that could announce
    /// the reduction.
    #[cold]
    pub(super) fn may_grow_despite_echo(&self, ack: u64) -> bool {
        !self.is_used || self.after_timeout && !self.is_beyond_reduction(ack)
    }

    /// Returns true if `ack` is beyond the data sent before the last reduction. An echo in another
    /// ACK was sent before CWR arrived.
    fn is_beyond_reduction(&self, ack: u64) -> bool {
        self.reduced_until.is_none_or(|until| ack > until)
    }

    /// A probe of a closed window was accepted by the receiver. Probes do not announce a reduction,
    /// so everything before `snd_max` was sent before the announcement.
    pub(super) fn on_taken_probe(&mut self, snd_max: u64) {
        if self.announces {
            self.reduced_until = Some(snd_max);
        }
    }

    /// Records a reduction of the window, with everything before `snd_max` sent.
    fn on_reduction(&mut self, snd_max: u64) {
        self.announces = true;
        self.after_timeout = false;
        self.reduced_until = Some(snd_max);
        self.echoed_until = None;
    }
}

impl Sender {
    /// Completes the negotiation. The answer to an ECN-setup SYN is an ECN-setup SYN-ACK: ECE
    /// without CWR.
    pub(super) fn negotiate_ecn(&mut self, answer: Flags) {
        let agrees = answer.contains(Flags::ECE) && !answer.contains(Flags::CWR);
        self.ecn.is_used = self.ecn.is_wanted && agrees;
    }

    /// Handles the echo in an ACK that arrived with `flight` bytes outstanding from `una` on.
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

    /// RFC 3168 §6.1.2 halves cwnd, RFC 8511 uses FlightSize: this function uses the smaller value.
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

    /// Handles a loss that duplicate ACKs have revealed and that begins at the oldest
    /// unacknowledged byte. The congestion control is not notified if it has already reduced for an
    /// echo in the same window of data. Echoes for data sent after that window are handled after
    /// the recovery.
    #[cold]
    pub(super) fn reduce_for_loss_with_ecn(&mut self, event: &LossEvent) {
        if self.ecn.echoed_until.is_some_and(|until| self.board.una() < until) {
            self.ecn.reduced_until = Some(self.board.max());
        } else {
            self.congestion.on_loss(event);
            self.ecn.on_reduction(self.board.max());
        }
    }

    /// Handles an expiry of the timer with data outstanding.
    #[cold]
    pub(super) fn timeout_with_ecn(&mut self) {
        self.ecn.waits_for_timer = false;
        self.ecn.on_reduction(self.board.max());
        self.ecn.after_timeout = true;
    }

    /// Handles an expiry of the timer with no data outstanding: a window of one segment has waited
    /// for it, or the receive window is closed.
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
