//! Forks the process, closes descriptors, and sets signal actions and mount attributes.

use super::result;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::unistd::Pid;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Exit status of a copy that panicked.
const PANICKED: i32 = 70;

/// Returns true if the process has one thread.
pub fn is_single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Forks a copy of the process. The copy runs `body` and exits with its result as exit status. It
/// has only the standard descriptors and those in `keep`.
///
/// # Errors
/// Fails if the process has other threads, or the kernel rejects it.
pub fn fork(keep: &[BorrowedFd<'_>], body: impl FnOnce() -> i32) -> io::Result<Pid> {
    if !is_single_threaded() {
        return Err(io::Error::other("a process with several threads is not copied"));
    }
    // SAFETY: the process has one thread, this one, so no lock is held by another and the copy is
    // as consistent as the original.
    let pid = result(unsafe { libc::fork() })?;
    if pid > 0 {
        return Ok(Pid::from_raw(pid));
    }
    close_others(keep);
    let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or(PANICKED);
    // SAFETY: ends the copy immediately, so that no exit handler of the original runs twice.
    unsafe { libc::_exit(status) }
}

/// Closes all descriptors except the standard ones and those in `keep`.
///
/// Call it only in a forked copy that never returns to the owners of the closed descriptors, and
/// whose `body` uses none of them.
fn close_others(keep: &[BorrowedFd<'_>]) {
    let mut keep: Vec<u32> = keep.iter().map(|fd| fd.as_raw_fd() as u32).collect();
    keep.sort_unstable();
    let mut first = 3_u32;
    for fd in keep {
        if fd > first {
            close_range(first, fd - 1);
        }
        first = first.max(fd + 1);
    }
    close_range(first, u32::MAX);
}

/// Closes all descriptors except the standard ones, in a copy that uses no other descriptors.
pub fn close_all_but_standard() {
    close_others(&[]);
}

/// Ignores a signal, or restores its default action.
///
/// # Errors
/// Fails for `SIGKILL` and `SIGSTOP`.
pub fn set_signal(signal: Signal, ignored: bool) -> io::Result<()> {
    let handler = if ignored { SigHandler::SigIgn } else { SigHandler::SigDfl };
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: no function is installed that could be called at a moment at which it is unsafe.
    unsafe { sigaction(signal, &action) }?;
    Ok(())
}

fn close_range(first: u32, last: u32) {
    // SAFETY: closes descriptors that this copy of the process no longer uses.
    let status = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    if status < 0 {
        // Kernels before 5.9: one by one, up to the largest possible descriptor.
        for fd in first..=last.min(65_535) {
            // SAFETY: the same.
            unsafe { libc::close(fd as libc::c_int) };
        }
    }
}

/// Sets `nosuid` on all mounts of this mount namespace: executed files give no privileges.
///
/// # Errors
/// Fails if the kernel does not support it (before 5.12) or rejects it.
pub fn make_mounts_nosuid() -> io::Result<()> {
    const AT_RECURSIVE: libc::c_uint = 0x8000;
    const MOUNT_ATTR_NOSUID: u64 = 2;
    /// `struct mount_attr` of linux/mount.h.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let wanted = Attributes { set: MOUNT_ATTR_NOSUID, clear: 0, propagation: 0, user_namespace: 0 };
    // SAFETY: the path is a string that ends with 0, the structure has the size that is passed, and
    // the kernel only reads them during the call.
    let status = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            AT_RECURSIVE,
            &raw const wanted,
            size_of_val(&wanted),
        )
    };
    result(status as libc::c_int)?;
    Ok(())
}
