//! Bounds of bandwidth and of the bytes in the network.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Updating the Model Upon Packet Loss", §"ProbeBW Algorithm
//! Details".

use super::{BETA, Bbr, HEADROOM, MIN_SEGMENTS, Mode};
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

/// Returns `BETA` times `value`.
pub(super) fn reduced(value: u64) -> u64 {
    (value as f64 * BETA) as u64
}

impl Bbr {
    /// `InflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let bound = self.bounds.inflight_longterm;
        if bound == u64::MAX {
            return u64::MAX;
        }
        let headroom = ((bound as f64 * HEADROOM) as u64).max(self.units.mss);
        bound.saturating_sub(headroom).max(MIN_SEGMENTS * self.units.mss)
    }

    /// `AdaptLowerBoundsFromCongestion`: reduces the short-term bounds once per round trip with a
    /// loss, unless the flow probes for bandwidth.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.mode.is_accelerating() || !self.losses.is_loss_in_round {
            return;
        }
        let (max_bw, bounds) = (self.max_bw(), &mut self.bounds);
        if bounds.bw_shortterm == u64::MAX {
            bounds.bw_shortterm = max_bw;
        }
        if bounds.inflight_shortterm == u64::MAX {
            bounds.inflight_shortterm = self.cwnd;
        }
        bounds.bw_shortterm = self.losses.bw_latest.max(reduced(bounds.bw_shortterm));
        bounds.inflight_shortterm =
            self.losses.inflight_latest.max(reduced(bounds.inflight_shortterm));
    }

    /// `AdaptLongTermModel` after the change of the ACK phase: raises `inflight_longterm` if the
    /// loss rate is safe.
    pub(super) fn raise_long_term(&mut self, event: &AckEvent) {
        let Some(sample) = event.rate else { return };
        let bound = self.bounds.inflight_longterm;
        if self.is_too_high(sample.lost, sample.tx_in_flight) || bound == u64::MAX {
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
