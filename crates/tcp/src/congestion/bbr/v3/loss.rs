//! Reaction to losses, and its undo.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Updating the Model Upon Packet Loss", §"Updating the Model Upon
//! Detecting a Spurious Loss Recovery".

use super::bounds::{Bounds, reduced};
use super::{Bbr, LOSS_THRESHOLD, Mode};
use crate::congestion::{AckEvent, LostSegment, RecoveryPhase};
use airpath_core::Time;

/// Losses and deliveries of the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRound {
    /// `BBR.is_loss_in_round`.
    pub(super) is_loss_in_round: bool,
    /// `BBR.loss_round_start`: true if the current ACK ends the round trip.
    pub(super) starts: bool,
    round_delivered: u64,
    /// `BBR.bw_latest`, bit/s, and `BBR.inflight_latest`, bytes.
    pub(super) bw_latest: u64,
    pub(super) inflight_latest: u64,
    /// Number of discontiguous lost ranges in the round trip.
    pub(super) ranges: u32,
    last_lost_end: Option<u64>,
    /// C.delivered at the last ACK.
    pub(super) delivered: u64,
}

impl LossRound {
    /// `ResetCongestionSignals`.
    pub(super) fn reset(&mut self) {
        self.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0, 0);
    }
}

/// State at the beginning of a loss episode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    bounds: Bounds,
    /// `BBR.undo_state`: state that the losses have ended.
    mode: Option<Mode>,
}

impl Saved {
    /// Records that losses end the state `mode`.
    pub(super) fn note_exit(&mut self, mode: Mode) {
        self.mode = Some(mode);
    }
}

impl Bbr {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_signals(&mut self, event: &AckEvent) {
        self.losses.starts = false;
        let Some(sample) = event.rate else { return };
        self.losses.bw_latest = self.losses.bw_latest.max(sample.rate().0);
        self.losses.inflight_latest = self.losses.inflight_latest.max(sample.delivered);
        if sample.prior_delivered >= self.losses.round_delivered {
            self.losses.round_delivered = sample.total_delivered;
            self.losses.starts = true;
        }
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_congestion_signals(&mut self, event: &AckEvent) {
        self.update_max_bw(event);
        if self.losses.starts {
            self.adapt_lower_bounds();
            self.losses.is_loss_in_round = false;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_signals(&mut self, event: &AckEvent) {
        if let Some(sample) = event.rate
            && self.losses.starts
        {
            self.losses.bw_latest = sample.rate().0;
            self.losses.inflight_latest = sample.delivered;
            self.losses.ranges = 0;
        }
    }

    /// `IsInflightTooHigh`: more than 2 % of the bytes in the network were lost.
    pub(super) fn is_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost as f64 > tx_in_flight as f64 * LOSS_THRESHOLD
    }

    /// `NoteLoss`.
    fn note_loss(&mut self, total_delivered: u64) {
        if !self.losses.is_loss_in_round {
            self.losses.round_delivered = total_delivered;
            self.save_state();
        }
        self.losses.is_loss_in_round = true;
    }

    /// `HandleLostPacket`.
    pub(super) fn handle_lost_packet(&mut self, segment: &LostSegment) {
        self.note_loss(segment.total_delivered);
        self.losses.ranges += u32::from(self.losses.last_lost_end != Some(segment.start));
        self.losses.last_lost_end = Some(segment.start + segment.bytes);
        if self.probe.is_sample && self.is_too_high(segment.lost, segment.tx_in_flight) {
            self.handle_too_high(inflight_at_loss(segment), segment.app_limited);
        }
    }

    /// Handles a mark as a loss of data that was sent with the current bytes in the network.
    pub(super) fn handle_mark(&mut self) {
        self.note_loss(self.losses.delivered);
        if self.probe.is_sample {
            self.handle_too_high(0, false);
        }
    }

    /// `HandleInflightTooHigh`: bounds the bytes in the network, once per bandwidth probe. `safe`
    /// bytes were in the network when the losses were not yet excessive.
    fn handle_too_high(&mut self, safe: u64, app_limited: bool) {
        self.probe.was_too_high = true;
        self.probe.is_sample = false;
        if !app_limited {
            self.bounds.inflight_longterm = safe.max(reduced(self.target_inflight()));
        }
        if self.mode == Mode::Up {
            self.saved.note_exit(Mode::Up);
            self.probe.ends_up = true;
        }
    }

    /// `SaveStateUponLoss`.
    pub(super) fn save_state(&mut self) {
        self.save_cwnd();
        self.saved = Saved { bounds: self.bounds, mode: None };
    }

    /// Saves the window that a recovery or ProbeRTT does not reduce (`SaveCwnd`).
    pub(super) fn save_cwnd(&mut self) {
        let is_reduced = self.phase != RecoveryPhase::Open || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Restores the window at the end of a recovery.
    pub(super) fn restore_after_recovery(&mut self, phase: RecoveryPhase) {
        let before = std::mem::replace(&mut self.phase, phase);
        if before != RecoveryPhase::Open && phase == RecoveryPhase::Open {
            self.restore_cwnd();
        }
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self, now: Time) {
        self.restore_cwnd();
        self.losses.is_loss_in_round = false;
        self.full.restart(0);
        self.bounds.raise(&self.saved.bounds);
        match self.saved.mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full.is_reached = false;
                if self.mode != Mode::ProbeRtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if self.mode != Mode::Up && self.mode != Mode::ProbeRtt => {
                self.start_refill(now);
            }
            _ => {}
        }
    }
}

/// `InflightAtLoss`: bytes in the network at which the losses exceeded the threshold, possibly
/// within the segment.
fn inflight_at_loss(segment: &LostSegment) -> u64 {
    let before = segment.tx_in_flight.saturating_sub(segment.bytes) as f64;
    let lost_before = segment.lost.saturating_sub(segment.bytes) as f64;
    let prefix = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    (before + prefix).max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `InflightAtLoss`: 98 segments precede, one of them lost. 0.02 · 98 000 − 1000 = 960 bytes of
    /// the last segment may be lost, 979 with those bytes in flight.
    #[test]
    fn inflight_at_loss_is_within_the_segment() {
        let segment =
            LostSegment { bytes: 1000, tx_in_flight: 99_000, lost: 2000, ..LostSegment::default() };
        assert_eq!(inflight_at_loss(&segment), 98_979);
    }
}
