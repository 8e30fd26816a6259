//! Opens packet sockets, and changes settings of their Ethernet devices.

use super::result;
use super::sockets::set;
use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// `SO_MEMINFO` of asm-generic/socket.h, and the index of `SK_MEMINFO_DROPS` in its result.
const SO_MEMINFO: libc::c_int = 55;
const DROPS: usize = 8;
/// `SIOCETHTOOL` of linux/sockios.h, and `ETHTOOL_STXCSUM` of linux/ethtool.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_STXCSUM: u32 = 0x17;

/// `struct ethtool_value`.
#[repr(C)]
struct Setting {
    command: u32,
    value: u32,
}

/// The request of `SIOCETHTOOL`: `struct ifreq`, whose union is 24 bytes with 64-bit pointers.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    setting: *mut Setting,
    rest: [u8; 56],
}

/// Opens a non-blocking socket that reads and writes the Ethernet frames with IPv4 packets of a
/// device, given by its index.
///
/// Writes bypass the queue of the device. The kernel installs this queue some time after the device
/// is up, and without error drops what is written before.
///
/// # Errors
/// Fails if it is not permitted.
pub fn packet_socket(device: u32) -> io::Result<File> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes and returns plain numbers. With protocol 0, the socket receives nothing before
    // it is bound.
    let number = result(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: it was opened by the call before, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_IP as u16).to_be(),
        sll_ifindex: device.cast_signed(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of `address` during the call.
    result(unsafe { libc::bind(number, (&raw const address).cast(), length) })?;
    set(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1)?;
    Ok(socket.into())
}

/// Returns the number of packets that a socket has dropped so far because its buffer was full.
///
/// # Errors
/// Fails if the kernel does not report it.
pub fn dropped_by(socket: impl AsFd) -> io::Result<u64> {
    let mut numbers = [0_u32; 16];
    let mut length = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `numbers`, which is that long, and the
    // number of bytes that it has written into `length`; both outlive the call.
    result(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(numbers[DROPS].into())
}

/// Disables checksum offload of a device of the current network namespace: the kernel computes
/// checksums, and therefore also segments packets, before they enter the device.
///
/// # Errors
/// Fails if the kernel rejects it.
pub fn compute_checksums(device: &str) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    let mut setting = Setting { command: ETHTOOL_STXCSUM, value: 0 };
    let mut request =
        Request { name: [0; libc::IFNAMSIZ], setting: &raw mut setting, rest: [0; 56] };
    if device.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    request.name[..device.len()].copy_from_slice(device.as_bytes());
    // SAFETY: the kernel reads a `struct ifreq` at the address, which is no larger than `Request`
    // and has the same beginning, and the `struct ethtool_value` that it points to; both outlive
    // the call.
    result(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) })?;
    Ok(())
}
