//! Tests of the report about the capabilities of a machine.

use crate::support::{Test, become_unprivileged, become_unprivileged_with_tun, needs_root, skip};
use airpath_emu::check::{Probe, Report, check};
use airpath_emu::idle::keep_awake;
use airpath_emu::privileges::enter_user_namespace;
use airpath_emu::sys;
use nix::sys::resource::{Resource, setrlimit};
use std::io::Read;

pub(crate) const TESTS: &[Test] = &[
    ("a_check_leaves_no_state", a_check_leaves_no_state),
    ("cores_stay_awake_while_the_request_is_held", cores_stay_awake_while_the_request_is_held),
    ("a_check_without_privileges", a_check_without_privileges),
    ("a_check_without_tun", a_check_without_tun),
    ("a_check_without_user_namespaces", a_check_without_user_namespaces),
];

fn probe<'a>(report: &'a Report, name: &str) -> &'a Probe {
    report.checks.iter().find(|probe| probe.name == name).expect(name)
}

fn a_check_leaves_no_state() {
    needs_root();
    let places = ["net", "user", "mnt", "pid_for_children"];
    let here = || places.map(|place| std::fs::read_link(format!("/proc/self/ns/{place}")).ok());
    let before = here();
    let report = check();
    assert!(report.ok, "{report:?}");
    assert_eq!(here(), before);
    assert_eq!(sys::class(), sys::Class::Other);
    assert_eq!(probe(&report, "privileges").found, "CAP_NET_ADMIN and CAP_SYS_ADMIN");
    assert!(probe(&report, "reno").ok, "every kernel has it");
    let lateness = report.lateness.expect("measured");
    assert!(0.0 < lateness.p50_s && lateness.p50_s <= lateness.p99_s);
    assert!(lateness.p99_s <= lateness.max_s);
    // A failed check has a fix, and no other check has one.
    assert!(report.checks.iter().all(|probe| probe.ok != probe.fix.is_some()), "{report:?}");
}

fn cores_stay_awake_while_the_request_is_held() {
    let held = match keep_awake() {
        Ok(held) => held,
        Err(error) => skip(&format!("/dev/cpu_dma_latency cannot be written: {error}")),
    };
    let mut latency = [1; 4];
    let mut device = std::fs::File::open("/dev/cpu_dma_latency").expect("the device");
    device.read_exact(&mut latency).expect("the latency in force, µs");
    assert_eq!(i32::from_ne_bytes(latency), 0);
    drop(held);
}

fn a_check_without_privileges() {
    needs_root();
    setrlimit(Resource::RLIMIT_RTPRIO, 0, 0).expect("a limit");
    become_unprivileged();
    let report = check();
    assert!(report.ok, "{report:?}");
    assert_eq!(probe(&report, "privileges").found, "none, but user namespaces");
    let class = probe(&report, "real-time class");
    assert!(!class.ok && class.found.contains("RLIMIT_RTPRIO is 0"), "{class:?}");
    assert!(class.fix.as_ref().is_some_and(|words| words.contains("rtprio")), "{class:?}");
    assert_eq!(report.class, "other");
}

fn a_check_without_tun() {
    needs_root();
    become_unprivileged_with_tun(0o600);
    let report = check();
    assert!(report.ok, "{report:?}");
    let words = "pairs of veth devices: cannot open a TUN device: Permission denied (os error 13)";
    let devices = probe(&report, "devices");
    assert_eq!((devices.ok, &*devices.found), (true, words));
}

fn a_check_without_user_namespaces() {
    needs_root();
    // Each user namespace has its own limit, which this process may change.
    enter_user_namespace().expect("a user namespace");
    std::fs::write("/proc/sys/user/max_user_namespaces", "0").expect("a limit");
    sys::drop_capabilities().expect("no capabilities");
    let report = check();
    assert!(!report.ok);
    let privileges = probe(&report, "privileges");
    assert_eq!(
        privileges.fix.as_deref(),
        Some(
            "none are allowed: run `sysctl user.max_user_namespaces=15000` as root, or run as root"
        )
    );
    assert!(privileges.found.starts_with("cannot make a user namespace: "), "{privileges:?}");
    let device = probe(&report, "devices");
    assert_eq!((&*device.found, device.ok), ("not tried", false));
}
