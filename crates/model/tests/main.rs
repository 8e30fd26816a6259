//! All integration tests of the crate in one binary, so that linking happens once.

mod common;

mod limits;
mod network;
mod oscillation;
mod properties;
mod qawla_tables;
mod second_opinion;
