//! Startup and Drain.
//!
//! Source: draft-ietf-ccwg-bbr-06 §"Startup", §"Drain".

use super::{Bbr, Mode};
use crate::congestion::{AckEvent, InflightSample, RecoveryPhase};
use airpath_core::Time;

/// Growth of the bandwidth in a round trip that the full pipe excludes.
const GROWTH: f64 = 1.25;
/// Round trips without this growth that indicate a full pipe.
const ROUNDS: u32 = 3;
/// `BBRStartupFullLossCnt`: lost ranges in a round trip that end Startup.
const LOST_RANGES: u32 = 6;
/// Round trips after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

/// Detection of the full pipe by a plateau of the delivery rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// `BBR.full_bw`, bit/s.
    pub(super) bandwidth: u64,
    pub(super) count: u32,
    /// `BBR.full_bw_now`: the pipe is full in the current probe.
    pub(super) is_now: bool,
    /// `BBR.full_bw_reached`: the pipe was full once.
    pub(super) is_reached: bool,
}

impl FullPipe {
    /// `ResetFullBW`, with `bandwidth` as the new baseline.
    pub(super) fn restart(&mut self, bandwidth: u64) {
        *self = FullPipe { bandwidth, count: 0, is_now: false, is_reached: self.is_reached };
    }
}

impl Bbr {
    /// `CheckFullBWReached`. In Linux every ACK may raise the baseline, not only the first of a round
    /// trip.
    pub(super) fn check_full_pipe(&mut self, event: &AckEvent) {
        let Some(sample) = &event.rate else { return };
        let starts = self.rounds.starts;
        if self.full.is_now || !(starts || self.config.is_linux()) || sample.app_limited {
            return;
        }
        let rate = self.losses.rate;
        if rate as f64 >= self.full.bandwidth as f64 * GROWTH {
            return self.full.restart(rate);
        }
        if !starts {
            return;
        }
        self.full.count += 1;
        self.full.is_now = self.full.count >= ROUNDS;
        self.full.is_reached |= self.full.is_now;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, event: &AckEvent, net: &InflightSample) {
        if self.mode != Mode::Startup {
            return;
        }
        self.check_startup_high_loss(event, net);
        if self.full.is_reached {
            self.mode = Mode::Drain;
            if self.config.is_linux() {
                self.losses.reset();
                self.marks.reset();
            }
            self.drain_start_round = self.rounds.count;
        }
    }

    /// `CheckStartupHighLoss`: a round trip of fast recovery with more than 2 % of loss in six
    /// ranges.
    fn check_startup_high_loss(&mut self, event: &AckEvent, net: &InflightSample) {
        self.losses.ranges += u32::from(self.config.is_linux() && net.newly_lost > 0);
        let Some(sample) = event.rate else { return };
        let is_lossy = self.losses.round.starts
            && event.phase == RecoveryPhase::Recovery
            && self.losses.ranges >= LOST_RANGES
            && self.is_too_high(sample.lost, sample.tx_in_flight);
        if is_lossy {
            self.saved.note_exit(Mode::Startup);
            self.end_startup_too_high();
        }
    }

    /// Ends Startup with a bound: `bbr_handle_queue_too_high_in_startup`.
    pub(super) fn end_startup_too_high(&mut self) {
        self.full.is_reached = true;
        let bdp = match self.config.is_linux() {
            true => self.inflight(self.max_bw(), 1.0),
            false => self.bdp(1.0),
        };
        self.bounds.inflight_longterm = bdp.max(self.losses.inflight_latest);
    }

    /// `CheckDrainDone`: the queue is drained, or three round trips have passed. Linux has no limit
    /// (`bbr_check_drain`).
    pub(super) fn check_drain_done(&mut self, now: Time, net: &InflightSample) {
        if self.mode != Mode::Drain {
            return;
        }
        let ends = if self.config.is_linux() {
            let inflight = self.in_network_at_departure(now, net.bytes);
            inflight <= self.inflight(self.max_bw(), 1.0)
        } else {
            let is_late = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
            net.bytes <= self.inflight(self.bw(), 1.0) || is_late
        };
        if ends {
            self.start_down(now);
        }
    }
}
