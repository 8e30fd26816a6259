//! Capture files: generates IPv4, TCP and UDP headers for simulated packets, and writes pcapng
//! files.
//!
//! | concern | file |
//! | --- | --- |
//! | the internet checksum | `checksum.rs` |
//! | headers of the packets of one flow: addresses, sequence numbers, options | `headers.rs` |
//! | the blocks of a pcapng file | `pcapng.rs` |
//!
//! This crate does not open files: it writes to a given [`std::io::Write`]. A simulated packet has
//! no headers. Header fields that do not exist in the simulation (addresses, ports, initial
//! sequence numbers, identification) are derived from the flow ID, so that equal runs produce equal
//! files.
#![forbid(unsafe_code)]

mod checksum;
mod headers;
mod pcapng;

pub use checksum::internet_checksum;
pub use headers::{Connection, Endpoint, Headers, SNAP_LENGTH, TcpSettings};
pub use pcapng::{Direction, Interface, PcapngWriter, Section};
