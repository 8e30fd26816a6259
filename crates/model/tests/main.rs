//! Every integration test of the crate in one binary, which is linked once.

mod common;

mod limits;
mod oscillation;
mod properties;
mod qawla_tables;
mod second_opinion;
