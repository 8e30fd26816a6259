//! Time during which the receive window limited sending that the congestion window would have
//! allowed, and time during which the congestion window limited sending.
//!
//! Source: Linux `tcp_chrono_start(TCP_CHRONO_RWND_LIMITED)`, printed by `ss -ti` as
//! `rwnd_limited`: the next segment of new data fits into the congestion window and not into the
//! receiver's. One that does not fit into the congestion window is limited by that, regardless of
//! the receiver's. A sender without data is held by neither.

use super::{Phase, Sender};
use airpath_core::{Duration, Time};

/// What limits the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitedBy {
    Nothing,
    ReceiveWindow,
    CongestionWindow,
}

/// A clock for each window that runs while that is the limit: what it has counted, ns, or while it
/// runs that less the instant since which it does and one, which is below zero. So two words do;
/// there are many senders.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowLimit {
    by_receiver: i64,
    by_congestion: i64,
}

/// Starts a stopped clock, or stops a running one.
fn toggle(clock: &mut i64, now: Time) {
    let since = now.as_nanos() as i64 + 1;
    *clock += if *clock < 0 { since } else { -since };
}

fn read(mut clock: i64, now: Time) -> Duration {
    if clock < 0 {
        toggle(&mut clock, now);
    }
    Duration::from_nanos(clock as u64)
}

impl WindowLimit {
    #[inline]
    pub(super) fn holder(self) -> LimitedBy {
        if self.by_congestion < 0 {
            LimitedBy::CongestionWindow
        } else if self.by_receiver < 0 {
            LimitedBy::ReceiveWindow
        } else {
            LimitedBy::Nothing
        }
    }

    /// Starts the clock of `holder`, or stops it.
    #[cold]
    fn toggle(&mut self, holder: LimitedBy, now: Time) {
        match holder {
            LimitedBy::Nothing => {}
            LimitedBy::ReceiveWindow => toggle(&mut self.by_receiver, now),
            LimitedBy::CongestionWindow => toggle(&mut self.by_congestion, now),
        }
    }

    /// Forgets what was before `now`.
    pub(super) fn restart(&mut self, now: Time) {
        let holder = self.holder();
        *self = WindowLimit::default();
        self.toggle(holder, now);
    }
}

impl Sender {
    /// How long since measurement started the receive window was the limit, at `now`.
    pub fn receive_window_limited(&self, now: Time) -> Duration {
        read(self.limit.by_receiver, now.min(self.stop))
    }

    /// How long since measurement started the congestion window was the limit, at `now`.
    pub fn congestion_window_limited(&self, now: Time) -> Duration {
        read(self.limit.by_congestion, now.min(self.stop))
    }

    /// Updates the clocks after sending; the congestion window allows everything below `allowed`.
    #[inline(never)]
    pub(super) fn note_holder(&mut self, allowed: u64, now: Time) {
        let holder = self.limited_by(allowed, now);
        if holder != self.limit.holder() {
            let now = now.min(self.stop);
            self.limit.toggle(self.limit.holder(), now);
            self.limit.toggle(holder, now);
        }
    }

    /// The connection is closed: neither window is a limit any longer.
    pub(super) fn stop_limit_clocks(&mut self, now: Time) {
        self.note_holder(u64::MAX, now);
    }

    /// Limit of the next segment of new data.
    fn limited_by(&self, allowed: u64, now: Time) -> LimitedBy {
        let size = (self.end - self.board.nxt()).min(u64::from(self.mss));
        let end = self.board.nxt() + size;
        let is_open = self.phase == Phase::Established && size > 0 && now < self.stop;
        if !is_open {
            LimitedBy::Nothing
        } else if end > allowed {
            LimitedBy::CongestionWindow
        } else if end > self.edge {
            LimitedBy::ReceiveWindow
        } else {
            LimitedBy::Nothing
        }
    }
}
