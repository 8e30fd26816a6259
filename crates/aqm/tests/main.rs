//! Every integration test of the crate in one binary, which is linked once.

mod descriptions;

mod every_discipline;
mod idle_links;
