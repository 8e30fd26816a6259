//! Notification of the congestion control about ACKs.

use super::Sender;
use crate::congestion::{AckEvent, CongestionControl, RecoveryPhase};
use crate::deviations::{Deviation, Deviations};
use crate::recovery::{AckOutcome, LossRecovery, Verdict};
use airpath_core::{Ctx, Duration, Flags, Packet, Series, Time};

/// Measurements taken from an ACK of new data.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSample {
    /// Newly acknowledged bytes (cumulative).
    pub(super) acked: u64,
    pub(super) rtt: Option<Duration>,
    pub(super) app_limited: bool,
}

impl Sender {
    /// Creates the event of an ACK of `acked` new bytes with default values: phase `Open`, no
    /// growth, no RTT, no use of the window.
    #[inline(always)]
    pub(super) fn ack_event(
        &self,
        ack: &Packet,
        acked: u64,
        delivered: u64,
        now: Time,
    ) -> AckEvent {
        AckEvent {
            now,
            phase: self.phase_outside_recovery(),
            growth: None,
            ack: ack.seq,
            sent: self.board.max(),
            acked,
            delivered,
            sacked: self.recovery.sacked(&self.board),
            duplicate: false,
            in_flight: self.bytes_in_flight(),
            rtt: None,
            echo: self.ecn.is_used && self.ecn.is_echo(ack),
            marked: u64::from(self.ecn.marked),
            feedback: ack.feedback,
            app_limited: false,
            rate: None,
            inflight: None,
        }
    }

    /// Notifies the congestion control of an ACK of new data.
    #[inline(always)]
    pub(super) fn notify_new_ack(
        &mut self,
        ack: &Packet,
        heard: &AckOutcome,
        known: AckSample,
        now: Time,
    ) {
        let AckSample { acked, rtt, app_limited } = known;
        let mut growth = heard.growth;
        // RFC 3168 §6.1.2: the window does not grow with an ACK that echoes a mark.
        let may_grow_at_exit = heard.verdict == Verdict::Recovered
            && !self.deviates(Deviation::EchoPreventsGrowthAtExit);
        if self.ecn.prevents_growth(ack) && !may_grow_at_exit {
            growth = if self.ecn.may_grow_despite_echo(ack.seq) { growth } else { 0 };
        }
        if growth > 0 && !self.board.is_watched() {
            let event = self.ack_event(ack, acked, heard.delivered, now);
            let growth = Some(growth);
            self.congestion.on_ack(&AckEvent { growth, rtt, app_limited, ..event });
        } else if growth > 0 || self.congestion.needs_every_ack() {
            self.notify_new_ack_slow(ack, heard, growth, known, now);
        }
    }

    /// Slow path of [`notify_new_ack`](Self::notify_new_ack), for an ACK on which the window must
    /// not grow, or that provides a rate sample.
    #[cold]
    fn notify_new_ack_slow(
        &mut self,
        ack: &Packet,
        heard: &AckOutcome,
        growth: u64,
        known: AckSample,
        now: Time,
    ) {
        let AckSample { acked, rtt, app_limited } = known;
        let phase = self.recovery_phase();
        let growth = (growth > 0).then_some(growth);
        let mut event = self.ack_event(ack, acked, heard.delivered, now);
        (event.phase, event.growth, event.rtt) = (phase, growth, rtt);
        event.app_limited = app_limited;
        self.notify_sampled(&mut event, heard.rtt);
    }

    /// Notifies the congestion control of lost segments.
    pub(super) fn notify_lost(&mut self) {
        while let Some(segment) = self.board.pop_lost() {
            self.congestion.on_segment_lost(&segment);
        }
    }

    /// Notifies the congestion control of lost segments and of an ACK, with the samples of the
    /// delivery rate and of the bytes in the network, which are added to `event`. `rtt` is the RTT
    /// for the rate sample.
    fn notify_sampled(&mut self, event: &mut AckEvent, rtt: Option<Duration>) {
        self.notify_lost();
        (event.rate, event.inflight) = self.board.take_samples(rtt);
        self.congestion.on_ack(event);
        if let Some(inflight) = event.inflight
            && self.congestion.limits_itself()
        {
            self.board.limit_by_application(inflight.bytes);
        }
    }

    /// Records the model of the path, if a series of it is recorded.
    #[inline]
    pub(super) fn record_model(&self, ctx: &mut Ctx<'_>) {
        let is_recorded = ctx.records(Series::BbrState)
            || ctx.records(Series::BbrBandwidth)
            || ctx.records(Series::BbrMinRtt)
            || ctx.records(Series::BbrInflightHi);
        if is_recorded {
            self.record_model_now(ctx);
        }
    }

    #[cold]
    fn record_model_now(&self, ctx: &mut Ctx<'_>) {
        let Some(model) = self.congestion.path_model() else { return };
        let flow = self.flow.0;
        ctx.record(Series::BbrState, flow, f64::from(model.state));
        ctx.record(Series::BbrBandwidth, flow, model.bandwidth as f64);
        if let Some(rtt) = model.min_rtt {
            ctx.record(Series::BbrMinRtt, flow, rtt.as_secs_lossy());
        }
        if let Some(bytes) = model.inflight_bound {
            ctx.record(Series::BbrInflightHi, flow, bytes as f64);
        }
    }

    /// Notifies the congestion control of an ACK that does not advance SND.UNA.
    #[cold]
    pub(super) fn notify_nonadvancing_ack(
        &mut self,
        ack: &Packet,
        heard: Option<&AckOutcome>,
        now: Time,
    ) {
        let delivered = heard.map_or(0, |heard| heard.delivered);
        let is_update = ack.flags.contains(Flags::WINDOW_UPDATE);
        let (used, cwnd) = (self.bytes_in_flight(), self.congestion.cwnd());
        let mut event = self.ack_event(ack, 0, delivered, now);
        event.phase = self.recovery_phase();
        event.duplicate = self.board.flight() > 0 && !is_update;
        event.app_limited = !self.recovery.is_cwnd_limited(used, cwnd);
        self.notify_sampled(&mut event, None);
    }

    /// Returns true if the connection has this deviation from the RFCs. Too slow to be called for
    /// every ACK.
    #[cold]
    pub(super) fn deviates(&self, one: Deviation) -> bool {
        Deviations::of(&self.options).has(one)
    }

    /// Returns the state of loss recovery.
    pub(super) fn recovery_phase(&self) -> RecoveryPhase {
        if self.recovery.is_recovering() {
            RecoveryPhase::Recovery
        } else {
            self.phase_outside_recovery()
        }
    }

    /// Returns the state of loss recovery outside of fast recovery.
    #[inline]
    fn phase_outside_recovery(&self) -> RecoveryPhase {
        if self.board.is_after_timeout() { RecoveryPhase::Loss } else { RecoveryPhase::Open }
    }
}
