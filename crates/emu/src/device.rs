//! Opens the network device of a side: a TUN device, or one end of a veth pair if TUN is not
//! permitted.
//!
//! ```text
//!   TUN:   kernel ─ emu0 ── file                     veth:   kernel ─ emu0 ═ emup ── packet socket
//!          namespace of the side                             of the side │ of the pair's other end
//! ```
//!
//! Source: packet(7), veth(4), linux/if_ether.h. The namespace of the other end exists as long as
//! the packet socket is open.

use crate::fixes::Environment;
use crate::netlink::Netlink;
use crate::sys;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{setsockopt, sockopt};
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use thiserror::Error;

/// Name of the other end of a veth pair, which is the only device in its namespace.
const PEER: &str = "emup";
/// Ethernet address of the end of a veth pair that is in the side's namespace (locally
/// administered).
const ADDRESS: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Ethernet header of each packet on a pair. The device has no neighbours (`IFF_NOARP`), so both
/// addresses are those of the device.
const HEADER: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 8, 0];
/// Buffer size for packets between the kernel and the data thread, bytes: 10 000 full-sized
/// packets.
const BUFFER: usize = 32 << 20;

/// A non-blocking device for IPv4 packets.
#[derive(Debug)]
pub struct Device {
    file: File,
    is_pair: bool,
    name: String,
}

/// Reason for which no TUN device could be opened, and its fix.
#[derive(Clone, Debug, Error)]
#[error("{reason}; {fix}")]
pub struct TunError {
    /// Error of the kernel.
    pub reason: String,
    /// Instruction that makes TUN devices available.
    pub fix: String,
}

impl Device {
    /// Opens a TUN device in the current network namespace. `name` may contain `%d` for the first
    /// free number.
    ///
    /// # Errors
    /// Fails if the machine does not permit it.
    pub fn tun(name: &str) -> Result<Device, TunError> {
        let refused = |error: io::Error| TunError {
            reason: format!("cannot open a TUN device: {error}"),
            fix: Environment::detect().tun(&error),
        };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(refused)?;
        let name = sys::open_tun(&file, name).map_err(refused)?;
        Ok(Device { file, is_pair: false, name })
    }

    /// Creates a veth pair: `name` in the current network namespace, and the other end, from which
    /// packets are read, in a separate namespace.
    ///
    /// # Errors
    /// Fails if the machine does not permit it, or the kernel has no veth devices.
    pub fn pair(name: &str) -> io::Result<Device> {
        let here = File::open("/proc/thread-self/ns/net")?;
        unshare(CloneFlags::CLONE_NEWNET)?;
        let there = File::open("/proc/thread-self/ns/net")?;
        setns(&here, CloneFlags::CLONE_NEWNET)?;
        Netlink::open()?.add_pair(name, ADDRESS, PEER, there.as_fd())?;
        sys::compute_checksums(name)?;
        setns(&there, CloneFlags::CLONE_NEWNET)?;
        let opened = open_peer();
        setns(&here, CloneFlags::CLONE_NEWNET)?;
        Ok(Device { file: opened?, is_pair: true, name: name.to_owned() })
    }

    /// Returns the name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the device is one end of a veth pair.
    pub fn is_pair(&self) -> bool {
        self.is_pair
    }

    /// Returns another handle of the same device.
    ///
    /// # Errors
    /// Fails if the system has no more file descriptors.
    pub fn try_clone(&self) -> io::Result<Device> {
        Ok(Device { file: self.file.try_clone()?, name: self.name.clone(), ..*self })
    }

    /// Reads the next packet that the kernel sends. Returns its length.
    ///
    /// # Errors
    /// `WouldBlock` if no packet waits.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_pair {
            return (&self.file).read(buffer);
        }
        let mut header = HEADER;
        let parts = &mut [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
        Ok((&self.file).read_vectored(parts)?.saturating_sub(HEADER.len()))
    }

    /// Passes a packet to the kernel.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        if !self.is_pair {
            return (&self.file).write(packet).map(drop);
        }
        (&self.file).write_vectored(&[IoSlice::new(&HEADER), IoSlice::new(packet)]).map(drop)
    }

    /// Returns the number of packets that the kernel sent and that were lost before they could be
    /// read from this device, so far.
    ///
    /// # Errors
    /// Fails if the kernel does not report it.
    pub fn lost(&self) -> io::Result<u64> {
        if self.is_pair { sys::dropped_by(&self.file) } else { Ok(0) }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens the socket at the other end of a pair, in the current network namespace.
fn open_peer() -> io::Result<File> {
    let peer = if_nametoindex(PEER)?;
    // The device must be up first: a socket that is bound to a device that is down reports an
    // error.
    Netlink::open()?.up(peer)?;
    let socket = sys::packet_socket(peer)?;
    // Before Linux 5.16 this is not permitted in a user namespace, and the limit of the system
    // applies.
    if setsockopt(&socket, sockopt::RcvBufForce, &BUFFER).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &BUFFER)?;
    }
    Ok(socket)
}
