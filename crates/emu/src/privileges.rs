//! Checks the privileges of the process, and creates a user namespace in which the process has more
//! privileges.

use crate::fixes::Environment;
use crate::namespaces::SetupError;
use crate::sys::{self, CAP_NET_ADMIN, CAP_SYS_ADMIN};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::fs;
use std::io;

/// Returns true if the process may create network namespaces and configure the current one.
pub fn is_privileged() -> bool {
    sys::capabilities().is_ok_and(|mine| mine.has(CAP_NET_ADMIN) && mine.has(CAP_SYS_ADMIN))
}

/// Moves the process into a separate user namespace, in which it has all capabilities and its
/// previous user and group. A command that is executed there has no capabilities by default.
///
/// # Errors
/// Fails if the process has several threads, or the machine does not permit it.
pub fn enter_user_namespace() -> Result<(), SetupError> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused("make", error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(|error| refused("set up", error))?;
    for (file, id) in [("uid_map", user.as_raw()), ("gid_map", group.as_raw())] {
        match fs::write(format!("/proc/self/{file}"), format!("{id} {id} 1")) {
            Ok(()) => {}
            // Root without CAP_SETFCAP may not map itself. Without a mapping it still has the
            // capabilities, but the programs that it starts run as user `nobody`.
            Err(error) if id == 0 && error.raw_os_error() == Some(libc::EPERM) => {}
            Err(error) => return Err(refused("set up", error)),
        }
    }
    Ok(())
}

fn refused(step: &str, error: io::Error) -> SetupError {
    let fix = Environment::detect().user_namespace(&error);
    SetupError::new("namespace", format!("cannot {step} a user namespace: {error}; {fix}"))
}
