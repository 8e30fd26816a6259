//! Takes over file descriptors that the process has inherited from its parent process.

use super::result;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Takes over the descriptor `number`, which the parent process has left open for this process.
/// Child processes do not inherit it. Call it once per number.
///
/// # Errors
/// Fails if the descriptor is not open, or is one of the three standard streams.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number < 3 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: takes and returns plain numbers; a descriptor that is not open is an error.
    result(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: the descriptor is open, and no other part of this program owns it, because it is
    // taken over while the arguments are read, before any other file remains open.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
