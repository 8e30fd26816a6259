//! The real-time driver: the network of a scenario between two network namespaces.
//!
//! ```text
//!   server's namespace                                         client's namespace
//!   kernel TCP ─ TUN ──► open end ─ path (queue, link) ─ open end ──► TUN ─ kernel TCP
//!                  ◄──────────────── reverse path ◄────────────────────
//! ```
//!
//! It contains no model: packets that the kernel sends enter the path of `airpath_path` at the open
//! ends of its flows, with a handle to their bytes, and leave it at others. [`Driver`] advances the
//! time and makes no system calls: I/O is a [`packet_io::PacketIo`], which tests replace. All
//! unusual calls of the kernel are in `sys`, the only place with unsafe code.
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
