//! All integration tests of the crate in one binary, so that linking happens once.

mod clamp_fluid;
mod common;
mod fixed_point;
mod hops;
mod md1k;
mod mimo;
mod network_fixed_point;
mod registry;
mod rtt_stages;
