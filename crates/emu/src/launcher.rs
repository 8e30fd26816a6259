//! The commands of a run: a process that was copied off while there was one thread starts them,
//! each in its network namespace, and everything that they have started ends with it.
//!
//! ```text
//!   airpath-emu ─ keeper ─ launcher (first of a PID namespace) ─┬ server's command
//!        └──────── socketpair ───────┘                          └ client's command
//! ```
//!
//! The keeper exists because a process that has created a PID namespace can no longer start a
//! thread. When `airpath-emu` ends, however it does, the kernel kills the keeper (`PDEATHSIG`) and
//! with it the launcher, and with that, the first process of its PID namespace, all others in it.
//!
//! * `airpath-emu` has the capabilities of its caller, or all within a separate user namespace, and
//!   the real-time class where it is permitted. It is in the caller's network namespace, or in an
//!   empty one.
//! * Keeper and launcher have the same capabilities and the usual class.
//! * A command is in the network namespace of its side. It has no capability and can get none, or
//!   with `keep_privileges` those of the launcher.
//!
//! A command has the permissions of its user for files, and for sockets that are files: this keeps
//! an ordinary program on the path, and is no sandbox for a hostile one.
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

/// Longest message of a launcher, bytes.
const MESSAGE: usize = 4096;
/// How much longer than the commands are given the launcher itself may take to end.
const SLACK: Duration = Duration::from_secs(1);

/// Messages to a launcher.
const START: u8 = 1;
const END: u8 = 2;
/// Messages of a launcher at its start, in addition to sides.
const READY: u8 = 2;

/// An event of a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LauncherEvent {
    /// A command has ended.
    Ended {
        /// Side of the command.
        side: Side,
        /// Its exit status as that of a shell: 128 and more for signals.
        status: i32,
    },
    /// A command could not be started.
    Failed {
        /// Side of the command.
        side: Side,
        /// Why: one sentence.
        message: String,
        /// Exit status as of a shell: 127 when the program does not exist, otherwise 126.
        status: i32,
    },
    /// The launcher has ended, and with it everything that it had started.
    Gone,
}

/// The process that starts the commands.
#[derive(Debug)]
pub struct Launcher {
    keeper: Option<Pid>,
    socket: OwnedFd,
    /// The terminal's foreground group at the start, if it was this process's.
    foreground: Option<Pid>,
}

impl Launcher {
    /// Copies it off. The commands are started later, with [`Launcher::start`].
    ///
    /// # Errors
    /// When the process has several threads, the traffic is not that of commands, or the
    /// kernel does not allow it.
    pub fn fork(
        sides: &Sides,
        traffic: &Traffic,
        keep_privileges: bool,
    ) -> Result<Self, SetupError> {
        let refused = |error: io::Error| {
            SetupError::new("command", format!("cannot copy off what starts the commands: {error}"))
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

    /// Starts the command of a side; none there: nothing happens.
    ///
    /// # Errors
    /// When the launcher has gone.
    pub fn start(&self, side: Side) -> io::Result<()> {
        self.send_message(&[START, side as u8])
    }

    /// Readable when [`Launcher::poll`] has an event.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns the next event, if any; does not wait. At the end it is always
    /// [`LauncherEvent::Gone`].
    pub fn poll(&mut self) -> Option<LauncherEvent> {
        self.receive()
    }

    /// Requests the end: the commands receive `SIGTERM`, after half of `grace` `SIGHUP` as from a
    /// terminal that closes, and are killed after `grace`. The last event is
    /// [`LauncherEvent::Gone`].
    ///
    /// # Errors
    /// When the launcher has gone.
    pub fn ask_to_end(&self, grace: airpath_core::Duration) -> io::Result<()> {
        let grace = u32::try_from(grace.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        self.send_message(&[&[END], &grace.to_ne_bytes()[..]].concat())
    }

    /// Ends everything, as [`Launcher::ask_to_end`], and waits until it has ended; returns its
    /// events until then.
    pub fn end(&mut self, grace: airpath_core::Duration) -> Vec<LauncherEvent> {
        let mut events = Vec::new();
        // Fails only when it has gone already.
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

    /// The next message, if there is one: a status, what it is about, and words. At the end it is
    /// about nothing that there is.
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

    /// Waits until there is something to receive, or for that long.
    fn wait(&self, time: Duration) -> bool {
        let mut wanted = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        match poll(&mut wanted, time) {
            Ok(ready) => ready > 0,
            // The caller handles signals.
            Err(error) => error == Errno::EINTR,
        }
    }

    /// Kills what is still there, and gives the terminal back.
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

/// The terminal of the session, if it has one.
fn terminal() -> Option<File> {
    File::options().read(true).write(true).open("/dev/tty").ok()
}

/// The terminal's foreground group, if it is this process's.
fn foreground() -> Option<Pid> {
    tcgetpgrp(terminal()?).ok().filter(|group| *group == getpgrp())
}

/// Makes a group the foreground one of the terminal: an interactive shell leaves its own there.
fn give_terminal(group: Pid) {
    let mut stop = SigSet::empty();
    stop.add(Signal::SIGTTOU);
    let Some(terminal) = terminal() else { return };
    // From the background it would stop us.
    let Ok(before) = stop.thread_swap_mask(SigmaskHow::SIG_BLOCK) else { return };
    let _ = tcsetpgrp(terminal, group);
    let _ = before.thread_set_mask();
}

/// Time of a clock that never goes back.
fn now() -> Duration {
    Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap_or(TimeSpec::new(0, 0)))
}

/// A process that has ended and its exit status, as that of a shell; `None`: all still run.
///
/// # Errors
/// When there is none to wait for.
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
