//! Fast path (header prediction) of the sender: handles a cumulative ACK outside loss recovery and
//! sends the segments that this ACK allows.
//!
//! Source: Van Jacobson, "4BSD TCP header prediction", ACM CCR 20(2), 1990. The fast path is open if
//! no rare mechanism (loss recovery, ECN, pacing, …) is active. This is recomputed after every
//! event except a fast path ACK. Then the fast path has the same effect as `on_ack` and
//! `transmit_up_to`. `tests/fast_path.rs` compares connections with and without the fast path.

use super::{Phase, Sender};
use crate::congestion::{AckEvent, CongestionControl};
use crate::recovery::LossRecovery;
use airpath_core::{Ctx, Ecn, Flags, Packet, PacketKind, Time};

/// State of the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FastPath {
    /// The options, the congestion control or the application exclude the fast path.
    Never,
    Closed,
    /// The fast path may handle the next ACKs.
    Open,
}

impl Sender {
    /// Returns true if `ack` acknowledges new data and contains no other information.
    #[inline(always)]
    pub(super) fn is_fast_path(&self, ack: &Packet) -> bool {
        let is_plain = ack.kind == PacketKind::Ack && ack.flags == Flags::NONE;
        let is_new = ack.seq > self.board.una() && ack.seq <= self.board.max();
        self.fast_path == FastPath::Open && is_plain && is_new && ack.sack().is_empty()
    }

    /// Recomputes the state of the fast path after any event other than a fast path ACK.
    pub(super) fn update_fast_path(&mut self) {
        if self.fast_path == FastPath::Never {
            return;
        }
        let is_open = self.phase == Phase::Established
            && !self.ecn.is_used
            && self.ecn.field == Ecn::NotEct
            && self.board.nxt() == self.board.max()
            && self.syn.unanswered == 0
            && self.recovery.is_open();
        self.fast_path = if is_open { FastPath::Open } else { FastPath::Closed };
    }

    /// Handles an ACK on the fast path.
    #[inline(always)]
    pub(super) fn on_fast_path_ack(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        let (now, una) = (ctx.now, self.board.una());
        self.note_timestamp(ack, now);
        self.measure_ack(ack, now);
        self.edge = self.edge.max(ack.seq + u64::from(ack.window));
        let by_segment = self.board.acknowledge(ack.seq, now);
        let rtt = self.rtt_sample(ack, by_segment, now);
        if let Some(rtt) = rtt {
            self.sample(rtt, ctx);
        }
        let acked = ack.seq - una;
        let used = self.board.max() - una;
        let app_limited = used + u64::from(self.mss) < self.congestion.cwnd();
        if !self.congestion.grow_on_fast_path(acked, app_limited) {
            let event = self.ack_event(ack, acked, acked, now);
            let growth = Some(acked);
            self.congestion.on_ack(&AckEvent { growth, rtt, app_limited, ..event });
        }
        if self.board.flight() > 0 {
            self.rto_deadline = now + self.rtt.rto();
        } else {
            self.rto_deadline = Time::NEVER;
            self.complete_if_all_sent(ctx);
        }
        self.send_new_data(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(now);
        }
        self.record_windows(ctx);
    }

    /// Sends the new data that the congestion window and the receive window allow.
    #[inline(always)]
    fn send_new_data(&mut self, ctx: &mut Ctx<'_>) {
        let allowed = self.board.una().saturating_add(self.congestion.cwnd());
        let limit = self.edge.min(allowed);
        while let Some(end) = self.next_new_end(limit, ctx.now) {
            if !self.pacer.is_free_without_bursts(ctx.now) {
                self.wait_for_pacer();
                break;
            }
            self.send_new(end, ctx);
        }
        self.note_limit(allowed, ctx.now);
    }
}
