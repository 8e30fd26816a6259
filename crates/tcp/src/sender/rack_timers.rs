//! Sender side of RACK and TLP: the timers, and the transmission of tail loss probes.
//!
//! Source: RFC 8985 §6.2 step 5, §7.2 to §7.4.

use super::Sender;
use crate::recovery::{Expired, Sent};
use airpath_core::{Ctx, Time};

impl Sender {
    /// Completes the handling of any event other than a fast path ACK: burst, recovery timers,
    /// alarm and fast path.
    #[inline]
    pub(super) fn settle(&mut self, ctx: &mut Ctx<'_>) {
        if self.has_more_to_settle {
            self.end_burst(ctx);
            self.set_recovery_timer(ctx.now);
        }
        self.update_fast_path();
    }

    #[cold]
    fn set_recovery_timer(&mut self, now: Time) {
        let (srtt, rto_at) = (self.rtt.srtt(), self.rto_deadline);
        if let Some(recovery) = self.recovery.rack_timers() {
            recovery.set_timer(&self.board, srtt, rto_at, now);
            self.set_alarm();
        }
    }

    /// Handles an expired recovery timer. The caller transmits afterwards.
    pub(super) fn on_recovery_timer(&mut self, ctx: &mut Ctx<'_>) {
        let Some(recovery) = self.recovery.rack_timers() else { return };
        match recovery.on_timer(&mut self.board, ctx.now) {
            Expired::Nothing => {}
            Expired::Begins => {
                self.begin_recovery(ctx);
            }
            Expired::Probe => self.probe_tail(ctx),
        }
        self.notify_lost();
    }

    /// Sends a tail loss probe: a new segment, regardless of the congestion window, or otherwise a
    /// retransmission of the last segment (RFC 8985 §7.3).
    fn probe_tail(&mut self, ctx: &mut Ctx<'_>) {
        let (max, new_end) = (self.board.max(), self.new_end(ctx.now));
        match new_end {
            Some(end) => self.send_one(max, end, Sent::New, ctx),
            None => self.retransmit(self.board.start_of(max - 1), Sent::Rescue, ctx),
        }
        self.rto_deadline = ctx.now + self.rtt.rto();
        if let Some(recovery) = self.recovery.rack_timers() {
            recovery.on_probe(&self.board, new_end.is_none());
        }
    }
}
