//! What the window law is told of each ACK.

use super::Sender;
use crate::congestion::{AckEvent, CongestionControl, RecoveryPhase};
use airpath_core::{Duration, Flags, Packet, Time};

impl Sender {
    /// What an ACK of `acked` new bytes tells the window law, as if it were one of new data outside
    /// of recovery, but for growth and RTT.
    #[inline(always)]
    pub(super) fn ack_event(&self, ack: &Packet, acked: u64, now: Time) -> AckEvent {
        let (delivered, sacked) = match &self.sack {
            Some(sack) => (sack.delivered(), sack.sacked_bytes()),
            None => (acked, 0),
        };
        AckEvent {
            now,
            phase: self.phase_outside_recovery(),
            growth: None,
            ack: ack.seq,
            sent: self.snd_max,
            acked,
            delivered,
            sacked,
            duplicate: false,
            in_flight: self.bytes_in_flight(),
            rtt: None,
            echo: self.ecn.is_used && ack.flags.contains(Flags::ECE),
            feedback: ack.feedback,
            app_limited: false,
        }
    }

    /// Tells the window law of an ACK of new data by which the window may not grow.
    #[cold]
    pub(super) fn tell_of_ack_without_growth(
        &mut self,
        ack: &Packet,
        acked: u64,
        rtt: Option<Duration>,
        app_limited: bool,
        now: Time,
    ) {
        let phase = self.recovery_phase();
        let event = self.ack_event(ack, acked, now);
        self.congestion.on_ack(&AckEvent { phase, rtt, app_limited, ..event });
    }

    /// Tells the window law of an ACK that acknowledges nothing cumulatively.
    #[cold]
    pub(super) fn tell_of_ack_without_data(&mut self, ack: &Packet, now: Time) {
        let event = self.event_without_data(ack, now);
        self.congestion.on_ack(&event);
    }

    /// What an ACK that acknowledges nothing cumulatively tells the window law.
    #[cold]
    pub(super) fn event_without_data(&self, ack: &Packet, now: Time) -> AckEvent {
        let is_update = ack.flags.contains(Flags::WINDOW_UPDATE);
        let used = self.bytes_in_flight() + u64::from(self.mss);
        AckEvent {
            phase: self.recovery_phase(),
            duplicate: self.snd_max > self.snd_una && !is_update,
            app_limited: used < self.congestion.cwnd(),
            ..self.ack_event(ack, 0, now)
        }
    }

    /// How far the repair of losses is.
    pub(super) fn recovery_phase(&self) -> RecoveryPhase {
        let is_recovering = match (&self.sack, &self.ns3) {
            (Some(_), Some(ns3)) => ns3.is_recovering(),
            (Some(sack), None) => sack.is_recovering(),
            (None, _) => self.recovery.is_recovering(),
        };
        if is_recovering { RecoveryPhase::Recovery } else { self.phase_outside_recovery() }
    }

    /// The same, when fast recovery is not under way.
    #[inline]
    fn phase_outside_recovery(&self) -> RecoveryPhase {
        if self.snd_una < self.loss_until { RecoveryPhase::Loss } else { RecoveryPhase::Open }
    }
}
