//! The virtual-time driver, and replications on all cores.
//!
//! Packet by packet: the earliest stage is woken, what it sends is delivered at once, each
//! delivery may send more, and every stage that was touched takes its place in the event queue
//! again. Time jumps from event to event.
#![forbid(unsafe_code)]

mod capture;
mod driver;
mod flow_monitor;
mod lookahead;
mod observers;
mod replications;
mod ss;
mod stage_map;

pub use airpath_capture::Connection;
pub use capture::{CapturePlan, CaptureRequest, Point, Sink};
pub use driver::{Driver, RunError, RunMonitor};
pub use flow_monitor::{DelayStats, DirectionStats, FlowStats};
pub use observers::{Observers, PacketEvent};
pub use replications::{Monitor, Outcome, Plan, Replication, replicate, replicate_and_capture};
pub use stage_map::{StageMap, connections};
