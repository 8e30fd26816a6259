//! Minimum RTT and ProbeRTT.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"BBR.min_rtt", §"ProbeRTT".

use super::probe_bw::AckPhase;
use super::{Bbr, MIN_SEGMENTS, Mode};
use crate::congestion::bbr::hold::{Hold, HoldStep};
use crate::congestion::{AckEvent, InflightSample};
use airpath_core::{Duration, Time};

/// Estimator of the minimum RTT, and timers of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// `BBR.min_rtt`.
    pub(super) value: Option<Duration>,
    at: Time,
    /// `BBR.probe_rtt_min_delay`, minimum since the last ProbeRTT, and its time.
    recent: Option<Duration>,
    recent_at: Time,
    has_expired: bool,
    pub(super) hold: Hold,
}

impl MinRtt {
    pub(super) fn begin(&mut self, now: Time, rtt: Option<Duration>) {
        (self.value, self.at) = (rtt, now);
        (self.recent, self.recent_at) = (rtt, now);
    }
}

impl Bbr {
    /// `UpdateMinRTT`. In Linux an equal minimum restarts the window.
    pub(super) fn update_min_rtt(&mut self, now: Time, rtt: Option<Duration>) {
        let is_linux = self.config.is_linux();
        let interval = Duration::from_nanos(self.config.probe_rtt_interval_ns);
        let window = Duration::from_nanos(self.config.min_rtt_window_ns);
        let min_rtt = &mut self.min_rtt;
        min_rtt.has_expired = now > min_rtt.recent_at + interval;
        if let Some(rtt) = rtt
            && (min_rtt.has_expired || min_rtt.recent.is_none_or(|least| rtt < least))
        {
            (min_rtt.recent, min_rtt.recent_at) = (Some(rtt), now);
        }
        let is_old = now > min_rtt.at + window;
        if let Some(recent) = min_rtt.recent
            && (is_old
                || min_rtt.value.is_none_or(|least| recent < least || is_linux && recent == least))
        {
            (min_rtt.value, min_rtt.at) = (Some(recent), min_rtt.recent_at);
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, event: &AckEvent, net: &InflightSample) {
        if self.mode != Mode::ProbeRtt && self.min_rtt.has_expired && !self.is_idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.min_rtt.hold = Hold::default();
            self.probe.ack_phase = AckPhase::Stopping;
            self.start_round();
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(event.now, net);
        }
        if event.rate.is_some() {
            self.is_idle_restart = false;
        }
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(self.config.probe_rtt_gain).max(MIN_SEGMENTS * self.units.mss)
    }

    /// `HandleProbeRTT`: limits the bytes in the network for 200 ms and a round trip.
    fn handle_probe_rtt(&mut self, now: Time, net: &InflightSample) {
        let is_low = net.bytes <= self.probe_rtt_cwnd();
        let least = Duration::from_nanos(self.config.probe_rtt_time_ns);
        match self.min_rtt.hold.on_ack(now, (is_low, self.rounds.starts), least) {
            HoldStep::Waiting => {}
            HoldStep::Begun => self.start_round(),
            HoldStep::Over => self.end_probe_rtt(now),
        }
    }

    /// `ExitProbeRTT`.
    pub(super) fn end_probe_rtt(&mut self, now: Time) {
        self.min_rtt.recent_at = now;
        self.restore_cwnd();
        self.bounds.reset_short_term();
        if self.full.is_reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }
}
