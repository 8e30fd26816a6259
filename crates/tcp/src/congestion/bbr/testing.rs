//! ACKs for tests of BBR: one ACK per round trip.

use crate::config::TcpConfig;
use crate::congestion::{
    AckEvent, CongestionSetup, InflightSample, LostSegment, RateSample, RecoveryPhase,
};
use airpath_core::{Duration, Time};

/// Payload of a segment, bytes.
pub(super) const MSS: u64 = 1000;

/// Returns the setup of a connection with segments of [`MSS`] bytes and an initial window of ten
/// segments.
pub(super) fn setup() -> CongestionSetup {
    let options = TcpConfig { mss: MSS as u32, initial_window: 10 * MSS, ..TcpConfig::rfc() };
    CongestionSetup { options: options.into() }
}

/// One round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Delivery rate of payload, bit/s.
    pub(super) bandwidth: u64,
    pub(super) rtt: Duration,
    /// Bytes in the network after the ACK, and when the acknowledged segment was sent.
    pub(super) inflight: u64,
    pub(super) tx_in_flight: u64,
    /// Bytes lost in the round trip.
    pub(super) lost: u64,
    pub(super) app_limited: bool,
    pub(super) cwnd_limited: bool,
    pub(super) phase: RecoveryPhase,
}

/// A round trip of 40 ms at 10 Mbit/s: the BDP is 50 segments.
pub(super) const ROUND: Round = Round {
    bandwidth: 10_000_000,
    rtt: Duration::from_millis(40),
    inflight: 50 * MSS,
    tx_in_flight: 50 * MSS,
    lost: 0,
    app_limited: false,
    cwnd_limited: true,
    phase: RecoveryPhase::Open,
};

/// Source of ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acks {
    pub(super) now: Time,
    pub(super) delivered: u64,
    lost: u64,
}

impl Acks {
    pub(super) const fn new() -> Acks {
        Acks { now: Time::ZERO, delivered: 0, lost: 0 }
    }

    /// Returns the ACK at the end of a round trip, for all bytes delivered in it.
    pub(super) fn round(&mut self, round: Round) -> AckEvent {
        let nanos = round.rtt.as_nanos();
        let delivered = round.bandwidth * (nanos / 1000) / 8_000_000;
        let prior = self.delivered;
        self.now = self.now + round.rtt;
        self.delivered += delivered;
        self.lost += round.lost;
        AckEvent {
            phase: round.phase,
            delivered,
            app_limited: !round.cwnd_limited,
            rtt: Some(round.rtt),
            in_flight: round.inflight,
            rate: Some(RateSample {
                delivered,
                interval: round.rtt,
                prior_delivered: prior,
                total_delivered: self.delivered,
                tx_in_flight: round.tx_in_flight,
                lost: round.lost,
                app_limited: round.app_limited,
            }),
            inflight: Some(InflightSample {
                bytes: round.inflight,
                prior_bytes: round.inflight + delivered + round.lost,
                newly_lost: round.lost,
                total_delivered: self.delivered,
                total_lost: self.lost,
                rtt: Some(round.rtt),
            }),
            ..AckEvent::of_new_data(self.now, delivered)
        }
    }
}

impl Acks {
    /// Returns a lost segment of [`MSS`] bytes that begins at `start`, after `lost` bytes of
    /// `tx_in_flight` bytes have been lost, the segment included.
    pub(super) fn lost_segment(&self, start: u64, tx_in_flight: u64, lost: u64) -> LostSegment {
        LostSegment {
            start,
            bytes: MSS,
            total_delivered: self.delivered,
            tx_in_flight,
            lost,
            app_limited: false,
        }
    }
}
