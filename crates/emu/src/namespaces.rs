//! Sets up the two sides of the path. Each side is a network namespace with a device towards the
//! other side.
//!
//! The namespaces have no names in the file system, so that the kernel removes them when the
//! process and its child processes have exited, for any reason.

use crate::addresses::{client_address, client_level, server_address};
use crate::counters::Counters;
use crate::description::Description;
use crate::device::{Device, TunError};
use crate::fixes::Environment;
use crate::netlink::{Netlink, Route};
use crate::packet_io::Side;
use crate::privileges;
use crate::sysctls;
use nix::sched::{CloneFlags, setns, unshare};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use thiserror::Error;

/// Maximum number of packets that wait in a device to be read by the data thread.
pub const DEVICE_PACKETS: u32 = 10_000;

/// Sysctls that are set in every new namespace, before those of the description.
const OWN_SYSCTLS: [(&str, &str); 5] = [
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
    ("net.ipv4.ip_forward", "0"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];

/// Other sysctls that affect TCP. They are not set, but recorded in the results.
const RECORDED_SYSCTLS: [&str; 25] = [
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_rto_min_us",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_thin_linear_timeouts",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
];

/// Reason for which the sides could not be set up.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct SetupError {
    /// Name of the failed operation, as in `Event::Failed`: `namespace`, `privileges`, `tun`,
    /// `sysctl`, `route`, `congestion`, `address` or `command`.
    pub what: &'static str,
    /// Description of the error with a fix, one sentence.
    pub message: String,
}

impl SetupError {
    /// Creates an error.
    pub fn new(what: &'static str, message: impl Into<String>) -> Self {
        Self { what, message: message.into() }
    }
}

/// Kernel settings of a side, read back from the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelRecord {
    /// Values read back, by name.
    pub sysctls: BTreeMap<String, String>,
    /// The routes through the device.
    pub routes: Vec<Route>,
}

/// One side of the path.
#[derive(Debug)]
struct End {
    device: Device,
    netns: OwnedFd,
    /// Reason for which the device is not a TUN device, if it is not.
    no_tun: Option<TunError>,
    record: KernelRecord,
    counters: Counters,
}

/// Both sides of the path. The namespaces are removed when this value is dropped.
#[derive(Debug)]
pub struct Sides {
    ends: [End; 2],
    level: u8,
    default_user: u16,
}

impl Sides {
    /// Sets up both sides. Each of `users` has an address on the client's side. The address of the
    /// first user is the default source address.
    ///
    /// Afterwards the process is in its original network namespace; without privileges, it is in a
    /// separate user namespace and an empty network namespace.
    ///
    /// # Errors
    /// Fails if the machine does not permit it, or the kernel does not support a setting.
    pub fn open(description: &Description, users: &[u16]) -> Result<Self, SetupError> {
        let default_user = *users.first().unwrap_or(&0);
        let users = if users.is_empty() { &[0] } else { users };
        if description.level > 30 {
            let message = format!("level {} is not within 0 … 30", description.level);
            return Err(SetupError::new("address", message));
        }
        if description.host_network {
            check_present(description.level)?;
        } else if !privileges::is_privileged() {
            privileges::enter_user_namespace()?;
            // The process cannot return to its original namespace, so it continues in an empty one.
            new_network()?;
        }
        let home = present_network()?;
        let ends = open_both(description, users);
        setns(&home, CloneFlags::CLONE_NEWNET).map_err(|error| {
            SetupError::new("namespace", format!("cannot return to the network namespace: {error}"))
        })?;
        Ok(Self { ends: ends?, level: description.level, default_user })
    }

    /// Returns the device of a side.
    pub fn device(&self, side: Side) -> &Device {
        &self.ends[side as usize].device
    }

    /// Returns the network namespace of a side.
    pub fn netns(&self, side: Side) -> BorrowedFd<'_> {
        self.ends[side as usize].netns.as_fd()
    }

    /// Returns the reason for which a device is a veth pair; `None` if both devices are TUN.
    pub fn no_tun(&self) -> Option<&TunError> {
        self.ends.iter().find_map(|end| end.no_tun.as_ref())
    }

    /// Returns the nesting level: the number of emulations inside which this run was started.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Returns the address of the server.
    pub fn server_address(&self) -> Ipv4Addr {
        server_address(self.level)
    }

    /// Returns the client's address of a user.
    pub fn client_address(&self, user: u16) -> Ipv4Addr {
        client_address(self.level, user)
    }

    /// Returns the user whose address is the default source address of the client's side.
    pub fn default_user(&self) -> u16 {
        self.default_user
    }

    /// Returns the kernel settings of a side, read back from the kernel.
    pub fn record(&self, side: Side) -> &KernelRecord {
        &self.ends[side as usize].record
    }

    /// Runs `work` with the calling thread in the network namespace of a side. A socket that is
    /// created there remains in this namespace. The thread returns to its namespace afterwards.
    ///
    /// # Errors
    /// Fails if the thread cannot enter the namespace or return.
    pub fn within<T>(&self, side: Side, work: impl FnOnce() -> T) -> io::Result<T> {
        let home = File::open("/proc/thread-self/ns/net")?;
        setns(self.netns(side), CloneFlags::CLONE_NEWNET)?;
        let done = work();
        setns(home, CloneFlags::CLONE_NEWNET)?;
        Ok(done)
    }

    /// Returns the number of packets that the devices have dropped so far because they were not
    /// read in time.
    ///
    /// # Errors
    /// Fails if the kernel does not report it.
    pub fn device_drops(&self) -> io::Result<u64> {
        let drops = |end: &End| -> io::Result<u64> {
            Ok(end.counters.transmit_drops(end.device.name())? + end.device.lost()?)
        };
        self.ends.iter().map(drops).sum()
    }

    /// Returns the current TCP counters of a side, with names such as `TcpExt.TCPTimeouts` and
    /// `Tcp.RetransSegs`.
    ///
    /// # Errors
    /// Fails if the kernel does not report it.
    pub fn tcp_counters(&self, side: Side) -> io::Result<BTreeMap<String, u64>> {
        self.ends[side as usize].counters.tcp()
    }
}

/// Checks that the current namespace can be the server's side.
fn check_present(level: u8) -> Result<(), SetupError> {
    if !privileges::is_privileged() {
        let message = "the present network namespace cannot be the server's side without \
                       CAP_NET_ADMIN and CAP_SYS_ADMIN: run as root, or within an emulation whose \
                       command keeps its privileges";
        return Err(SetupError::new("privileges", message));
    }
    let mut inside = false;
    for (name, address) in present_addresses()? {
        let taken = address == server_address(level) || client_level(address) == Some(level);
        if taken {
            let message = format!(
                "{address} is already an address here ({name}): the range of level {level} is in \
                 use, so give the run another level"
            );
            return Err(SetupError::new("address", message));
        }
        inside |= name.starts_with("emu") && client_level(address).is_some_and(|of| of < level);
    }
    if level > 0 && inside {
        // Packets from the inner client are forwarded to the server of the outer run.
        sysctls::write("net.ipv4.ip_forward", "1").map_err(|error| {
            SetupError::new("sysctl", format!("cannot set net.ipv4.ip_forward: {error}"))
        })?;
    }
    Ok(())
}

fn present_addresses() -> Result<Vec<(String, Ipv4Addr)>, SetupError> {
    let all = nix::ifaddrs::getifaddrs().map_err(|error| {
        SetupError::new("address", format!("cannot list the addresses of this machine: {error}"))
    })?;
    Ok(all
        .filter_map(|one| Some((one.interface_name, one.address?.as_sockaddr_in()?.ip())))
        .collect())
}

pub(crate) fn new_network() -> Result<(), SetupError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| {
        let fix = match error {
            nix::errno::Errno::ENOSPC => "raise `user.max_net_namespaces`".to_owned(),
            error => Environment::detect().user_namespace(&error.into()),
        };
        let message = format!("cannot make a network namespace: {error}; {fix}");
        SetupError::new("namespace", message)
    })
}

fn present_network() -> Result<File, SetupError> {
    File::open("/proc/thread-self/ns/net").map_err(|error| {
        let message = format!("cannot open /proc/thread-self/ns/net: {error}; mount /proc");
        SetupError::new("namespace", message)
    })
}

fn open_both(description: &Description, users: &[u16]) -> Result<[End; 2], SetupError> {
    // The side in the current namespace is set up first, while the thread is still in this
    // namespace.
    if !description.host_network {
        new_network()?;
    }
    let server = open_end(description, Side::Server, users)?;
    new_network()?;
    let client = open_end(description, Side::Client, users)?;
    Ok([server, client])
}

/// Sets up a side in the network namespace of the calling thread.
fn open_end(description: &Description, side: Side, users: &[u16]) -> Result<End, SetupError> {
    let present = description.host_network && side == Side::Server;
    let mut sysctls = BTreeMap::new();
    if !present {
        set_sysctls(description, &mut sysctls)?;
    }
    let (device, no_tun) = open_device(present)?;
    let record = set_routes(description, side, users, device.name(), sysctls)?;
    let counters = Counters::open().map_err(|error| {
        SetupError::new("namespace", format!("cannot open the kernel's counters: {error}"))
    })?;
    Ok(End { device, netns: present_network()?.into(), no_tun, record, counters })
}

fn set_sysctls(
    description: &Description,
    values: &mut BTreeMap<String, String>,
) -> Result<(), SetupError> {
    for (name, value) in OWN_SYSCTLS {
        match sysctls::write(name, value) {
            Ok(value) => _ = values.insert(name.to_owned(), value),
            // The kernel has no IPv6.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(sysctl_refused(name, value, &error)),
        }
    }
    // `ping` works without privileges for these groups: for all groups, or in a user namespace for
    // its only group.
    let group = nix::unistd::getegid();
    for range in ["0 2147483647".to_owned(), format!("{group} {group}")] {
        if let Ok(value) = sysctls::write("net.ipv4.ping_group_range", &range) {
            values.insert("net.ipv4.ping_group_range".to_owned(), value);
            break;
        }
    }
    for (name, value) in &description.kernel.sysctls {
        let value =
            sysctls::write(name, value).map_err(|error| sysctl_refused(name, value, &error))?;
        values.insert(name.clone(), value);
    }
    Ok(())
}

pub(crate) fn sysctl_refused(name: &str, value: &str, error: &io::Error) -> SetupError {
    let fix = Environment::detect().sysctl(error);
    SetupError::new("sysctl", format!("cannot set {name} to {value:?}: {error}; {fix}"))
}

/// Opens the device of a side: TUN, or a veth pair if TUN is not permitted. In the host network
/// only TUN is used. The second result is the reason for a veth pair.
pub(crate) fn open_device(present: bool) -> Result<(Device, Option<TunError>), SetupError> {
    let refused = match Device::tun(if present { "emu%d" } else { "emu0" }) {
        Ok(device) => return Ok((device, None)),
        Err(refused) => refused,
    };
    let pair = if present { None } else { Device::pair("emu0").ok() };
    match pair {
        Some(device) => Ok((device, Some(refused))),
        None => Err(SetupError::new("tun", refused.to_string())),
    }
}

fn set_routes(
    description: &Description,
    side: Side,
    users: &[u16],
    name: &str,
    mut sysctls: BTreeMap<String, String>,
) -> Result<KernelRecord, SetupError> {
    let refused = |what: &str, error: io::Error| {
        SetupError::new("route", format!("cannot {what} of {name}: {error}"))
    };
    let (level, kernel) = (description.level, &description.kernel);
    let device = nix::net::if_::if_nametoindex(name)
        .map_err(|error| refused("find the number", error.into()))?;
    let mut link = Netlink::open().map_err(|error| refused("request routes", error))?;
    link.set_link(device, kernel.mtu, DEVICE_PACKETS)
        .map_err(|error| refused(&format!("set the MTU {}", kernel.mtu), error))?;
    // Set explicitly, because the default queue differs between machines.
    let _ = link.set_pfifo(device);
    let server = server_address(level);
    let sources = match side {
        Side::Server => vec![server],
        Side::Client => users.iter().map(|user| client_address(level, *user)).collect(),
    };
    for address in &sources {
        match link.add_address(device, *address) {
            Ok(()) => {}
            // A user may occur twice in the list.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refused(&format!("add the address {address}"), error)),
        }
    }
    link.up(device).map_err(|error| refused("set up the link", error))?;
    if !(description.host_network && side == Side::Server) {
        let lo = nix::net::if_::if_nametoindex("lo")
            .map_err(|error| refused("find the loopback", error.into()))?;
        link.up(lo).map_err(|error| refused("set up the loopback", error))?;
    }
    let direct = match side {
        Side::Server => (client_address(level, 0), 16),
        Side::Client => (server, 32),
    };
    // The default route is set on one side only. Packets of a nested run use it.
    let default = (side == Side::Client) == description.host_network;
    for to in std::iter::once(Some(direct)).chain(default.then_some(None)) {
        link.add_route(device, to, sources[0], &kernel.route)
            .map_err(|error| route_refused(description, name, error))?;
    }
    let routes = link.routes(device).map_err(|error| refused("read the routes", error))?;
    for name in RECORDED_SYSCTLS {
        if let Ok(value) = sysctls::read(name) {
            sysctls.entry(name.to_owned()).or_insert(value);
        }
    }
    Ok(KernelRecord { sysctls, routes })
}

fn route_refused(description: &Description, name: &str, error: io::Error) -> SetupError {
    let available = sysctls::read("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    match &description.kernel.route.congestion {
        Some(wanted) if !available.split(' ').any(|one| one == wanted) => SetupError::new(
            "congestion",
            format!(
                "this kernel has no congestion control {wanted:?} but {available}; run \
                 `modprobe tcp_{wanted}` as root"
            ),
        ),
        _ => SetupError::new("route", format!("cannot add a route through {name}: {error}")),
    }
}
