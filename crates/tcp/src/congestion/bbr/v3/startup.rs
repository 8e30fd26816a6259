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
    bandwidth: u64,
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
    /// `CheckFullBWReached`.
    pub(super) fn check_full_pipe(&mut self, event: &AckEvent) {
        let Some(sample) = event.rate else { return };
        if self.full.is_now || !self.rounds.starts || sample.app_limited {
            return;
        }
        let rate = sample.rate().0;
        if rate as f64 >= self.full.bandwidth as f64 * GROWTH {
            return self.full.restart(rate);
        }
        self.full.count += 1;
        self.full.is_now = self.full.count >= ROUNDS;
        self.full.is_reached |= self.full.is_now;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, event: &AckEvent) {
        if self.mode != Mode::Startup {
            return;
        }
        self.check_startup_high_loss(event);
        if self.full.is_reached {
            self.mode = Mode::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// `CheckStartupHighLoss`: a round trip of fast recovery with more than 2 % of loss in six
    /// ranges.
    fn check_startup_high_loss(&mut self, event: &AckEvent) {
        let Some(sample) = event.rate else { return };
        let is_lossy = self.losses.starts
            && event.phase == RecoveryPhase::Recovery
            && self.losses.ranges >= LOST_RANGES
            && self.is_too_high(sample.lost, sample.tx_in_flight);
        if is_lossy {
            self.saved.note_exit(Mode::Startup);
            self.full.is_reached = true;
            self.bounds.inflight_longterm = self.bdp(1.0).max(self.losses.inflight_latest);
        }
    }

    /// `CheckDrainDone`: the queue is drained, or three round trips have passed.
    pub(super) fn check_drain_done(&mut self, now: Time, net: &InflightSample) {
        let is_late = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if self.mode == Mode::Drain && (net.bytes <= self.inflight(self.bw(), 1.0) || is_late) {
            self.start_down(now);
        }
    }
}
