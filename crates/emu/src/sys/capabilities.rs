//! Capabilities of the calling thread: linux/capability.h, version 3.

use super::result;
use std::io;

/// Settings of networks.
pub const CAP_NET_ADMIN: u32 = 12;
/// Sockets of raw packets.
pub const CAP_NET_RAW: u32 = 13;
/// Changes of the bounding set and of `securebits`.
pub const CAP_SETPCAP: u32 = 8;
/// Namespaces, mounts and more.
pub const CAP_SYS_ADMIN: u32 = 21;

const VERSION_3: u32 = 0x2008_0522;
/// Root has no privileges at `exec` or at a change of the user, and ambient capabilities cannot be
/// raised; all of it locked. Keeping capabilities at a change of the user is not locked: there is
/// nothing to keep, and ping aborts when it may not set it.
const NO_ROOT: libc::c_int = libc::SECBIT_NOROOT
    | libc::SECBIT_NOROOT_LOCKED
    | libc::SECBIT_NO_SETUID_FIXUP
    | libc::SECBIT_NO_SETUID_FIXUP_LOCKED
    | libc::SECBIT_NO_CAP_AMBIENT_RAISE
    | libc::SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

/// Sets of capabilities, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Effective capabilities.
    pub effective: u64,
    /// Those that can be made to count.
    pub permitted: u64,
    /// Those that an executed file may pass on.
    pub inheritable: u64,
}

impl Capabilities {
    /// Whether a capability counts now.
    pub const fn has(&self, capability: u32) -> bool {
        self.effective & (1 << capability) != 0
    }
}

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Returns the capabilities of the calling thread.
///
/// # Errors
/// When the kernel has none.
pub fn capabilities() -> io::Result<Capabilities> {
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut data = [Data::default(); 2];
    // SAFETY: version 3 reads and writes one header and writes two data structures; both outlive
    // the call.
    let status = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    result(status as libc::c_int)?;
    let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Ok(Capabilities {
        effective: join(data[0].effective, data[1].effective),
        permitted: join(data[0].permitted, data[1].permitted),
        inheritable: join(data[0].inheritable, data[1].inheritable),
    })
}

fn set_capabilities(wanted: Capabilities) -> io::Result<()> {
    let mut header = Header { version: VERSION_3, pid: 0 };
    let half = |shift: u32| Data {
        effective: (wanted.effective >> shift) as u32,
        permitted: (wanted.permitted >> shift) as u32,
        inheritable: (wanted.inheritable >> shift) as u32,
    };
    let data = [half(0), half(32)];
    // SAFETY: version 3 reads one header and two data structures, which outlive the call.
    let status = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) };
    result(status as libc::c_int)?;
    Ok(())
}

fn prctl(option: libc::c_int, first: libc::c_ulong, second: libc::c_ulong) -> io::Result<i32> {
    // SAFETY: only options whose arguments are plain numbers are passed in this file.
    result(unsafe { libc::prctl(option, first, second, 0 as libc::c_ulong, 0 as libc::c_ulong) })
}

/// Drops all capabilities of the calling thread permanently: programs that it executes have none,
/// even as root and with file capabilities (`no_new_privs`).
///
/// # Errors
/// When the kernel refuses a part of it.
pub fn drop_capabilities() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0)?;
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0)?;
    // Without it the bounding set and the bits stay: then there is nothing to bound either.
    if capabilities()?.has(CAP_SETPCAP) {
        for capability in 0..64 {
            // The first that the kernel does not know ends it.
            if prctl(libc::PR_CAPBSET_READ, capability, 0).is_err() {
                break;
            }
            prctl(libc::PR_CAPBSET_DROP, capability, 0)?;
        }
        prctl(libc::PR_SET_SECUREBITS, NO_ROOT as libc::c_ulong, 0)?;
    }
    set_capabilities(Capabilities::default())
}

/// Lets programs that the calling thread executes keep its capabilities, for any user.
///
/// # Errors
/// When the kernel refuses it.
pub fn keep_capabilities() -> io::Result<()> {
    let present = capabilities()?;
    set_capabilities(Capabilities { inheritable: present.permitted, ..present })?;
    for capability in (0..64).filter(|capability| present.permitted & (1 << capability) != 0) {
        prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, capability)?;
    }
    Ok(())
}
