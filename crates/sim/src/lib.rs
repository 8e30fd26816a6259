//! The virtual-time driver, and replications on all cores.
//!
//! Packet by packet: the earliest stage is woken, what it sends is delivered at once, each
//! delivery may send more, and every stage that was touched takes its place in the event queue
//! again. Time jumps from event to event.
#![forbid(unsafe_code)]

mod driver;
mod replications;
mod routing;

pub use driver::{Driver, RunError, Watch};
pub use replications::{Monitor, Outcome, Plan, Replication, replicate};

/// Compiles and runs the examples of the contributors' guide.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct ContributorsGuide;
