//! Builds a network of connected stages from a resolved scenario.
//!
//! ```text
//!   sender ─ access ─► bottleneck ─ egress ─► receiver
//!      ▲                                         │
//!      └─ return ◄─ (ACK link │ reverse side │ nothing) ◄─ ACK access ─┘
//! ```
//!
//! A [`Scenario`] is a description in SI base units, which the Python package writes as JSON.
//! [`build()`] turns the scenario into a [`Network`], which does not depend on a driver. Drivers in
//! virtual time and in real time run the same network as a [`RunningNetwork`], which delivers
//! packets and schedules wake-ups. [`build_cut`] leaves ends of flows open. At an open end, no
//! endpoint is built, and the driver injects packets and removes them.
#![forbid(unsafe_code)]

mod any_stage;
mod applications;
mod bad_wakeup;
mod build;
mod check;
mod clocks;
mod components;
mod control_events;
mod controls;
mod delay_events;
mod delay_parts;
mod delay_watch;
mod delivery;
mod distributions;
mod dumbbell;
mod endpoints;
mod flows;
mod hops;
mod network;
mod open_end;
mod outboxes;
mod passages;
mod phases;
pub mod quantities;
mod queue_names;
mod relay;
mod report;
mod routing;
mod running;
mod scenario;
mod stations;
mod timetable;
mod watched_delivery;
mod wire;
mod wire_queue;

pub use any_stage::AnyStage;
pub use applications::{ApplicationReports, CallReport, RequestsReport, VideoClientReport};
pub use bad_wakeup::{Livelock, WakeupInPast};
pub use build::{build, build_cut};
pub use check::check_table;
pub use components::{Components, FAMILIES, check_component};
pub use controls::{Action, ControlSpec, InterruptedPackets};
pub use delay_parts::{DelayKind, DelayPartsReport};
pub use distributions::{
    AggregateReport, DelayQuantiles, GroupDelays, GroupReport, PacketDistribution, PacketTime,
};
pub use dumbbell::{AckPath, Bottleneck, Dumbbell};
pub use flows::Flows;
pub use hops::{Hop, HopDirection, HopSpec};
pub use network::{Change, Event, FlowStages, HopPlace, LinkPlace, Network, Route, Routes};
pub use open_end::{OpenEnd, OpenEnds, Traffic};
pub use phases::{FlowPhase, LinkPhase, PhaseReport, QueuePhase, Totals, phases};
pub use relay::Relay;
pub use report::{FlowReport, LinkSummary, QueueSummary, ReplicationReport};
pub use routing::Input;
pub use running::{Exit, Failure, Observer, RunningNetwork};
pub use scenario::{
    Direction, FlowSpec, Record, Scenario, SourceSpec, StartSpec, TcpSpec, WireSpec,
};
pub use stations::{MacDelays, StationSummary, UserSummary};
pub use timetable::Timetable;
pub use wire::{DelayChange, Wire, WireDelay};
