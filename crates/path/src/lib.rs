//! From a resolved scenario to wired-up stages.
//!
//! ```text
//!   sender ─ access ─► bottleneck ─ egress ─► receiver
//!      ▲                                         │
//!      └── return ◄── (ACK link │ reverse side │ nothing) ◄──┘
//! ```
//!
//! A [`Scenario`] is the description in SI base units that the Python side writes as JSON. It is
//! wired into a [`Network`], which knows no driver: virtual and real time run the same one.
#![forbid(unsafe_code)]

mod any_stage;
mod build;
mod delayed;
mod flows;
mod hops;
mod network;
mod phases;
pub mod quantities;
mod report;
mod scenario;

pub use any_stage::AnyStage;
pub use build::{Parts, build};
pub use flows::Flows;
pub use hops::{AckPath, Bottleneck, HopSpec};
pub use network::{FlowStages, LinkPlace, Network, Route, Routes};
pub use phases::{FlowPhase, LinkPhase, PhaseReport, QueuePhase, Totals, phases};
pub use report::{
    DelayQuantiles, FlowReport, GroupReport, LinkSummary, QueueSummary, ReplicationReport, Together,
};
pub use scenario::{
    Action, ControlSpec, Direction, FlowSpec, Record, Scenario, SourceSpec, StartSpec, TcpSpec,
    WireSpec,
};
