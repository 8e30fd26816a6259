//! Configures links, addresses and routes of the network namespace in which the socket was opened.
//!
//! Source: rtnetlink(7), linux/rtnetlink.h, linux/if_link.h. Implements only the operations that
//! the driver requires, only for IPv4.

use crate::description::RouteSettings;
use crate::sys;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use serde::Serialize;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// `RTAX_…` of linux/rtnetlink.h: attributes within `RTA_METRICS`.
mod metric {
    pub(super) const MTU: u16 = 2;
    pub(super) const ADVMSS: u16 = 8;
    pub(super) const INITCWND: u16 = 11;
    pub(super) const FEATURES: u16 = 12;
    pub(super) const RTO_MIN: u16 = 13;
    pub(super) const QUICKACK: u16 = 15;
    pub(super) const CC_ALGO: u16 = 16;
    /// A bit of `FEATURES`.
    pub(super) const FEATURE_ECN: u32 = 1;
}

const HEADER: usize = 16;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_DUMP: u16 = 0x300;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
/// Flags of an error message: `CAPPED` means that the request is not included, `ACK_TLVS` that
/// attributes follow.
const NLM_F_CAPPED: u16 = 0x100;
const NLM_F_ACK_TLVS: u16 = 0x200;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSGERR_ATTR_MSG: u16 = 1;
/// Attribute of linux/veth.h.
const VETH_INFO_PEER: u16 = 1;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTPROT_STATIC: u8 = 4;
const RT_TABLE_MAIN: u8 = 254;
const RTN_UNICAST: u8 = 1;
const TC_H_ROOT: u32 = 0xffff_ffff;
const FAMILY: u8 = libc::AF_INET as u8;

/// A route of the main table, as the kernel reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Route {
    /// Destination, as `100.65.0.0/16` or `default`.
    pub to: String,
    /// Index of the device.
    pub device: u32,
    /// Default source address.
    pub source: Option<Ipv4Addr>,
    /// Largest IP packet, bytes.
    pub mtu: Option<u32>,
    /// Congestion control algorithm.
    pub congestion: Option<String>,
    /// Initial window, segments.
    pub initcwnd: Option<u32>,
    /// Minimum variance term of the RTO, ms.
    pub rto_min_ms: Option<u32>,
    /// True if every segment is acknowledged immediately.
    pub quickack: bool,
    /// Advertised maximum segment size, bytes.
    pub advmss: Option<u32>,
    /// True if connections use ECN, overriding the sysctl.
    pub ecn: bool,
}

/// A routing netlink socket (`NETLINK_ROUTE`).
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// A request under construction.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: u16, body: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(NLM_F_REQUEST | flags).to_ne_bytes());
        bytes.extend_from_slice(body);
        Self(bytes)
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(4 + value.len()).expect("attributes are short");
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn number(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_ne_bytes());
    }

    /// Returns the attributes without a header, for a nested attribute.
    fn nested(fill: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut inner = Self(Vec::new());
        fill(&mut inner);
        inner.0
    }
}

/// Iterates over the attributes at the start of `bytes`, as kind and value.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let kind = u16::from_ne_bytes(*bytes.get(2..)?.first_chunk()?);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        // The two highest bits contain the encoding of the value.
        Some((kind & 0x3fff, value))
    })
}

fn number(value: &[u8]) -> u32 {
    value.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn address(value: &[u8]) -> Option<Ipv4Addr> {
    value.first_chunk::<4>().map(|bytes| Ipv4Addr::from(*bytes))
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread. The socket remains in this
    /// namespace.
    ///
    /// # Errors
    /// Fails if the kernel does not permit it.
    pub fn open() -> io::Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )?;
        // This option only affects the text of errors.
        let _ = sys::set_extended_acks(&socket);
        Ok(Self { socket, sequence: 0 })
    }

    /// Sets a link up.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn up(&mut self, device: u32) -> io::Result<()> {
        self.request(link(device, libc::IFF_UP as u32))
    }

    /// Sets the MTU of a link, bytes, and its transmit queue length, packets.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn set_link(&mut self, device: u32, mtu: u32, txqueuelen: u32) -> io::Result<()> {
        let mut message = link(device, 0);
        message.number(libc::IFLA_MTU, mtu);
        message.number(libc::IFLA_TXQLEN, txqueuelen);
        self.request(message)
    }

    /// Creates a veth pair. The end `name` is in this namespace, with an Ethernet address and
    /// without ARP; the end `peer` is in another network namespace.
    ///
    /// # Errors
    /// Returns the error of the kernel; `Unsupported` if it has no veth devices.
    pub fn add_pair(
        &mut self,
        name: &str,
        address: [u8; 6],
        peer: &str,
        netns: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let no_arp = libc::IFF_NOARP as u32;
        // struct ifinfomsg: family, padding, type, index, flags, and mask of changed flags.
        let body: Vec<u8> =
            [0, 0, no_arp, no_arp].iter().flat_map(|value: &u32| value.to_ne_bytes()).collect();
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        let mut message = Message::new(libc::RTM_NEWLINK, flags, &body);
        message.attribute(libc::IFLA_IFNAME, format!("{name}\0").as_bytes());
        message.attribute(libc::IFLA_ADDRESS, &address);
        let other = Message::nested(|inner| {
            inner.0.extend_from_slice(&[0; 16]);
            inner.attribute(libc::IFLA_IFNAME, format!("{peer}\0").as_bytes());
            inner.number(libc::IFLA_NET_NS_FD, netns.as_raw_fd().cast_unsigned());
        });
        let info = Message::nested(|inner| {
            inner.attribute(libc::IFLA_INFO_KIND, b"veth\0");
            let data = Message::nested(|data| data.attribute(VETH_INFO_PEER, &other));
            inner.attribute(libc::IFLA_INFO_DATA, &data);
        });
        message.attribute(libc::IFLA_LINKINFO, &info);
        self.request(message)
    }

    /// Sets the queue discipline of a link to `pfifo`, instead of the default of the machine.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn set_pfifo(&mut self, device: u32) -> io::Result<()> {
        // struct tcmsg: family, three bytes of padding, ifindex, handle, parent, info.
        let mut body = vec![0; 4];
        for value in [device, 0, TC_H_ROOT, 0] {
            body.extend_from_slice(&value.to_ne_bytes());
        }
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        let mut message = Message::new(libc::RTM_NEWQDISC, flags, &body);
        message.attribute(libc::TCA_KIND, b"pfifo\0");
        self.request(message)
    }

    /// Adds an address with prefix length 32 to a link.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn add_address(&mut self, device: u32, address: Ipv4Addr) -> io::Result<()> {
        // struct ifaddrmsg: family, prefix, flags, scope, ifindex.
        let mut body = vec![FAMILY, 32, 0, RT_SCOPE_UNIVERSE];
        body.extend_from_slice(&device.to_ne_bytes());
        let mut message = Message::new(libc::RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body);
        message.attribute(libc::IFA_LOCAL, &address.octets());
        message.attribute(libc::IFA_ADDRESS, &address.octets());
        self.request(message)
    }

    /// Adds a route through a link to `to`, an address with its prefix length. If `to` is `None`,
    /// adds the default route.
    ///
    /// # Errors
    /// Returns the error of the kernel: `AlreadyExists` if the route exists, `NotFound` or
    /// `InvalidInput` if the congestion control algorithm is unknown.
    pub fn add_route(
        &mut self,
        device: u32,
        to: Option<(Ipv4Addr, u8)>,
        source: Ipv4Addr,
        settings: &RouteSettings,
    ) -> io::Result<()> {
        // struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type, flags.
        let length = to.map_or(0, |(_, length)| length);
        let mut body =
            vec![FAMILY, length, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST];
        body.extend_from_slice(&0_u32.to_ne_bytes());
        let mut message = Message::new(libc::RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body);
        if let Some((to, _)) = to {
            message.attribute(libc::RTA_DST, &to.octets());
        }
        message.number(libc::RTA_OIF, device);
        message.attribute(libc::RTA_PREFSRC, &source.octets());
        let metrics = Message::nested(|inner| metrics(inner, settings));
        if !metrics.is_empty() {
            message.attribute(libc::RTA_METRICS, &metrics);
        }
        self.request(message)
    }

    /// Returns the routes of the main table through a link.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn routes(&mut self, device: u32) -> io::Result<Vec<Route>> {
        let mut routes = Vec::new();
        let message = Message::new(
            libc::RTM_GETROUTE,
            NLM_F_DUMP,
            &[FAMILY, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        );
        self.exchange(message, |kind, body| {
            if kind == libc::RTM_NEWROUTE {
                routes.extend(route(body).filter(|route| route.device == device));
            }
        })?;
        Ok(routes)
    }

    fn request(&mut self, mut message: Message) -> io::Result<()> {
        let flags = u16::from_ne_bytes([message.0[6], message.0[7]]) | NLM_F_ACK;
        message.0[6..8].copy_from_slice(&flags.to_ne_bytes());
        self.exchange(message, |_, _| {})
    }

    /// Sends a request and reads all of its replies.
    fn exchange(
        &mut self,
        Message(mut bytes): Message,
        mut answer: impl FnMut(u16, &[u8]),
    ) -> io::Result<()> {
        self.sequence += 1;
        let length = u32::try_from(bytes.len()).expect("requests are short");
        bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), &bytes, &kernel, MsgFlags::empty())?;
        let mut buffer = vec![0; 65_536];
        loop {
            let length = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            let mut rest = &buffer[..length];
            while let Some((kind, flags, sequence, body)) = next_message(&mut rest) {
                if sequence != self.sequence {
                    continue;
                }
                match kind {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => return outcome(flags, body),
                    kind => answer(kind, body),
                }
            }
        }
    }
}

/// Removes and returns the next message: kind, flags, sequence number and body.
fn next_message<'a>(rest: &mut &'a [u8]) -> Option<(u16, u16, u32, &'a [u8])> {
    let bytes = *rest;
    let length = usize::try_from(number(bytes.get(..HEADER)?)).ok()?;
    let body = bytes.get(HEADER..length)?;
    *rest = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    let short = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    Some((short(4), short(6), number(&bytes[8..12]), body))
}

/// Parses an `NLMSG_ERROR`. Returns success, or an error with the kernel's message, if any.
fn outcome(flags: u16, body: &[u8]) -> io::Result<()> {
    let code = number(body).cast_signed();
    if code == 0 {
        return Ok(());
    }
    let error = io::Error::from_raw_os_error(-code);
    let skipped = if flags & NLM_F_CAPPED != 0 {
        4 + HEADER
    } else {
        4 + body.get(4..).map_or(0, number) as usize
    };
    let words = (flags & NLM_F_ACK_TLVS != 0)
        .then(|| body.get(skipped.next_multiple_of(4)..))
        .flatten()
        .and_then(|rest| attributes(rest).find(|(kind, _)| *kind == NLMSGERR_ATTR_MSG))
        .map(|(_, words)| String::from_utf8_lossy(words).trim_end_matches('\0').to_owned());
    Err(match words {
        Some(words) => io::Error::new(error.kind(), format!("{words} ({error})")),
        None => error,
    })
}

/// Returns an `RTM_NEWLINK` message for an existing link.
fn link(device: u32, flags: u32) -> Message {
    // struct ifinfomsg: family, padding, type, index, flags, and mask of changed flags.
    let mut body = vec![0; 4];
    for value in [device, flags, flags] {
        body.extend_from_slice(&value.to_ne_bytes());
    }
    Message::new(libc::RTM_NEWLINK, 0, &body)
}

fn metrics(message: &mut Message, settings: &RouteSettings) {
    let numbers = [
        (metric::ADVMSS, settings.advmss),
        (metric::INITCWND, settings.initcwnd),
        (metric::RTO_MIN, settings.rto_min_ms),
        (metric::QUICKACK, settings.quickack.then_some(1)),
        (metric::FEATURES, settings.ecn.then_some(metric::FEATURE_ECN)),
    ];
    for (kind, value) in numbers {
        if let Some(value) = value {
            message.number(kind, value);
        }
    }
    if let Some(name) = &settings.congestion {
        message.attribute(metric::CC_ALGO, format!("{name}\0").as_bytes());
    }
}

fn route(body: &[u8]) -> Option<Route> {
    let length = *body.get(1)?;
    let mut table = u32::from(*body.get(4)?);
    let mut route = Route { to: "default".to_owned(), ..Route::default() };
    for (kind, value) in attributes(body.get(12..)?) {
        match kind {
            libc::RTA_TABLE => table = number(value),
            libc::RTA_OIF => route.device = number(value),
            libc::RTA_PREFSRC => route.source = address(value),
            libc::RTA_DST => route.to = format!("{}/{length}", address(value)?),
            libc::RTA_METRICS => {
                for (kind, value) in attributes(value) {
                    read_metric(&mut route, kind, value);
                }
            }
            _ => {}
        }
    }
    (table == u32::from(RT_TABLE_MAIN)).then_some(route)
}

fn read_metric(route: &mut Route, kind: u16, value: &[u8]) {
    match kind {
        metric::MTU => route.mtu = Some(number(value)),
        metric::ADVMSS => route.advmss = Some(number(value)),
        metric::INITCWND => route.initcwnd = Some(number(value)),
        metric::RTO_MIN => route.rto_min_ms = Some(number(value)),
        metric::QUICKACK => route.quickack = number(value) != 0,
        metric::FEATURES => route.ecn = number(value) & metric::FEATURE_ECN != 0,
        metric::CC_ALGO => {
            let name = String::from_utf8_lossy(value);
            route.congestion = Some(name.trim_end_matches('\0').to_owned());
        }
        _ => {}
    }
}
