//! Starts a command of a run.

use super::first::set_signals;
use crate::description::Traffic;
use crate::namespaces::{SetupError, Sides};
use crate::packet_io::Side;
use crate::sys;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, execvpe, pipe2, setsid};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;

/// Exit statuses if a program cannot be executed, and if it does not exist.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// A command of one side, ready to be started.
#[derive(Debug)]
pub(super) struct Command<'a> {
    arguments: Vec<CString>,
    environment: Vec<CString>,
    netns: BorrowedFd<'a>,
    side: Side,
    /// True if the command keeps the capabilities of the parent process.
    pub(super) keep_privileges: bool,
}

impl<'a> Command<'a> {
    /// Prepares the commands of both sides.
    pub(super) fn of(
        sides: &'a Sides,
        traffic: &Traffic,
        keep_privileges: bool,
    ) -> Result<[Option<Self>; 2], SetupError> {
        let Traffic::Commands { client, server, .. } = traffic else {
            return Err(SetupError::new("command", "the traffic is not that of commands"));
        };
        let environment = environment(sides)?;
        let command = |side, words: &[String]| {
            if words.is_empty() {
                return Err(SetupError::new("command", format!("{}: no program", side_of(side))));
            }
            Ok(Self {
                arguments: words.iter().map(|word| text(word.clone())).collect::<Result<_, _>>()?,
                environment: environment.clone(),
                netns: sides.netns(side),
                side,
                keep_privileges,
            })
        };
        Ok([
            server.as_deref().map(|words| command(Side::Server, words)).transpose()?,
            Some(command(Side::Client, client)?),
        ])
    }

    /// Starts the command and returns its process. The error is an exit status and the reason.
    pub(super) fn start(&self) -> Result<Pid, (i32, String)> {
        let program = self.arguments[0].to_string_lossy();
        let refused = |error: Errno| (NOT_EXECUTABLE, format!("cannot start {program}: {error}"));
        // The child reports errors through the pipe; a successful exec closes the pipe.
        let (reading, writing) = pipe2(OFlag::O_CLOEXEC).map_err(refused)?;
        let keep = [writing.as_fd(), self.netns];
        let pid = sys::fork(&keep, || {
            let (step, error) = self.exec();
            let failure = [&(error as i32).to_ne_bytes(), step.as_bytes()].concat();
            let _ = nix::unistd::write(writing.as_fd(), &failure);
            NOT_EXECUTABLE
        })
        .map_err(|error| (NOT_EXECUTABLE, format!("cannot start {program}: {error}")))?;
        drop(writing);
        let mut failure = Vec::new();
        let _ = io::Read::read_to_end(&mut File::from(reading), &mut failure);
        let Some((error, step)) = failure.split_first_chunk() else { return Ok(pid) };
        let _ = super::reap(Some(pid), true);
        let step = String::from_utf8_lossy(step);
        Err(match (Errno::from_raw(i32::from_ne_bytes(*error)), &*step) {
            (Errno::ENOENT, "execute") => {
                let words = "not found, or the program that it is to be run by is not";
                (NOT_FOUND, format!("{program}: {words}"))
            }
            (Errno::EACCES, "execute") => {
                (NOT_EXECUTABLE, format!("{program}: not executable, or a directory"))
            }
            (error, step) => (NOT_EXECUTABLE, format!("{program}: cannot {step}: {error}")),
        })
    }

    /// Executes the command in this process. Returns only if it fails, with the failed operation
    /// and the error.
    fn exec(&self) -> (&'static str, Errno) {
        match self.prepare() {
            Err(failed) => failed,
            Ok(()) => {
                let Err(error) = execvpe(&self.arguments[0], &self.arguments, &self.environment);
                ("execute", error)
            }
        }
    }

    fn prepare(&self) -> Result<(), (&'static str, Errno)> {
        let of = |step: &'static str| move |error: Errno| (step, error);
        let number = |step| {
            move |error: io::Error| (step, Errno::from_raw(error.raw_os_error().unwrap_or(0)))
        };
        setns(self.netns, CloneFlags::CLONE_NEWNET).map_err(of("enter its network"))?;
        set_signals(false);
        sys::set_signal(Signal::SIGPIPE, false).map_err(number("set its signals"))?;
        SigSet::empty().thread_set_mask().map_err(of("set its signals"))?;
        if sys::class() == sys::Class::Fifo {
            sys::set_other().map_err(number("leave the real-time class"))?;
        }
        if self.side == Side::Server {
            // Only the client's command uses the terminal.
            setsid().map_err(of("start a session"))?;
            let nothing = File::open("/dev/null").map_err(number("open /dev/null"))?;
            nix::unistd::dup2_stdin(&nothing).map_err(of("leave the terminal"))?;
        }
        if !self.keep_privileges {
            sys::drop_capabilities().map_err(number("drop its capabilities"))
        } else if !nix::unistd::geteuid().is_root() {
            sys::keep_capabilities().map_err(number("keep its capabilities"))
        } else {
            Ok(())
        }
    }
}

fn side_of(side: Side) -> &'static str {
    match side {
        Side::Server => "the server's command",
        Side::Client => "the client's command",
    }
}

fn text(word: impl Into<OsString>) -> Result<CString, SetupError> {
    CString::new(word.into().into_vec())
        .map_err(|_| SetupError::new("command", "a command contains a character 0"))
}

/// Returns the environment of this process, with additional variables that describe the run.
fn environment(sides: &Sides) -> Result<Vec<CString>, SetupError> {
    let ours = [
        ("AIRPATH_SERVER", sides.server_address().to_string()),
        ("AIRPATH_CLIENT", sides.client_address(sides.default_user()).to_string()),
        ("AIRPATH_LEVEL", (u32::from(sides.level()) + 1).to_string()),
    ];
    let others = std::env::vars_os().filter(|(name, _)| ours.iter().all(|(ours, _)| name != ours));
    others
        .chain(ours.iter().map(|(name, value)| ((*name).into(), value.into())))
        .map(|(name, value)| {
            let mut both = name;
            both.push("=");
            both.push(value);
            text(both)
        })
        .collect()
}
