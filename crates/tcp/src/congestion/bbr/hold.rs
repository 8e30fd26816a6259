//! Duration of ProbeRTT: a time and a round trip, from when the queue is drained.
//!
//! Source: Linux `bbr_update_min_rtt`, `bbr_check_probe_rtt_done`; draft-ietf-ccwg-bbr
//! `HandleProbeRTT`, `CheckProbeRTTDone`.

use airpath_core::{Duration, Time};

/// Timer of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    /// Time after which ProbeRTT may end; `None` while too much data is in the network.
    until: Option<Time>,
    /// True if a round trip has passed since the data in the network was low enough.
    round_done: bool,
}

/// State of ProbeRTT after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HoldStep {
    /// Too much data is in the network, or the time or the round trip has not passed.
    Waiting,
    /// The time begins now. The caller begins a round trip.
    Begun,
    /// The time and the round trip have passed.
    Over,
}

impl Hold {
    /// Handles an ACK in ProbeRTT. `is_low`: the data in the network does not exceed the window of
    /// ProbeRTT. `starts`: a round trip starts. `least` is the shortest duration.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        (is_low, starts): (bool, bool),
        least: Duration,
    ) -> HoldStep {
        if self.until.is_none() {
            if !is_low {
                return HoldStep::Waiting;
            }
            *self = Hold { until: Some(now + least), round_done: false };
            return HoldStep::Begun;
        }
        self.round_done |= starts;
        if self.round_done && self.has_lasted(now) { HoldStep::Over } else { HoldStep::Waiting }
    }

    /// Returns true if the time has passed.
    pub(super) fn has_lasted(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data in the network is low at 20 ms, a round trip starts at 30 ms, and 200 ms pass at 220
    /// ms.
    #[test]
    fn hold_lasts_a_time_and_a_round_trip_after_the_drain() {
        let mut hold = Hold::default();
        let steps = [(10, false, true), (20, true, true), (30, true, true), (220, true, false)];
        let mut step = |ms, is_low, starts| {
            hold.on_ack(Time::from_millis(ms), (is_low, starts), Duration::from_millis(200))
        };
        let found = steps.map(|(ms, is_low, starts)| step(ms, is_low, starts));
        assert_eq!(
            found,
            [HoldStep::Waiting, HoldStep::Begun, HoldStep::Waiting, HoldStep::Waiting]
        );
        assert_eq!(step(221, true, false), HoldStep::Over);
    }
}
