//! Packet-timed round trips.
//!
//! Source: Linux `bbr_update_bw`, draft-ietf-ccwg-bbr `BBRUpdateRound`. A round trip ends when a
//! segment is acknowledged that was sent after the end of the previous round trip.

use crate::congestion::RateSample;

/// Counter of round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    next_delivered: u64,
    /// Number of completed round trips.
    pub(super) count: u64,
    /// True if the current ACK begins a round trip.
    pub(super) starts: bool,
}

impl Rounds {
    /// Handles an ACK with its rate sample, if any.
    pub(super) fn on_ack(&mut self, sample: Option<&RateSample>) {
        self.starts = sample.is_some_and(|rate| rate.prior_delivered >= self.next_delivered);
        if let Some(rate) = sample
            && self.starts
        {
            self.next_delivered = rate.total_delivered;
            self.count += 1;
        }
    }

    /// Begins a round trip now, after `delivered` bytes have been delivered on the connection.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::Duration;

    /// `bbr_update_bw`: a round trip ends with a segment sent at or after its beginning.
    #[test]
    fn round_ends_with_the_ack_of_a_segment_that_was_sent_in_it() {
        let mut rounds = Rounds::default();
        let mut starts = |prior_delivered, total_delivered| {
            rounds.on_ack(Some(&RateSample {
                delivered: 1,
                interval: Duration::from_millis(1),
                prior_delivered,
                total_delivered,
                tx_in_flight: 0,
                lost: 0,
                app_limited: false,
            }));
            rounds.starts
        };
        let found = [(0, 10), (0, 20), (9, 30), (10, 40), (39, 50), (40, 60)]
            .map(|(prior, total)| starts(prior, total));
        assert_eq!(found, [true, false, false, true, false, true]);
        assert_eq!(rounds.count, 3);
        rounds.on_ack(None);
        assert!(!rounds.starts);
    }
}
