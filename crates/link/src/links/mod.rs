//! Links, one file or directory each, and their common components.
//!
//! | file | link |
//! | --- | --- |
//! | `fixed.rs` | constant rate, Bernoulli loss |
//! | `multi_regime.rs` | rate and error rate depend on the queue length |
//! | `adaptive.rs` | MCS selected by a policy, from SNR and queue length |
//! | `mimo/` | fading with two states, several antennas, Reed-Solomon code for packets |
//! | `rate_trace.rs` | piecewise-constant rate from a file |
//! | `trace.rs` | delivery opportunities from a recorded trace (Mahimahi) |
//! | `rlc/` | 3G radio bearer: RLC acknowledged mode in both directions |
//! | `cell/` | a fading cell: slots, a queue for each user, a scheduler |
//! | `tdd/` | TDD frames in which stations request uplink bandwidth |
//!
//! `registry.rs` lists all links.
//!
//! | file | part |
//! | --- | --- |
//! | `serial.rs` | common part of links that send one packet after another, with a [`Transmitter`](crate::Transmitter) |
//! | `frame_errors.rs` | frame errors: loss probability of the link, and an error process |
//! | `framing.rs` | the air time of a packet |
//! | `meter.rs` | measurements of a direction: used capacity, delivered packets, lost packets |
//! | `offset.rs` | position in a trace at which a run starts |
//! | `opportunity.rs` | number of bytes that a delivery opportunity carries |
//! | `scale.rs` | rates that are scaled in proportion to the nominal rate |

pub(crate) mod adaptive;
pub mod cell;
pub(crate) mod fixed;
pub(crate) mod frame_errors;
pub(crate) mod framing;
pub(crate) mod meter;
pub mod mimo;
pub(crate) mod multi_regime;
pub(crate) mod offset;
pub(crate) mod opportunity;
pub(crate) mod rate_trace;
pub(crate) mod registry;
pub(crate) mod rlc;
pub(crate) mod scale;
pub(crate) mod serial;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/link.rs.in"]
pub mod skeleton;
pub(crate) mod tdd;
pub(crate) mod trace;
