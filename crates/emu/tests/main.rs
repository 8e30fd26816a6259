//! Tests of the real-time driver against the virtual-time driver, with a fake kernel.

#[allow(dead_code, reason = "the simulator's tests use all of it")]
#[path = "../../sim/tests/common/mod.rs"]
mod common;

mod both_drivers;
