//! State of a station: values at the station and at the base station, and counters.

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
    /// Granted bytes before rounding to slots, including the bytes of requests.
    pub(super) granted_bytes: u64,
    /// Bytes of MPDUs that the station has sent.
    pub(super) used_bytes: u64,
    pub(super) contention: u64,
    pub(super) piggyback: u64,
    pub(super) proactive: u64,
}

/// One station of the link.
pub(super) struct Station {
    /// Directions of the station: downlink, uplink.
    pub(super) sides: [Side; 2],
    /// Size of the station's request queue at the base station, bytes.
    pub(super) requested: u64,
    /// Number of request headers that the base station must grant.
    pub(super) headers: u32,
    /// Total bytes granted by maps. The bytes of closed bursts are in `closed_ever`; the difference
    /// is granted but not used yet.
    pub(super) granted_ever: u64,
    pub(super) closed_ever: u64,
    /// Value of `closed_ever` at the latest request.
    pub(super) closed_when_sent: u64,
    /// Value of `closed_ever` in the latest received piggyback request.
    pub(super) closed_at_request: u64,
    /// Number of requests in flight, by contention and by piggyback.
    pub(super) asks: u32,
    /// Time since which the station waits for a grant: the arrival of data, or the end of a burst
    /// in which the station sent data.
    pub(super) waits_since: Time,
    pub(super) traffic: [Traffic; 2],
    pub(super) counts: UplinkCounts,
    /// Delays of uplink packets from the arrival at the station to the reception at the base
    /// station.
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

    /// Returns true if a request or a grant is in flight, or if the request queue of the station is
    /// not empty.
    #[inline]
    pub(super) fn is_served(&self) -> bool {
        self.asks > 0 || self.requested > 0 || self.granted_ever > self.closed_ever
    }

    /// Returns true if the base station has bytes or headers to grant to the station.
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
