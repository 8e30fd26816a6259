//! Explicit congestion notification at the sender, and VCP's load code in segments.
//!
//! Source: RFC 3168 §6.1.1 (negotiation), §6.1.2 (reaction), §6.1.5 (retransmissions), §6.1.6
//! (probes of a closed window). With `ecn_reaction = "cwr"`, the loss recovery module reduces the
//! window, as in Linux `tcp_enter_cwr` and ns-3 `TcpSocketBase::EnterCwr`. In that case, a sender
//! with a window of one segment does not wait for the timer (§6.1.2).
//!
//! Source for VCP: the public ns-2 package. Every segment, including SYN and retransmissions, is
//! sent with the code for low load, without negotiation.
//!
//! Not modelled: a retry without ECN after a lost SYN (§6.1.1.1), and the ECN nonce.

use super::{Phase, Sender};
use crate::config::{EcnUse, TcpConfig};
use crate::congestion::{CongestionControl, LossEvent};
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Ctx, Ecn, Flags, Packet};

/// Flags of an ECN-setup SYN (RFC 3168 §6.1.1).
pub(super) const SETUP: Flags = Flags::ECE.with(Flags::CWR);

/// ECN state of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// ECN field of packets; before the negotiation, the field of every packet.
    pub(super) field: Ecn,
    deviations: Deviations,
    /// True if the configuration requests ECN.
    pub(super) is_wanted: bool,
    /// True if both ends have agreed on ECN.
    pub(super) is_used: bool,
    /// True if the next new segment carries CWR.
    announces: bool,
    /// True if a mark was echoed while the window was one segment. Then no new data is sent before
    /// the retransmission timer expires.
    pub(super) waits_for_timer: bool,
    /// True if a timeout caused the last reduction.
    after_timeout: bool,
    /// SND.MAX at the last reduction of the window.
    reduced_until: Option<u64>,
    /// SND.MAX at the last reduction, if an echo caused this reduction.
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

    /// Sets the ECN field and CWR of a segment. The first new segment after a reduction carries
    /// CWR. Retransmissions are not ECN-capable (RFC 3168 §6.1.5), except in ns-2.
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

    /// Returns true if the window may grow on an ACK with an echo. This is the case if ECN was not
    /// negotiated, or if the window was already reduced by a timeout. After a timeout, slow start
    /// retransmits and so sends no new data with CWR, and the receiver keeps echoing.
    #[cold]
    pub(super) fn may_grow_despite_echo(&self, ack: u64) -> bool {
        !self.is_used || self.after_timeout && !self.is_beyond_reduction(ack)
    }

    /// Returns true if `ack` acknowledges data that was sent after the last reduction. An echo in
    /// any other ACK was sent before CWR arrived.
    fn is_beyond_reduction(&self, ack: u64) -> bool {
        self.reduced_until.is_none_or(|until| ack > until)
    }

    /// Handles the acceptance of a window probe by the receiver. A probe does not carry CWR.
    /// Therefore all data before `snd_max` counts as sent before the announcement of a reduction.
    pub(super) fn on_taken_probe(&mut self, snd_max: u64) {
        if self.announces {
            self.reduced_until = Some(snd_max);
        }
    }

    /// Withdraws the announcement of a reduction that was undone (Linux `tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw(&mut self) {
        (self.announces, self.after_timeout) = (false, false);
    }

    /// Records a reduction of the window at SND.MAX `snd_max`.
    fn on_reduction(&mut self, snd_max: u64) {
        self.announces = true;
        self.after_timeout = false;
        self.reduced_until = Some(snd_max);
        self.echoed_until = None;
    }
}

impl Sender {
    /// Completes the negotiation with the flags of the SYN-ACK. An ECN-setup SYN-ACK has ECE set
    /// and CWR not set.
    pub(super) fn negotiate_ecn(&mut self, answer: Flags) {
        let agrees = answer.contains(Flags::ECE) && !answer.contains(Flags::CWR);
        self.ecn.is_used = self.ecn.is_wanted && agrees;
    }

    /// Handles the ECN echo in an ACK. Before the ACK arrived, `flight` bytes from `una` on were
    /// outstanding.
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

    /// Reduces the window because of an echo. RFC 3168 §6.1.2 reduces cwnd, RFC 8511 FlightSize.
    /// This function reduces the smaller of the two.
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

    /// Handles a loss at SND.UNA that was detected by duplicate ACKs. The congestion control is not
    /// notified if it has already reduced the window for an echo in the same window of data. Echoes
    /// for data sent after that window are handled after the recovery.
    #[cold]
    pub(super) fn reduce_for_loss_with_ecn(&mut self, event: &LossEvent) {
        if self.ecn.echoed_until.is_some_and(|until| self.board.una() < until) {
            self.ecn.reduced_until = Some(self.board.max());
        } else {
            self.congestion.on_loss(event);
            self.ecn.on_reduction(self.board.max());
        }
    }

    /// Handles an expiry of the retransmission timer while data is outstanding.
    #[cold]
    pub(super) fn timeout_with_ecn(&mut self) {
        self.ecn.waits_for_timer = false;
        self.ecn.on_reduction(self.board.max());
        self.ecn.after_timeout = true;
    }

    /// Handles an expiry of the timer while no data is outstanding. Either a sender with a window
    /// of one segment has waited after an echo, or the receive window is closed.
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
