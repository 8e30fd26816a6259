//! Socket options for which no library function exists.

use super::{TcpInfo, result};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `SOL_NETLINK` and `NETLINK_EXT_ACK` of linux/netlink.h.
const SOL_NETLINK: libc::c_int = 270;
const NETLINK_EXT_ACK: libc::c_int = 11;

/// Returns `struct tcp_info` of a TCP connection.
///
/// # Errors
/// Fails if it is not a TCP socket.
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; 512];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `bytes`, which is that long, and the
    // number of bytes that it has written into `length`; both outlive the call.
    result(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(TcpInfo::parse(&bytes[..(length as usize).min(bytes.len())]))
}

/// Limits the segment size of a TCP socket before it connects or listens, payload bytes:
/// `TCP_MAXSEG`.
///
/// # Errors
/// Fails if the kernel does not accept the value.
pub fn set_max_segment(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, bytes)
}

/// Limits the receive window of a TCP socket, bytes: `TCP_WINDOW_CLAMP`.
///
/// # Errors
/// Fails if the kernel does not accept the value.
pub fn set_window_clamp(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Limits the number of unsent bytes in a TCP socket: `TCP_NOTSENT_LOWAT`.
///
/// # Errors
/// Fails if the kernel does not accept the value.
pub fn set_unsent_limit(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, bytes)
}

/// Enables pacing of a TCP socket at the rate that the kernel computes. Any value of
/// `SO_MAX_PACING_RATE` except the maximum enables pacing; the value used here is too large to
/// limit the rate.
///
/// # Errors
/// Fails if the kernel does not accept the value.
pub fn set_pacing(socket: impl AsFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, i32::MAX as u32)
}

/// Enables error messages as text on a netlink socket: `NETLINK_EXT_ACK`.
///
/// # Errors
/// Fails if the kernel does not support it.
pub fn set_extended_acks(socket: impl AsFd) -> io::Result<()> {
    set(socket, SOL_NETLINK, NETLINK_EXT_ACK, 1)
}

/// Sets an integer option of a socket.
///
/// # Errors
/// Returns the error of the kernel.
pub(super) fn set(
    socket: impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: u32,
) -> io::Result<()> {
    let value =
        libc::c_int::try_from(value).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: the kernel reads one integer, whose size is passed, during the call.
    result(unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    })?;
    Ok(())
}

#[test]
fn tcp_info_describes_a_connection() {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("bind");
    let mut client = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
    let (mut server, _) = listener.accept().expect("accept");
    client.write_all(&[7; 3000]).expect("write");
    server.read_exact(&mut [0; 3000]).expect("read");
    let info = tcp_info(&client).expect("info");
    assert_eq!((info.state, info.bytes_sent, info.total_rto), (1, 3000, 0));
    assert!(info.snd_cwnd > 0 && info.rto >= 1000 && info.length >= 104, "{info:?}");
    assert_eq!(tcp_info(&server).expect("info").bytes_received, 3000);
    set_window_clamp(&server, 20_000).expect("clamp");
    set_max_segment(&client, 1000).expect("segment");
    assert!(tcp_info(std::net::UdpSocket::bind(("127.0.0.1", 0)).expect("bind")).is_err());
}
