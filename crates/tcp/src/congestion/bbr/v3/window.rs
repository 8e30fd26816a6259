//! Window of BBRv3.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Send Quantum", §"Congestion Window".

use super::{Bbr, MIN_SEGMENTS, Mode};
use crate::congestion::bbr::units::{bytes_in, extra_burst};
use crate::congestion::{AckEvent, InflightSample};
use airpath_core::{Duration, Rate, Time};

/// Duration and largest size of a send quantum.
const QUANTUM_TIME: Duration = Duration::from_millis(1);
const LARGEST_QUANTUM: u64 = 64 * 1024;
/// Largest quantum of Linux (`GSO_LEGACY_MAX_SIZE` less headers), bytes.
const LARGEST_BURST: u64 = 65_535 - 320;
/// `bbr_extra_acked_max_us`: bound of the estimate of ACK aggregation in Linux.
const EXTRA_ACKED_TIME: Duration = Duration::from_millis(100);

/// Window that the model of the path allows, and the inputs from which it was computed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target {
    inputs: Option<Inputs>,
    bytes: u64,
}

/// Inputs of the window that the model allows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inputs {
    bandwidth: u64,
    gain: f64,
    min_rtt: Option<Duration>,
    extra_acked: u64,
    rate: Rate,
    is_up: bool,
}

impl Bbr {
    /// `SetSendQuantum`, in Linux `bbr_tso_segs_goal`, bytes.
    pub(super) fn quantum(&self) -> u64 {
        let mss = self.units.mss;
        if self.config.is_linux() {
            let bytes = self.pacing.payload_rate() as u64 >> 10;
            let bytes = (bytes + extra_burst(self.min_rtt.value)).min(LARGEST_BURST);
            return (bytes / mss).max(2) * mss;
        }
        let bytes = bytes_in(self.pacing.rate().0, QUANTUM_TIME) as u64;
        bytes.min(LARGEST_QUANTUM).max(2 * mss)
    }

    /// `BDPMultiple` of `bandwidth`, in bit/s.
    fn bdp_of(&self, bandwidth: u64, gain: f64) -> u64 {
        match self.min_rtt.value {
            None => self.units.initial_window,
            Some(rtt) if self.config.is_linux() => {
                self.units.round_up(bytes_in(bandwidth, rtt) * gain)
            }
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

    /// `bbr_packets_in_net_at_edt`: bytes in the network when the next segment departs, if
    /// `bytes` are in the network now.
    pub(super) fn in_network_at_departure(&self, now: Time, bytes: u64) -> u64 {
        let burst = (self.gains().0 > 1.0).then(|| self.quantum());
        self.pacing.in_network_at_departure(now, bytes, self.bw(), burst)
    }

    /// Returns the bytes that ACK aggregation adds to the window.
    pub(super) fn aggregation_window(&self) -> u64 {
        let extra = self.aggregation.extra_acked();
        match self.config.is_linux() {
            true => extra.min(bytes_in(self.bw(), EXTRA_ACKED_TIME) as u64),
            false => extra,
        }
    }

    /// Computes the window that the model allows.
    fn compute_target(&self, gain: f64) -> u64 {
        self.with_budget(self.bdp(gain) + self.aggregation_window())
    }

    /// Returns the window that the model allows, which is computed when an input changes.
    fn target(&mut self, gain: f64) -> u64 {
        let inputs = Some(Inputs {
            bandwidth: self.bw(),
            gain,
            min_rtt: self.min_rtt.value,
            extra_acked: self.aggregation.extra_acked(),
            rate: self.pacing.rate(),
            is_up: self.mode == Mode::Up,
        });
        if self.target.inputs != inputs {
            self.target = Target { inputs, bytes: self.compute_target(gain) };
        }
        debug_assert_eq!(self.target.bytes, self.compute_target(gain));
        self.target.bytes
    }

    /// `SetCwnd`. The window of a young connection always grows.
    pub(super) fn set_cwnd(&mut self, event: &AckEvent, net: &InflightSample) {
        let gain = self.gains().1;
        let most = self.target(gain);
        let is_young = match self.config.is_linux() {
            true => self.cwnd < 2 * self.units.initial_window,
            false => net.total_delivered < self.units.initial_window,
        };
        if self.full.is_reached {
            self.cwnd = (self.cwnd + event.delivered).min(most);
        } else if self.cwnd < most || is_young {
            self.cwnd += event.delivered;
        }
        self.cwnd = self.cwnd.max(MIN_SEGMENTS * self.units.mss);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// `BoundCwndForModel`. Drain is bounded as in the draft's table of states, but not in Linux.
    fn bound_cwnd_for_model(&mut self) {
        let bound = match self.mode {
            Mode::Startup => u64::MAX,
            Mode::Drain if self.config.is_linux() => u64::MAX,
            Mode::Drain | Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_longterm,
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(),
        };
        let bound = bound.min(self.bounds.inflight_shortterm);
        self.cwnd = self.cwnd.min(bound.max(MIN_SEGMENTS * self.units.mss));
    }
}
