//! Code of the keeper and launcher processes, which run between `airpath-emu` and its commands.

use super::command::Command;
use super::{END, READY, START, now, reap};
use crate::packet_io::Side;
use crate::sys;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{MsgFlags, recv, send};
use nix::unistd::{Pid, getppid};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

/// Signals that are intended for the commands. Keeper and launcher ignore them.
const IGNORED: [Signal; 7] = [
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
];
/// Exit status of a keeper that could not start the launcher.
const REFUSED: i32 = 71;

/// Runs the keeper, which starts the launcher in a PID namespace and exits when the launcher exits.
pub(super) fn keep(
    parent: Pid,
    keep: &[BorrowedFd<'_>],
    socket: BorrowedFd<'_>,
    commands: &[Option<Command<'_>>; 2],
) -> i32 {
    set_signals(true);
    let bound = set_pdeathsig(Signal::SIGKILL);
    // The parent process may already have ended.
    if bound.is_err() || getppid() != parent {
        return REFUSED;
    }
    let launcher = unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS)
        .map_err(std::io::Error::from)
        .and_then(|()| sys::fork(keep, || launch(socket, commands)));
    match launcher {
        Ok(launcher) => {
            // The launcher then has the only copy of the socket, so that the other end is notified
            // when the launcher exits.
            sys::close_all_but_standard();
            reap(Some(launcher), true).ok().flatten().map_or(REFUSED, |(_, status)| status)
        }
        Err(error) => {
            send_event(socket, READY, 0, &error.to_string());
            REFUSED
        }
    }
}

/// Sets whether the signals in [`IGNORED`] are ignored.
pub(super) fn set_signals(ignored: bool) {
    for signal in IGNORED {
        let _ = sys::set_signal(signal, ignored);
    }
}

/// Runs the launcher.
fn launch(socket: BorrowedFd<'_>, commands: &[Option<Command<'_>>; 2]) -> i32 {
    // The kernel kills the launcher, and thus all its processes, when the keeper exits.
    if set_pdeathsig(Signal::SIGKILL).is_err() {
        return REFUSED;
    }
    own_mounts(commands.iter().flatten().all(|command| !command.keep_privileges));
    let mut ended = SigSet::empty();
    ended.add(Signal::SIGCHLD);
    let Ok(()) = ended.thread_block() else { return REFUSED };
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let Ok(children) = SignalFd::with_flags(&ended, flags) else { return REFUSED };
    send_event(socket, READY, 0, "");
    let mut first = First { socket, commands, running: [None; 2], hang_up: None, deadline: None };
    loop {
        let mut wanted = [
            PollFd::new(socket, PollFlags::POLLIN),
            PollFd::new(children.as_fd(), PollFlags::POLLIN),
        ];
        let polled = poll(&mut wanted, first.patience());
        let readable = polled.is_ok_and(|ready| ready > 0) && wanted[0].any() == Some(true);
        if (readable && !first.listen()) || first.deadline.is_some_and(|at| at <= now()) {
            return 0;
        }
        if first.hang_up.take_if(|at| *at <= now()).is_some() {
            // The same signals as from a closed terminal, because an interactive shell ignores
            // other signals.
            to_all(&[Signal::SIGHUP, Signal::SIGCONT]);
        }
        while let Ok(Some(_)) = children.read_signal() {}
        if !first.reap_all() && first.deadline.is_some() {
            return 0;
        }
    }
}

/// Creates a separate mount namespace with a `/proc` of the PID namespace, if it is permitted.
fn own_mounts(nosuid: bool) {
    let none: Option<&str> = None;
    let flags = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    if mount(none, "/", none, flags, none).is_err() {
        return;
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    // If a container has hidden parts of /proc, this fails and /proc remains unchanged.
    let _ = mount(Some("proc"), "/proc", Some("proc"), flags, none);
    if nosuid {
        // Without `nosuid`, a process that cannot acquire capabilities cannot execute a program
        // with file capabilities, such as `ping`.
        let _ = sys::make_mounts_nosuid();
    }
}

/// The state of the launcher.
struct First<'a> {
    socket: BorrowedFd<'a>,
    commands: &'a [Option<Command<'a>>; 2],
    /// Process of the running command, by side.
    running: [Option<Pid>; 2],
    /// Time at which the remaining processes receive `SIGHUP`.
    hang_up: Option<Duration>,
    /// Time at which all remaining processes are killed.
    deadline: Option<Duration>,
}

/// Sends signals to all processes of the PID namespace except this one.
fn to_all(signals: &[Signal]) {
    for signal in signals {
        let _ = kill(Pid::from_raw(-1), *signal);
    }
}

impl First<'_> {
    /// Returns the maximum waiting time.
    fn patience(&self) -> PollTimeout {
        self.hang_up.or(self.deadline).map_or(PollTimeout::NONE, |at| {
            // One millisecond is added, so that the wake-up is not slightly too early.
            let time = at.saturating_sub(now()) + Duration::from_millis(1);
            PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX)
        })
    }

    /// Handles the next message of `airpath-emu`. Returns false if its end of the socket has been
    /// closed.
    fn listen(&mut self) -> bool {
        let mut buffer = [0; 16];
        let length = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT);
        match buffer[..length.unwrap_or(0)] {
            [START, side @ 0..=1] => self.start(Side::BOTH[usize::from(side)]),
            [END, a, b, c, d] => {
                let grace = u32::from_ne_bytes([a, b, c, d]);
                let grace = Duration::from_millis(grace.into());
                (self.hang_up, self.deadline) = (Some(now() + grace / 2), Some(now() + grace));
                to_all(&[Signal::SIGTERM, Signal::SIGCONT]);
            }
            _ => return false,
        }
        true
    }

    fn start(&mut self, side: Side) {
        let Some(command) = &self.commands[side as usize] else { return };
        match command.start() {
            Ok(pid) => self.running[side as usize] = Some(pid),
            Err((status, words)) => send_event(self.socket, side as u8, status, &words),
        }
    }

    /// Collects all processes that have ended. Returns true if other processes remain.
    fn reap_all(&mut self) -> bool {
        loop {
            let Ok(ended) = reap(None, false) else { return false };
            let Some((pid, status)) = ended else { return true };
            for side in Side::BOTH {
                if self.running[side as usize] == Some(pid) {
                    self.running[side as usize] = None;
                    send_event(self.socket, side as u8, status, "");
                }
            }
        }
    }
}

fn send_event(socket: BorrowedFd<'_>, about: u8, status: i32, words: &str) {
    let message = [&status.to_ne_bytes()[..], &[about], words.as_bytes()].concat();
    let length = message.len().min(super::MESSAGE);
    // A closed socket is detected at the next poll.
    let _ = send(socket.as_raw_fd(), &message[..length], MsgFlags::MSG_NOSIGNAL);
}
