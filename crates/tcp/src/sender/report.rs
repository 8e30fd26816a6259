//! Counters of a sender.

use super::{Phase, Sender};
use airpath_core::stats::Mean;
use airpath_core::{Delays, Duration, Packet, Time};

/// Counters since the start of measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderCounters {
    pub(super) sent: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    pub(super) fast_retransmits: u64,
    pub(super) undone: u32,
    pub(super) ecn_reductions: u64,
    pub(super) window_probes: u32,
    pub(super) rtt: Mean,
}

/// Measurements of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderReport {
    /// Number of data segments sent, including retransmissions.
    pub sent: u64,
    /// Number of data segments retransmitted.
    pub retransmissions: u64,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Number of fast retransmits, one per recovery.
    pub fast_retransmits: u64,
    /// Number of episodes (fast recovery or timeout) whose reductions were spurious and undone.
    pub undone: u64,
    /// Number of reactions to echoed congestion marks, one per window.
    pub ecn_reductions: u64,
    /// Number of probes of a closed receive window.
    pub window_probes: u64,
    /// Mean RTT sample, s.
    pub mean_rtt_s: Option<f64>,
    /// Start of the connection.
    pub started_at: Time,
    /// Time at which the last byte of a finite transfer was acknowledged. `None` before.
    pub completed_at: Option<Time>,
    /// Time at which the connection was aborted because too many retransmissions were not answered.
    pub aborted_at: Option<Time>,
    /// Time from which the sender sends no new data; `Time::NEVER` if no stop is configured.
    pub stops_at: Time,
}

impl Sender {
    /// Returns the mean of the RTT samples.
    pub fn rtt(&self) -> Mean {
        self.measured.rtt
    }

    /// Returns the one-way delays of ACKs, except the SYN-ACK. `None` before the first ACK. Valid
    /// only for ACKs from a [`Receiver`](crate::Receiver).
    pub fn ack_delays(&self) -> Option<&Delays> {
        self.ack_delays.as_deref()
    }

    /// Measures the delay of an ACK.
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
            undone: u64::from(self.measured.undone),
            ecn_reductions: self.measured.ecn_reductions,
            window_probes: u64::from(self.measured.window_probes),
            mean_rtt_s: self.measured.rtt.secs(),
            started_at: self.start,
            completed_at: closed_at.filter(|_| !is_aborted),
            aborted_at: closed_at.filter(|_| is_aborted),
            stops_at: self.stop,
        }
    }
}
