//! Every integration test of the crate in one binary, which is linked once.

mod common;
mod fixed_point;
mod md1k;
mod registry;
