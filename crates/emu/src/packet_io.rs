//! I/O of the path: a clock, and the two devices at its ends.

use crate::events::Progress;
use airpath_core::Time;
use std::io;

/// An end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Where the data of flows comes from whose direction is forward.
    Server,
    /// Side that receives the data.
    Client,
}

impl Side {
    /// Both sides.
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

/// Events that ended a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// By [`Side`]: whether packets wait at its device.
    pub packets: [bool; 2],
    /// Whether a descriptor of the [`Supervisor`] is ready.
    pub attention: bool,
}

/// A clock and two devices: the kernel's, or a test's.
///
/// Time counts from the start of the scenario and never goes back.
pub trait PacketIo {
    /// The present instant.
    fn now(&mut self) -> Time;

    /// Reads the next packet that waits at the device of `side`; its length, or `None` when none waits.
    ///
    /// # Errors
    /// When the device fails.
    fn read(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Writes a packet to the device of `side`; false when the device's queue was full.
    ///
    /// # Errors
    /// When the device fails.
    fn write(&mut self, side: Side, packet: &[u8]) -> io::Result<bool>;

    /// Waits until packets wait at a device, until `until`, or until something else happens.
    ///
    /// # Errors
    /// When the system fails.
    fn wait(&mut self, until: Time) -> io::Result<Ready>;
}

/// Supervision callback of a run, which may end it: of a test, or of a process with commands and
/// signals.
pub trait Supervisor {
    /// Handles events other than packets; called when there are any, and ten times a second. A
    /// returned [`Ending`] ends the run.
    fn attend(&mut self, now: Time) -> Option<Ending>;

    /// A packet passes a device: out of it into the path, or out of the path into it.
    fn passes(&mut self, now: Time, side: Side, into_the_path: bool, packet: &[u8]);

    /// Measurement starts.
    fn measurement_starts(&mut self, now: Time);

    /// Time of the next progress report; [`Time::NEVER`]: none.
    fn next_progress(&self) -> Time;

    /// How far the run is.
    fn progress(&mut self, progress: Progress);
}

/// Why a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The scenario has.
    Scenario,
    /// The client's command has.
    Command,
    /// The time that commands were given is over.
    Duration,
    /// The process received a signal.
    Signal,
    /// The parent process has exited.
    Input,
}

impl Ending {
    /// The name in events.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Scenario => "end",
            Ending::Command => "command",
            Ending::Duration => "duration",
            Ending::Signal => "signal",
            Ending::Input => "input",
        }
    }
}
