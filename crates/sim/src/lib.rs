//! The virtual-time driver, and functions that run replications on several cores.
//!
//! The driver simulates packet by packet. It wakes the stage with the earliest wake-up, and
//! immediately delivers the packets that this stage sends. A stage that receives a packet may send
//! further packets, which are also delivered. The wake-up of every stage that was called is then
//! updated in the event queue. Time jumps from event to event.
#![forbid(unsafe_code)]

mod capture;
mod driver;
mod flow_monitor;
mod lookahead;
mod observers;
mod points;
mod replications;
mod ss;
mod stage_map;

pub use airpath_capture::Connection;
pub use capture::{CapturePlan, CaptureRequest, Sink};
pub use driver::{Driver, RunError, RunMonitor};
pub use flow_monitor::{DelayStats, DirectionStats, FlowStats};
pub use observers::{Observers, PacketEvent};
pub use points::Point;
pub use replications::{
    Look, Monitor, Outcome, Plan, Replication, replicate, replicate_and_capture,
};
pub use stage_map::{StageMap, connections};
