//! Interface between the driver and its environment: a clock, and the devices at both ends of the
//! path.

use crate::events::Progress;
use airpath_core::Time;
use std::io;

/// An end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Side that sends the data of forward flows.
    Server,
    /// Side that receives the data of forward flows.
    Client,
}

impl Side {
    /// Both sides.
    pub const BOTH: [Side; 2] = [Side::Server, Side::Client];

    /// Returns the other side.
    #[must_use]
    pub const fn other(self) -> Side {
        match self {
            Side::Server => Side::Client,
            Side::Client => Side::Server,
        }
    }

    /// Returns the name in results.
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
    /// True if packets wait at the device of a side, in the order of [`Side`].
    pub packets: [bool; 2],
    /// True if a descriptor of the [`Supervisor`] is ready.
    pub attention: bool,
}

/// A clock and two devices. Implemented with the kernel, and by tests.
///
/// Time counts from the start of the scenario and never decreases.
pub trait PacketIo {
    /// Returns the current time.
    fn now(&mut self) -> Time;

    /// Reads the next packet that waits at the device of `side`. Returns its length, or `None` if
    /// no packet waits.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn read(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Writes a packet to the device of `side`. Returns false if the device does not accept the
    /// packet.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn write(&mut self, side: Side, packet: &[u8]) -> io::Result<bool>;

    /// Waits until packets wait at a device, another event occurs, or `until` is reached.
    ///
    /// # Errors
    /// Fails if a system call fails.
    fn wait(&mut self, until: Time) -> io::Result<Ready>;
}

/// Callbacks that supervise a run and may end it. Implemented by the host of a run, which handles
/// commands and signals, and by tests.
pub trait Supervisor {
    /// Handles events other than packets. Called when such an event occurs, and at least ten times
    /// per second. If an [`Ending`] is returned, the run ends.
    fn attend(&mut self, now: Time) -> Option<Ending>;

    /// Called for each packet that enters the path from the device of `side`, or leaves the path to
    /// this device.
    fn passes(&mut self, now: Time, side: Side, into_the_path: bool, packet: &[u8]);

    /// Called when measurement starts.
    fn measurement_starts(&mut self, now: Time);

    /// Returns the time of the next progress report; [`Time::NEVER`] if there are no reports.
    fn next_progress(&self) -> Time;

    /// Receives a progress report.
    fn progress(&mut self, progress: Progress);
}

/// Reason for which a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The scenario has ended.
    Scenario,
    /// The client's command has ended.
    Command,
    /// The maximum duration of the commands has passed.
    Duration,
    /// The process received a signal.
    Signal,
    /// The parent process has exited.
    Input,
}

impl Ending {
    /// Returns the name in events.
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
