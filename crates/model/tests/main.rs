//! Every integration test of the crate in one binary, which is linked once.

mod common;

mod limits;
mod properties;
mod qawla_tables;
mod second_opinion;
mod swings;
