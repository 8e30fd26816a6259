//! How long the receive window kept back what the congestion window would have let go.
//!
//! Source: Linux `tcp_chrono_start(TCP_CHRONO_RWND_LIMITED)`, printed by `ss -ti` as
//! `rwnd_limited`: the next segment of new data fits into the congestion window and not into the
//! receiver's. A sender without data is not limited.

use super::{Phase, Sender};
use airpath_core::{Duration, Time};

/// A clock that runs while the receive window is the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowLimit {
    /// Since when it has been the limit; `Time::NEVER` while it is not.
    since: Time,
    total: Duration,
}

impl Default for WindowLimit {
    fn default() -> WindowLimit {
        WindowLimit { since: Time::NEVER, total: Duration::ZERO }
    }
}

impl WindowLimit {
    /// Forgets what was before `now`.
    pub(super) fn restart(&mut self, now: Time) {
        self.total = Duration::ZERO;
        if !self.since.is_never() {
            self.since = now;
        }
    }

    #[inline]
    pub(super) fn is_running(&self) -> bool {
        !self.since.is_never()
    }

    #[cold]
    fn switch(&mut self, now: Time) {
        if self.since.is_never() {
            self.since = now;
        } else {
            self.total += now.saturating_since(self.since);
            self.since = Time::NEVER;
        }
    }
}

impl Sender {
    /// How long since measurement started the receive window was the limit, at `now`.
    pub fn receive_window_limited(&self, now: Time) -> Duration {
        let running = if self.rwnd.since.is_never() {
            Duration::ZERO
        } else {
            now.min(self.stop).saturating_since(self.rwnd.since)
        };
        self.rwnd.total + running
    }

    /// What could be sent has been sent; the congestion window allows everything below `allowed`.
    #[inline(never)]
    pub(super) fn note_receive_window(&mut self, allowed: u64, now: Time) {
        let is_limited = self.edge < allowed && self.is_next_between(self.edge, allowed, now);
        if is_limited != self.rwnd.is_running() {
            self.rwnd.switch(now.min(self.stop));
        }
    }

    /// Whether the next segment of new data ends beyond `edge` and not beyond `allowed`.
    fn is_next_between(&self, edge: u64, allowed: u64, now: Time) -> bool {
        let size = (self.end - self.board.nxt()).min(u64::from(self.mss));
        let end = self.board.nxt() + size;
        let is_open = self.phase == Phase::Established && size > 0 && now < self.stop;
        is_open && end > edge && end <= allowed
    }
}
