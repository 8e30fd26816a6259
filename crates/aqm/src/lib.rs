//! Queue disciplines, one file each, and the trait [`QueueDisc`], which all of them implement.
//!
//! A queue discipline owns the waiting packets and decides which of them are dropped or marked. It
//! does not read the state of any other part of the network. To add a discipline, write its file
//! (config, state, [`QueueDisc`], tests) and add one line to `registry.rs`.
//!
//! ```
//! use airpath_aqm::{DropTail, DropTailConfig, Limit, QueueDisc};
//! use airpath_core::{FlowId, Packet, Time, testing::TestHarness};
//! let mut harness = TestHarness::default();
//! let mut queue = DropTail::new(DropTailConfig { limit: Limit::Packets(1) });
//! for seq in [0, 1460] {
//!     queue.enqueue(&Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO), &mut harness.at(Time::ZERO));
//! }
//! assert_eq!((queue.packets(), harness.counts().total()), (1, 1));
//! ```
#![forbid(unsafe_code)]

mod ack_priority;
mod air_fifo;
mod ared;
mod clamp;
mod codel;
mod codel_dropper;
mod droptail;
mod dualpi2;
mod egress_rate;
mod fifo;
mod fq_codel;
mod gate;
mod gred;
mod l4span;
mod pie;
mod pie_probability;
mod plug_in;
mod queue;
mod queue_disc;
mod rate_table;
mod red;
mod red_dropper;
mod registry;
mod rem;
mod rlc_red;
mod sbd;
#[cfg(test)]
#[path = "../../../scripts/skeletons/aqm.rs.in"]
pub mod skeleton;
mod timed_fifo;
mod vcp;

pub use ack_priority::{AckPriority, AckPriorityConfig};
pub use ared::{Ared, AredConfig, ared_next_max_p, ared_target};
pub use clamp::{
    Clamp, ClampConfig, ClampTarget, DecayingRate, clamp_average_queue, clamp_next_a, clamp_price,
};
pub use codel::{Codel, CodelConfig};
pub use codel_dropper::{CeThreshold, CodelDropper, CodelParameters, codel_spacing};
pub use droptail::{DropTail, DropTailConfig, Limit};
pub use dualpi2::{DualPi2, DualPi2Config};
pub use fifo::Fifo;
pub use fq_codel::{FqCodel, FqCodelConfig, fq_codel_hash};
pub use gred::{Gred, GredConfig, gred_drop_probability};
pub use l4span::{L4Span, L4SpanConfig, l4span_classic_probability, l4span_l4s_probability};
pub use pie::{Pie, PieConfig, PieDelay};
pub use pie_probability::{PieGains, pie_next_drop_prob, pie_scale};
pub use queue::{Queue, QueueReport};
pub use queue_disc::{QueueDisc, QueueState, QueueWrapper};
pub use red::{Red, RedConfig};
pub use red_dropper::{
    RedCurve, RedDropper, RedSettings, RedVariant, RedVerdict, red_automatic_min_th,
    red_automatic_weight, red_average, red_final_probability, red_idle_average,
    red_initial_probability,
};
pub use registry::{AnyQueue, QueueRegistry};
pub use rem::{Rem, RemConfig, RemGains, RemMode, rem_idle_price, rem_next_price, rem_probability};
pub use rlc_red::{RlcRed, RlcRedConfig, RlcRedDrop, RlcRedRow, rlc_red_drop_probability};
pub use sbd::{
    Sbd, SbdAfterDrop, SbdConfig, SbdExpiry, SbdRow, sbd_critical_rate, sbd_measuring_time,
    sbd_threshold,
};
pub use timed_fifo::TimedFifo;
pub use vcp::{
    VcpAverage, VcpCapacity, VcpConfig, VcpQueue, vcp_average_queue, vcp_code, vcp_load_factor,
};
