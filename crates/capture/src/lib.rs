//! Packets in capture files: IPv4, TCP and UDP headers, and the pcapng file.
//!
//! | concern | file |
//! | --- | --- |
//! | the internet checksum | `checksum.rs` |
//! | addresses, sequence numbers, options: the headers of one flow | `headers.rs` |
//! | the blocks of a pcapng file | `pcapng.rs` |
//!
//! This crate does not open files: it writes to a given [`std::io::Write`]. A simulated packet has
//! no headers. The fields of a capture that the simulation does not have (addresses, ports, initial
//! sequence numbers, identification) are derived from the flow number, so that equal runs give
//! equal files.
#![forbid(unsafe_code)]

mod checksum;
mod headers;
mod pcapng;

pub use checksum::internet_checksum;
pub use headers::{Connection, Endpoint, Headers, SNAP_LENGTH, TcpSettings};
pub use pcapng::{Direction, Interface, PcapngWriter, Section};
