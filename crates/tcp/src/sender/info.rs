//! Current state of a sender, with the quantities that `ss -ti` prints.

use super::{Phase, Sender};
use crate::congestion::RecoveryPhase;
use crate::recovery::LossRecovery;
use airpath_core::{Duration, Rate};

/// Phase of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderState {
    /// The connection has not started.
    Closed,
    /// The SYN has been sent and not yet answered.
    SynSent,
    /// Slow start: cwnd is below ssthresh.
    SlowStart,
    /// Congestion avoidance.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all data sent before the timeout is acknowledged.
    Loss,
    /// All data has been acknowledged.
    Done,
}

impl SenderState {
    /// All states, each with its name in results.
    pub const ALL: [(SenderState, &'static str); 7] = [
        (SenderState::Closed, "closed"),
        (SenderState::SynSent, "syn-sent"),
        (SenderState::SlowStart, "slow-start"),
        (SenderState::Avoidance, "avoidance"),
        (SenderState::Recovery, "recovery"),
        (SenderState::Loss, "loss"),
        (SenderState::Done, "done"),
    ];
}

/// State of a sender at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderInfo {
    /// Current phase.
    pub state: SenderState,
    /// Maximum segment size, bytes.
    pub mss: u32,
    /// Congestion window, bytes, without the inflation in fast recovery.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `None` if not yet set.
    pub ssthresh: Option<u64>,
    /// Bytes sent and not cumulatively acknowledged.
    pub unacked: u64,
    /// Selectively acknowledged part of `unacked`, bytes.
    pub sacked: u64,
    /// Estimated number of bytes in the network.
    pub in_flight: u64,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// RTT variation.
    pub rttvar: Option<Duration>,
    /// Retransmission timeout, including the back-off.
    pub rto: Duration,
    /// Number of doublings of the RTO.
    pub backoff: u32,
    /// Number of segments retransmitted since the start of measurement.
    pub retransmissions: u64,
    /// Bytes cumulatively acknowledged since the start of the connection.
    pub acked: u64,
    /// Pacing rate; `None` without pacing.
    pub pacing_rate: Option<Rate>,
}

impl Sender {
    /// Returns the current state of the sender.
    pub fn info(&self) -> SenderInfo {
        SenderInfo {
            state: self.state(),
            mss: self.mss,
            cwnd: self.cwnd(),
            ssthresh: Some(self.ssthresh()).filter(|ssthresh| *ssthresh < u64::MAX),
            unacked: self.board.flight(),
            sacked: self.recovery.sacked(&self.board),
            in_flight: self.recovery.in_flight(&self.board),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            rto: self.rtt.rto(),
            backoff: self.rtt.doublings(),
            retransmissions: self.measured.retransmissions,
            acked: self.board.una(),
            pacing_rate: self.pacing_rate(),
        }
    }

    fn state(&self) -> SenderState {
        match self.phase {
            Phase::Idle => SenderState::Closed,
            Phase::SynSent => SenderState::SynSent,
            Phase::Done | Phase::Aborted => SenderState::Done,
            Phase::Established => self.established_state(),
        }
    }

    fn established_state(&self) -> SenderState {
        match self.recovery_phase() {
            RecoveryPhase::Recovery => SenderState::Recovery,
            RecoveryPhase::Loss => SenderState::Loss,
            RecoveryPhase::Open if self.cwnd() < self.ssthresh() => SenderState::SlowStart,
            RecoveryPhase::Open => SenderState::Avoidance,
        }
    }
}
