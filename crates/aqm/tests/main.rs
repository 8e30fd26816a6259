//! All integration tests of the crate, in one binary.

mod descriptions;

mod every_discipline;
mod idle_links;
