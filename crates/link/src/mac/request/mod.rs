//! Request procedures. A procedure defines how a station requests bandwidth from the base station.
//!
//! The link calls a procedure for a station that has data but neither a request nor a grant in
//! flight. The procedure later returns the message that the base station receives: a request, or a
//! code. After a code, the base station grants a request header, in which the station reports its
//! backlog. To add a procedure, write its file and add one line to `registry.rs`.
//!
//! | file | procedure |
//! | --- | --- |
//! | `random_delay.rs` | one random delay for each request; a collision adds a timer (wimax-2009 §5.1) |
//! | `ranging.rs` | ranging codes with collisions and back-off, then a request header (IEEE 802.16e; wimax-2009 §2.2) |
//! | `scheduling_request.rs` | one opportunity in each period, then a request header (LTE and NR) |
//! | `none.rs` | no requests; only proactive grants |

mod none;
mod random_delay;
mod ranging;
mod registry;
mod scheduling_request;
#[cfg(test)]
#[path = "../../../../../scripts/skeletons/request.rs.in"]
pub mod skeleton;

pub use none::{NoRequest, NoRequestConfig};
pub use random_delay::{Per, RandomDelay, RandomDelayConfig, Span};
pub use ranging::{Ranging, RangingConfig};
pub use registry::{AnyRequest, RequestRegistry};
pub use scheduling_request::{SchedulingRequest, SchedulingRequestConfig};

use crate::links::tdd::Clock;
use airpath_core::{Duration, Time};

/// Arguments for the construction of a request procedure, other than its configuration.
#[derive(Clone, Copy, Debug)]
pub struct RequestContext {
    /// Number of stations.
    pub stations: u32,
    /// Times at which the uplink bursts of a frame end at the stations and are received by the base
    /// station.
    pub clock: Clock,
}

/// A bandwidth request of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandwidthRequest {
    /// ID of the station.
    pub station: u32,
    /// Requested bytes: the backlog of the station including MAC headers, or one packet.
    pub bytes: u64,
    /// True if the bytes are added to earlier requests (a request for one packet). False if they
    /// replace earlier requests.
    pub adds: bool,
}

/// A request or code that the base station has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEvent {
    /// A request with the number of requested bytes.
    Request(BandwidthRequest),
    /// A code of the station with this ID. The base station must grant a request header.
    Code(u32),
}

/// Rules of a procedure for all stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRules {
    /// True if every packet has a separate request; false if the queue has one request.
    pub per_packet: bool,
    /// True if stations can send requests.
    pub can_ask: bool,
}

/// Counters of a station since measurement started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Number of request attempts: codes, scheduling requests or random delays.
    pub attempts: u64,
    /// Number of attempts that were lost to a collision.
    pub collisions: u64,
}

/// A request procedure.
pub trait Request {
    /// Returns the rules for all stations. They are constant.
    fn rules(&self) -> RequestRules;

    /// Starts a request of a station at `now`. Unless every packet has a separate request, a
    /// station has at most one request in flight.
    fn send_request(&mut self, request: BandwidthRequest, now: Time);

    /// Returns the time of the next event: a reception, a collision or the expiry of a timer.
    /// Returns [`Time::NEVER`] if there is no request in flight.
    fn next_wakeup(&self) -> Time;

    /// Handles the events at `now` and appends the received requests and codes to `received`.
    fn wake(&mut self, now: Time, received: &mut Vec<RequestEvent>);

    /// Returns the delay from the reception of a burst until the base station uses the piggyback
    /// request in the burst.
    fn piggyback_delay(&mut self, station: u32) -> Duration;

    /// Returns the counters of `station`.
    fn counts(&self, station: u32) -> RequestCounts;

    /// Resets the counters of all stations.
    fn restart_measurement(&mut self);
}

#[cfg(test)]
mod testing {
    use super::{BandwidthRequest, Request, RequestContext, RequestRegistry};
    use crate::links::tdd::Clock;
    use airpath_core::{Component, ConfigError, Duration, Seed, Setup, Time};

    /// Creates a procedure with this configuration. In a frame of 5 ms, uplink bursts end after 3
    /// ms and are received after 5.6 ms.
    pub(super) fn make<R: Component<dyn Request + Send, RequestContext>>(
        config: R::Config,
        stations: u32,
    ) -> Result<R, ConfigError> {
        let registry = RequestRegistry::default();
        let us = |us: u64| Duration::from_nanos(us * 1000);
        let clock = Clock::new(us(5000), us(3000), us(3000), us(5600));
        let extra = RequestContext { stations, clock };
        R::build(config, Setup { seed: Seed::new(1, 0, "test"), registry: &registry, extra })
    }

    /// Sends `count` requests of station 0, one after another. Returns the mean time from a request
    /// to its reception, ms, and the time of the last reception.
    pub(super) fn mean_request_time(request: &mut impl Request, count: u32) -> (f64, Time) {
        let (mut now, mut sum, mut received) = (Time::ZERO, 0, Vec::new());
        for _ in 0..count {
            let asked = now;
            request.send_request(BandwidthRequest { station: 0, bytes: 46, adds: false }, now);
            received.clear();
            while received.is_empty() {
                now = request.next_wakeup();
                request.wake(now, &mut received);
            }
            sum += now.saturating_since(asked).as_nanos();
        }
        (sum as f64 / f64::from(count) / 1e6, now)
    }
}
