//! Counters of a sender.

use super::{Phase, Sender};
use airpath_core::stats::Mean;
use airpath_core::{Duration, Histogram, Packet, Time};

/// Counters since measurement started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderCounters {
    pub(super) sent: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    pub(super) fast_retransmits: u64,
    pub(super) ecn_reductions: u64,
    pub(super) window_probes: u64,
    pub(super) rtt: Mean,
}

/// Measurements of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderReport {
    /// Data segments sent, retransmissions included.
    pub sent: u64,
    /// Data segments retransmitted.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits: losses found by duplicate ACKs, one per recovery.
    pub fast_retransmits: u64,
    /// Reactions to echoed congestion marks, one per window.
    pub ecn_reductions: u64,
    /// Probes of a closed receive window.
    pub window_probes: u64,
    /// Mean RTT sample, s.
    pub mean_rtt_s: Option<f64>,
    /// When the connection started.
    pub started_at: Time,
    /// When the last byte of a finite transfer was acknowledged.
    pub completed_at: Option<Time>,
    /// When the connection was aborted: too many retransmissions were not answered.
    pub aborted_at: Option<Time>,
    /// From when on nothing new is sent; `Time::NEVER` when there is no such time.
    pub stops_at: Time,
}

impl Sender {
    /// The RTT samples.
    pub fn rtt(&self) -> Mean {
        self.measured.rtt
    }

    /// The time between sending and arrival of ACKs, except for the answer to a SYN; nothing before
    /// the first. Of ACKs that no [`Receiver`](crate::Receiver) sent they mean nothing.
    pub fn ack_delays(&self) -> Option<&Histogram> {
        self.ack_delays.as_deref()
    }

    /// An ACK has arrived.
    #[inline]
    pub(super) fn measure_ack(&mut self, ack: &Packet, now: Time) {
        let delay = ack.ack_age(now, self.timestamps);
        match &mut self.ack_delays {
            Some(delays) => delays.add(delay),
            None => self.measure_first_ack(delay),
        }
    }

    #[cold]
    #[inline(never)]
    fn measure_first_ack(&mut self, delay: Duration) {
        self.ack_delays.get_or_insert_default().add(delay);
    }

    /// Returns the measurements.
    pub fn report(&self) -> SenderReport {
        let closed_at = Some(self.closed_at).filter(|at| !at.is_never());
        let is_aborted = self.phase == Phase::Aborted;
        SenderReport {
            sent: self.measured.sent,
            retransmissions: self.measured.retransmissions,
            timeouts: self.measured.timeouts,
            fast_retransmits: self.measured.fast_retransmits,
            ecn_reductions: self.measured.ecn_reductions,
            window_probes: self.measured.window_probes,
            mean_rtt_s: self.measured.rtt.secs(),
            started_at: self.start,
            completed_at: closed_at.filter(|_| !is_aborted),
            aborted_at: closed_at.filter(|_| is_aborted),
            stops_at: self.stop,
        }
    }
}
