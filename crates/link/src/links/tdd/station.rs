//! A station as both ends know it, and what is counted of it.

use super::side::Side;
use airpath_core::{Delays, Time};

/// Counters of a direction since measurement started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) lost: u64,
}

/// Counters of the uplink since measurement started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UplinkCounts {
    /// Bytes that were granted, before they were rounded to slots, and those of requests.
    pub(super) granted_bytes: u64,
    /// Bytes of MPDUs.
    pub(super) used_bytes: u64,
    pub(super) contention: u64,
    pub(super) piggyback: u64,
    pub(super) proactive: u64,
}

/// One station.
pub(super) struct Station {
    /// Downlink and uplink.
    pub(super) sides: [Side; 2],
    /// Its request queue at the base station, bytes.
    pub(super) requested: u64,
    /// Request headers that are to be granted.
    pub(super) headers: u32,
    /// Bytes that maps have granted, ever, and those of bursts that have closed: the rest is in
    /// flight.
    pub(super) granted_ever: u64,
    pub(super) closed_ever: u64,
    /// `closed_ever` at its latest request.
    pub(super) closed_when_sent: u64,
    /// `closed_ever` of the latest piggyback request that was received.
    pub(super) closed_at_request: u64,
    /// Requests that were begun and not yet received, by contention and by piggyback.
    pub(super) asks: u32,
    /// Since when it has waited for a grant: data came, or a burst closed in which it sent some.
    pub(super) waits_since: Time,
    pub(super) traffic: [Traffic; 2],
    pub(super) counts: UplinkCounts,
    /// Of the uplink: from the arrival at the station to the reception.
    pub(super) delays: Delays,
}

impl Station {
    pub(super) fn new(sides: [Side; 2]) -> Station {
        Station {
            sides,
            requested: 0,
            headers: 0,
            granted_ever: 0,
            closed_ever: 0,
            closed_when_sent: 0,
            closed_at_request: 0,
            asks: 0,
            waits_since: Time::ZERO,
            traffic: [Traffic::default(); 2],
            counts: UplinkCounts::default(),
            delays: Delays::default(),
        }
    }

    /// Whether a request or a grant is in flight. The station knows its requests, and the grants
    /// from the answers to them.
    #[inline]
    pub(super) fn is_served(&self) -> bool {
        self.asks > 0 || self.requested > 0 || self.granted_ever > self.closed_ever
    }

    /// Whether the base station has something to grant it.
    #[inline]
    pub(super) fn needs_grant(&self) -> bool {
        self.requested > 0 || self.headers > 0
    }

    /// Restarts the measurement at `now`.
    pub(super) fn restart_measurement(&mut self, now: Time) {
        self.sides.iter_mut().for_each(|side| side.queue.restart_measurement(now));
        self.traffic = [Traffic::default(); 2];
        self.counts = UplinkCounts::default();
        self.delays = Delays::default();
    }
}
