//! Measurement of the time during which the receive window or the congestion window limits
//! transmission.
//!
//! Source: Linux `tcp_chrono_start(TCP_CHRONO_RWND_LIMITED)`, printed by `ss -ti` as
//! `rwnd_limited`. The congestion window is the limit if the next segment of new data does not fit
//! into it. The receive window is the limit if the segment fits into the congestion window but not
//! into the receive window. A sender without data is not limited.

use super::{Phase, Sender};
use airpath_core::{Duration, Time};

/// Window that limits the transmission of the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitedBy {
    Nothing,
    ReceiveWindow,
    CongestionWindow,
}

/// One clock for each of the two windows. A clock runs while its window is the limit. A stopped
/// clock contains the counted time, ns. A running clock contains the counted time minus (start time
/// + 1), which is negative. This encoding uses only 16 bytes per sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowLimit {
    by_receiver: i64,
    by_congestion: i64,
}

/// Starts a stopped clock, or stops a running clock.
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

    /// Starts or stops the clock of `holder`.
    #[cold]
    fn toggle(&mut self, holder: LimitedBy, now: Time) {
        match holder {
            LimitedBy::Nothing => {}
            LimitedBy::ReceiveWindow => toggle(&mut self.by_receiver, now),
            LimitedBy::CongestionWindow => toggle(&mut self.by_congestion, now),
        }
    }

    /// Resets the clocks at `now`.
    pub(super) fn restart(&mut self, now: Time) {
        let holder = self.holder();
        *self = WindowLimit::default();
        self.toggle(holder, now);
    }
}

impl Sender {
    /// Returns the time since the start of measurement, until `now`, during which the receive
    /// window was the limit.
    pub fn receive_window_limited(&self, now: Time) -> Duration {
        read(self.limit.by_receiver, now.min(self.stop))
    }

    /// Returns the time since the start of measurement, until `now`, during which the congestion
    /// window was the limit.
    pub fn congestion_window_limited(&self, now: Time) -> Duration {
        read(self.limit.by_congestion, now.min(self.stop))
    }

    /// Updates the clocks after a transmission. The congestion window allows the transmission of
    /// all data before `allowed`.
    #[inline(never)]
    pub(super) fn note_holder(&mut self, allowed: u64, now: Time) {
        let holder = self.limited_by(allowed, now);
        if holder != self.limit.holder() {
            let now = now.min(self.stop);
            self.limit.toggle(self.limit.holder(), now);
            self.limit.toggle(holder, now);
        }
    }

    /// Stops the clocks, because the connection is closed.
    pub(super) fn stop_limit_clocks(&mut self, now: Time) {
        self.note_holder(u64::MAX, now);
    }

    /// Returns the limit of the next segment of new data.
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
