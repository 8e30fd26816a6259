//! All integration tests of the crate in one binary, which is linked once.

mod headers;
mod pcapng;
