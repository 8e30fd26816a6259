//! Packets as a capture shows them: IPv4, TCP and UDP headers, and the pcapng file around them.
//!
//! | concern | file |
//! | --- | --- |
//! | the internet checksum | `checksum.rs` |
//! | addresses, sequence numbers, options: the headers of one flow | `headers.rs` |
//! | the blocks of a pcapng file | `pcapng.rs` |
//!
//! Nothing here opens files: a file is written to a given [`std::io::Write`]. A packet of the
//! simulation carries no header; all that a capture shows and the simulation does not have
//! (addresses, ports, initial sequence numbers, the identification field) follows from the number
//! of the flow, so that equal runs give equal files.
#![forbid(unsafe_code)]

mod checksum;
mod headers;
mod pcapng;

pub use checksum::internet_checksum;
pub use headers::{Connection, Endpoint, Headers, SNAP_LENGTH, TcpSettings};
pub use pcapng::{Direction, Interface, PcapngWriter, Section};
