//! Reaction of Google's kernel to marks, with accurate feedback (RFC 9768) on ECT(1).
//!
//! Source: `bbr_update_ecn_alpha`, `bbr_check_ecn_too_high_in_startup`, `bbr_ecn_lower_bounds`,
//! `bbr_check_time_to_probe_bw`. The kernel uses feedback as in DCTCP, on routes with the feature
//! `ecn_low`. Difference: the share of marks is that of a round trip also in UP, not that of each
//! rate sample.

use super::Bbr;
use crate::config::EcnUse;
use crate::congestion::{AckEvent, RecoveryPhase};
use airpath_core::{Duration, Ecn};

/// `bbr_ecn_alpha_gain`: weight of the latest round trip in α.
const GAIN: f64 = 1.0 / 16.0;
/// `bbr_ecn_factor`: reduction of the short-term bound at α = 1.
const FACTOR: f64 = 1.0 / 3.0;
/// `bbr_ecn_thresh`: share of marks above which the probe ends.
const THRESHOLD: f64 = 0.5;
/// `bbr_ecn_max_rtt_us`: largest minimum RTT with which marks are used.
const LARGEST_RTT: Duration = Duration::from_millis(5);
/// `bbr_full_ecn_cnt`: round trips with this share that end Startup.
const STARTUP_ROUNDS: u32 = 2;
/// `bbr_ecn_reprobe_gain`: first increase of the long-term bound after marks without a loss.
const REPROBE_GAIN: f64 = 0.5;
/// Largest exponent of the increase.
const LARGEST_EXPONENT: u32 = 30;

/// State of the reaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// True if accurate feedback was negotiated.
    is_negotiated: bool,
    /// `bbr_ecn_eligible`: true if the minimum RTT was short.
    pub(super) is_eligible: bool,
    pub(super) alpha: f64,
    /// Bytes reported as marked in the current round trip, and C.delivered at its start.
    marked: u64,
    delivered: u64,
    /// Share of marks in the last round trip.
    share: f64,
    /// `ecn_in_round` and `ecn_in_cycle`.
    pub(super) in_round: bool,
    in_cycle: bool,
    startup_rounds: u32,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks {
            is_negotiated: false,
            is_eligible: false,
            alpha: 1.0,
            marked: 0,
            delivered: 0,
            share: 0.0,
            in_round: false,
            in_cycle: false,
            startup_rounds: 0,
        }
    }
}

impl Marks {
    /// `bbr_reset_congestion_signals`.
    pub(super) fn reset(&mut self) {
        (self.in_round, self.in_cycle) = (false, false);
    }

    /// Ends a round trip, at the end of which `delivered` bytes have been delivered on the
    /// connection.
    fn end_round(&mut self, delivered: u64) {
        let bytes = delivered - std::mem::replace(&mut self.delivered, delivered);
        let marked = std::mem::take(&mut self.marked);
        if self.is_eligible && bytes > 0 {
            self.share = (marked as f64 / bytes as f64).min(1.0);
            self.alpha = (1.0 - GAIN) * self.alpha + GAIN * self.share;
        }
    }
}

impl Bbr {
    /// Returns the codepoint of the segments: ECT(1) if marks are used.
    pub(super) fn negotiate(&mut self, feedback: EcnUse) -> Ecn {
        self.marks.is_negotiated = self.config.is_linux() && feedback == EcnUse::Accurate;
        if self.marks.is_negotiated { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    /// Handles the marks that an ACK reports.
    pub(super) fn update_marks(&mut self, event: &AckEvent) {
        if !self.marks.is_negotiated {
            return;
        }
        self.marks.marked += event.marked;
        if self.rounds.starts {
            self.marks.is_eligible |= self.min_rtt.value.is_some_and(|rtt| rtt <= LARGEST_RTT);
            self.marks.end_round(self.losses.delivered);
            self.check_startup_marks();
        }
        self.marks.in_round |= self.marks.is_eligible && event.marked > 0;
        self.marks.in_cycle |= event.marked > 0;
    }

    /// `bbr_check_ecn_too_high_in_startup`: two round trips with a share of at least one half end
    /// Startup.
    fn check_startup_marks(&mut self) {
        if self.full.is_reached || !self.marks.is_eligible {
            return;
        }
        let is_high = self.marks.share >= THRESHOLD;
        self.marks.startup_rounds = if is_high { self.marks.startup_rounds + 1 } else { 0 };
        if self.marks.startup_rounds >= STARTUP_ROUNDS {
            self.end_startup_too_high();
        }
    }

    /// Returns true if more than half of the last round trip was marked.
    pub(super) fn is_marked_too_high(&self) -> bool {
        self.marks.is_eligible && self.rounds.starts && self.marks.share > THRESHOLD
    }

    /// `bbr_ecn_lower_bounds`: returns the short-term bound that marks impose on `inflight`.
    pub(super) fn bound_by_marks(&self, inflight: u64) -> u64 {
        (inflight as f64 * (1.0 - FACTOR * self.marks.alpha)) as u64
    }

    /// Returns the exponent of the first increase of the long-term bound, if the cycle had marks but
    /// no loss; the next probe then begins at once.
    pub(super) fn reprobe_exponent(&self) -> Option<u32> {
        let reprobes = self.marks.is_eligible && self.marks.in_cycle && !self.losses.in_cycle;
        if !reprobes || self.prior.phase != RecoveryPhase::Open || !self.mode.is_probe_bw() {
            return None;
        }
        let segments = self.bounds.inflight_longterm / self.units.mss;
        let volume = (segments as f64 * REPROBE_GAIN) as u64;
        Some(volume.max(1).ilog2().min(LARGEST_EXPONENT))
    }
}

#[cfg(test)]
mod tests;
