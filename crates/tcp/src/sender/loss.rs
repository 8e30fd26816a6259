//! Reactions of the sender to losses, timeouts and spurious reductions.
//!
//! Source: RFC 5681 §3.1 and §3.2, RFC 6298 §5, RFC 8985 §7.4.2, RFC 4015 §4.

use super::{Phase, Sender};
use crate::congestion::{CongestionControl, LossEvent};
use crate::recovery::{LossRecovery, Sent, Verdict};
use airpath_core::{Ctx, Time};

impl Sender {
    /// Begins a recovery with a fast retransmit.
    #[cold]
    pub(super) fn begin_recovery(&mut self, ctx: &mut Ctx<'_>) -> Verdict {
        self.measured.fast_retransmits += 1;
        let cwnd = self.congestion.cwnd();
        self.recovery.save_window(false, &self.board, &self.congestion);
        let flight = self.recovery.loss_base(&self.board, cwnd);
        self.reduce_for_loss(&LossEvent::new(ctx.now, flight, cwnd));
        self.recovery.on_reduced(&self.board, self.congestion.ssthresh());
        let first = self.recovery.first_again(&self.board);
        self.retransmit(first, Sent::Head, ctx);
        self.recovery.after_loss(&self.board, self.congestion.ssthresh())
    }

    pub(super) fn reduce_for_loss(&mut self, event: &LossEvent) {
        if self.ecn.is_used {
            self.reduce_for_loss_with_ecn(event);
        } else {
            self.congestion.on_loss(event);
        }
    }

    /// Handles an expiry of the retransmission timer, of the persist timer or of the timer of the
    /// handshake.
    pub(super) fn on_timeout(&mut self, ctx: &mut Ctx<'_>) {
        self.rto_deadline = Time::NEVER;
        if self.phase == Phase::Established && self.board.flight() == 0 {
            return self.on_idle_timeout(ctx);
        }
        if self.ecn.is_used {
            self.timeout_with_ecn();
        }
        self.measured.timeouts += 1;
        if self.exceeds_retries() {
            return self.abort(ctx.now);
        }
        self.rtt.back_off();
        if self.phase == Phase::SynSent {
            self.syn.retransmissions += 1;
            return self.send_syn(ctx);
        }
        self.recovery.save_window(true, &self.board, &self.congestion);
        self.board.note_timeout();
        let (flight, cwnd) = self.recovery.on_timeout(&mut self.board, self.congestion.cwnd());
        let keeps_ssthresh = self.recovery.keeps_ssthresh();
        let event = LossEvent { keeps_ssthresh, ..LossEvent::new(ctx.now, flight, cwnd) };
        if self.board.is_watched() {
            self.board.lose_all();
            self.notify_lost();
        }
        self.congestion.on_rto(&event);
        self.transmit(ctx);
        self.record_windows(ctx);
    }

    /// Restores the window because all reductions of the episode were spurious. If `begins` is true,
    /// begins a recovery for a loss that is still detected.
    #[cold]
    pub(super) fn undo(&mut self, begins: bool, ctx: &mut Ctx<'_>) {
        self.measured.undone += 1;
        if let Some(event) = self.recovery.undo_event(ctx.now) {
            self.congestion.on_undo(&event);
        }
        self.ecn.withdraw();
        if begins {
            self.begin_recovery(ctx);
        }
    }

    /// Reduces the window because a tail loss probe has repaired a loss that was not detected
    /// otherwise (RFC 8985 §7.4.2).
    #[cold]
    pub(super) fn answer_repaired_loss(&mut self, now: Time) {
        let cwnd = self.congestion.cwnd();
        let flight = self.recovery.loss_base(&self.board, cwnd);
        self.reduce_for_loss(&LossEvent::new(now, flight, cwnd));
        self.end_recovery();
    }

    /// Ends a recovery. The window stays as it is if nothing bounds it, because the reduction of this
    /// recovery was part of an undone one (Linux `tcp_end_cwnd_reduction`).
    pub(super) fn end_recovery(&mut self) {
        let most = self.recovery.exit_window(&self.board);
        if most < u64::MAX || self.congestion.ssthresh() < u64::MAX {
            self.congestion.on_recovered(most);
        }
    }
}
