//! The real-time driver, which connects two network namespaces by the simulated path of a scenario.
//!
//! ```text
//!   server's namespace                                         client's namespace
//!   kernel TCP ─ TUN ──► open end ─ path (queue, link) ─ open end ──► TUN ─ kernel TCP
//!                  ◄──────────────── reverse path ◄────────────────────
//! ```
//!
//! This crate contains no models of queues or links; the path is built by `airpath_path`. Packets
//! that the kernel sends enter the path at an open end of a flow and leave it at the other open
//! end. In the path they carry a handle to their bytes. [`Driver`] advances the time and makes no
//! system calls. All I/O is in implementations of the trait [`packet_io::PacketIo`]; tests use
//! their own implementation. System calls without a safe library function are in `sys`, the only
//! module with unsafe code.
#![deny(unsafe_code)]

pub mod addresses;
pub mod capture;
pub mod check;
pub mod classify;
pub mod counters;
pub mod description;
pub mod device;
pub mod devices;
mod driver;
pub mod endpoints;
pub mod events;
pub mod fixes;
pub mod flow_table;
mod host;
pub mod idle;
pub mod launcher;
pub mod meters;
pub mod namespaces;
pub mod netlink;
pub mod packet_io;
pub mod payloads;
pub mod prepare;
pub mod privileges;
pub mod report;
mod results;
mod run;
pub mod sys;
pub mod sysctls;
pub mod validity;

pub use driver::{Driver, EmulationError};
pub use run::{Channels, run};
