//! Privileges of the process, and the user namespace in which it has more.

use crate::fixes::Environment;
use crate::namespaces::SetupError;
use crate::sys::{self, CAP_NET_ADMIN, CAP_SYS_ADMIN};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::fs;
use std::io;

/// Whether the process may make network namespaces and set up the present one.
pub fn is_privileged() -> bool {
    sys::capabilities().is_ok_and(|mine| mine.has(CAP_NET_ADMIN) && mine.has(CAP_SYS_ADMIN))
}

/// Puts the process into a separate user namespace, in which it has all capabilities and the same
/// user and group as before: a command that is executed in it has no capability by itself.
///
/// # Errors
/// When the process has several threads, or the machine does not allow it.
pub fn enter_user_namespace() -> Result<(), SetupError> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused("make", error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(|error| refused("set up", error))?;
    for (file, id) in [("uid_map", user.as_raw()), ("gid_map", group.as_raw())] {
        match fs::write(format!("/proc/self/{file}"), format!("{id} {id} 1")) {
            Ok(()) => {}
            // Root without CAP_SETFCAP may not map itself; unmapped it has the capabilities all the
            // same, and the programs that it starts see themselves as user `nobody`.
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
