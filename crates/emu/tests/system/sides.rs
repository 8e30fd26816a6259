//! Tests of the two network namespaces and their devices.

use crate::support::{
    Test, become_unprivileged, carry, cpu_time, description, hide_tun, in_a_copy, needs_root, read,
    sides, skip, write,
};
use airpath_emu::namespaces::{DEVICE_PACKETS, Sides};
use airpath_emu::netlink::Netlink;
use airpath_emu::packet_io::Side;
use airpath_emu::{addresses, privileges, sys, sysctls};
use nix::sched::{CloneFlags, setns};
use serde_json::json;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

pub(crate) const TESTS: &[Test] = &[
    ("a_packet_is_read_as_it_was_sent", a_packet_is_read_as_it_was_sent),
    ("settings_are_read_back", settings_are_read_back),
    ("every_user_has_an_address", every_user_has_an_address),
    ("many_users_are_set_up_in_time", many_users_are_set_up_in_time),
    ("unknown_setting_of_the_kernel_is_rejected", unknown_setting_of_the_kernel_is_rejected),
    ("namespaces_have_no_route_to_the_host", namespaces_have_no_route_to_the_host),
    ("unread_device_counts_its_drops", unread_device_counts_its_drops),
    ("tcp_connects_and_is_counted", tcp_connects_and_is_counted),
    (
        "packets_pass_veth_pairs_if_tun_is_not_permitted",
        packets_pass_veth_pairs_if_tun_is_not_permitted,
    ),
    ("unread_pair_counts_its_drops", unread_pair_counts_its_drops),
    ("two_runs_are_isolated", two_runs_are_isolated),
    (
        "nested_run_reaches_the_server_of_the_outer_run",
        nested_run_reaches_the_server_of_the_outer_run,
    ),
    ("used_address_range_is_rejected", used_address_range_is_rejected),
    ("user_without_privileges_can_set_up_sides", user_without_privileges_can_set_up_sides),
    ("root_without_capabilities_can_set_up_sides", root_without_capabilities_can_set_up_sides),
    ("killed_process_leaves_no_namespace", killed_process_leaves_no_namespace),
];

fn network() -> std::path::PathBuf {
    std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace")
}

fn bind(sides: &Sides, side: Side, address: Ipv4Addr) -> UdpSocket {
    let socket = sides.within(side, || UdpSocket::bind((address, 4000))).expect("there");
    socket.expect("bind")
}

/// Sends a datagram to the server and back; the test itself forwards the packets.
fn exchange(sides: &Sides) {
    let (server, client) = (sides.server_address(), sides.client_address(0));
    let at_server = bind(sides, Side::Server, server);
    let at_client = bind(sides, Side::Client, client);
    at_client.send_to(b"question", (server, 4000)).expect("send");
    let packet = carry(sides, Side::Client);
    assert_eq!(packet.len(), 20 + 8 + 8);
    assert_eq!((packet[9], &packet[28..]), (17, &b"question"[..]));
    assert_eq!(packet[12..20], [client.octets(), server.octets()].concat());
    let mut buffer = [0; 64];
    let (length, from) = at_server.recv_from(&mut buffer).expect("it arrives");
    assert_eq!((&buffer[..length], from), (&b"question"[..], (client, 4000).into()));
    at_server.send_to(b"answer", from).expect("send");
    carry(sides, Side::Server);
    let (length, from) = at_client.recv_from(&mut buffer).expect("it arrives");
    assert_eq!((&buffer[..length], from), (&b"answer"[..], (server, 4000).into()));
}

fn a_packet_is_read_as_it_was_sent() {
    needs_root();
    let home = network();
    let sides = sides(json!({}));
    assert_eq!(network(), home, "the thread is where it was");
    exchange(&sides);
    assert_eq!(network(), home);
    assert_eq!(sides.device_drops().expect("drops"), 0);
    // No packet waits now, and the read does not block.
    let nothing = sides.device(Side::Server).read(&mut [0; 64]);
    assert_eq!(nothing.expect_err("nothing").kind(), std::io::ErrorKind::WouldBlock);
}

fn settings_are_read_back() {
    needs_root();
    let sides = sides(json!({"kernel": {
        "sysctls": {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_rmem": "4096 16384 33554432"},
        "route": {"congestion": "cubic", "initcwnd": 3, "rto_min_ms": 1000, "quickack": true,
                  "advmss": 1200, "ecn": true},
        "mtu": 1400,
    }}));
    let routes = ["100.65.0.0/16", "100.64.0.1/32"];
    for (side, to) in Side::BOTH.into_iter().zip(routes) {
        let record = sides.record(side);
        assert_eq!(record.sysctls["net.ipv4.tcp_sack"], "0");
        assert_eq!(record.sysctls["net.ipv4.tcp_rmem"], "4096 16384 33554432");
        assert!(record.sysctls.contains_key("net.ipv4.tcp_timestamps"));
        let value = sides.within(side, || sysctls::read("net.ipv4.tcp_sack")).expect("there");
        assert_eq!(value.expect("read"), "0");
        let route = record.routes.iter().find(|route| route.to == to).expect("a route");
        assert_eq!(route.congestion.as_deref(), Some("cubic"));
        assert_eq!((route.initcwnd, route.rto_min_ms), (Some(3), Some(1000)));
        assert_eq!((route.quickack, route.advmss, route.ecn), (true, Some(1200), true));
        let mtu = sides.within(side, || std::fs::read_to_string("/proc/thread-self/net/dev"));
        assert!(mtu.expect("there").expect("read").contains("emu0:"));
    }
    // Only the server's side has a default route, for nested runs.
    assert_eq!(sides.record(Side::Server).routes.len(), 2);
    assert_eq!(sides.record(Side::Client).routes.len(), 1);
    assert_eq!(
        sysctls::read("net.ipv4.tcp_sack").expect("read"),
        "1",
        "the setting of this process is unchanged"
    );
    // A datagram that is larger than the MTU arrives in fragments.
    let client = bind(&sides, Side::Client, sides.client_address(0));
    client.send_to(&[0; 1400], (sides.server_address(), 4000)).expect("send");
    assert!(read(&sides, Side::Client).len() <= 1400);
}

fn every_user_has_an_address() {
    needs_root();
    let users = [300, 0, 7, 7];
    let sides = Sides::open(&description(json!({"level": 2})), &users).expect("sides");
    assert_eq!(sides.default_user(), 300);
    for user in users {
        let socket = bind(&sides, Side::Client, addresses::client_address(2, user));
        socket.send_to(b"x", (sides.server_address(), 9)).expect("send");
        let packet = read(&sides, Side::Client);
        let source = Ipv4Addr::new(packet[12], packet[13], packet[14], packet[15]);
        assert_eq!(addresses::user_of(2, source), Some(user));
    }
    let any = bind(&sides, Side::Client, Ipv4Addr::UNSPECIFIED);
    any.send_to(b"x", (sides.server_address(), 9)).expect("send");
    assert_eq!(read(&sides, Side::Client)[12..16], [100, 69, 1, 44]);
}

fn many_users_are_set_up_in_time() {
    needs_root();
    let users: Vec<u16> = (0..4000).collect();
    let sides = Sides::open(&description(json!({})), &users).expect("sides");
    assert!(cpu_time() < Duration::from_secs(20), "{:?}", cpu_time());
    let last = bind(&sides, Side::Client, sides.client_address(3999));
    last.send_to(b"x", (sides.server_address(), 9)).expect("send");
    assert_eq!(read(&sides, Side::Client)[12..16], [100, 65, 15, 159]);
}

fn unknown_setting_of_the_kernel_is_rejected() {
    needs_root();
    let home = network();
    let refused = |changes| {
        let error = Sides::open(&description(changes), &[0]).expect_err("refused");
        assert_eq!(network(), home, "the thread is where it was");
        (error.what, error.message)
    };
    assert_eq!(
        refused(json!({"kernel": {"sysctls": {"net.ipv4.tcp_nonsense": "1"}}})),
        (
            "sysctl",
            "cannot set net.ipv4.tcp_nonsense to \"1\": No such file or directory (os error 2); \
             this kernel does not have it"
                .to_owned()
        )
    );
    let (what, message) = refused(json!({"kernel": {"route": {"congestion": "nonsense"}}}));
    assert_eq!(what, "congestion");
    assert!(message.starts_with("this kernel has no congestion control \"nonsense\" but "));
    assert!(message.ends_with("; run `modprobe tcp_nonsense` as root"), "{message}");
    assert_eq!(refused(json!({"level": 31})).0, "address");
    assert_eq!(refused(json!({"kernel": {"mtu": 10}})).0, "route");
}

fn namespaces_have_no_route_to_the_host() {
    needs_root();
    let sides = sides(json!({}));
    let outside = UdpSocket::bind(("127.0.0.1", 0)).expect("bind");
    let port = outside.local_addr().expect("address").port();
    let socket = bind(&sides, Side::Client, Ipv4Addr::UNSPECIFIED);
    for address in ["192.0.2.1", "10.0.2.2", "8.8.8.8"] {
        let error = socket.send_to(b"x", (address, 9)).expect_err("unreachable");
        assert_eq!(error.kind(), std::io::ErrorKind::NetworkUnreachable);
    }
    // The loopback device is that of the namespace.
    socket.send_to(b"x", ("127.0.0.1", port)).expect("send");
    outside.set_nonblocking(true).expect("not to wait");
    assert!(outside.recv(&mut [0; 8]).is_err());
    // The server's side does not forward packets with a forged source address.
    assert_eq!(sides.record(Side::Server).sysctls["net.ipv4.ip_forward"], "0");
    for side in Side::BOTH {
        let names = sides.within(side, nix::net::if_::if_nameindex).expect("there");
        assert_eq!(names.expect("names").iter().count(), 2, "the loopback and the device");
    }
}

fn unread_device_counts_its_drops() {
    needs_root();
    let sides = sides(json!({}));
    let socket = bind(&sides, Side::Server, sides.server_address());
    for _ in 0..DEVICE_PACKETS + 500 {
        let _ = socket.send_to(b"x", (sides.client_address(0), 9));
    }
    assert_eq!(sides.device_drops().expect("drops"), 500);
}

fn tcp_connects_and_is_counted() {
    needs_root();
    connect(&sides(json!({})));
}

fn packets_pass_veth_pairs_if_tun_is_not_permitted() {
    needs_root();
    hide_tun();
    let error = Sides::open(&description(json!({"host_network": true})), &[0]).expect_err("TUN");
    assert_eq!(error.what, "tun");
    let sides = sides(json!({}));
    let refused = sides.no_tun().expect("veth").reason.clone();
    assert_eq!(refused, "cannot open a TUN device: No such file or directory (os error 2)");
    exchange(&sides);
    connect(&sides);
    assert_eq!(sides.device_drops().expect("drops"), 0);
}

fn unread_pair_counts_its_drops() {
    needs_root();
    hide_tun();
    let sides = sides(json!({}));
    let at_client = bind(&sides, Side::Client, sides.client_address(0));
    let mut sent = 0;
    while sides.device_drops().expect("drops") == 0 {
        at_client.send_to(&[0; 1000], (sides.server_address(), 4000)).expect("send");
        sent += 1;
        assert!(sent < 1_000_000, "the buffer has no end");
    }
    assert!(sent > 1000, "{sent} packets fill the buffer");
}

/// Opens a TCP connection from the client to the server, and checks the TCP counters of both sides.
fn connect(sides: &Sides) {
    let before = sides.tcp_counters(Side::Client).expect("counters");
    let server = (sides.server_address(), 4000);
    let listener =
        sides.within(Side::Server, || std::net::TcpListener::bind(server)).expect("there");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let info = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = [0; 2000];
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for side in Side::BOTH {
                    if let Ok(length) = sides.device(side).read(&mut buffer) {
                        write(sides, side.other(), &buffer[..length]);
                    }
                }
                std::thread::yield_now();
            }
        });
        let client = sides.within(Side::Client, || std::net::TcpStream::connect(server));
        let info = client.map(|client| client.and_then(|client| sys::tcp_info(&client)));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        info
    });
    let info = info.expect("there").expect("connect");
    assert_eq!((info.state, info.snd_mss), (1, 1448));
    drop(listener);
    let after = sides.tcp_counters(Side::Client).expect("counters");
    assert_eq!(after["Tcp.ActiveOpens"], before["Tcp.ActiveOpens"] + 1);
    assert_eq!(sides.tcp_counters(Side::Server).expect("counters")["Tcp.PassiveOpens"], 1);
    assert_eq!(after["TcpExt.TCPTimeouts"], 0);
}

fn two_runs_are_isolated() {
    needs_root();
    let (one, other) = (sides(json!({})), sides(json!({})));
    exchange(&one);
    exchange(&other);
    assert_eq!(one.device(Side::Client).name(), other.device(Side::Client).name());
}

fn nested_run_reaches_the_server_of_the_outer_run() {
    needs_root();
    let outer = sides(json!({}));
    setns(outer.netns(Side::Client), CloneFlags::CLONE_NEWNET).expect("within the outer run");
    let inner = sides(json!({"host_network": true, "level": 1}));
    assert_eq!(inner.device(Side::Server).name(), "emu1");
    assert!(inner.record(Side::Server).sysctls.contains_key("net.ipv4.tcp_rmem"));
    let server = bind(&outer, Side::Server, outer.server_address());
    let client = bind(&inner, Side::Client, Ipv4Addr::UNSPECIFIED);
    client.send_to(b"question", (outer.server_address(), 4000)).expect("send");
    carry(&inner, Side::Client);
    carry(&outer, Side::Client);
    let mut buffer = [0; 64];
    let (length, from) = server.recv_from(&mut buffer).expect("it arrives");
    assert_eq!(&buffer[..length], b"question");
    assert_eq!(from, (inner.client_address(0), 4000).into());
    server.send_to(b"answer", from).expect("send");
    carry(&outer, Side::Server);
    carry(&inner, Side::Server);
    assert_eq!(client.recv(&mut buffer).expect("it arrives"), 6);
    drop(client);
    exchange(&inner);
    // The same address range cannot be used twice.
    let error = Sides::open(&description(json!({"host_network": true, "level": 1})), &[0]);
    assert_eq!(error.expect_err("taken").what, "address");
}

fn used_address_range_is_rejected() {
    needs_root();
    // Within a namespace that acts as the host network.
    let machine = sides(json!({"level": 9}));
    setns(machine.netns(Side::Server), CloneFlags::CLONE_NEWNET).expect("another machine");
    let first = sides(json!({"host_network": true}));
    assert_eq!(sysctls::read("net.ipv4.ip_forward").expect("read"), "0", "not a router");
    let error = Sides::open(&description(json!({"host_network": true})), &[0]).expect_err("taken");
    assert_eq!(
        error.message,
        "100.64.0.1 is already an address here (emu1): the range of level 0 is in use, so give the \
         run another level"
    );
    exchange(&first);
    drop(first);
    exchange(&sides(json!({"host_network": true})));
}

fn user_without_privileges_can_set_up_sides() {
    needs_root();
    become_unprivileged();
    let error =
        Sides::open(&description(json!({"host_network": true})), &[0]).expect_err("refused");
    assert_eq!(error.what, "privileges");
    without_privileges();
    assert_eq!(nix::unistd::geteuid().as_raw(), 65_534, "the same user");
    // An executed program has no capabilities by default.
    let status = std::process::Command::new("cat").arg("/proc/self/status").output();
    let status = String::from_utf8(status.expect("cat").stdout).expect("text");
    assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
}

fn root_without_capabilities_can_set_up_sides() {
    needs_root();
    sys::drop_capabilities().expect("drop");
    without_privileges();
}

fn without_privileges() {
    assert!(!privileges::is_privileged());
    let sides = match Sides::open(&description(json!({})), &[0, 5]) {
        Err(error) if error.what == "namespace" => skip(&error.message),
        sides => sides.expect("sides"),
    };
    exchange(&sides);
    let route = &sides.record(Side::Client).routes[0];
    assert_eq!(route.to, "100.64.0.1/32");
}

fn killed_process_leaves_no_namespace() {
    needs_root();
    let machine = sides(json!({"level": 9}));
    setns(machine.netns(Side::Server), CloneFlags::CLONE_NEWNET).expect("another machine");
    let status = in_a_copy(|| {
        let run = sides(json!({"host_network": true}));
        exchange(&run);
        // No destructor runs, as if the process was killed.
        std::mem::forget(run);
        0
    });
    assert_eq!(status, 0);
    let names = nix::net::if_::if_nameindex().expect("names");
    assert_eq!(names.iter().count(), 2, "the device has gone with the process");
    let mut netlink = Netlink::open().expect("netlink");
    assert_eq!(netlink.routes(3).expect("routes"), []);
}
