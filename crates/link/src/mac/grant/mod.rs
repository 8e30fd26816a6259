//! Proactive grants of a base station.
//!
//! A policy sees what is served to a station in the downlink, requests, and grants used or not; its
//! answer is added to the station's request queue: bytes that the next maps grant. To add one: its
//! file and one line in `registry.rs`.
//!
//! | file | policy |
//! | --- | --- |
//! | `uni.rs` | no proactive grants (wimax-2009 §2.2) |
//! | `blind_bi.rs` | a grant for an ACK with every served packet (wimax-2009 §4.1) |
//! | `adapt_bi.rs` | the same while no request is pending, and piggyback (wimax-2009 §4.2) |
//! | `unsolicited.rs` | a grant in each period: UGS, semi-persistent and configured grants |
//! | `proactive.rs` | what the two of the paper have in common |

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

/// Inputs of the construction of a policy, apart from its own configuration.
#[derive(Clone, Copy, Debug)]
pub struct GrantContext {
    /// How many stations there are.
    pub stations: u32,
    /// Length of a frame.
    pub frame: Duration,
}

/// Behaviour of stations under a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRules {
    /// Whether a station with data sends a request at once.
    pub asks: bool,
    /// Whether a burst that leaves data behind requests them.
    pub piggybacks: bool,
    /// Time without a grant after which a station with data sends a request; `None`: never.
    pub fallback: Option<Duration>,
    /// The largest proactive grant, bytes; 0 without such.
    pub largest: u64,
}

/// Something of the downlink, once for each MPDU in which a packet ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Downlink {
    /// It is sent for the first time.
    Sent,
    /// The service of the packet has ended: HARQ, ARQ and waiting for its turn included.
    Ended {
        /// Whether it was received.
        is_received: bool,
    },
}

/// A policy. What its calls return is added to the request queue of `station`, bytes; `queued` is
/// what is in there.
pub trait Grant {
    /// Behaviour of stations; never changes.
    fn rules(&self) -> GrantRules;

    /// Something was served to `station`.
    fn on_downlink(&mut self, station: u32, event: Downlink, queued: u64) -> u64;

    /// `station` has requested `bytes`.
    fn on_request(&mut self, station: u32, bytes: u64, queued: u64) -> u64;

    /// A grant of `granted` bytes has been received, `used` of them with data.
    fn on_grant(&mut self, station: u32, granted: u64, used: u64, queued: u64) -> u64;

    /// When it grants by itself; [`Time::NEVER`] when it does not.
    fn next_wakeup(&self) -> Time;

    /// It grants by itself at `now`: `add` takes a station and bytes.
    fn on_wake(&mut self, now: Time, add: &mut dyn FnMut(u32, u64));
}
