//! Congestion control: the laws by which the window grows and shrinks.
//!
//! Loss *detection* and retransmission are the sender's (`recovery.rs`), so a law stays small.
//! To add one: its file and one line in `registry.rs`.

mod cubic;
mod cubic_ns3;
mod dctcp;
mod growth;
mod hystart;
mod registry;
mod reno;

pub use cubic::{Cubic, CubicConfig, reno_friendly_increase, time_to_w_max, w_cubic};
pub use dctcp::{Dctcp, DctcpConfig, dctcp_alpha};
pub use hystart::HystartKind;
pub use registry::{AnyCongestion, CongestionRegistry};
pub use reno::{Reno, RenoConfig};

use crate::options::TcpOptions;
use airpath_core::{Duration, Rate, StageError, Time};

/// New data was acknowledged, outside of fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When.
    pub now: Time,
    /// Bytes newly acknowledged, by the cumulative acknowledgement.
    pub acked: u64,
    /// Bytes acknowledged first by this ACK, in either way: without those that SACK had told of
    /// before, with those that it tells of now.
    pub delivered: u64,
    /// Bytes outstanding after this ACK.
    pub in_flight: u64,
    /// RTT sample, when this ACK gives one.
    pub rtt: Option<Duration>,
    /// Explicit feedback echoed by the receiver (CLAMP, VCP).
    pub feedback: f32,
    /// Whether cwnd did not limit the sender before this ACK: at least a segment of it was not
    /// used, for want of data or of receive window.
    pub app_limited: bool,
}

/// A loss was detected, by duplicate ACKs or by a timeout.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// When.
    pub now: Time,
    /// FlightSize (RFC 5681 §2), bytes.
    pub flight: u64,
}

/// An ACK arrived on a connection that uses ECN; told of every one, before any reaction to it.
#[derive(Clone, Copy, Debug)]
pub struct EchoEvent {
    /// Whether it carries ECN-Echo.
    pub marked: bool,
    /// Bytes newly acknowledged, by the cumulative acknowledgement.
    pub acked: u64,
    /// The cumulative acknowledgement, a stream offset.
    pub ack: u64,
    /// Everything before this offset has been sent.
    pub snd_nxt: u64,
}

/// Sending begins again after a time with nothing outstanding.
#[derive(Clone, Copy, Debug)]
pub struct IdleEvent {
    /// When.
    pub now: Time,
    /// The window that is left, bytes; as it was unless the idle time was long.
    pub cwnd: u64,
    /// ssthresh is at least this, bytes.
    pub ssthresh: u64,
}

/// A window law.
pub trait CongestionControl {
    /// New data was acknowledged.
    fn on_ack(&mut self, event: &AckEvent);

    /// Fast retransmit: sets ssthresh, and cwnd for the time of fast recovery.
    fn on_loss(&mut self, event: &LossEvent);

    /// The retransmission timer expired.
    fn on_rto(&mut self, event: &LossEvent);

    /// Fast recovery is over; `cwnd` is the window that the recovery allows at most.
    fn on_recovered(&mut self, cwnd: u64);

    /// The SYN or its answer was lost: the first flight is one segment (RFC 5681 §3.1).
    fn on_lost_syn(&mut self) {}

    /// The receiver echoed congestion marks (RFC 3168), once per window, and not for a window in
    /// which a loss was found; `flight` is at most cwnd. Never called with less than two segments.
    fn on_ecn(&mut self, event: &LossEvent) {
        self.on_loss(event);
    }

    /// Whether an ACK echoes a mark or not, for laws that count (DCTCP).
    fn on_echo(&mut self, event: &EchoEvent) {
        let _ = event;
    }

    /// Sending begins again after a time with nothing outstanding (RFC 5681 §4.1).
    fn on_idle(&mut self, event: &IdleEvent) {
        let _ = event;
    }

    /// A packet left.
    fn on_sent(&mut self, now: Time, bytes: u64) {
        let _ = (now, bytes);
    }

    /// Congestion window, bytes.
    fn cwnd(&self) -> u64;

    /// Slow-start threshold, bytes; `u64::MAX` while there is none.
    fn ssthresh(&self) -> u64;

    /// Pacing rate; `None` sends whenever the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// A failure since the last call, which ends the run with its message. Asked for after
    /// everything that the law was told; only a law from outside has one.
    fn take_error(&mut self) -> Option<StageError> {
        None
    }
}

/// What a law is made for: the options of its connection.
#[derive(Clone, Debug)]
pub struct CongestionSetup {
    /// The connection's options.
    pub options: TcpOptions,
}
