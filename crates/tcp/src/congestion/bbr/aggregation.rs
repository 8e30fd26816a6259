//! Estimate of ACK aggregation: bytes that are acknowledged beyond those expected from the
//! bandwidth.
//!
//! Source: Linux `bbr_update_ack_aggregation`; draft-ietf-ccwg-bbr `BBRUpdateACKAggregation`, whose
//! window has ten round trips. The maximum is kept over two slots of five round trips, as in Linux,
//! and therefore over five to ten round trips.

use super::units::bytes_in;
use airpath_core::Time;

/// Length of a slot, round trips (Linux `bbr_extra_acked_win_rtts`).
const SLOT_ROUNDS: u32 = 5;
/// Largest number of segments acknowledged in an epoch (Linux `bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_SEGMENTS: u64 = 1 << 20;

/// Maximum of the bytes that were acknowledged beyond those expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    slots: [u64; 2],
    current: usize,
    rounds: u32,
    epoch_start: Time,
    epoch_acked: u64,
    longest_epoch: u64,
}

impl Aggregation {
    pub(super) const fn new(mss: u64) -> Aggregation {
        Aggregation {
            slots: [0; 2],
            current: 0,
            rounds: 0,
            epoch_start: Time::ZERO,
            epoch_acked: 0,
            longest_epoch: EPOCH_SEGMENTS * mss,
        }
    }

    /// Returns the maximum, bytes.
    pub(super) fn extra_acked(&self) -> u64 {
        self.slots[0].max(self.slots[1])
    }

    /// Begins an epoch.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch_start, self.epoch_acked) = (now, 0);
    }

    /// Advances the window at the start of a round trip. `slot_rounds` is the number of round trips
    /// in a slot.
    fn advance(&mut self, slot_rounds: u32) {
        self.rounds += 1;
        if self.rounds >= slot_rounds {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.slots[self.current] = 0;
        }
    }

    /// Handles an ACK that delivers `delivered` bytes with a valid rate sample. `in_startup`
    /// shortens the window to one round trip, as BBRv3 does in Startup.
    pub(super) fn on_ack(
        &mut self,
        (now, delivered, bandwidth): (Time, u64, u64),
        cwnd: u64,
        (round_starts, in_startup): (bool, bool),
    ) {
        if round_starts {
            self.advance(if in_startup { 1 } else { SLOT_ROUNDS });
        }
        let mut expected = bytes_in(bandwidth, now.saturating_since(self.epoch_start)) as u64;
        if self.epoch_acked <= expected || self.epoch_acked + delivered >= self.longest_epoch {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked += delivered;
        let extra = (self.epoch_acked - expected).min(cwnd);
        self.slots[self.current] = self.slots[self.current].max(extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;
    /// One segment per millisecond.
    const BANDWIDTH: u64 = 8_000_000;

    /// `bbr_update_ack_aggregation`: after the first ACK of an epoch at 10 ms, five segments arrive
    /// together at 12 ms, when two were expected since.
    #[test]
    fn extra_acked_is_the_excess_over_the_bandwidth() {
        let mut aggregation = Aggregation::new(MSS);
        let mut ack = |ms, segments| {
            let delivered = (Time::from_millis(ms), segments * MSS, BANDWIDTH);
            aggregation.on_ack(delivered, 100 * MSS, (false, false));
            aggregation.extra_acked()
        };
        assert_eq!(ack(10, 1), MSS);
        assert_eq!(ack(12, 5), 5 * MSS);
        // The sixth segment: fewer are acknowledged than expected, and an epoch begins.
        assert_eq!(ack(20, 1), 5 * MSS);
    }

    /// The maximum is kept for at least five and at most ten round trips.
    #[test]
    fn maximum_expires_after_two_slots() {
        let mut aggregation = Aggregation::new(MSS);
        aggregation.on_ack((Time::from_millis(10), 9 * MSS, BANDWIDTH), 100 * MSS, (false, false));
        let mut kept = 0;
        while aggregation.extra_acked() == 9 * MSS {
            kept += 1;
            let at = Time::from_secs(kept);
            aggregation.on_ack((at, MSS, BANDWIDTH), 100 * MSS, (true, false));
        }
        assert_eq!(kept, 10);
    }

    #[test]
    fn extra_acked_is_at_most_cwnd() {
        let mut aggregation = Aggregation::new(MSS);
        aggregation.on_ack((Time::from_millis(10), 9 * MSS, BANDWIDTH), 4 * MSS, (false, false));
        assert_eq!(aggregation.extra_acked(), 4 * MSS);
    }
}
