//! All integration tests of the crate, in one binary.

mod traces;

mod adaptive;
mod adaptive_descriptions;
mod cell;
mod cell_mcs;
mod errors;
mod every_link;
mod harq;
mod mimo;
mod rate_change;
mod snr;
mod stalled_link;
mod trace_semantics;
