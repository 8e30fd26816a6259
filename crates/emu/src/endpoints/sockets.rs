//! Creates the sockets of flows in the correct namespace and with the flow's options, and reads and
//! writes them.

use super::EndpointFlow;
use crate::packet_io::Side;
use crate::sys;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessageOwned, MsgFlags, SockFlag, SockType, SockaddrIn,
    TimestampingFlag, bind, connect, getsockopt, listen, recv, recvmsg, send, setsockopt, socket,
    sockopt,
};
use nix::sys::time::TimeSpec;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// Payload of all flows: zeros.
static ZEROS: [u8; 128 * 1024] = [0; 128 * 1024];

/// The namespaces of both sides, and the current namespace of the calling thread.
pub(super) struct NamespaceSwitcher {
    netns: [OwnedFd; 2],
    present: Option<Side>,
}

impl NamespaceSwitcher {
    pub(super) fn new(netns: [OwnedFd; 2]) -> NamespaceSwitcher {
        NamespaceSwitcher { netns, present: None }
    }

    /// Moves the calling thread into the namespace of `side`. New sockets belong to this namespace.
    pub(super) fn enter(&mut self, side: Side) -> io::Result<()> {
        if self.present != Some(side) {
            setns(&self.netns[side as usize], CloneFlags::CLONE_NEWNET)?;
            self.present = Some(side);
        }
        Ok(())
    }
}

/// Creates a TCP socket with the options that apply to both ends of a flow.
fn new(flow: &EndpointFlow) -> io::Result<OwnedFd> {
    let fd = plain()?;
    set_congestion(&fd, &flow.congestion)?;
    setsockopt(&fd, sockopt::ReuseAddr, &true)?;
    if let Some(mss) = flow.mss {
        sys::set_max_segment(&fd, mss)?;
    }
    Ok(fd)
}

fn plain() -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    Ok(socket(AddressFamily::Inet, SockType::Stream, flags, None)?)
}

fn address(flow: &EndpointFlow, side: Side) -> SockaddrIn {
    SocketAddrV4::new(flow.address(side), flow.port).into()
}

/// Creates the listening socket of a flow. The calling thread must be in the receiver's namespace.
pub(super) fn listener(flow: &EndpointFlow) -> io::Result<TcpListener> {
    let fd = new(flow)?;
    if let Some(bytes) = flow.window_clamp {
        reserve_buffer(&fd, bytes)?;
        sys::set_window_clamp(&fd, bytes)?;
    }
    bind(fd.as_raw_fd(), &address(flow, flow.sender.other()))?;
    listen(&fd, Backlog::new(1)?)?;
    Ok(TcpListener::from(fd))
}

/// Reserves a receive buffer for a window of `bytes` at the start. The requested size is twice the
/// window, which the kernel doubles for its overhead. If this size is not permitted, the kernel
/// increases the buffer automatically.
fn reserve_buffer(fd: &OwnedFd, bytes: u32) -> io::Result<()> {
    let wanted = 2 * bytes as usize;
    if setsockopt(fd, sockopt::RcvBufForce, &wanted).is_err() && wanted <= largest_buffer() {
        setsockopt(fd, sockopt::RcvBuf, &wanted)?;
    }
    Ok(())
}

/// Returns the largest receive buffer that sockets may request.
fn largest_buffer() -> usize {
    let text = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Starts a non-blocking connect of a flow's sender. The calling thread must be in the sender's
/// namespace.
pub(super) fn sender(flow: &EndpointFlow, wants_acks: bool) -> io::Result<TcpStream> {
    let fd = new(flow)?;
    if flow.pacing {
        sys::set_pacing(&fd)?;
    }
    if wants_acks {
        let acks = libc::SOF_TIMESTAMPING_TX_ACK | libc::SOF_TIMESTAMPING_OPT_TSONLY;
        let acks = TimestampingFlag::from_bits_retain(acks);
        let flags = acks | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
        setsockopt(&fd, sockopt::Timestamping, &flags)?;
    }
    bind(fd.as_raw_fd(), &address(flow, flow.sender))?;
    match connect(fd.as_raw_fd(), &address(flow, flow.sender.other())) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(TcpStream::from(fd)),
        Err(error) => Err(error.into()),
    }
}

/// Accepts a connection, if one is waiting.
pub(super) fn accept(listener: &TcpListener) -> io::Result<Option<TcpStream>> {
    match listener.accept() {
        Ok((stream, _)) => {
            fcntl(&stream, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
            Ok(Some(stream))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes up to `bytes` zeros, as many as the socket accepts, and returns their number. If the
/// socket accepts fewer than `bytes`, it signals an event when it accepts more.
pub(super) fn write(stream: &TcpStream, bytes: u64) -> io::Result<u64> {
    let mut written = 0;
    while written < bytes {
        let wanted = (bytes - written).min(ZEROS.len() as u64) as usize;
        match send(stream.as_raw_fd(), &ZEROS[..wanted], MsgFlags::MSG_NOSIGNAL) {
            Ok(taken) => written += taken as u64,
            Err(Errno::EAGAIN) => return Ok(written),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(written)
}

/// Result of a read.
pub(super) enum ReadResult {
    /// Number of bytes read.
    Bytes(u64),
    /// No data available now.
    Nothing,
    /// End of the stream.
    End,
}

/// Reads and discards received data, at most the size of `buffer`.
pub(super) fn read(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<ReadResult> {
    // With TCP, MSG_TRUNC discards the received bytes without copying.
    match recv(stream.as_raw_fd(), buffer, MsgFlags::MSG_TRUNC) {
        Ok(0) => Ok(ReadResult::End),
        Ok(bytes) => Ok(ReadResult::Bytes(bytes as u64)),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(ReadResult::Nothing),
        Err(error) => Err(error.into()),
    }
}

/// Returns the time of `CLOCK_REALTIME` at which the end of a write was acknowledged. `None` if the
/// kernel has reported no such time since the previous call.
pub(super) fn acknowledged_at(stream: &TcpStream) -> Option<TimeSpec> {
    let mut last = None;
    let mut space = nix::cmsg_space!([TimeSpec; 3], [u8; 64]);
    loop {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let received = recvmsg::<SockaddrIn>(stream.as_raw_fd(), &mut [], Some(&mut space), flags);
        let Ok(message) = received else { return last };
        for part in message.cmsgs().into_iter().flatten() {
            if let ControlMessageOwned::ScmTimestampsns(stamps) = part {
                last = Some(stamps.system);
            }
        }
    }
}

/// Sets the congestion control algorithm.
fn set_congestion(fd: &impl AsFd, name: &str) -> io::Result<()> {
    Ok(setsockopt(fd, sockopt::TcpCongestion, &OsString::from(name))?)
}

/// Returns the congestion control algorithm of a socket.
pub(super) fn congestion(fd: &impl AsFd) -> io::Result<String> {
    let name = getsockopt(fd, sockopt::TcpCongestion)?;
    let name = name.as_bytes().split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Checks that sockets in the namespace of the calling thread can use a congestion control
/// algorithm. The error describes the problem.
pub(super) fn accepts(name: &str) -> Result<(), String> {
    let fd = plain().map_err(|error| error.to_string())?;
    let result = set_congestion(&fd, name).map_err(|error| match error.raw_os_error() {
        Some(libc::ENOENT) => "the kernel does not have it".to_owned(),
        Some(libc::EPERM) => {
            "net.ipv4.tcp_allowed_congestion_control does not contain it".to_owned()
        }
        _ => error.to_string(),
    });
    result?;
    match congestion(&fd).map_err(|error| error.to_string())? {
        found if found == name => Ok(()),
        found => Err(format!("the kernel uses {found:?} instead")),
    }
}

/// Aborts a connection immediately, with a reset.
pub(super) fn abort(stream: TcpStream) {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    // If setting this option fails, the connection is closed normally.
    let _ = setsockopt(&stream, sockopt::Linger, &at_once);
}
