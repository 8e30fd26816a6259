//! The real-time driver: the network of a scenario between two network namespaces.
//!
//! ```text
//!   server's namespace                                         client's namespace
//!   kernel TCP ─ TUN ──► open end ─ path (queue, link) ─ open end ──► TUN ─ kernel TCP
//!                  ◄──────────────── reverse path ◄────────────────────
//! ```
//!
//! It has no model of its own: packets that the kernel sends enter the path of `airpath_path` at the
//! open ends of its flows, with a handle to their bytes, and leave it at others. [`Driver`] says what
//! the time is and knows no system call: what is outside is an [`Outside`], which tests stand in for.
//! All that asks the kernel for something unusual is in `sys`, the only place with unsafe code.
#![deny(unsafe_code)]

pub mod addresses;
pub mod capture;
pub mod certificate;
pub mod classify;
mod counters;
pub mod description;
mod driver;
pub mod events;
pub mod flow_table;
pub mod meters;
pub mod namespaces;
pub mod netlink;
pub mod outside;
pub mod payloads;
pub mod privileges;
pub mod sys;
pub mod sysctls;

pub use driver::{Driver, Failed};
