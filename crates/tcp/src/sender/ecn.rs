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
//! Source for accurate feedback: RFC 9768 §3.1 (negotiation) and §3.2.3 (byte counters). The sender
//! uses only the counter of marked bytes, which is exact. Retransmissions are ECN-capable, as in
//! Linux (`tcp_ecn_send`).
//!
//! Not modelled: a retry without ECN after a lost SYN (§6.1.1.1), and the ECN nonce.

use super::{Phase, Sender};
use crate::config::{EcnUse, TcpConfig};
use crate::congestion::{CongestionControl, LossEvent};
use crate::deviations::{Deviation, Deviations};
use crate::receiver::BYTE_COUNTER_RANGE;
use airpath_core::{Ctx, Ecn, Flags, Packet};

/// Flags of an ECN-setup SYN (RFC 3168 §6.1.1).
const SETUP: Flags = Flags::ECE.with(Flags::CWR);

/// ECN state of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// ECN field of packets; before the negotiation, the field of every packet.
    pub(super) field: Ecn,
    deviations: Deviations,
    /// ECN mode of the configuration; after the negotiation, that of the connection.
    feedback: EcnUse,
    /// Codepoint of ECN-capable segments.
    codepoint: Ecn,
    /// Byte counter of the last ACK with accurate feedback.
    counter: u32,
    /// Newly marked bytes according to the ACK that is being handled, with accurate feedback.
    pub(super) marked: u32,
    /// True if both ends have agreed on ECN.
    pub(super) is_used: bool,
    /// True if the next new segment carries CWR.
    announces: bool,
    /// True if a mark was echoed while the window was one segment. Then no new data is sent before
    /// the retransmission timer expires.
    pub(super) waits_for_timer: bool,
    /// True if a timeout caused the last reduction.
    after_timeout: bool,
    /// First acknowledgement number beyond SND.MAX at the last reduction of the window; 0 before the
    /// first reduction.
    beyond_reduction: u64,
    /// SND.MAX at the last reduction, if an echo caused this reduction; otherwise 0.
    echoed_until: u64,
}

impl EcnState {
    /// Creates the state before the negotiation.
    pub(super) fn new(options: &TcpConfig) -> EcnState {
        EcnState {
            field: if options.ecn == EcnUse::Vcp { Ecn::Ect1 } else { Ecn::NotEct },
            deviations: Deviations::of(options),
            feedback: options.ecn,
            ..EcnState::default()
        }
    }

    /// Returns the ECN flags of the SYN (RFC 3168 §6.1.1, RFC 9768 §3.1.1).
    pub(super) fn syn_flags(&self) -> Flags {
        match self.feedback {
            EcnUse::Accurate => SETUP.with(Flags::AE),
            EcnUse::On | EcnUse::Dctcp => SETUP,
            EcnUse::Off | EcnUse::Vcp => Flags::NONE,
        }
    }

    /// Returns true if ACKs carry the counters of accurate feedback.
    #[inline]
    fn is_accurate(&self) -> bool {
        self.feedback == EcnUse::Accurate
    }

    /// Returns true if the congestion control is scalable: it sends ECT(1), and handles each marked
    /// byte (RFC 9331 §4).
    fn is_scalable(&self) -> bool {
        self.codepoint == Ecn::Ect1
    }

    /// Returns true if `ack` carries ECN-Echo.
    #[inline]
    pub(super) fn is_echo(&self, ack: &Packet) -> bool {
        ack.flags.contains(Flags::ECE) && !self.is_accurate()
    }

    /// Returns true if `ack` reports a mark, after which the window must not grow (RFC 3168
    /// §6.1.2). A scalable congestion control excludes the marked bytes itself.
    #[inline]
    pub(super) fn prevents_growth(&self, ack: &Packet) -> bool {
        self.is_echo(ack) || self.marked > 0 && !self.is_scalable()
    }

    /// Updates the number of newly marked bytes. A reordered ACK has an earlier counter and reports
    /// nothing new.
    #[cold]
    pub(super) fn read_counter(&mut self, ack: &Packet) {
        if !self.is_accurate() {
            return;
        }
        let counter = ack.feedback as u32;
        let newly = counter.wrapping_sub(self.counter) % BYTE_COUNTER_RANGE;
        let is_earlier = newly > BYTE_COUNTER_RANGE / 2;
        self.marked = if is_earlier { 0 } else { newly };
        self.counter = if is_earlier { self.counter } else { counter };
    }

    /// Sets the ECN field and CWR of a segment. The first new segment after a reduction carries
    /// CWR. Retransmissions are not ECN-capable (RFC 3168 §6.1.5), except in ns-2 and with accurate
    /// feedback.
    #[cold]
    pub(super) fn stamp(&mut self, segment: &mut Packet, is_new: bool) {
        let always = self.is_accurate() || self.deviations.has(Deviation::RetransmitsEcnCapable);
        if is_new || always {
            segment.ecn = self.codepoint;
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
        ack >= self.beyond_reduction
    }

    /// Handles the acceptance of a window probe by the receiver. A probe does not carry CWR.
    /// Therefore all data before `snd_max` counts as sent before the announcement of a reduction.
    pub(super) fn on_taken_probe(&mut self, snd_max: u64) {
        if self.announces {
            self.beyond_reduction = snd_max + 1;
        }
    }

    /// Withdraws the announcement of a reduction that was undone (Linux `tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw(&mut self) {
        (self.announces, self.after_timeout) = (false, false);
    }

    /// Records a reduction of the window at SND.MAX `snd_max`.
    fn on_reduction(&mut self, snd_max: u64) {
        self.announces = !self.is_accurate();
        self.after_timeout = false;
        self.beyond_reduction = snd_max + 1;
        self.echoed_until = 0;
    }
}

impl Sender {
    /// Completes the negotiation with the flags of the SYN-ACK. An ECN-setup SYN-ACK of RFC 3168 has
    /// ECE set and CWR not set. The answers that accept accurate feedback are in RFC 9768 table 2.
    pub(super) fn negotiate_ecn(&mut self, answer: Flags) {
        let [ae, cwr, ece] = [Flags::AE, Flags::CWR, Flags::ECE].map(|one| answer.contains(one));
        let accepts_accurate = matches!(
            (ae, cwr, ece),
            (false, true, _) | (true, _, false) // table 2
        );
        let feedback = match self.ecn.feedback {
            EcnUse::Accurate if accepts_accurate => EcnUse::Accurate,
            EcnUse::Accurate | EcnUse::On if ece && !cwr => EcnUse::On,
            EcnUse::Dctcp if ece && !cwr => EcnUse::Dctcp,
            EcnUse::Vcp => EcnUse::Vcp,
            _ => EcnUse::Off,
        };
        self.begin_ecn(feedback);
    }

    /// Begins to use ECN as negotiated.
    fn begin_ecn(&mut self, feedback: EcnUse) {
        self.ecn.feedback = feedback;
        self.ecn.is_used = feedback.is_negotiated();
        self.ecn.codepoint = self.congestion.on_negotiated(feedback);
    }

    /// Begins to use ECN as configured, on a connection without handshake.
    pub(super) fn begin_ecn_without_handshake(&mut self) {
        self.begin_ecn(self.ecn.feedback);
    }

    /// Handles the ECN echo in an ACK. Before the ACK arrived, `flight` bytes from `una` on were
    /// outstanding.
    #[cold]
    pub(super) fn on_echo(&mut self, ack: &Packet, una: u64, flight: u64, ctx: &mut Ctx<'_>) {
        let is_reported = self.ecn.is_echo(ack) || self.ecn.marked > 0;
        let marked = is_reported && self.recovery.answers_echo(ack.seq > una, flight);
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
        if self.ecn.is_scalable() {
            return self.congestion.on_ecn(&LossEvent::new(ctx.now, flight.min(cwnd), cwnd));
        }
        if let Some(flight) = self.recovery.echo_base(&self.board, cwnd) {
            self.ecn.echoed_until = self.board.max();
            self.congestion.on_ecn(&LossEvent::new(ctx.now, flight, cwnd));
            self.recovery.begin_cwr(&self.board, self.congestion.ssthresh());
        } else if cwnd < 2 * u64::from(self.mss)
            && !self.deviates(Deviation::SendsOneSegmentAfterEcho)
        {
            self.ecn.waits_for_timer = true;
            self.rto_deadline = ctx.now + self.rtt.rto();
        } else {
            self.ecn.echoed_until = self.board.max();
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
        if self.board.una() < self.ecn.echoed_until {
            self.ecn.beyond_reduction = self.board.max() + 1;
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
