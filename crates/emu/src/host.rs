//! Supervises a run: handles signals, commands, the exit of the parent process, captures and
//! progress reports.

use crate::capture::Capture;
use crate::devices::{Devices, monotonic_ns, thread_cpu_ns};
use crate::events::{Event, Events, Progress};
use crate::launcher::{Launcher, LauncherEvent};
use crate::namespaces::Sides;
use crate::packet_io::{Ending, Side, Supervisor};
use airpath_core::{Duration, Time};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Maximum time to wait for the end of the client's command after a signal. The command may have
/// received the same signal.
const PATIENCE: Duration = Duration::from_secs(1);

/// TCP counters by side.
pub(crate) type Counters = [BTreeMap<String, u64>; 2];

/// Signals that end a run, as a file descriptor.
pub(crate) struct Signals(SignalFd);

impl Signals {
    /// Blocks these signals, so that they no longer end the process. Call it before other threads
    /// are started.
    ///
    /// # Errors
    /// Fails if the system has no more file descriptors.
    pub(crate) fn take() -> io::Result<Signals> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            set.add(signal);
        }
        set.thread_block()?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Signals(SignalFd::with_flags(&set, flags)?))
    }

    fn came(&mut self) -> bool {
        let mut any = false;
        while let Ok(Some(_)) = self.0.read_signal() {
            any = true;
        }
        any
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Supervisor of a run, with all resources of the run except the path.
pub(crate) struct Host<'a> {
    pub(crate) sides: &'a Sides,
    pub(crate) signals: Signals,
    pub(crate) input: Option<OwnedFd>,
    pub(crate) launcher: Option<Launcher>,
    pub(crate) capture: Option<Capture>,
    pub(crate) events: &'a mut Events,
    progress: Duration,
    next_progress: Time,
    /// Time at which waiting for a command after a signal ends.
    patience: Option<Time>,
    /// Exit status of the client's command.
    pub(crate) status: Option<i32>,
    /// Warnings, one sentence each.
    pub(crate) problems: Vec<String>,
    /// Counters at the start of measurement.
    pub(crate) counters: Counters,
    pub(crate) device_drops: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) monotonic_ns: u64,
}

impl<'a> Host<'a> {
    /// Creates the supervisor of a run between `sides`. `progress_ms` is the interval of progress
    /// reports, ms; 0 for no reports.
    pub(crate) fn new(
        sides: &'a Sides,
        signals: Signals,
        input: Option<OwnedFd>,
        events: &'a mut Events,
        progress_ms: u64,
    ) -> Host<'a> {
        // The input must be non-blocking, because it is polled. If it cannot be made non-blocking,
        // it is not monitored.
        let input =
            input.filter(|input| fcntl(input, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).is_ok());
        let progress = Duration::from_millis(progress_ms);
        let next_progress = if progress_ms == 0 { Time::NEVER } else { Time::ZERO + progress };
        Host {
            sides,
            signals,
            input,
            launcher: None,
            capture: None,
            events,
            progress,
            next_progress,
            patience: None,
            status: None,
            problems: Vec::new(),
            counters: Counters::default(),
            device_drops: 0,
            cpu_ns: thread_cpu_ns(),
            monotonic_ns: monotonic_ns(),
        }
    }

    /// Returns the descriptors to poll for reading.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let launcher = self.launcher.as_ref().map(Launcher::fd);
        let input = self.input.as_ref().map(AsFd::as_fd);
        [Some(self.signals.as_fd()), input, launcher].into_iter().flatten().collect()
    }

    /// Returns true if the parent process has exited.
    fn has_parent_exited(&self) -> bool {
        let Some(input) = &self.input else { return false };
        let mut byte = [0];
        loop {
            match unistd::read(input, &mut byte) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(Errno::EINTR) => {}
                Err(error) => return error != Errno::EAGAIN,
            }
        }
    }

    /// Handles the events of the launcher. Returns the exit status of the client's command, if it
    /// has ended.
    fn poll_commands(&mut self) -> Option<i32> {
        while let Some(event) = self.launcher.as_mut().and_then(Launcher::poll) {
            match event {
                LauncherEvent::Ended { side: Side::Client, status } => return Some(status),
                LauncherEvent::Ended { side: Side::Server, status } => {
                    self.problems.push(format!("the server's command ended with status {status}"));
                }
                LauncherEvent::Failed { side, message, status } => {
                    // The message has the form of a shell's message. Nothing else is printed to
                    // stderr.
                    eprintln!("airpath emulate: {message}");
                    self.problems.push(message);
                    if side == Side::Client {
                        return Some(status);
                    }
                }
                LauncherEvent::Gone => return Some(255),
            }
        }
        None
    }

    /// Returns the current TCP counters of both sides; empty if the kernel does not report them.
    pub(crate) fn count(&self) -> Counters {
        Side::BOTH.map(|side| self.sides.tcp_counters(side).unwrap_or_default())
    }
}

impl Supervisor for Host<'_> {
    fn attend(&mut self, now: Time) -> Option<Ending> {
        if let Some(status) = self.poll_commands() {
            self.status = Some(status);
            let was_told = self.patience.is_some();
            return Some(if was_told { Ending::Signal } else { Ending::Command });
        }
        if self.has_parent_exited() {
            return Some(Ending::Input);
        }
        if self.signals.came() {
            if self.launcher.is_none() {
                return Some(Ending::Signal);
            }
            self.patience.get_or_insert(now + PATIENCE);
        }
        self.patience.filter(|until| *until <= now).map(|_| Ending::Signal)
    }

    fn passes(&mut self, now: Time, side: Side, into_the_path: bool, packet: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.packet(now, side, into_the_path, packet);
        }
    }

    fn measurement_starts(&mut self, _now: Time) {
        self.counters = self.count();
        self.device_drops = self.sides.device_drops().unwrap_or(0);
        (self.cpu_ns, self.monotonic_ns) = (thread_cpu_ns(), monotonic_ns());
    }

    fn next_progress(&self) -> Time {
        self.next_progress
    }

    fn progress(&mut self, progress: Progress) {
        let reported_at = Time::ZERO + Duration::from_secs_lossy(progress.at_s);
        while self.next_progress <= reported_at {
            self.next_progress = self.next_progress + self.progress;
        }
        self.events.emit(&Event::Progress(progress));
        if let Some(capture) = &mut self.capture {
            capture.flush();
        }
    }
}

/// Creates the I/O of a run, with all polled descriptors.
///
/// # Errors
/// Fails if the system has no more file descriptors.
pub(crate) fn devices(host: &Host<'_>, zero_ns: u64) -> io::Result<Devices> {
    let [server, client] = Side::BOTH.map(|side| host.sides.device(side).try_clone());
    Devices::new([server?, client?], &host.descriptors(), zero_ns)
}
