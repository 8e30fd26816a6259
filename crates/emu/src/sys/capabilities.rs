//! Reads and changes the capabilities of the calling thread (linux/capability.h, version 3).

use super::result;
use std::io;

/// Permits configuration of networks.
pub const CAP_NET_ADMIN: u32 = 12;
/// Permits raw and packet sockets.
pub const CAP_NET_RAW: u32 = 13;
/// Permits changes of the bounding set and of `securebits`.
pub const CAP_SETPCAP: u32 = 8;
/// Permits namespaces, mounts and other administration.
pub const CAP_SYS_ADMIN: u32 = 21;

const VERSION_3: u32 = 0x2008_0522;
/// `securebits` with which root gains no privileges at `exec` or at a change of the user, and
/// ambient capabilities cannot be raised; all bits are locked. The bit that keeps capabilities at a
/// change of the user is not locked: there are no capabilities to keep, and `ping` aborts if it
/// cannot set this bit.
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
    /// Permitted capabilities, which can be made effective.
    pub permitted: u64,
    /// Inheritable capabilities, which an executed file may keep.
    pub inheritable: u64,
}

impl Capabilities {
    /// Returns true if a capability is effective.
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
/// Fails if the kernel does not support capabilities.
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
/// Fails if the kernel rejects one of the steps.
pub fn drop_capabilities() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0)?;
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0)?;
    // Without CAP_SETPCAP, the bounding set and `securebits` cannot change, but then there are no
    // capabilities to limit.
    if capabilities()?.has(CAP_SETPCAP) {
        for capability in 0..64 {
            // The loop ends at the first capability number that the kernel does not define.
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
/// Fails if the kernel rejects it.
pub fn keep_capabilities() -> io::Result<()> {
    let present = capabilities()?;
    set_capabilities(Capabilities { inheritable: present.permitted, ..present })?;
    for capability in (0..64).filter(|capability| present.permitted & (1 << capability) != 0) {
        prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, capability)?;
    }
    Ok(())
}
