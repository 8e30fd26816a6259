//! All integration tests of the crate, in one binary that is linked once.

mod descriptions;

mod every_discipline;
mod idle_links;
