//! Reaction to losses, and its undo.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Updating the Model Upon Packet Loss", §"Updating the Model Upon
//! Detecting a Spurious Loss Recovery".

use super::bounds::Bounds;
use super::{Bbr, Mode};
use crate::congestion::bbr::rounds::Rounds;
use crate::congestion::{AckEvent, LostSegment, RateSample, RecoveryPhase};
use airpath_core::Time;

/// Losses and deliveries of the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRound {
    /// `BBR.is_loss_in_round`.
    pub(super) is_loss_in_round: bool,
    /// `loss_in_cycle` of Linux: true if a loss was detected since the last probe.
    pub(super) in_cycle: bool,
    /// `BBR.loss_round_delivered` and `BBR.loss_round_start`.
    pub(super) round: Rounds,
    /// Delivery rate in the sample of the current ACK, bit/s; 0 without a sample.
    pub(super) rate: u64,
    /// `BBR.bw_latest`, bit/s, and `BBR.inflight_latest`, bytes.
    pub(super) bw_latest: u64,
    pub(super) inflight_latest: u64,
    /// Number of discontiguous lost ranges in the round trip; in Linux of ACKs that have
    /// revealed losses.
    pub(super) ranges: u32,
    pub(super) last_lost_end: Option<u64>,
    /// C.delivered at the last ACK.
    pub(super) delivered: u64,
}

impl LossRound {
    /// `ResetCongestionSignals`.
    pub(super) fn reset(&mut self) {
        (self.is_loss_in_round, self.in_cycle) = (false, false);
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
        self.losses.round.on_ack(event.rate.as_ref());
        self.losses.rate = event.rate.as_ref().map_or(0, |sample| sample.rate().0);
        let Some(sample) = &event.rate else { return };
        self.losses.bw_latest = self.losses.bw_latest.max(self.losses.rate);
        self.losses.inflight_latest = self.losses.inflight_latest.max(sample.delivered);
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_congestion_signals(&mut self, event: &AckEvent) {
        self.update_max_bw(event);
        self.update_marks(event);
        if self.losses.round.starts {
            self.adapt_lower_bounds();
            self.losses.is_loss_in_round = false;
            self.marks.in_round = false;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_signals(&mut self, event: &AckEvent) {
        if let Some(sample) = &event.rate
            && self.losses.round.starts
        {
            self.losses.bw_latest = self.losses.rate;
            self.losses.inflight_latest = sample.delivered;
            self.losses.ranges = 0;
        }
    }

    /// `IsInflightTooHigh`: more than 2 % of the bytes in the network were lost. Linux rounds the
    /// threshold down to segments.
    pub(super) fn is_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        let threshold = self.config.loss_threshold();
        if !self.config.is_linux() {
            return lost as f64 > tx_in_flight as f64 * threshold;
        }
        let mss = self.units.mss;
        let tolerated = ((tx_in_flight / mss) as f64 * threshold) as u64;
        lost / mss > tolerated
    }

    /// `bbr_adapt_upper_bounds`: Linux also judges the losses in the sample of an ACK.
    pub(super) fn handle_too_high_sample(&mut self, sample: &RateSample, now: Time) {
        if self.config.is_linux() && self.probe.is_sample {
            self.handle_too_high(sample.tx_in_flight, sample.app_limited);
            if self.probe.ends_up {
                self.start_down(now);
            }
        }
    }

    /// `NoteLoss`.
    fn note_loss(&mut self, total_delivered: u64) {
        if !self.losses.is_loss_in_round {
            self.losses.round.restart(total_delivered);
            if !self.config.is_linux() {
                self.save_state();
            }
        }
        (self.losses.is_loss_in_round, self.losses.in_cycle) = (true, true);
    }

    /// `HandleLostPacket`.
    pub(super) fn handle_lost_packet(&mut self, segment: &LostSegment) {
        self.note_loss(segment.total_delivered);
        let is_new_range = self.losses.last_lost_end != Some(segment.start);
        self.losses.ranges += u32::from(is_new_range && !self.config.is_linux());
        self.losses.last_lost_end = Some(segment.start + segment.bytes);
        if self.probe.is_sample && self.is_too_high(segment.lost, segment.tx_in_flight) {
            self.handle_too_high(self.inflight_at_loss(segment), segment.app_limited);
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
            self.bounds.inflight_longterm = safe.max(self.reduced(self.target_inflight()));
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

    /// `SaveCwnd`.
    pub(super) fn save_cwnd(&mut self) {
        self.prior.save(self.cwnd, self.mode == Mode::ProbeRtt);
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior.bytes);
    }

    /// Restores the window at the end of a recovery; in Linux only after a timeout
    /// (`bbr_set_state`).
    pub(super) fn restore_after_recovery(&mut self, phase: RecoveryPhase) {
        let before = self.prior.enter(phase);
        let ends = match self.config.is_linux() {
            true => before == RecoveryPhase::Loss && phase != RecoveryPhase::Loss,
            false => before != RecoveryPhase::Open && phase == RecoveryPhase::Open,
        };
        if ends {
            self.restore_cwnd();
        }
    }

    /// `bbr_set_state` at a timeout: searches for the full pipe again, and bounds the bytes in the
    /// network by the window before the timeout.
    pub(super) fn reset_on_timeout(&mut self) {
        self.full.restart(0);
        if !self.mode.is_accelerating() && self.bounds.inflight_shortterm == u64::MAX {
            self.bounds.inflight_shortterm = self.cwnd.max(self.prior.bytes);
        }
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self, now: Time) {
        self.restore_cwnd();
        self.losses.is_loss_in_round = false;
        self.full.restart(0);
        self.bounds.raise(&self.saved.bounds);
        match self.saved.mode.take().filter(|_| !self.config.is_linux()) {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full.is_reached = false;
                if self.mode != Mode::ProbeRtt {
                    self.mode = Mode::Startup;
                }
            }
            // The next ACK would leave UP.
            Some(Mode::Up) if self.mode != Mode::Up || self.probe.ends_up => {
                self.probe.ends_up = false;
                if self.mode != Mode::ProbeRtt {
                    self.start_refill(now);
                    self.probe.restarts_round = true;
                }
            }
            _ => {}
        }
    }
}

impl Bbr {
    /// `InflightAtLoss`: bytes in the network at which the losses exceeded the threshold, possibly
    /// within the segment.
    fn inflight_at_loss(&self, segment: &LostSegment) -> u64 {
        if self.config.is_linux() {
            return self.inflight_at_lost_segment(segment);
        }
        let threshold = self.config.loss_threshold();
        let before = segment.tx_in_flight.saturating_sub(segment.bytes) as f64;
        let lost_before = segment.lost.saturating_sub(segment.bytes) as f64;
        let prefix = (threshold * before - lost_before) / (1.0 - threshold);
        (before + prefix).max(0.0) as u64
    }

    /// `bbr_inflight_hi_from_lost_skb`: the same in whole segments, without a negative prefix.
    fn inflight_at_lost_segment(&self, segment: &LostSegment) -> u64 {
        let (mss, threshold) = (self.units.mss, self.config.loss_threshold());
        let before = segment.tx_in_flight.saturating_sub(segment.bytes) / mss;
        let lost_before = segment.lost.saturating_sub(segment.bytes) / mss;
        let budget = libm::ceil(before as f64 * threshold) as u64;
        let prefix = budget.saturating_sub(lost_before) as f64 / (1.0 - threshold);
        (before + prefix as u64) * mss
    }
}
