//! Parts of a simulation in machine code that is not Airpath's own: the contract in C, and the
//! adapters to the engine's contracts.
//!
//! A part is a table of functions ([`contract::CongestionTable`]). Each object of a part has a
//! state, which the host allocates and the functions change. The functions of a part share nothing
//! but this state, so parts run on all threads, and the driver may call them in any order. The host
//! checks each value that a function sets ([`numbers`]). `calls` is the only module with unsafe
//! code.
#![deny(unsafe_code)]

mod calls;
pub mod congestion;
pub mod contract;
pub mod numbers;
#[cfg(test)]
mod tests;

pub use calls::TableError;
pub use congestion::{CompiledCongestion, Failure, FailureSource};
