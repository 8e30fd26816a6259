//! Links, one file or directory each, and what they are made of.
//!
//! | file | link |
//! | --- | --- |
//! | `fixed.rs` | constant rate, Bernoulli loss |
//! | `multi_regime.rs` | rate and error rate chosen by the queue length |
//! | `adaptive.rs` | coding scheme chosen by a policy, from SNR and queue |
//! | `mimo/` | fading in two states, antennas, a code of packets |
//! | `rate_trace.rs` | piecewise-constant rate from a file |
//! | `trace.rs` | delivery opportunities from a recorded trace (Mahimahi) |
//! | `rlc/` | 3G radio bearer: RLC acknowledged mode, both directions |
//! | `cell/` | a fading cell: slots, a queue for each user, a scheduler |
//! | `tdd/` | frames in which stations request their uplink |
//! | `duplex.rs` | any two of them as the directions of one stage |
//!
//! `registry.rs` lists them.
//!
//! | file | part |
//! | --- | --- |
//! | `serial.rs` | a link that sends one packet after another, from a [`Transmitter`](crate::Transmitter) |
//! | `frame_errors.rs` | frame errors: the link's own loss, and an error process |
//! | `framing.rs` | the air time of a packet |
//! | `meter.rs` | measurements of a direction: capacity used, packets delivered, packets lost |
//! | `offset.rs` | the time of a trace at which a link begins |
//! | `opportunity.rs` | the bytes that an opportunity carries |
//! | `scale.rs` | rates that follow a nominal rate |

pub(crate) mod adaptive;
pub mod cell;
pub(crate) mod duplex;
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
