//! Reads and sets the scheduling class of the calling thread.

use super::result;
use std::io;

/// A scheduling class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Real time, first in first out.
    Fifo,
    /// Any time-sharing class.
    Other,
}

impl Class {
    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Fifo => "fifo",
            Class::Other => "other",
        }
    }
}

/// Puts the calling thread into the real-time class. Threads that it starts are not in this class.
///
/// # Errors
/// Fails if it is not permitted, or the priority is not within 1 … 99.
pub fn set_fifo(priority: u8) -> io::Result<()> {
    set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, priority)
}

/// Puts the calling thread, and threads that it starts, into the normal class.
///
/// # Errors
/// Fails if it is not permitted. Leaving the real-time class is always permitted.
pub fn set_other() -> io::Result<()> {
    set(libc::SCHED_OTHER, 0)
}

/// Returns the class of the calling thread.
pub fn class() -> Class {
    // SAFETY: takes and returns plain numbers; 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_FIFO | libc::SCHED_RR => Class::Fifo,
        _ => Class::Other,
    }
}

fn set(policy: libc::c_int, priority: u8) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: priority.into() };
    // SAFETY: `parameter` is read during the call only; 0 is the calling thread.
    result(unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) })?;
    Ok(())
}
