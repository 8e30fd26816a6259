//! Grant policies: rules for the proactive grants of a base station.
//!
//! A policy is notified of packets served to a station in the downlink, of requests, and of grants
//! and their use. Each notification returns a number of bytes. The base station adds these bytes to
//! the request queue of the station and grants them in the next maps. To add a policy, write its
//! file and add one line to `registry.rs`.
//!
//! | file | policy |
//! | --- | --- |
//! | `uni.rs` | no proactive grants (wimax-2009 §2.2) |
//! | `blind_bi.rs` | a grant for an ACK with every served packet (wimax-2009 §4.1) |
//! | `adapt_bi.rs` | a grant for an ACK with every served packet while no request is pending; piggyback requests (wimax-2009 §4.2) |
//! | `unsolicited.rs` | one grant in each period: UGS, semi-persistent scheduling, configured grants |
//! | `proactive.rs` | common code of blind-BI and adapt-BI |

mod adapt_bi;
mod blind_bi;
mod proactive;
mod registry;
#[cfg(test)]
#[path = "../../../../../scripts/skeletons/grant.rs.in"]
pub mod skeleton;
mod uni;
mod unsolicited;

pub use adapt_bi::AdaptBi;
pub use blind_bi::BlindBi;
pub use proactive::{GrantTiming, ProactiveConfig};
pub use registry::{AnyGrant, GrantRegistry};
pub use uni::{Uni, UniConfig};
pub use unsolicited::{Unsolicited, UnsolicitedConfig};

use airpath_core::{Duration, Time};

/// Arguments for the construction of a grant policy, other than its configuration.
#[derive(Clone, Copy, Debug)]
pub struct GrantContext {
    /// Number of stations.
    pub stations: u32,
    /// Length of a frame.
    pub frame: Duration,
}

/// Behaviour of stations under a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRules {
    /// True if a station with data sends a request immediately.
    pub asks: bool,
    /// True if a burst that leaves data behind contains a piggyback request.
    pub piggybacks: bool,
    /// Time without a grant after which a station with data sends a request; `None` if it never
    /// sends one for this reason.
    pub fallback: Option<Duration>,
    /// Largest proactive grant, bytes; 0 without proactive grants.
    pub largest: u64,
}

/// Event in the downlink. It is reported once for each MPDU that contains the end of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Downlink {
    /// The MPDU is sent for the first time.
    Sent,
    /// The service of the packet has ended, including HARQ, ARQ and release in order.
    Ended {
        /// True if the packet was received.
        is_received: bool,
    },
}

/// A grant policy. The methods `on_downlink`, `on_request` and `on_grant` return the number of
/// bytes that are added to the request queue of `station`. Their argument `queued` is the current
/// size of this queue, bytes.
pub trait Grant {
    /// Returns the behaviour of stations. It is constant.
    fn rules(&self) -> GrantRules;

    /// Called at `event` of a packet that is sent to `station`.
    fn on_downlink(&mut self, station: u32, event: Downlink, queued: u64) -> u64;

    /// Called when `station` has requested `bytes`.
    fn on_request(&mut self, station: u32, bytes: u64, queued: u64) -> u64;

    /// Called when the burst of a grant of `granted` bytes has been received; `used` bytes
    /// contained data.
    fn on_grant(&mut self, station: u32, granted: u64, used: u64, queued: u64) -> u64;

    /// Returns the time of the next grant by a timer; [`Time::NEVER`] without a timer.
    fn next_wakeup(&self) -> Time;

    /// Called when the timer expires at `now`. To grant bytes to a station, the policy calls `add`
    /// with the station ID and the number of bytes.
    fn on_wake(&mut self, now: Time, add: &mut dyn FnMut(u32, u64));
}
