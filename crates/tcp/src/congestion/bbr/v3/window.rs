//! Window of BBRv3.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Send Quantum", §"Congestion Window".

use super::{Bbr, MIN_SEGMENTS, Mode};
use crate::congestion::bbr::units::bytes_in;
use crate::congestion::{AckEvent, InflightSample};
use airpath_core::Duration;

/// Duration and largest size of a send quantum.
const QUANTUM_TIME: Duration = Duration::from_millis(1);
const LARGEST_QUANTUM: u64 = 64 * 1024;

impl Bbr {
    /// `SetSendQuantum`, bytes.
    fn quantum(&self) -> u64 {
        let bytes = bytes_in(self.rate.0, QUANTUM_TIME) as u64;
        bytes.min(LARGEST_QUANTUM).max(2 * self.units.mss)
    }

    /// `BDPMultiple` of `bandwidth`, in bit/s.
    fn bdp_of(&self, bandwidth: u64, gain: f64) -> u64 {
        match self.min_rtt.value {
            None => self.units.initial_window,
            Some(rtt) => (bytes_in(bandwidth, rtt) * gain) as u64,
        }
    }

    /// `BDPMultiple`.
    pub(super) fn bdp(&self, gain: f64) -> u64 {
        self.bdp_of(self.bw(), gain)
    }

    /// `QuantizationBudget`; the offload budget is three send quanta.
    fn with_budget(&self, bytes: u64) -> u64 {
        let least = (3 * self.quantum()).max(MIN_SEGMENTS * self.units.mss);
        let more = if self.mode == Mode::Up { 2 * self.units.mss } else { 0 };
        bytes.max(least) + more
    }

    /// `Inflight`: `gain` times the BDP of `bandwidth`, in bit/s, with the budget.
    pub(super) fn inflight(&self, bandwidth: u64, gain: f64) -> u64 {
        self.with_budget(self.bdp_of(bandwidth, gain))
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, event: &AckEvent, net: &InflightSample) {
        let gain = self.mode.gains().1;
        let most = self.with_budget(self.bdp(gain) + self.aggregation.extra_acked());
        if self.full.is_reached {
            self.cwnd = (self.cwnd + event.delivered).min(most);
        } else if self.cwnd < most || net.total_delivered < self.units.initial_window {
            self.cwnd += event.delivered;
        }
        self.cwnd = self.cwnd.max(MIN_SEGMENTS * self.units.mss);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// `BoundCwndForModel`. Drain is bounded as in the draft's table of states.
    fn bound_cwnd_for_model(&mut self) {
        let bound = match self.mode {
            Mode::Startup => u64::MAX,
            Mode::Drain | Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_longterm,
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(),
        };
        let bound = bound.min(self.bounds.inflight_shortterm);
        self.cwnd = self.cwnd.min(bound.max(MIN_SEGMENTS * self.units.mss));
    }
}
