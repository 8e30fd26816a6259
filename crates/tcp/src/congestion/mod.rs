//! Congestion control: how the window grows and shrinks.
//!
//! Loss *detection* and retransmission are the sender's (`recovery/`), so a congestion control
//! stays small. To add one: its file and one line in `registry.rs`.

mod clamp;
mod cubic;
mod cubic_linux;
mod cubic_ns3;
mod dctcp;
mod growth;
mod hystart;
mod registry;
mod reno;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/congestion.rs.in"]
pub mod skeleton;
mod vcp;

pub use clamp::{Clamp, ClampConfig};
pub use cubic::{Cubic, CubicConfig, reno_friendly_increase, time_to_w_max, w_cubic};
pub use cubic_linux::{CubicLinux, CubicLinuxConfig};
pub use cubic_ns3::{CubicNs3, CubicNs3Config};
pub use dctcp::{Dctcp, DctcpConfig, dctcp_alpha};
pub use hystart::HystartKind;
pub use registry::{AnyCongestion, CongestionRegistry};
pub use reno::{Reno, RenoConfig};
pub use vcp::{
    AiScaling, Freeze, OnLoss, Vcp, VcpConfig, vcp_ai_limit, vcp_ai_scale, vcp_mi_increase,
    vcp_mi_limit,
};

pub use crate::recovery::RateSample;

use crate::config::TcpConfig;
use airpath_core::{Duration, Rate, StageError, Time};
use std::sync::Arc;

/// How far the sender is with the repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// No loss is under repair; duplicate ACKs may have been counted.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until everything sent before it is acknowledged.
    Loss,
}

/// An ACK arrived: of new data, a duplicate, or one that only updates the window.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Time of the event.
    pub now: Time,
    /// The phase after this ACK: `Recovery` for the one that begins a recovery, `Open` for the one
    /// that ends it.
    pub phase: RecoveryPhase,
    /// Bytes by which it may enlarge the window, and `None` when it may not: for all but ACKs of
    /// new data, in fast recovery, and when it echoes a mark (RFC 3168 §6.1.2). Of new data these
    /// are `acked`; with ns-3's procedures whole segments. The ACK that ends a recovery has them in
    /// ns-2 and in ns-3's older releases only; algorithms that need every ACK see it by `acked` and
    /// `phase`.
    pub growth: Option<u64>,
    /// The cumulative acknowledgement, a stream offset.
    pub ack: u64,
    /// Everything before this offset has been sent.
    pub sent: u64,
    /// Bytes newly acknowledged, by the cumulative acknowledgement.
    pub acked: u64,
    /// Bytes acknowledged first by this ACK, cumulatively or selectively: without those selectively
    /// acknowledged before, with those selectively acknowledged now.
    pub delivered: u64,
    /// Bytes beyond `ack` that are acknowledged selectively.
    pub sacked: u64,
    /// Whether it repeats the last cumulative acknowledgement with data outstanding, and is not
    /// meant as a window update.
    pub duplicate: bool,
    /// Bytes outstanding after this ACK.
    pub in_flight: u64,
    /// RTT sample, when this ACK gives one.
    pub rtt: Option<Duration>,
    /// Whether it carries ECN-Echo, on a connection that uses ECN.
    pub echo: bool,
    /// Explicit feedback echoed by the receiver (CLAMP, VCP).
    pub feedback: f32,
    /// Whether cwnd did not limit the sender before this ACK: at least a segment of it was not
    /// used, for want of data or of receive window, or because segments are paced.
    pub app_limited: bool,
    /// Sample of the delivery rate, when this ACK gives one, for a congestion control that needs
    /// them.
    pub rate: Option<RateSample>,
}

impl AckEvent {
    /// An ACK of `acked` new bytes, the first of a connection, outside of loss recovery, without
    /// other information. Tests of a congestion control start from it.
    pub const fn of_new_data(now: Time, acked: u64) -> AckEvent {
        AckEvent {
            now,
            phase: RecoveryPhase::Open,
            growth: Some(acked),
            ack: acked,
            sent: acked,
            acked,
            delivered: acked,
            sacked: 0,
            duplicate: false,
            in_flight: 0,
            rtt: None,
            echo: false,
            feedback: 0.0,
            app_limited: false,
            rate: None,
        }
    }
}

/// A loss was detected, by duplicate ACKs or by a timeout.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// Time of the event.
    pub now: Time,
    /// FlightSize (RFC 5681 §2), bytes.
    pub flight: u64,
    /// The window before it, bytes: the congestion control's own, but in ns-3's proportional
    /// reduction the reduction's.
    pub cwnd: u64,
    /// ssthresh stays as it is: an echo from the same window of data has reduced it (Linux
    /// `tcp_enter_loss`). Set for timeouts only.
    pub keeps_ssthresh: bool,
}

impl LossEvent {
    /// A loss or an echo that sets ssthresh; `flight` and `cwnd` in bytes.
    pub fn new(now: Time, flight: u64, cwnd: u64) -> LossEvent {
        LossEvent { now, flight, cwnd, keeps_ssthresh: false }
    }
}

/// Sending begins again after a time with nothing outstanding.
#[derive(Clone, Copy, Debug)]
pub struct IdleEvent {
    /// Time of the event.
    pub now: Time,
    /// The window that is left, bytes; as it was unless the idle time was long.
    pub cwnd: u64,
    /// ssthresh is at least this, bytes.
    pub ssthresh: u64,
}

airpath_core::contract! { $
    /// A congestion control algorithm.
    ///
    /// Six methods are required. The others have defaults: no rate samples, no pacing, nothing done for a
    /// lost SYN, an idle time or a sent packet, an echoed mark answered like a loss, no failure. One around
    /// another implements [`CongestionWrapper`].
    pub trait CongestionControl {
        /// An ACK arrived. Called for every one, in recovery too, except those that were overtaken by a
        /// later one and carry no news. `on_loss` or `on_recovered`, when it causes one, comes before,
        /// `on_ecn` after. A window grows by `growth` and by nothing else, except VCP's, whose rule is for
        /// every ACK of new data outside of recovery.
        fn on_ack(&mut self, event: &AckEvent);

        /// Fast retransmit: sets ssthresh, and cwnd for the time of fast recovery.
        fn on_loss(&mut self, event: &LossEvent);

        /// The retransmission timer expired. ssthresh is not set if the event's `keeps_ssthresh` is.
        fn on_rto(&mut self, event: &LossEvent);

        /// Fast recovery is over; `cwnd` is the window that the recovery allows at most.
        fn on_recovered(&mut self, cwnd: u64);

        /// Congestion window, bytes.
        fn cwnd(&self) -> u64;

        /// Slow-start threshold, bytes; `u64::MAX` while there is none.
        fn ssthresh(&self) -> u64;

        /// Whether `on_ack` uses ACKs without `growth`; false spares the congestion control them.
        fn needs_every_ack(&self) -> bool {
            true
        }

        /// Whether `on_ack` uses [`AckEvent::rate`]; called once, when the connection is made. Samples cost
        /// the connection time and memory.
        fn needs_rate_samples(&self) -> bool {
            false
        }

        /// The SYN or its answer was lost: the first flight is one segment (RFC 5681 §3.1).
        fn on_lost_syn(&mut self) {}

        /// The receiver echoed congestion marks (RFC 3168), once per window, and not for a window in
        /// which a loss was found; `flight` is at most cwnd. Never called with less than two segments,
        /// except under ns-2's procedures and with `ecn_reaction = "cwr"`.
        fn on_ecn(&mut self, event: &LossEvent) {
            self.on_loss(event);
        }

        /// Sending begins again after a time with nothing outstanding (RFC 5681 §4.1).
        fn on_idle(&mut self, _event: &IdleEvent) {}

        /// A packet left.
        fn on_sent(&mut self, _now: Time, _bytes: u64) {}

        /// Pacing rate in IP packets, above 0, read with every segment that leaves; `None` sends
        /// whenever the window allows.
        fn pacing_rate(&self) -> Option<Rate> {
            None
        }

        /// A failure since the last call, which ends the run with its message. Called after every other
        /// method that may change the congestion control; only a plug-in fails.
        fn take_error(&mut self) -> Option<StageError> {
            None
        }
    }

    /// A congestion control algorithm around another: writes or delegates each method of
    /// [`CongestionControl`], which it has by this.
    ///
    /// ```
    /// use airpath_core::{Rate, StageError, Time};
    /// use airpath_tcp::congestion::{
    ///     AckEvent, AnyCongestion, CongestionControl, CongestionWrapper, IdleEvent, LossEvent,
    /// };
    /// use airpath_tcp::delegate_congestion;
    ///
    /// /// Another congestion control algorithm, and a count of its timeouts.
    /// struct Counted {
    ///     inner: AnyCongestion,
    ///     timeouts: usize,
    /// }
    ///
    /// impl CongestionWrapper for Counted {
    ///     delegate_congestion!(inner: on_ack, needs_every_ack, on_loss, on_recovered, on_lost_syn);
    ///     delegate_congestion!(inner: on_ecn, on_idle, on_sent, cwnd, ssthresh, pacing_rate);
    ///     delegate_congestion!(inner: needs_rate_samples, take_error);
    ///
    ///     fn on_rto(&mut self, event: &LossEvent) {
    ///         self.timeouts += 1;
    ///         self.inner.on_rto(event);
    ///     }
    /// }
    /// ```
    ///
    /// A wrapper that neither writes nor delegates a method does not compile:
    ///
    /// ```compile_fail,E0046
    /// # use airpath_core::{Rate, StageError, Time};
    /// # use airpath_tcp::congestion::{
    /// #     AckEvent, AnyCongestion, CongestionControl, CongestionWrapper, IdleEvent, LossEvent,
    /// # };
    /// # use airpath_tcp::delegate_congestion;
    /// struct Forgetful {
    ///     inner: AnyCongestion,
    /// }
    ///
    /// impl CongestionWrapper for Forgetful {
    ///     delegate_congestion!(inner: on_ack, needs_every_ack, on_loss, on_recovered, on_lost_syn);
    ///     delegate_congestion!(inner: on_ecn, on_idle, on_sent, cwnd, ssthresh, pacing_rate);
    ///     delegate_congestion!(inner: needs_rate_samples, take_error);
    /// }
    /// ```
    pub trait CongestionWrapper;

    /// Delegates methods of [`CongestionWrapper`](congestion::CongestionWrapper) to the congestion control
    /// algorithm in a field: `delegate_congestion!(field: method, …)`, or all of them:
    /// `delegate_congestion!(field)`.
    #[macro_export]
    macro delegate_congestion;
}

/// Inputs of the construction of a congestion control: the options of its connection.
#[derive(Clone, Debug)]
pub struct CongestionSetup {
    /// The connection's options.
    pub options: Arc<TcpConfig>,
}
