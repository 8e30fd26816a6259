//! ProbeBW of BBRv1: a cycle of eight phases with different pacing gains.
//!
//! Source: Linux `bbr_is_next_cycle_phase`, `bbr_update_cycle_phase`, `bbr_packets_in_net_at_edt`.

use super::{Bbr1, Mode};
use crate::congestion::{AckEvent, InflightSample};
use airpath_core::Time;

/// `bbr_pacing_gain`: pacing gains of the phases.
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `bbr_cycle_rand`: number of phases in which a cycle may begin.
pub(super) const RANDOM_PHASES: u32 = 7;

/// The current phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    index: usize,
    begun_at: Time,
}

impl Cycle {
    pub(super) fn gain(&self) -> f64 {
        GAINS[self.index]
    }

    /// Returns true in the phase of gain 1.25.
    pub(super) fn is_probing(&self) -> bool {
        self.index == 0
    }

    /// Begins a cycle. `random` is below [`RANDOM_PHASES`].
    pub(super) fn begin(&mut self, random: u32, now: Time) {
        self.index = GAINS.len() - 1 - random as usize;
        self.advance(now);
    }

    fn advance(&mut self, now: Time) {
        self.index = (self.index + 1) % GAINS.len();
        self.begun_at = now;
    }
}

impl Bbr1 {
    /// `bbr_packets_in_net_at_edt`: bytes in the network when the next segment departs, if
    /// `bytes` are in the network now.
    pub(super) fn in_network_at_departure(&self, now: Time, bytes: u64) -> u64 {
        let burst = (self.gains().0 > 1.0).then(|| self.burst());
        self.pacing.in_network_at_departure(now, bytes, self.bw(), burst)
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_cycle(&mut self, event: &AckEvent, net: &InflightSample) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(event, net) {
            self.cycle.advance(event.now);
        }
    }

    /// `bbr_is_next_cycle_phase`: a phase lasts a minimum RTT. Gain 1.25 also lasts until the bytes
    /// in the network reach 1.25 BDP or a loss occurs; gain 0.75 ends early at 1 BDP.
    fn is_phase_over(&self, event: &AckEvent, net: &InflightSample) -> bool {
        let lasted = event.now.saturating_since(self.cycle.begun_at);
        let is_full_length = self.min_rtt.is_some_and(|least| lasted > least);
        let gain = self.gains().0;
        if gain == 1.0 {
            return is_full_length;
        }
        let inflight = self.in_network_at_departure(event.now, net.prior_bytes);
        if gain > 1.0 {
            is_full_length && (net.newly_lost > 0 || inflight >= self.inflight_for_max(gain))
        } else {
            is_full_length || inflight <= self.inflight_for_max(1.0)
        }
    }
}
