//! System calls for which no safe library function exists. This is the only module of the driver
//! with unsafe code.
//!
//! * `tun`: `TUNSETIFF`. Sound: the request outlives the call and is as large as the kernel reads
//!   and writes.
//! * `packet`: `socket` and `bind` of packet sockets, `getsockopt(SO_MEMINFO)`, `SIOCETHTOOL`.
//!   Sound: the structures are as large as the kernel reads and writes, and outlive the calls.
//! * `sockets`: `getsockopt(TCP_INFO)`, `setsockopt` of integers. Sound: the passed length is that
//!   of the buffer; the result is parsed as bytes.
//! * `scheduling`: the scheduling class of the calling thread. Sound: the parameter is only read
//!   during the call.
//! * `capabilities`: `capget`, `capset`, `prctl` of the bounding and the ambient set and of
//!   `securebits`. Sound: plain numbers, and two arrays with the size of version 3 of the
//!   interface.
//! * `descriptors`: takes over an inherited descriptor. Sound: it is open, and no other part of the
//!   program owns it.
//! * `processes`: `fork`, closing inherited descriptors, `mount_setattr`, default actions of
//!   signals. Sound: a process with one thread is copied completely, so the copy is consistent; the
//!   copy never returns to the caller.
//!
//! Functions accept owned or borrowed descriptors, never descriptor numbers.
#![allow(unsafe_code)]

mod capabilities;
mod descriptors;
mod packet;
mod processes;
mod scheduling;
mod sockets;
mod tcp_info;
mod tun;

pub use capabilities::{
    CAP_NET_ADMIN, CAP_NET_RAW, CAP_SETPCAP, CAP_SYS_ADMIN, Capabilities, capabilities,
    drop_capabilities, keep_capabilities,
};
pub use descriptors::inherited;
pub use packet::{compute_checksums, dropped_by, packet_socket};
pub use processes::{
    close_all_but_standard, fork, is_single_threaded, make_mounts_nosuid, set_signal,
};
pub use scheduling::{Class, class, set_fifo, set_other};
pub use sockets::{
    set_extended_acks, set_max_segment, set_pacing, set_unsent_limit, set_window_clamp, tcp_info,
};
pub use tcp_info::TcpInfo;
pub use tun::open_tun;

use std::io;

/// Converts the return value of a call that returns a negative number on failure.
fn result(value: libc::c_int) -> io::Result<libc::c_int> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}
