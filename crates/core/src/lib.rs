//! Core types of Airpath: typed units, the packet, the trait [`Stage`], the wake-up queue, named
//! random streams, probes and statistics.
//!
//! ```text
//!   sender ──► access wire ──► [queue │ link] ──► egress wire ──► receiver
//!     ▲                                                              │
//!     └──── return wire ◄── (ACK link) ◄── ACK access wire ◄─────────┘
//! ```
//!
//! Every box is a [`Stage`]: it receives packets and the current time, returns the time of its next
//! wake-up, and places sent packets in an outbox. No stage reads a clock, sleeps, does I/O or calls
//! another stage, so the same code runs in virtual time (`airpath-sim`) and in real time.
//!
//! ```
//! use airpath_core::{Bytes, Rate, Time};
//! let transmission = Bytes(1500) / Rate::from_mbps(10);
//! assert_eq!((Time::ZERO + transmission).as_nanos(), 1_200_000);
//! ```
#![forbid(unsafe_code)]

mod bounds;
mod contract;
mod delay_parts;
mod ecn;
mod error;
mod framing;
mod histogram;
mod memory_budget;
mod packet;
mod probe;
pub mod registry;
mod ring;
pub mod rng;
mod stage;
pub mod stats;
pub mod testing;
mod units;
mod wakeups;

pub use bounds::{Bounds, Number, above, at_least, at_most, below};
pub use delay_parts::{DelayPart, DelayParts, DelaySums, FlowDelayParts, PacketInstant, WireLeg};
pub use ecn::Ecn;
pub use error::{Accepted, Checks, ConfigError, Problem, StageError, check_index};
pub use framing::{Framing, LinkRate, SymbolCode};
pub use histogram::{Delays, Histogram, Quantiles, SpanCount};
pub use memory_budget::{MemoryBudget, push_within};
pub use packet::{
    Flags, FlowId, Packet, PacketHead, PacketKind, PacketTail, PayloadHandle, SackBlock, UserId,
};
pub use probe::{FlowDrops, Recorder, Sample, Series};
pub use registry::{Component, Registries, Registry, Setup};
pub use ring::Ring;
pub use rng::{Seed, Stream};
pub use stage::{
    Bus, Control, Ctx, DropCount, DropReason, Emission, Interruption, Output, Port, QueueId, Stage,
    StageId, UserChange,
};
pub use units::{Bytes, Duration, Rate, Time};
pub use wakeups::Wakeups;
