//! Runs the TCP flows of the scenario over kernel sockets.
//!
//! ```text
//!   sender's namespace                               receiver's namespace
//!   zeros ─► socket (bound, connects at the start) ─► socket (accepted) ─► read and discarded
//! ```
//!
//! | concern | file |
//! | --- | --- |
//! | the remaining data of a flow, and the next write of its application | `endpoints/work.rs` |
//! | socket options and socket operations | `endpoints/sockets.rs` |
//! | one flow, from its start to its last byte | `endpoints/flow.rs` |
//! | `struct tcp_info` of a connection, mapped to the state of a simulated sender | `endpoints/tcp_info_map.rs` |
//! | the thread: ready sockets and due events | `endpoints/thread.rs` |
//!
//! One thread serves all sockets of both sides. An event has its scheduled time as its time, even
//! if the thread processes it late, so that lateness does not accumulate. The on-off process of an
//! application is the same as in the simulator.

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

/// Configuration of one TCP flow.
#[derive(Clone, Debug)]
pub struct EndpointFlow {
    /// Flow number.
    pub flow: u32,
    /// Side that sends the data.
    pub sender: Side,
    /// Address on the server's side.
    pub server: Ipv4Addr,
    /// Address on the client's side.
    pub client: Ipv4Addr,
    /// Port of both ends.
    pub port: u16,
    /// Congestion control algorithm of the kernel: `TCP_CONGESTION`.
    pub congestion: String,
    /// Maximum segment size, bytes of payload and TCP options: `TCP_MAXSEG`; if `None`, it is
    /// derived from the MTU.
    pub mss: Option<u32>,
    /// Limit of the receive window, bytes: `TCP_WINDOW_CLAMP`; `None`: no limit.
    pub window_clamp: Option<u32>,
    /// True if the kernel paces segments at the rate that it computes.
    pub pacing: bool,
    /// Start time; `NEVER` if the flow does not start.
    pub start: Time,
    /// Time after which no new data are written; `NEVER` if data are written until the end of the
    /// run.
    pub stop: Time,
    /// Bytes to transfer; `None` for an unlimited transfer.
    pub transfer: Option<u64>,
    /// Application that writes the data in bursts; `None` if all data are available at the start.
    pub on_off: Option<OnOff>,
}

impl EndpointFlow {
    /// Returns the address of the flow's end at `side`.
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
    /// All flows.
    pub flows: Vec<EndpointFlow>,
    /// Start of measurement.
    pub warmup: Time,
    /// End of the run, at which open connections are aborted.
    pub end: Time,
    /// Interval of samples of the senders' state; `None`: no samples.
    pub ss_interval: Option<Duration>,
}

/// Reason for which the sockets cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A congestion control algorithm does not exist, or is not permitted.
    #[error(
        "congestion control {name:?} of flow {flow}: {problem}. \
         This kernel has: {available}"
    )]
    Congestion {
        /// Name of the algorithm.
        name: String,
        /// Index of the first flow that requires the algorithm.
        flow: u32,
        /// Description of the problem.
        problem: String,
        /// Algorithms of the kernel, separated by spaces.
        available: String,
    },
    /// A flow cannot listen.
    #[error("flow {flow}: cannot listen at {address} port {port} ({side}'s side): {source}", side = side.name())]
    Listen {
        /// Flow number.
        flow: u32,
        /// Side of the receiver.
        side: Side,
        /// Address of the receiver.
        address: Ipv4Addr,
        /// Port of the flow.
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
    /// Any other system error.
    #[error("{what}: {source}")]
    System {
        /// Operation that failed.
        what: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

/// Report of the sockets of one flow. Counters start at the end of the warm-up. `None` means that
/// the kernel does not report the value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SocketReport {
    /// Flow number.
    pub flow: u32,
    /// True if the connection was established.
    pub established: bool,
    /// Time at which the connection was established, s.
    pub established_at_s: Option<f64>,
    /// Congestion control algorithm of the sender at the end, read back; empty if there was no
    /// socket.
    pub congestion: String,
    /// Bytes that the receiving application read.
    pub delivered_bytes: u64,
    /// Rate of these bytes, bit/s.
    pub goodput_bps: f64,
    /// Segments retransmitted.
    pub retransmissions: Option<u64>,
    /// Expiries of the retransmission timer.
    pub timeouts: Option<u64>,
    /// Start time of the flow, s.
    pub start_s: Option<f64>,
    /// Time at which the last byte of a finite transfer was acknowledged, s.
    pub completed_at_s: Option<f64>,
    /// Mean of the smoothed RTT, s. It is sampled about every 50 ms; each sample is weighted by the
    /// number of segments delivered since the previous sample.
    pub mean_rtt_s: Option<f64>,
    /// Minimum RTT that the kernel reports at the end, over the last few minutes, s.
    pub min_rtt_s: Option<f64>,
    /// Share of the connection's open time in which the receive window limited sending. The times
    /// in this share and in the following two shares have the resolution of a kernel tick (1 … 10
    /// ms).
    pub rwnd_limited_share: Option<f64>,
    /// Share of the connection's open time in which the congestion window limited sending: data
    /// were waiting, and sending was limited neither by the receive window nor by the send buffer.
    /// `None` for flows that do not always have data to send.
    pub cwnd_limited_share: Option<f64>,
    /// Share of the connection's open time in which the send buffer limited sending.
    pub sndbuf_limited_share: Option<f64>,
    /// Payload bytes sent, including retransmissions.
    pub bytes_sent: Option<u64>,
    /// Segments that the sender sent, including segments without payload.
    pub segs_out: Option<u64>,
    /// Number of segments that the receiver has reported as CE-marked.
    pub delivered_ce: Option<u64>,
    /// Number of reordering events that the sender detected.
    pub reord_seen: Option<u64>,
    /// Number of D-SACKs that the sender received.
    pub dsack_dups: Option<u64>,
    /// Number of segments that the receiver received out of order.
    pub rcv_ooopack: Option<u64>,
    /// Payload of a full-sized segment at the end, bytes.
    pub mss: Option<u32>,
}

/// Report of all sockets of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointsReport {
    /// Reports by flow, in the order of the plan.
    pub flows: Vec<SocketReport>,
    /// Samples of the senders' state in order of time. The samples of a flow begin at its start.
    pub ss: Vec<SsSample>,
    /// Warnings, one sentence each: flows that could not connect or were aborted.
    pub problems: Vec<String>,
    /// Measured time, s.
    pub measured_s: f64,
    /// Largest delay with which the thread processed a flow start, an application event or a
    /// sample, s. On a busy machine, the flows may be late by this time.
    pub lateness_max_s: f64,
}

/// The thread that serves the sockets of a run.
pub struct Endpoints {
    /// Sends time zero to the thread, once.
    zero: Option<SyncSender<u64>>,
    /// Event that requests the end of the thread.
    stop: Arc<EventFd>,
    /// Time at which the thread ends if no end was requested before.
    end: Time,
    thread: Option<JoinHandle<EndpointsReport>>,
}

impl Endpoints {
    /// Starts the thread, which waits for [`Endpoints::begin`]. When this function returns, the
    /// receivers of all flows listen, and the kernel has accepted all congestion control algorithms
    /// on both sides. `netns` are the namespaces in the order of [`Side`].
    ///
    /// The calling process must be permitted to enter the namespaces while flows start.
    ///
    /// # Errors
    /// Fails if the kernel rejects a request. In this case the thread and all sockets are closed.
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
            source: io::Error::other("it ended before it was ready"),
        };
        let endpoints = Endpoints { zero: Some(zero), stop, end, thread: Some(thread) };
        is_ready.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(endpoints)
    }

    /// Sets the scenario's time zero to the time `zero_ns` of `CLOCK_MONOTONIC`, ns. Start times of
    /// flows are relative to it. Only the first call has an effect.
    pub fn begin(&mut self, zero_ns: u64) {
        if let Some(zero) = self.zero.take() {
            // If the thread has ended, the report shows it.
            let _ = zero.try_send(zero_ns);
        }
    }

    /// Aborts all open connections and returns the report of the sockets. If `now` is before the
    /// end of the run, the report covers the time up to `now`.
    pub fn finish(mut self, now: Time) -> EndpointsReport {
        self.join(now).unwrap_or_else(|| EndpointsReport {
            problems: vec![
                "the thread of the sockets failed: no measurements of the flows are available"
                    .to_owned(),
            ],
            ..EndpointsReport::default()
        })
    }

    fn join(&mut self, now: Time) -> Option<EndpointsReport> {
        let thread = self.thread.take()?;
        // Releases a thread that still waits for time zero.
        self.zero = None;
        if now < self.end {
            // The write fails only if the counter overflows.
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
