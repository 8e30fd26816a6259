//! The real-time driver: against the virtual one with a fake outside, and with the kernel where the
//! machine allows it.

#[allow(dead_code, reason = "the simulator's tests use all of it")]
#[path = "../../sim/tests/common/mod.rs"]
mod common;

mod both_drivers;
