//! Links, one file or directory each, and the trait [`Link`], which all of them implement.
//!
//! A link is a [`Stage`](airpath_core::Stage) that transmits packets from its own queues. The
//! [`LinkContext`] creates the queues: one queue for each direction, or several named queues. Links
//! that send one packet after another share [`SerialLink`] and differ in their [`Transmitter`],
//! which defines the duration of a transmission and its loss probability. To add a link, write its
//! file and add one line to `links/mod.rs` and one to `links/registry.rs`.
//!
//! | file or directory | contents |
//! | --- | --- |
//! | `link.rs` | the trait of a link, and its measurements |
//! | `context.rs` | inputs of the construction of a link: queues, outputs, files |
//! | `files.rs` | the files of a scenario, and values that links share |
//! | `interruptible.rs` | a link that can be interrupted, for example by a handover |
//! | `links/` | the links |
//! | `mac/` | schedulers, bandwidth requests, grants |
//! | `retransmission/` | HARQ and ARQ |
#![forbid(unsafe_code)]

mod context;
mod files;
mod interruptible;
mod link;
pub mod links;
pub mod mac;

mod retransmission;

pub use context::{DirectionContext, LinkContext, Users};
pub use files::{Files, Shared, Tables, Traces};
pub use interruptible::InterruptibleLink;
pub use link::{Link, LinkReport, SideReport, Sides, StationReport, UserReport};
pub use links::adaptive::{AdaptedRegime, AdaptedRegimes, Adaptive, AdaptiveConfig};
pub use links::cell::{Cell, CellConfig};
pub use links::fixed::{Fixed, FixedConfig};
pub use links::framing::FramingConfig;
pub use links::meter::Meter;
pub use links::mimo::{Mimo, MimoChannel, MimoConfig};
pub use links::multi_regime::{MultiRegime, MultiRegimeConfig, RegimeConfig};
pub use links::offset::OffsetSpec;
pub use links::rate_trace::{RateTraceConfig, RateTraceTransmitter};
pub use links::registry::{AnyLink, LinkRegistry};
pub use links::rlc::{OnMaxDat, PollStop, RlcAm, RlcConfig, WindowPoll};
pub use links::scale::Scale;
pub use links::serial::{SerialLink, Transmission, Transmitter};
pub use links::tdd::{
    Clock, MapOverhead, PerDirection, PiggybackRead, SingleStation, StationConfig, Tdd, TddConfig,
};
pub use links::trace::{TraceConfig, TraceLink};
pub use links::{cell, mimo};
pub use mac::{grant, request, scheduler};
pub use retransmission::arq::ArqConfig;
pub use retransmission::delay_queue::DelayQueue;
pub use retransmission::harq::{AttemptErrors, Combining, Harq, HarqConfig, TableErrors};
pub use retransmission::resequencer::Resequencer;
pub use retransmission::{BlockOutcome, Retransmission};
