//! The scenario's own TCP flows over sockets of the kernel.
//!
//! ```text
//!   sender's namespace                               receiver's namespace
//!   zeros ─► socket (bound, connects at the start) ─► socket (accepted) ─► read and forgotten
//! ```
//!
//! | concern | file |
//! | --- | --- |
//! | what a flow has still to write, and when its application writes again | `endpoints/work.rs` |
//! | sockets: their options, and what is done with them | `endpoints/sockets.rs` |
//! | one flow: from its start to its last byte | `endpoints/flow.rs` |
//! | `struct tcp_info` of a connection, mapped to the state of a simulated sender | `endpoints/tcp_info_map.rs` |
//! | the thread: who is ready, and what is due | `endpoints/thread.rs` |
//!
//! One ordinary thread serves all sockets of both sides. What it does at an instant of the scenario
//! counts from that instant, not from when the thread came to it, so that lateness does not add up.
//! The process of an application that writes and pauses is the simulator's.

mod clock;
mod flow;
mod sockets;
mod tcp_info_map;
mod thread;
mod work;

use crate::packet_io::Side;
use airpath_core::{Duration, Time};
use airpath_tcp::{OnOff, SsSample};
use nix::sys::eventfd::{EfdFlags, EventFd};
use serde::Serialize;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// One TCP flow.
#[derive(Clone, Debug)]
pub struct EndpointFlow {
    /// Its number.
    pub flow: u32,
    /// Where its data is sent.
    pub sender: Side,
    /// Address at the server's side.
    pub server: Ipv4Addr,
    /// Address at the client's side.
    pub client: Ipv4Addr,
    /// Port, of both ends.
    pub port: u16,
    /// The kernel's congestion control: `TCP_CONGESTION`.
    pub congestion: String,
    /// Largest segment, bytes of payload and TCP options: `TCP_MAXSEG`; absent: by the MTU.
    pub mss: Option<u32>,
    /// Bound of the receive window, bytes: `TCP_WINDOW_CLAMP`; absent: none.
    pub window_clamp: Option<u32>,
    /// Segments leave one at a time, at the kernel's rate for it.
    pub pacing: bool,
    /// When it starts; `NEVER`: it does not.
    pub start: Time,
    /// Time after which it writes no new data; `NEVER`: at the end.
    pub stop: Time,
    /// Bytes to transfer; absent: without end.
    pub transfer: Option<u64>,
    /// Application that writes; absent: all data are available at the start.
    pub on_off: Option<OnOff>,
}

impl EndpointFlow {
    /// The address of its end at `side`.
    fn address(&self, side: Side) -> Ipv4Addr {
        match side {
            Side::Server => self.server,
            Side::Client => self.client,
        }
    }
}

/// Flows and times of an endpoint thread.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Every flow.
    pub flows: Vec<EndpointFlow>,
    /// Start of measurement.
    pub warmup: Time,
    /// End of the run: what is open then is aborted.
    pub end: Time,
    /// Time between two samples of the senders' state; absent: none are taken.
    pub ss_interval: Option<Duration>,
}

/// Why sockets cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A congestion control does not exist, or is not permitted.
    #[error(
        "congestion control {name:?} of flow {flow}: {problem}. \
         This kernel has: {available}"
    )]
    Congestion {
        /// Its name.
        name: String,
        /// The first flow that requires it.
        flow: u32,
        /// Description of the problem.
        problem: String,
        /// Algorithms of the kernel, separated by spaces.
        available: String,
    },
    /// A flow cannot listen.
    #[error("flow {flow}: cannot listen at {address} port {port} ({side}'s side): {source}", side = side.name())]
    Listen {
        /// Its number.
        flow: u32,
        /// Where it receives.
        side: Side,
        /// Its address there.
        address: Ipv4Addr,
        /// Its port.
        port: u16,
        /// Error of the call.
        source: io::Error,
    },
    /// A network namespace cannot be entered.
    #[error("the network namespace of the {side}'s side cannot be entered: {source}", side = side.name())]
    Namespace {
        /// Side of the socket.
        side: Side,
        /// Error of the call.
        source: io::Error,
    },
    /// Something else of the system.
    #[error("{what}: {source}")]
    System {
        /// Operation that failed.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// Report of one flow's sockets. Counts cover the time from the end of the warm-up to the end;
/// `None`: not reported by the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SocketReport {
    /// Its number.
    pub flow: u32,
    /// Whether its connection came about.
    pub established: bool,
    /// When it did, s.
    pub established_at_s: Option<f64>,
    /// The congestion control that its sender had at last, read back; empty: it never had a socket.
    pub congestion: String,
    /// Bytes that the receiving application read.
    pub delivered_bytes: u64,
    /// The same, bit/s.
    pub goodput_bps: f64,
    /// Segments retransmitted.
    pub retransmissions: Option<u64>,
    /// Expiries of the retransmission timer.
    pub timeouts: Option<u64>,
    /// When it started, s.
    pub start_s: Option<f64>,
    /// When the last byte of a finite transfer was acknowledged, s.
    pub completed_at_s: Option<f64>,
    /// Mean of the smoothed RTT, s: sampled about every 50 ms, by weight of the segments that were
    /// delivered since the sample before.
    pub mean_rtt_s: Option<f64>,
    /// Least RTT that the kernel remembers at the end (of its last minutes), s.
    pub min_rtt_s: Option<f64>,
    /// Share of the time that it was open in which the receive window kept data back; like the others, in
    /// steps of a tick of the kernel (1 … 10 ms).
    pub rwnd_limited_share: Option<f64>,
    /// Share of the same time in which the congestion window did: in which there was something to send
    /// and neither the receive window nor the send buffer was short. Only known of flows that always
    /// have something to send.
    pub cwnd_limited_share: Option<f64>,
    /// Share of the same time in which the send buffer was too small.
    pub sndbuf_limited_share: Option<f64>,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Segments that the sender sent, without payload too.
    pub segs_out: Option<u64>,
    /// Segments that the receiver has reported as CE-marked.
    pub delivered_ce: Option<u64>,
    /// Times that the sender saw reordering.
    pub reord_seen: Option<u64>,
    /// D-SACKs that the sender got.
    pub dsack_dups: Option<u64>,
    /// Segments that the receiver got out of order.
    pub rcv_ooopack: Option<u64>,
    /// Payload of a full segment at last, bytes.
    pub mss: Option<u32>,
}

/// Report of all sockets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointsReport {
    /// By flow, in the plan's order.
    pub flows: Vec<SocketReport>,
    /// The senders' state over time, in order of time; of flows from their start on.
    pub ss: Vec<SsSample>,
    /// Warnings, a sentence each: flows that could not connect or were broken off.
    pub problems: Vec<String>,
    /// The time that counts cover, s.
    pub measured_s: f64,
    /// The largest time by which the thread came too late to a start, a turn or a sample, s: on a busy
    /// machine flows are late by as much.
    pub lateness_max_s: f64,
}

/// The thread that serves the sockets of a run.
pub struct Endpoints {
    /// Sends time zero to the thread, once.
    zero: Option<SyncSender<u64>>,
    /// Asks the thread to end.
    stop: Arc<EventFd>,
    /// When it ends by itself.
    end: Time,
    thread: Option<JoinHandle<EndpointsReport>>,
}

impl Endpoints {
    /// Starts the thread, which waits for [`Endpoints::begin`]. When this returns, the receivers of flows
    /// listen, and the kernel has accepted every congestion control at both sides. `netns` are the
    /// namespaces by [`Side`].
    ///
    /// The calling process must be allowed to enter the namespaces as long as flows start.
    ///
    /// # Errors
    /// When the kernel refuses something: nothing is left of it.
    pub fn start(plan: Plan, netns: [BorrowedFd<'_>; 2]) -> Result<Endpoints, EndpointError> {
        let system = |what| move |source| EndpointError::System { what, source };
        let own = |fd: BorrowedFd<'_>| {
            fd.try_clone_to_owned().map_err(system("a namespace's descriptor"))
        };
        let netns: [OwnedFd; 2] = [own(netns[0])?, own(netns[1])?];
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let stop =
            EventFd::from_flags(flags).map_err(io::Error::from).map_err(system("eventfd"))?;
        let stop = Arc::new(stop);
        let (ready, is_ready) = sync_channel(1);
        let (zero, zero_told) = sync_channel(1);
        let (asked, end) = (Arc::clone(&stop), plan.end);
        let thread = Builder::new().name("endpoints".to_owned());
        let thread = thread.spawn(move || thread::run(plan, netns, &asked, &ready, &zero_told));
        let thread = thread.map_err(system("the thread of the sockets"))?;
        let gone = || EndpointError::System {
            what: "the thread of the sockets",
            source: io::Error::other("it ended before it began"),
        };
        let endpoints = Endpoints { zero: Some(zero), stop, end, thread: Some(thread) };
        is_ready.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(endpoints)
    }

    /// The scenario's time zero is at `zero_ns` on `CLOCK_MONOTONIC`, ns: flows start from then on. It
    /// counts once.
    pub fn begin(&mut self, zero_ns: u64) {
        if let Some(zero) = self.zero.take() {
            // The report covers a thread that has ended.
            let _ = zero.try_send(zero_ns);
        }
    }

    /// Returns the report of the sockets, with the run at `now`: until its end or, before that,
    /// until now. Every connection that is open then is aborted.
    pub fn finish(mut self, now: Time) -> EndpointsReport {
        self.join(now).unwrap_or_else(|| EndpointsReport {
            problems: vec!["the thread of the sockets failed: nothing is known of them".to_owned()],
            ..EndpointsReport::default()
        })
    }

    fn join(&mut self, now: Time) -> Option<EndpointsReport> {
        let thread = self.thread.take()?;
        // A thread that was never started no longer waits for time zero.
        self.zero = None;
        if now < self.end {
            // It fails only if the counter overflows.
            let _ = self.stop.write(1);
        }
        thread.join().ok()
    }
}

impl Drop for Endpoints {
    fn drop(&mut self) {
        self.join(Time::ZERO);
    }
}
