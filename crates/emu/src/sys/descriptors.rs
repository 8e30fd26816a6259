//! File descriptors that the program was started with.

use super::result;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// The descriptor `number`, which the parent process has left open for this one; child processes do
/// not inherit it. Call it once for each number.
///
/// # Errors
/// When there is none, or it is one of the first three, which are standard streams.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number < 3 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: takes and gives plain numbers; a descriptor that is not open is an error.
    result(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: it is open, and nothing of this program has opened or taken it: it is taken while the
    // arguments are read, which is before anything is opened and not closed again.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
