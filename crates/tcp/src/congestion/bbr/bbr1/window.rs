//! Window of BBRv1.
//!
//! Source: Linux `bbr_bdp`, `bbr_quantization_budget`, `bbr_set_cwnd`,
//! `bbr_set_cwnd_to_recover_or_restore`.

use super::{Bbr1, MIN_SEGMENTS, Mode};
use crate::congestion::bbr::units::bytes_in;
use crate::congestion::{AckEvent, InflightSample, RecoveryPhase};
use airpath_core::{Duration, Rate};

/// `bbr_min_tso_rate`: rate below which a burst has one segment, bit/s.
const LOW_RATE: u64 = 1_200_000;
/// Largest burst (Linux `GSO_MAX_SIZE` less headers), bytes.
const LARGEST_BURST: u64 = 65_535 - 320;
/// `bbr_extra_acked_max_us`: bound of the estimate of ACK aggregation.
const EXTRA_ACKED_TIME: Duration = Duration::from_millis(100);
/// `TCP_INIT_CWND`, segments.
const INITIAL_SEGMENTS: u64 = 10;

/// Target of the window, and the inputs from which it was computed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target {
    inputs: Option<Inputs>,
    bytes: u64,
}

/// Inputs of the target of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inputs {
    bandwidth: u64,
    gain: f64,
    min_rtt: Option<Duration>,
    /// Estimate of ACK aggregation, 0 before the pipe was full.
    extra_acked: u64,
    rate: Rate,
    is_probing: bool,
}

impl Bbr1 {
    /// `bbr_tso_segs_goal`: bytes of a burst, about a millisecond at the pacing rate.
    pub(super) fn burst(&self) -> u64 {
        let bytes = (self.pacing.payload_rate() as u64 >> 10).min(LARGEST_BURST);
        (bytes / self.units.mss).max(self.least_burst()) * self.units.mss
    }

    /// `bbr_min_tso_segs`: segments of the smallest burst.
    pub(super) fn least_burst(&self) -> u64 {
        let Rate(rate) = self.pacing.rate();
        if rate < LOW_RATE { 1 } else { 2 }
    }

    /// `bbr_bdp`: `gain` times the BDP, rounded up to segments.
    fn bdp(&self, bandwidth: u64, gain: f64) -> u64 {
        match self.min_rtt {
            None => INITIAL_SEGMENTS * self.units.mss,
            Some(rtt) => self.units.round_up(bytes_in(bandwidth, rtt) * gain),
        }
    }

    /// `bbr_quantization_budget`: adds three bursts, rounds up to an even number of segments, and
    /// adds two segments in the phase of gain 1.25.
    fn with_budget(&self, bytes: u64) -> u64 {
        let mss = self.units.mss;
        let segments = (bytes + 3 * self.burst()).div_ceil(mss).next_multiple_of(2);
        let more = if self.is_probing() { 2 } else { 0 };
        (segments + more) * mss
    }

    /// Returns true in the phase of gain 1.25.
    fn is_probing(&self) -> bool {
        self.mode == Mode::ProbeBw && self.cycle.is_probing()
    }

    /// `bbr_inflight` of the maximum bandwidth.
    pub(super) fn inflight_for_max(&self, gain: f64) -> u64 {
        self.with_budget(self.bdp(self.bandwidth.get(), gain))
    }

    /// `bbr_ack_aggregation_cwnd`.
    fn aggregation_window(&self) -> u64 {
        if !self.is_full {
            return 0;
        }
        self.aggregation.extra_acked().min(bytes_in(self.bw(), EXTRA_ACKED_TIME) as u64)
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: in the first round trip of a recovery, the window
    /// conserves packets. Returns true if the window is set.
    fn recover_or_restore(&mut self, event: &AckEvent, net: &InflightSample) -> bool {
        let conserving = (net.bytes + event.delivered).max(self.units.mss);
        if net.newly_lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(net.newly_lost).max(self.units.mss);
        }
        let before = self.prior.enter(event.phase);
        if event.phase == RecoveryPhase::Recovery && before != RecoveryPhase::Recovery {
            self.is_conserving = true;
            self.rounds.restart(net.total_delivered);
            self.cwnd = conserving;
        } else if before != RecoveryPhase::Open && event.phase == RecoveryPhase::Open {
            self.cwnd = self.cwnd.max(self.prior.bytes);
            self.is_conserving = false;
        }
        if self.is_conserving {
            self.cwnd = self.cwnd.max(conserving);
        }
        self.is_conserving
    }

    /// Computes `gain` times the BDP with ACK aggregation and the budget.
    fn compute_target(&self, gain: f64) -> u64 {
        self.with_budget(self.bdp(self.bw(), gain) + self.aggregation_window())
    }

    /// Returns the target of the window, which is computed when an input changes.
    fn target(&mut self, gain: f64) -> u64 {
        let inputs = Some(Inputs {
            bandwidth: self.bw(),
            gain,
            min_rtt: self.min_rtt,
            extra_acked: if self.is_full { self.aggregation.extra_acked() } else { 0 },
            rate: self.pacing.rate(),
            is_probing: self.is_probing(),
        });
        if self.target.inputs != inputs {
            self.target = Target { inputs, bytes: self.compute_target(gain) };
        }
        debug_assert_eq!(self.target.bytes, self.compute_target(gain));
        self.target.bytes
    }

    /// `bbr_set_cwnd`: moves the window towards `gain` times the BDP.
    pub(super) fn set_cwnd(&mut self, event: &AckEvent, net: &InflightSample, gain: f64) {
        let least = MIN_SEGMENTS * self.units.mss;
        if event.delivered > 0 && !self.recover_or_restore(event, net) {
            let target = self.target(gain);
            let is_young = net.total_delivered < INITIAL_SEGMENTS * self.units.mss;
            if self.is_full {
                self.cwnd = (self.cwnd + event.delivered).min(target);
            } else if self.cwnd < target || is_young {
                self.cwnd += event.delivered;
            }
            self.cwnd = self.cwnd.max(least);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(least);
        }
    }
}
