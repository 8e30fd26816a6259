//! Helper functions of the tests.

use airpath_emu::description::Description;
use airpath_emu::namespaces::Sides;
use airpath_emu::packet_io::Side;
use airpath_emu::{privileges, sys};
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use serde_json::{Value, json};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Name and function of a test.
pub(crate) type Test = (&'static str, fn());

/// Exit status of a test that is skipped.
pub(crate) const SKIPPED: i32 = 77;

/// Ends the test as skipped.
pub(crate) fn skip(reason: &str) -> ! {
    eprintln!("{reason}");
    std::process::exit(SKIPPED)
}

/// Skips the test without root or a TUN device.
pub(crate) fn needs_root() {
    if !privileges::is_privileged() {
        skip("it takes CAP_NET_ADMIN and CAP_SYS_ADMIN");
    }
    needs_tun();
}

fn needs_tun() {
    if let Err(error) = fs::File::open("/dev/net/tun") {
        skip(&format!("/dev/net/tun cannot be opened: {error}"));
    }
}

/// Returns a description with some fields replaced.
pub(crate) fn description(changes: Value) -> Description {
    let mut fields = json!({
        "scenario": {},
        "seed": 1,
        "traffic": {"kind": "flows", "sockets": []},
    });
    for (name, value) in changes.as_object().expect("an object") {
        fields[name] = value.clone();
    }
    serde_json::from_value(fields).expect("a description")
}

/// Sets up both sides for one user, with some fields of the description replaced.
pub(crate) fn sides(changes: Value) -> Sides {
    Sides::open(&description(changes), &[0]).expect("sides")
}

/// Waits for the next IPv4 packet of a device and reads it.
pub(crate) fn read(sides: &Sides, side: Side) -> Vec<u8> {
    let mut buffer = vec![0; 65_536];
    loop {
        let mut wanted = [PollFd::new(sides.device(side).as_fd(), PollFlags::POLLIN)];
        assert_eq!(poll(&mut wanted, PollTimeout::NONE), Ok(1), "no packet");
        let length = sides.device(side).read(&mut buffer).expect("read");
        if buffer[0] >> 4 == 4 {
            return buffer[..length].to_vec();
        }
    }
}

/// Writes a packet to a device.
pub(crate) fn write(sides: &Sides, side: Side, packet: &[u8]) {
    sides.device(side).write(packet).expect("write");
}

/// Forwards a packet from one side to the other, and returns it.
pub(crate) fn carry(sides: &Sides, from: Side) -> Vec<u8> {
    let packet = read(sides, from);
    write(sides, from.other(), &packet);
    packet
}

/// Forwards packets until the time `until`. Returns their number, and the longest pause in addition
/// to a wait, s.
pub(crate) fn carry_until(sides: &Sides, until: Duration) -> (usize, f64) {
    let wait = Duration::from_millis(10);
    let (mut carried, mut longest, mut before) = (0, Duration::ZERO, now());
    while before < until {
        let mut devices =
            Side::BOTH.map(|side| PollFd::new(sides.device(side).as_fd(), PollFlags::POLLIN));
        poll(&mut devices, PollTimeout::try_from(wait).expect("short")).expect("wait");
        let waiting = devices.map(|device| device.any() == Some(true));
        for side in Side::BOTH.into_iter().filter(|side| waiting[*side as usize]) {
            carry(sides, side);
            carried += 1;
        }
        let after = now();
        longest = longest.max((after - before).saturating_sub(wait));
        before = after;
    }
    (carried, longest.as_secs_f64())
}

/// Hides `/dev/net/tun` in a mount namespace of this process.
pub(crate) fn hide_tun() {
    let none: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).expect("private mounts");
    mount(Some("tmpfs"), "/dev/net", Some("tmpfs"), MsFlags::empty(), none).expect("a tmpfs");
}

/// Makes the process run as user `nobody` without privileges. A device node in a separate mount
/// namespace makes `/dev/net/tun` accessible, as on most machines.
pub(crate) fn become_unprivileged() {
    become_unprivileged_with_tun(0o666);
}

/// Calls [`become_unprivileged`] with other permissions of `/dev/net/tun`.
pub(crate) fn become_unprivileged_with_tun(permissions: u32) {
    hide_tun();
    let tun = Path::new("/dev/net/tun");
    mknod(tun, SFlag::S_IFCHR, Mode::empty(), makedev(10, 200)).expect("a device node");
    fs::set_permissions(tun, PermissionsExt::from_mode(permissions)).expect("permissions");
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    setgroups(&[]).expect("no groups");
    setresgid(group, group, group).expect("a group");
    setresuid(user, user, user).expect("a user");
    // As after an exec, the process owns its files in /proc.
    nix::sys::prctl::set_dumpable(true).expect("dumpable");
    assert_eq!(sys::capabilities().expect("capabilities").effective, 0);
}

/// Runs `body` in a copy of this process. Returns its exit status.
pub(crate) fn in_a_copy(body: impl FnOnce() -> i32) -> i32 {
    let pid = sys::fork(&[], body).expect("a copy");
    match waitpid(pid, None).expect("its end") {
        WaitStatus::Exited(_, status) => status,
        other => panic!("{other:?}"),
    }
}

/// Returns the time of a monotonic clock.
pub(crate) fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).expect("a clock").into()
}

/// Returns the CPU time of this process.
pub(crate) fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("a clock").into()
}

/// Sleeps for `millis` milliseconds.
pub(crate) fn pause(millis: u16) {
    poll(&mut [], PollTimeout::from(millis)).expect("a pause");
}

/// Maximum number of attempts of a real-time run.
const TRIES: usize = 5;
/// Returns the result of the first real-time run with a lateness of at most `most_late_s`; skips
/// the test if no attempt succeeds. `run` returns its result and its lateness, s, without comparing
/// the result.
pub(crate) fn judged<T>(most_late_s: f64, mut run: impl FnMut() -> (T, f64)) -> T {
    let mut late_s = 0.0;
    for _ in 0..TRIES {
        let found;
        (found, late_s) = run();
        if late_s <= most_late_s {
            return found;
        }
    }
    skip(&format!("not judged: {TRIES} runs did not keep up, the last was {late_s:.3} s late"))
}
