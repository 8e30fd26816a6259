//! Every integration test of the crate in one binary, which is linked once.

mod clamp_fluid;
mod common;
mod fixed_point;
mod md1k;
mod mimo;
mod registry;
mod rtt_stages;
