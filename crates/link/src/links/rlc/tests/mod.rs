//! Tests of the RLC link: its parts under a hostile air, the whole link, and the rules of
//! docs/reference/models/rlc-am.md one by one.

mod duplex;
mod exchanges;
mod hostile;
mod settings;
mod steps;
mod world;
