//! Bounds of bandwidth and of the bytes in the network.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Updating the Model Upon Packet Loss", §"ProbeBW Algorithm
//! Details".

use super::{Bbr, MIN_SEGMENTS, Mode};
use crate::congestion::AckEvent;

/// The bounds; `u64::MAX` if a bound is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Bytes in the network that the path carried without excessive loss.
    pub(super) inflight_longterm: u64,
    /// Bounds after a loss since the last bandwidth probe: bytes in the network, bandwidth in
    /// bit/s.
    pub(super) inflight_shortterm: u64,
    pub(super) bw_shortterm: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { inflight_longterm: u64::MAX, inflight_shortterm: u64::MAX, bw_shortterm: u64::MAX }
    }
}

impl Bounds {
    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term(&mut self) {
        (self.inflight_shortterm, self.bw_shortterm) = (u64::MAX, u64::MAX);
    }

    /// Raises each bound to at least that of `other`.
    pub(super) fn raise(&mut self, other: &Bounds) {
        self.inflight_longterm = self.inflight_longterm.max(other.inflight_longterm);
        self.inflight_shortterm = self.inflight_shortterm.max(other.inflight_shortterm);
        self.bw_shortterm = self.bw_shortterm.max(other.bw_shortterm);
    }
}

impl Bbr {
    /// Returns `BBR.Beta` times `value`.
    pub(super) fn reduced(&self, value: u64) -> u64 {
        (value as f64 * self.config.beta) as u64
    }

    /// `InflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let bound = self.bounds.inflight_longterm;
        if bound == u64::MAX {
            return u64::MAX;
        }
        let headroom = ((bound as f64 * self.config.headroom) as u64).max(self.units.mss);
        bound.saturating_sub(headroom).max(MIN_SEGMENTS * self.units.mss)
    }

    /// `AdaptLowerBoundsFromCongestion`: reduces the short-term bounds once per round trip with a
    /// loss or a mark, unless the flow probes for bandwidth.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.mode.is_accelerating() {
            return;
        }
        if self.marks.in_round {
            let inflight = self.bounds.inflight_shortterm;
            let inflight = if inflight == u64::MAX { self.cwnd } else { inflight };
            let bound = self.bound_by_marks(inflight);
            self.bounds.inflight_shortterm = inflight;
            self.lower_for_loss();
            self.bounds.inflight_shortterm = self.bounds.inflight_shortterm.min(bound);
        } else {
            self.lower_for_loss();
        }
    }

    /// `LossLowerBounds`, after a loss in the round trip.
    fn lower_for_loss(&mut self) {
        if !self.losses.is_loss_in_round {
            return;
        }
        let (max_bw, cwnd) = (self.max_bw(), self.cwnd);
        let or = |bound: u64, unset: u64| if bound == u64::MAX { unset } else { bound };
        let bandwidth = self.reduced(or(self.bounds.bw_shortterm, max_bw));
        let inflight = self.reduced(or(self.bounds.inflight_shortterm, cwnd));
        self.bounds.bw_shortterm = self.losses.bw_latest.max(bandwidth);
        self.bounds.inflight_shortterm = self.losses.inflight_latest.max(inflight);
    }

    /// `AdaptLongTermModel` after the change of the ACK phase: raises `inflight_longterm` if the
    /// loss rate is safe.
    pub(super) fn raise_long_term(&mut self, event: &AckEvent) {
        let Some(sample) = &event.rate else { return };
        let bound = self.bounds.inflight_longterm;
        if self.is_too_high(sample.lost, sample.tx_in_flight) || self.is_marked_too_high() {
            return self.handle_too_high_sample(sample, event.now);
        }
        if bound == u64::MAX {
            return;
        }
        self.bounds.inflight_longterm = bound.max(sample.tx_in_flight);
        if self.mode == Mode::Up {
            self.probe_upward(event);
        }
    }

    /// `ProbeInflightLongtermUpward`: raises `inflight_longterm` while it limits the flow.
    fn probe_upward(&mut self, event: &AckEvent) {
        if event.app_limited || self.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.probe.up_acked += event.delivered;
        let steps = self.probe.up_acked / self.probe.acked_per_step.max(1);
        self.probe.up_acked -= steps * self.probe.acked_per_step;
        let growth = steps * self.units.mss;
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.saturating_add(growth);
        if self.rounds.starts {
            self.raise_slope();
        }
    }

    /// `RaiseInflightLongtermSlope`: the growth doubles each round trip: 1, 2, 4 … segments.
    pub(super) fn raise_slope(&mut self) {
        let growth = 1_u64 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_step = (self.cwnd / growth).max(self.units.mss);
    }
}
