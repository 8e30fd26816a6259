//! Tests of the RLC link: its components over a lossy channel, the complete link, and each rule of
//! docs/reference/models/rlc-am.md.

mod duplex;
mod exchanges;
mod hostile;
mod settings;
mod steps;
mod world;
