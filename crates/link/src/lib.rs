//! Links: one file each, behind one contract.
//!
//! A link is a [`Stage`](airpath_core::Stage) that transmits from queues of its own: one for each
//! direction, or many, by name, made by its [`LinkKit`]. Links
//! that send one packet after another share [`SerialLink`] and differ in their [`Transmitter`]:
//! how long a transmission takes and how likely it fails. To add a link: its file and one line
//! in `registry.rs`.
//!
//! | file | link |
//! | --- | --- |
//! | `fixed.rs` | constant rate, Bernoulli loss |
//! | `multi_regime.rs` | rate and error rate chosen by the queue length |
//! | `adaptive.rs` | coding scheme chosen by a policy, from SNR and queue |
//! | `mimo/` | fading in two states, antennas, a code of packets |
//! | `rate_trace.rs` | piecewise-constant rate from a file |
//! | `trace.rs` | delivery opportunities from a recorded trace (Mahimahi) |
//! | `files.rs` | the files of a scenario, and values that links share |
//! | `air.rs` | what destroys frames: the link's own loss, and an error process |
//! | `framing.rs` | what a packet costs on the air |
//! | `meter.rs` | what a direction measures: capacity used, delivered, lost |
//! | `offset.rs` | where in its trace a link begins |
//! | `opportunity.rs` | how many bytes an opportunity carries |
//! | `scale.rs` | rates that follow a nominal rate |
//! | `wire.rs` | serialization and delay without a queue limit, for everything wired |
//! | `rlc/` | 3G radio bearer: RLC acknowledged mode, both directions |
//! | `cell/` | a fading cell: slots, a queue for each user, a scheduler |
//! | `recovery.rs` | HARQ (`harq.rs`) and ARQ (`arq.rs`) behind the air of a link |
//! | `loops.rs` | these and release in order behind the air of a serial link |
//! | `resequencer.rs`, `late.rs` | release in order; a delay that is not first in, first out |
//! | `scheduler/` | who is served in a slot of a cell, in a frame |
//! | `agenda.rs` | which users have something to do |
//! | `tdd/` | frames in which stations ask for their uplink |
//! | `request/`, `grant/` | how they ask; what they get unasked |
//! | `duplex.rs` | any two of them as the directions of one stage |
#![forbid(unsafe_code)]

mod adaptive;
mod agenda;
mod air;
mod arq;
pub mod cell;
mod duplex;
mod files;
mod fixed;
mod framing;
pub mod grant;
mod harq;
mod kit;
mod late;
mod link;
mod loops;
mod meter;
pub mod mimo;
mod multi_regime;
mod offset;
mod opportunity;
mod rate_trace;
mod recovery;
mod registry;
pub mod request;
mod resequencer;
mod rlc;
mod scale;
pub mod scheduler;
mod serial;
#[cfg(test)]
#[path = "../../../scripts/skeletons/link.rs.in"]
pub mod skeleton;
mod tdd;
mod trace;

pub use adaptive::{AdaptedRegime, AdaptedRegimes, Adaptive, AdaptiveConfig};
pub use arq::ArqConfig;
pub use cell::{Cell, CellConfig};
pub use duplex::Duplex;
pub use files::{Files, Shared, Tables, Traces};
pub use fixed::{Fixed, FixedConfig};
pub use framing::FramingConfig;
pub use harq::{AttemptErrors, Combining, Harq, HarqConfig, TableErrors};
pub use kit::{LinkKit, SideKit, Users};
pub use late::Late;
pub use link::{Link, LinkReport, SideReport, Sides, StationReport, Traffic, UserReport};
pub use meter::Meter;
pub use mimo::{Mimo, MimoChannel, MimoConfig};
pub use multi_regime::{MultiRegime, MultiRegimeConfig, RegimeConfig};
pub use offset::OffsetSpec;
pub use rate_trace::{RateTraceConfig, RateTraceTransmitter};
pub use recovery::{Ended, Recovery};
pub use registry::{AnyLink, LinkRegistry};
pub use resequencer::Resequencer;
pub use rlc::{OnMaxDat, PollStop, RlcAm, RlcConfig, WindowPoll};
pub use scale::Scale;
pub use serial::{SerialLink, Transmission, Transmitter};
pub use tdd::{Alone, Clock, MapOverhead, PiggybackRead, StationConfig, Tdd, TddConfig, Ways};
pub use trace::{TraceConfig, TraceLink};
