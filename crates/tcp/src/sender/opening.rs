//! Start of a connection: the handshake (RFC 9293 §3.5) and the first transmission.

use super::{Phase, Sender};
use crate::congestion::CongestionControl;
use crate::deviations::Deviation;
use crate::receiver::timestamp;
use airpath_core::{Ctx, Flags, Packet, Port, Time};

impl Sender {
    pub(super) fn open(&mut self, ctx: &mut Ctx<'_>) {
        if self.options.handshake {
            self.phase = Phase::SynSent;
            self.send_syn(ctx);
        } else {
            self.phase = Phase::Established;
            self.begin_ecn_without_handshake();
            self.congestion.on_open(ctx.now, None);
            self.transmit(ctx);
        }
    }

    pub(super) fn send_syn(&mut self, ctx: &mut Ctx<'_>) {
        self.syn.sent_at = ctx.now;
        let mut syn = Packet::data(self.flow, 0, 0, self.header, ctx.now);
        syn.ecn = self.ecn.field;
        syn.flags = Flags::SYN.with(self.ecn.syn_flags());
        if self.timestamps {
            syn.tsval = timestamp(ctx.now);
        }
        self.rto_deadline = ctx.now + self.rtt.rto();
        ctx.emit(Port(0), syn);
    }

    pub(super) fn on_syn_ack(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        if self.phase != Phase::SynSent {
            return;
        }
        self.phase = Phase::Established;
        self.negotiate_ecn(ack.flags);
        self.rto_deadline = Time::NEVER;
        self.edge = u64::from(ack.window);
        let rtt =
            (self.syn.retransmissions == 0).then(|| ctx.now.saturating_since(self.syn.sent_at));
        self.congestion.on_open(ctx.now, rtt);
        if let Some(rtt) = rtt {
            self.sample(rtt, ctx);
        } else if !self.deviates(Deviation::IgnoresLostSyn) {
            self.rtt.restart_after_lost_syn();
            self.congestion.on_lost_syn();
        }
        self.transmit(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
    }
}
