//! Contains all integration tests of the crate, so that only one test binary is linked.

mod headers;
mod pcapng;
