//! Plug-in interface of Airpath: the traits of components, the types that they use, and a function
//! that simulates a scenario with plug-ins.
//!
//! A plug-in is a crate that contains a component: a queue discipline, a congestion control
//! algorithm, a receive-window policy or a link. A plug-in depends only on this crate. The other
//! crates are internal and change without notice. [`Components`] registers the components of a
//! plug-in, and [`simulate`] runs a scenario with them:
//!
//! ```
//! use airpath::{Fifo, Packet, Components, QueueDisc, QueueState, Ctx, simulate};
//!
//! /// FIFO queue without a limit.
//! #[derive(Default)]
//! struct Unlimited(Fifo);
//!
//! impl QueueDisc for Unlimited {
//!     fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
//!         self.0.push(packet, ctx.now);
//!     }
//!
//!     fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
//!         self.0.pop_into(packet)
//!     }
//!
//!     fn peek(&self) -> Option<&Packet> {
//!         self.0.front()
//!     }
//!
//!     fn state(&self) -> QueueState {
//!         self.0.state()
//!     }
//! }
//!
//! let mut components = Components::default();
//! components.queues.register("unlimited", |_, _| Ok(Box::new(Unlimited::default())));
//! let report = simulate(
//!     r#"{
//!         "duration_ns": 1000000000,
//!         "flows": [{
//!             "source": {"kind": "cbr", "rate_bps": 2000000, "packet_bytes": 1250},
//!             "start": {"kind": "at", "time_ns": 0},
//!             "access": {"delay_ns": 0}, "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}
//!         }],
//!         "bottleneck": {"link": {"kind": "fixed", "rate_bps": 1000000},
//!                        "queue": {"kind": "unlimited"}},
//!         "ack_path": {"kind": "ideal"}
//!     }"#,
//!     &components,
//!     1,
//! )?;
//! // In one second 200 packets arrive, and the link starts the transmission of 100 of them.
//! assert_eq!(report.queues[0].max_packets, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The directory `crates/airpath/plugins` contains complete plug-ins: a queue discipline, a
//! congestion control algorithm and a link.
#![forbid(unsafe_code)]

// Units, packets, and the types of the stage interface.
pub use airpath_core::{
    Bytes, Control, Ctx, DropReason, Duration, Ecn, Flags, FlowId, Framing, LinkRate, Packet,
    PacketKind, Port, Rate, Series, Stage, StageError, Time, UserId,
};
// Construction and registration of components.
pub use airpath_core::registry::{read_component, read_config};
pub use airpath_core::{
    Checks, Component, ConfigError, Registry, Seed, Setup, Stream, above, at_least, at_most, below,
};
// Queue disciplines.
pub use airpath_aqm::{
    AnyQueue, Fifo, Queue, QueueDisc, QueueReport, QueueState, QueueWrapper, delegate_queue,
};
// Congestion control algorithms.
pub use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, CongestionControl, CongestionSetup, CongestionWrapper, IdleEvent,
    LossEvent, RateSample, RecoveryPhase, UndoEvent,
};
pub use airpath_tcp::{EcnUse, TcpConfig, delegate_congestion, profile};
// Receive-window policies.
pub use airpath_tcp::delegate_window;
pub use airpath_tcp::window::{
    AckSent, AnyWindow, Arrival, ReceiveWindow, WindowSetup, WindowState, WindowWrapper,
};
// Links.
pub use airpath_link::{
    DirectionContext, Link, LinkContext, LinkReport, Scale, SerialLink, SideReport, Transmission,
    Transmitter,
};
// Simulation with plug-ins.
pub use airpath_core::testing::TestHarness;
pub use airpath_path::{Components, ReplicationReport};

use airpath_path::{Scenario, build};
use airpath_sim::Driver;
use std::error::Error;
use std::sync::Arc;

/// Simulates one replication of a scenario that may use the kinds registered in `components`.
///
/// `scenario` is a resolved scenario: JSON in SI base units, as in the first value that
/// `ap.Scenario(…).resolve()` returns in Python. Scenarios with links that read files are rejected.
/// Equal seeds give bit-identical reports.
///
/// # Errors
/// Returns an error if the scenario is invalid or a component fails during the run.
pub fn simulate(
    scenario: &str,
    components: &Components,
    seed: u64,
) -> Result<ReplicationReport, Box<dyn Error>> {
    let scenario = Scenario::from_json(scenario)?;
    let mut driver = Driver::new(build(&scenario, components, &Arc::default(), seed, 0)?);
    driver.run(&())?;
    Ok(driver.report(0))
}
