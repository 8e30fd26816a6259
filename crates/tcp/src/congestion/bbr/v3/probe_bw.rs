//! ProbeBW: the states DOWN, CRUISE, REFILL and UP.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"ProbeBW Algorithm Details".

use super::{Bbr, Mode};
use crate::congestion::{AckEvent, InflightSample};
use airpath_core::{Duration, Time};

/// `BBR.ack_phase`: part of a probe of which the current ACK reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// State of the probes for bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// `BBR.rounds_since_probe_up`.
    pub(super) rounds_since_up: u64,
    /// `BBR.bw_probe_wait`, and the start of the wait.
    wait: Duration,
    cycle_stamp: Time,
    pub(super) ack_phase: AckPhase,
    /// `BBR.is_bw_probe_sample`: ACKs and losses report data of a probe.
    pub(super) is_sample: bool,
    /// `BBR.prev_probe_too_high` and `BBR.prev_probe_precautionary`.
    pub(super) was_too_high: bool,
    pub(super) was_precautionary: bool,
    /// True if losses end UP with the next ACK.
    pub(super) ends_up: bool,
    /// True if the round trip of REFILL begins with the next ACK, which has revealed an undo.
    pub(super) restarts_round: bool,
    /// `BBR.bw_probe_up_rounds`, `BBR.bw_probe_up_acked`, `BBR.probe_up_acked_per_inc`.
    pub(super) up_rounds: u32,
    pub(super) up_acked: u64,
    pub(super) acked_per_step: u64,
}

impl Bbr {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, now: Time) {
        self.losses.reset();
        self.marks.reset();
        self.probe.acked_per_step = u64::MAX;
        self.probe.rounds_since_up = u64::from(self.stream.bernoulli(0.5));
        let [least, most] = self.config.probe_wait();
        self.probe.wait = self.stream.uniform_duration(least, most);
        self.probe.cycle_stamp = now;
        self.probe.ack_phase = AckPhase::Stopping;
        self.probe.ends_up = false;
        self.start_round();
        self.mode = Mode::Down;
    }

    /// `StartProbeBW_CRUISE`; in Linux the long-term bound also applies to the short-term bound.
    pub(super) fn start_cruise(&mut self) {
        let bounds = &mut self.bounds;
        if self.config.is_linux() && bounds.inflight_shortterm < u64::MAX {
            bounds.inflight_shortterm = bounds.inflight_shortterm.min(bounds.inflight_longterm);
        }
        self.mode = Mode::Cruise;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self, _now: Time) {
        self.bounds.reset_short_term();
        (self.probe.up_rounds, self.probe.up_acked) = (0, 0);
        self.probe.was_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.mode = Mode::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, rate: u64) {
        self.probe.ack_phase = AckPhase::Starting;
        self.start_round();
        self.full.restart(rate);
        self.mode = Mode::Up;
        self.raise_slope();
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw(&mut self, event: &AckEvent, net: &InflightSample) {
        if !self.full.is_reached || self.change_ack_phase(event) {
            return;
        }
        self.raise_long_term(event);
        let rate = self.losses.rate;
        let inflight = self.judged_inflight(event, net);
        let mode = self.mode;
        match mode {
            Mode::Down | Mode::Cruise if self.begins_probe(event.now) => {}
            Mode::Down if self.is_time_to_cruise(inflight) => self.start_cruise(),
            Mode::Refill if self.rounds.starts => {
                self.probe.is_sample = true;
                self.start_up(rate);
            }
            Mode::Up => self.end_up(event, inflight, rate),
            _ => {}
        }
    }

    /// Begins the next probe if it is time to. Returns true if it began.
    fn begins_probe(&mut self, now: Time) -> bool {
        let exponent = self.reprobe_exponent();
        let begins = exponent.is_some() || self.is_time_to_probe(now);
        if begins {
            self.start_refill(now);
            self.probe.up_rounds = exponent.unwrap_or_default();
        }
        begins
    }

    /// Returns the bytes in the network that the transitions compare with bounds: in UP before the
    /// ACK, because after it they are always below a bound that limits the window; in DOWN after the
    /// ACK. In Linux, both are before the ACK, and when the next segment departs.
    fn judged_inflight(&self, event: &AckEvent, net: &InflightSample) -> u64 {
        match self.mode {
            _ if self.config.is_linux() => self.in_network_at_departure(event.now, net.prior_bytes),
            Mode::Up => net.prior_bytes,
            _ => net.bytes,
        }
    }

    /// Leaves UP if it is time to go down.
    fn end_up(&mut self, event: &AckEvent, inflight: u64, rate: u64) {
        if self.is_time_to_go_down(event, inflight, rate) {
            self.probe.was_too_high = false;
            self.start_down(event.now);
        }
    }

    /// First part of `AdaptLongTermModel`. Returns true if a transition was decided.
    fn change_ack_phase(&mut self, event: &AckEvent) -> bool {
        if !self.rounds.starts {
            return false;
        }
        if self.probe.ack_phase == AckPhase::Starting {
            self.probe.ack_phase = AckPhase::Feedback;
        }
        if self.probe.ack_phase != AckPhase::Stopping {
            return false;
        }
        self.probe.is_sample = false;
        self.probe.ack_phase = AckPhase::Init;
        if !self.mode.is_probe_bw() {
            return false;
        }
        if event.rate.is_some_and(|sample| !sample.app_limited) {
            self.advance_max_bw_filter();
        }
        let repeats = self.probe.was_precautionary && !self.probe.was_too_high;
        if repeats {
            self.start_refill(event.now);
        }
        repeats
    }

    /// `TargetInflight`; in Linux with the budget for bursts.
    pub(super) fn target_inflight(&self) -> u64 {
        let bdp = match self.config.is_linux() {
            true => self.inflight(self.bw(), 1.0),
            false => self.bdp(1.0),
        };
        bdp.min(self.cwnd)
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds =
            (self.target_inflight() / self.units.mss).min(self.config.probe_rounds.into());
        now > self.probe.cycle_stamp + self.probe.wait || self.probe.rounds_since_up >= reno_rounds
    }

    /// `IsTimeToCruise`: there is headroom and no queue.
    fn is_time_to_cruise(&self, inflight: u64) -> bool {
        inflight <= self.inflight(self.max_bw(), 1.0).min(self.inflight_with_headroom())
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, event: &AckEvent, inflight: u64, rate: u64) -> bool {
        if self.probe.was_too_high && inflight >= self.bounds.inflight_longterm {
            self.probe.was_precautionary = true;
            return true;
        }
        if !event.app_limited && self.cwnd >= self.bounds.inflight_longterm {
            self.full.restart(rate);
            return false;
        }
        self.full.is_now
    }
}
