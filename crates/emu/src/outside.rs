//! What is outside of the path: a clock, and the two devices at its ends.

use airpath_core::Time;
use std::io;

/// An end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Where the data of flows comes from whose direction is forward.
    Server,
    /// Where it goes.
    Client,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::Server, Side::Client];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Side {
        match self {
            Side::Server => Side::Client,
            Side::Client => Side::Server,
        }
    }

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Server => "server",
            Side::Client => "client",
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// By [`Side`]: whether packets wait at its device.
    pub packets: [bool; 2],
    /// Whether somebody asks the run to end.
    pub stop: bool,
}

/// A clock and two devices: the kernel's, or a test's.
///
/// Time counts from the start of the scenario and never goes back.
pub trait Outside {
    /// The present instant.
    fn now(&mut self) -> Time;

    /// Reads the next packet that waits at the device of `side`; its length, or `None` when none waits.
    ///
    /// # Errors
    /// When the device fails.
    fn read(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Writes a packet to the device of `side`; false when the device had no room for it.
    ///
    /// # Errors
    /// When the device fails.
    fn write(&mut self, side: Side, packet: &[u8]) -> io::Result<bool>;

    /// Waits until packets wait at a device, until `until`, or until somebody asks the run to end.
    ///
    /// # Errors
    /// When the system fails.
    fn wait(&mut self, until: Time) -> io::Result<Ready>;
}
