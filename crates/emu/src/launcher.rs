//! Starts the commands of a run. The launcher, a separate process, starts each command in its
//! network namespace. It is forked while `airpath-emu` has only one thread. When it exits, all
//! processes that the commands have started also end.
//!
//! ```text
//!   airpath-emu ─ keeper ─ launcher (first of a PID namespace) ─┬ server's command
//!        └──────── socketpair ───────┘                          └ client's command
//! ```
//!
//! The keeper creates the PID namespace, because a process that has created a PID namespace can no
//! longer start a thread. At any exit of `airpath-emu`, the kernel kills the keeper (`PDEATHSIG`)
//! and the launcher. The launcher is the first process of its PID namespace, so the kernel also
//! kills all other processes in this namespace.
//!
//! * `airpath-emu` has the capabilities of its caller, or all capabilities within a separate user
//!   namespace, and the real-time class if it is permitted. It is in the caller's network
//!   namespace, or in an empty one.
//! * Keeper and launcher have the same capabilities and the normal scheduling class.
//! * A command is in the network namespace of its side. It has no capabilities and cannot acquire
//!   any. With `keep_privileges` it has the capabilities of the launcher.
//!
//! A command has the permissions of its user for files, and for sockets in the file system. The
//! packets of an ordinary program therefore use the path, but the setup is not a sandbox for a
//! hostile program.
//!
//! Source: pid_namespaces(7), capabilities(7), credentials(7).

use crate::description::Traffic;
use crate::namespaces::{SetupError, Sides};
use crate::packet_io::Side;
use crate::sys;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use nix::sys::time::TimeSpec;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

mod command;
mod first;

use command::Command;

/// Maximum length of a message of a launcher, bytes.
const MESSAGE: usize = 4096;
/// Additional time that the launcher has to end after the grace period of the commands.
const SLACK: Duration = Duration::from_secs(1);

/// Messages to a launcher.
const START: u8 = 1;
const END: u8 = 2;
/// First field of the message of a launcher at its start; in other messages this field is a side
/// number.
const READY: u8 = 2;

/// An event of a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LauncherEvent {
    /// A command has ended.
    Ended {
        /// Side of the command.
        side: Side,
        /// Exit status as in a shell: 128 plus the signal number if a signal ended the command.
        status: i32,
    },
    /// A command could not be started.
    Failed {
        /// Side of the command.
        side: Side,
        /// Reason, one sentence.
        message: String,
        /// Exit status as in a shell: 127 if the program does not exist, otherwise 126.
        status: i32,
    },
    /// The launcher and all processes that it had started have ended.
    Gone,
}

/// Handle of the process that starts the commands.
#[derive(Debug)]
pub struct Launcher {
    keeper: Option<Pid>,
    socket: OwnedFd,
    /// Process group of this process, if it was the foreground group of the terminal at the start.
    foreground: Option<Pid>,
}

impl Launcher {
    /// Forks the launcher. [`Launcher::start`] then starts the commands.
    ///
    /// # Errors
    /// Fails if the process has several threads, the description contains no commands, or the
    /// kernel does not permit it.
    pub fn fork(
        sides: &Sides,
        traffic: &Traffic,
        keep_privileges: bool,
    ) -> Result<Self, SetupError> {
        let refused = |error: io::Error| {
            SetupError::new(
                "command",
                format!("cannot fork the process that starts the commands: {error}"),
            )
        };
        let commands = Command::of(sides, traffic, keep_privileges)?;
        let flags = SockFlag::SOCK_CLOEXEC;
        let (socket, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)
            .map_err(|error| refused(error.into()))?;
        let keep = [theirs.as_fd(), sides.netns(Side::Server), sides.netns(Side::Client)];
        let parent = Pid::this();
        let keeper = sys::fork(&keep, || first::keep(parent, &keep, theirs.as_fd(), &commands))
            .map_err(refused)?;
        drop(theirs);
        let mut launcher = Self { keeper: Some(keeper), socket, foreground: foreground() };
        let words = match launcher.message(MsgFlags::empty()) {
            Some((0, READY, words)) if words.is_empty() => return Ok(launcher),
            Some((_, _, words)) => words,
            None => "it has ended".to_owned(),
        };
        let message = format!(
            "cannot make a namespace of processes: {words}; raise `user.max_pid_namespaces` and \
             `user.max_mnt_namespaces`, or run as root"
        );
        Err(SetupError::new("namespace", message))
    }

    /// Starts the command of a side, if the side has a command.
    ///
    /// # Errors
    /// Fails if the launcher has ended.
    pub fn start(&self, side: Side) -> io::Result<()> {
        self.send_message(&[START, side as u8])
    }

    /// Returns a descriptor that is readable if [`Launcher::poll`] has an event.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns the next event, if any, without waiting. After the end of the launcher it always
    /// returns [`LauncherEvent::Gone`].
    pub fn poll(&mut self) -> Option<LauncherEvent> {
        self.receive()
    }

    /// Requests the end of the commands. They receive `SIGTERM` immediately, `SIGHUP` (as from a
    /// closed terminal) after half of `grace`, and are killed after `grace`. The last event is
    /// [`LauncherEvent::Gone`].
    ///
    /// # Errors
    /// Fails if the launcher has ended.
    pub fn ask_to_end(&self, grace: airpath_core::Duration) -> io::Result<()> {
        let grace = u32::try_from(grace.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        self.send_message(&[&[END], &grace.to_ne_bytes()[..]].concat())
    }

    /// Ends all commands like [`Launcher::ask_to_end`], and waits for the end of the launcher.
    /// Returns the events of the launcher up to its end.
    pub fn end(&mut self, grace: airpath_core::Duration) -> Vec<LauncherEvent> {
        let mut events = Vec::new();
        // Fails only if the launcher has already ended.
        let _ = self.ask_to_end(grace);
        let deadline = now() + Duration::from_nanos(grace.as_nanos()) + SLACK;
        while self.wait(deadline.saturating_sub(now())) {
            match self.receive() {
                Some(LauncherEvent::Gone) => break,
                event => events.extend(event),
            }
        }
        self.close();
        events
    }

    fn send_message(&self, message: &[u8]) -> io::Result<()> {
        send(self.socket.as_raw_fd(), message, MsgFlags::MSG_NOSIGNAL)?;
        Ok(())
    }

    /// Returns the next message, if any: status, side number, and text. After the end of the
    /// launcher, it returns a message with an invalid side number.
    fn message(&mut self, flags: MsgFlags) -> Option<(i32, u8, String)> {
        let mut buffer = [0; MESSAGE];
        let length = loop {
            match recv(self.socket.as_raw_fd(), &mut buffer, flags) {
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return None,
                Err(_) => break 0,
                Ok(length) => break length,
            }
        };
        Some(match buffer[..length].split_first_chunk() {
            Some((status, [about, words @ ..])) => {
                (i32::from_ne_bytes(*status), *about, String::from_utf8_lossy(words).into_owned())
            }
            _ => (0, u8::MAX, "it has ended".to_owned()),
        })
    }

    fn receive(&mut self) -> Option<LauncherEvent> {
        let (status, about, words) = self.message(MsgFlags::MSG_DONTWAIT)?;
        let Some(side) = Side::BOTH.get(usize::from(about)) else {
            self.close();
            return Some(LauncherEvent::Gone);
        };
        Some(if words.is_empty() {
            LauncherEvent::Ended { side: *side, status }
        } else {
            LauncherEvent::Failed { side: *side, message: words, status }
        })
    }

    /// Waits until a message is available, at most for `time`.
    fn wait(&self, time: Duration) -> bool {
        let mut wanted = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        match poll(&mut wanted, time) {
            Ok(ready) => ready > 0,
            // The caller handles signals.
            Err(error) => error == Errno::EINTR,
        }
    }

    /// Kills the remaining processes, and restores the foreground group of the terminal.
    fn close(&mut self) {
        if let Some(keeper) = self.keeper.take() {
            let _ = kill(keeper, Signal::SIGKILL);
            while waitpid(keeper, None) == Err(Errno::EINTR) {}
        }
        if let Some(foreground) = self.foreground.take() {
            give_terminal(foreground);
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        self.close();
    }
}

/// Opens the terminal of the session, if it has one.
fn terminal() -> Option<File> {
    File::options().read(true).write(true).open("/dev/tty").ok()
}

/// Returns the process group of this process, if it is the foreground group of the terminal.
fn foreground() -> Option<Pid> {
    tcgetpgrp(terminal()?).ok().filter(|group| *group == getpgrp())
}

/// Makes a process group the foreground group of the terminal. This is required after an
/// interactive shell, which leaves its own group in the foreground.
fn give_terminal(group: Pid) {
    let mut stop = SigSet::empty();
    stop.add(Signal::SIGTTOU);
    let Some(terminal) = terminal() else { return };
    // The kernel stops a background process that calls this function, unless the signal is blocked.
    let Ok(before) = stop.thread_swap_mask(SigmaskHow::SIG_BLOCK) else { return };
    let _ = tcsetpgrp(terminal, group);
    let _ = before.thread_set_mask();
}

/// Returns the time of a monotonic clock.
fn now() -> Duration {
    Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap_or(TimeSpec::new(0, 0)))
}

/// Returns a process that has ended, and its exit status as in a shell; `None` if all processes
/// still run.
///
/// # Errors
/// Fails if there is no process to wait for.
fn reap(pid: Option<Pid>, wait: bool) -> nix::Result<Option<(Pid, i32)>> {
    loop {
        match waitpid(pid, (!wait).then_some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, status)) => return Ok(Some((pid, status))),
            Ok(WaitStatus::Signaled(pid, signal, _)) => {
                return Ok(Some((pid, 128 + signal as i32)));
            }
            Ok(WaitStatus::StillAlive) => return Ok(None),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
}
