//! Timer and state of the tail loss probe (TLP).
//!
//! Source: RFC 8985 §7, with the timing of Linux (`tcp_schedule_loss_probe`). The probe is sent
//! after two smoothed RTTs plus 2 ms. If only one segment is outstanding, the minimum RTO is added
//! instead of 2 ms, because the receiver may delay the ACK. The probe timer never expires after the
//! retransmission timer.

use super::Scoreboard;
use crate::config::TcpConfig;
use airpath_core::{Duration, Time};

/// Time added to two RTTs (Linux `TCP_TIMEOUT_MIN_US`).
const SLACK: Duration = Duration::from_millis(2);

/// State of the tail loss probe of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    is_wanted: bool,
    /// Time that is added instead of 2 ms if only one segment is outstanding.
    delayed_ack: Duration,
    mss: u64,
    /// True if new data was sent or acknowledged since the timer was set.
    has_progress: bool,
    at: Time,
    /// TLP.end_seq (SND.MAX when the probe was sent) and TLP.is_retrans (true if the probe was a
    /// retransmission). `None` if no probe is in flight.
    outstanding: Option<(u64, bool)>,
}

impl Probe {
    pub(super) fn new(options: &TcpConfig) -> Probe {
        Probe {
            is_wanted: options.tail_loss_probe,
            delayed_ack: options.min_rto,
            mss: u64::from(options.mss),
            has_progress: false,
            at: Time::NEVER,
            outstanding: None,
        }
    }

    /// Returns true if a probe is in flight and the last segment before it ends at `end`.
    pub(super) fn ends_at(&self, end: u64) -> bool {
        self.outstanding.is_some_and(|(probe_end, _)| probe_end == end)
    }

    /// Returns the expiry of the probe timer.
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// Handles the transmission of new data.
    pub(super) fn on_progress(&mut self) {
        self.has_progress = true;
    }

    /// Cancels the probe, because a recovery begins or the retransmission timer has expired.
    pub(super) fn give_up(&mut self) {
        (self.at, self.outstanding) = (Time::NEVER, None);
    }

    /// Handles an ACK with the acknowledgement number `una` that delivered `delivered` bytes.
    /// `is_new` is true for an ACK of new data. Returns true if the probe repaired a loss (§7.4.2).
    pub(super) fn on_ack(&mut self, una: u64, is_new: bool, delivered: u64) -> bool {
        self.has_progress |= is_new;
        let Some((end, is_again)) = self.outstanding.filter(|(end, _)| una >= *end) else {
            return false;
        };
        let has_repaired = is_again && una > end;
        let is_pure_duplicate = !is_new && delivered == 0;
        if !is_again || has_repaired || is_pure_duplicate {
            self.outstanding = None;
        }
        has_repaired
    }

    /// Sets the timer after an event at `now`. `is_quiet`: no segment is lost or suspected to be
    /// lost.
    pub(super) fn set(
        &mut self,
        board: &Scoreboard,
        is_quiet: bool,
        srtt: Option<Duration>,
        rto_at: Time,
        now: Time,
    ) {
        let has_progress = std::mem::take(&mut self.has_progress);
        let is_due = self.is_wanted && is_quiet && board.flight() > 0 && self.outstanding.is_none();
        self.at = match srtt {
            Some(srtt) if is_due && has_progress => {
                let is_single = board.flight() <= self.mss;
                let more = if is_single { self.delayed_ack } else { SLACK };
                (now + srtt.saturating_mul(2) + more).min(rto_at)
            }
            _ if is_due => self.at,
            _ => Time::NEVER,
        };
    }

    /// Returns true if the probe timer has expired, and resets the timer.
    pub(super) fn expires(&mut self, now: Time) -> bool {
        let expires = self.at <= now;
        if expires {
            self.at = Time::NEVER;
        }
        expires
    }

    /// Handles the transmission of the probe.
    pub(super) fn on_sent(&mut self, end: u64, is_again: bool) {
        (self.at, self.outstanding) = (Time::NEVER, Some((end, is_again)));
    }
}
