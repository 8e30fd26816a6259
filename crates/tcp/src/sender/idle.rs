//! Reduction of the congestion window after an idle period.
//!
//! Source: RFC 5681 §4.1; for the decay RFC 2861 §3 and Linux `tcp_cwnd_restart`. The sender is
//! idle if no data is outstanding, because the application has no data or because the receive
//! window is closed. The idle time is counted from the last transmission of data.

use super::Sender;
use crate::config::IdleRestart;
use crate::congestion::{CongestionControl, IdleEvent};
use airpath_core::{Duration, Time};

/// Returns the congestion window after the idle time `idle`: `cwnd` is halved for each `rto` after
/// the first, down to `restart_window`.
pub(crate) fn decayed(cwnd: u64, restart_window: u64, idle: Duration, rto: Duration) -> u64 {
    let begun = idle.as_nanos().div_ceil(rto.as_nanos().max(1));
    let halvings = u32::try_from(begun.saturating_sub(1)).unwrap_or(u32::MAX);
    cwnd.checked_shr(halvings).unwrap_or(0).max(restart_window)
}

impl Sender {
    /// Reduces the window, if required, before data is sent while no data is outstanding.
    #[cold]
    pub(super) fn end_idle(&mut self, now: Time) {
        if self.board.max() == 0 {
            return;
        }
        let (idle, rto) = (now.saturating_since(self.last_sent), self.rtt.rto());
        let cwnd = self.congestion.cwnd();
        let restart_window = cwnd.min(self.options.initial_window);
        let is_long = idle > rto;
        let (cwnd, ssthresh) = match self.options.idle_restart {
            IdleRestart::Restart if is_long => (restart_window, 0),
            IdleRestart::Decay if is_long => {
                (decayed(cwnd, restart_window, idle, rto), cwnd / 4 * 3)
            }
            _ => (cwnd, 0),
        };
        self.congestion.on_idle(&IdleEvent { now, cwnd, ssthresh });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2861 §3 halves the window once per RTO. Linux does not count the first RTO.
    #[test]
    fn window_halves_with_each_rto_after_the_first() {
        let rto = Duration::from_millis(200);
        let left = |idle_ms| decayed(100_000, 10_000, Duration::from_millis(idle_ms), rto);
        assert_eq!([200, 201, 400, 401].map(left), [100_000, 50_000, 50_000, 25_000]);
        assert_eq!([700, 900, 86_400_000].map(left), [12_500, 10_000, 10_000]);
    }
}
