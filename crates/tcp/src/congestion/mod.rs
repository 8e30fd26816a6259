//! Congestion control: growth and reduction of the congestion window.
//!
//! Loss *detection* and retransmission are part of the sender (`recovery/`), so a congestion
//! control algorithm is small. A new algorithm takes one file and one line in `registry.rs`.

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

/// State of loss recovery at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// No loss recovery; duplicate ACKs may have been counted.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until everything sent before it is acknowledged.
    Loss,
}

/// An ACK has arrived: of new data, a duplicate, or a window update.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Time of the event.
    pub now: Time,
    /// Phase after this ACK: `Recovery` if this ACK begins a recovery, `Open` if it ends a
    /// recovery.
    pub phase: RecoveryPhase,
    /// Bytes by which this ACK may enlarge the window. `None` if it may not: for ACKs without new
    /// data, in fast recovery, and if the ACK echoes a mark (RFC 3168 §6.1.2). For new data the
    /// value is `acked`, or full-sized segments with ns-3's procedures. For the ACK that ends a
    /// recovery the value is set only in ns-2 and in older releases of ns-3. Algorithms that need
    /// every ACK identify that ACK by `acked` and `phase`.
    pub growth: Option<u64>,
    /// Cumulative acknowledgement, a stream offset.
    pub ack: u64,
    /// End of the sent data, a stream offset.
    pub sent: u64,
    /// Bytes newly acknowledged by the cumulative acknowledgement.
    pub acked: u64,
    /// Bytes newly acknowledged by this ACK, cumulatively or selectively. Bytes that were
    /// selectively acknowledged before do not count.
    pub delivered: u64,
    /// Bytes beyond `ack` that are selectively acknowledged.
    pub sacked: u64,
    /// True for a duplicate ACK: it repeats the last cumulative acknowledgement while data is
    /// outstanding, and is not a window update.
    pub duplicate: bool,
    /// Bytes outstanding after this ACK.
    pub in_flight: u64,
    /// RTT sample of this ACK, if any.
    pub rtt: Option<Duration>,
    /// True if the ACK carries ECN-Echo, on a connection that uses ECN.
    pub echo: bool,
    /// Explicit feedback echoed by the receiver (CLAMP, VCP).
    pub feedback: f32,
    /// True if cwnd did not limit the sender before this ACK: at least a segment of cwnd was
    /// unused, because of missing data, the receive window or pacing.
    pub app_limited: bool,
    /// Delivery rate sample of this ACK, if any, for algorithms that need such samples.
    pub rate: Option<RateSample>,
}

impl AckEvent {
    /// Creates the first ACK of a connection, outside of loss recovery, that acknowledges `acked`
    /// new bytes and has no other information. Tests of congestion control algorithms start from
    /// this event.
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

/// A loss was detected by duplicate ACKs or by a timeout, or a mark was echoed.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// Time of the event.
    pub now: Time,
    /// FlightSize (RFC 5681 §2), bytes.
    pub flight: u64,
    /// Window before the event, bytes: that of the congestion control algorithm. In ns-3's
    /// proportional rate reduction, that of the reduction.
    pub cwnd: u64,
    /// ssthresh must not change, because an echo in the same window of data has already reduced it
    /// (Linux `tcp_enter_loss`). Set only for timeouts.
    pub keeps_ssthresh: bool,
}

impl LossEvent {
    /// Creates a loss or an echo that sets ssthresh; `flight` and `cwnd` in bytes.
    pub fn new(now: Time, flight: u64, cwnd: u64) -> LossEvent {
        LossEvent { now, flight, cwnd, keeps_ssthresh: false }
    }
}

/// Sending resumes after a time without outstanding data.
#[derive(Clone, Copy, Debug)]
pub struct IdleEvent {
    /// Time of the event.
    pub now: Time,
    /// New window, bytes; reduced only after a long idle time.
    pub cwnd: u64,
    /// Lower bound of ssthresh, bytes.
    pub ssthresh: u64,
}

airpath_core::contract! { $
    /// A congestion control algorithm.
    ///
    /// Six methods are required. The others have defaults: no rate samples, no pacing, no failure,
    /// no reaction to a lost SYN, to an idle time or to a sent packet; an echoed mark is handled
    /// like a loss. A wrapper implements [`CongestionWrapper`].
    pub trait CongestionControl {
        /// Handles an ACK. Called for every ACK, also in recovery, except for ACKs that were
        /// overtaken by a later ACK and contain no new information. If the ACK causes `on_loss` or
        /// `on_recovered`, that call comes first; `on_ecn` comes after. The window grows only by
        /// `growth`. Exception: the rule of VCP applies to every ACK of new data outside of
        /// recovery.
        fn on_ack(&mut self, event: &AckEvent);

        /// Handles a fast retransmit: sets ssthresh, and cwnd for the duration of fast recovery.
        fn on_loss(&mut self, event: &LossEvent);

        /// Handles an expiry of the retransmission timer. Does not set ssthresh if `keeps_ssthresh`
        /// is set.
        fn on_rto(&mut self, event: &LossEvent);

        /// Handles the end of fast recovery; `cwnd` is the largest window that the recovery allows.
        fn on_recovered(&mut self, cwnd: u64);

        /// Returns the congestion window, bytes.
        fn cwnd(&self) -> u64;

        /// Returns the slow-start threshold, bytes; `u64::MAX` if not yet set.
        fn ssthresh(&self) -> u64;

        /// Returns true if `on_ack` uses ACKs without `growth`; otherwise these ACKs are not passed
        /// to it.
        fn needs_every_ack(&self) -> bool {
            true
        }

        /// Returns true if `on_ack` uses [`AckEvent::rate`]. Called once, when the connection is
        /// created. Samples cost the connection time and memory.
        fn needs_rate_samples(&self) -> bool {
            false
        }

        /// Handles the loss of the SYN or SYN-ACK: the first flight is one segment (RFC 5681 §3.1).
        fn on_lost_syn(&mut self) {}

        /// Handles echoed congestion marks (RFC 3168), once per window, and not for a window in
        /// which a loss was detected; `flight` is at most cwnd. Never called with less than two
        /// segments, except with ns-2's procedures and with `ecn_reaction = "cwr"`.
        fn on_ecn(&mut self, event: &LossEvent) {
            self.on_loss(event);
        }

        /// Handles the start of sending after a time without outstanding data (RFC 5681 §4.1).
        fn on_idle(&mut self, _event: &IdleEvent) {}

        /// Handles the transmission of a packet.
        fn on_sent(&mut self, _now: Time, _bytes: u64) {}

        /// Returns the pacing rate in IP packets, above 0. Called for every sent segment. `None`:
        /// no pacing.
        fn pacing_rate(&self) -> Option<Rate> {
            None
        }

        /// Returns a failure since the last call, which ends the run with its message. Called after
        /// every other method that may change the state. Only plug-ins fail.
        fn take_error(&mut self) -> Option<StageError> {
            None
        }
    }

    /// A congestion control algorithm that wraps another: it implements or delegates each method of
    /// [`CongestionControl`], and thereby implements that trait.
    ///
    /// ```
    /// use airpath_core::{Rate, StageError, Time};
    /// use airpath_tcp::congestion::{
    ///     AckEvent, AnyCongestion, CongestionControl, CongestionWrapper, IdleEvent, LossEvent,
    /// };
    /// use airpath_tcp::delegate_congestion;
    ///
    /// A wrapped congestion control algorithm, and a count of its timeouts.
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
    /// A wrapper that neither implements nor delegates a method does not compile:
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

    /// Delegates methods of [`CongestionWrapper`](congestion::CongestionWrapper) to the congestion
    /// control algorithm in a field. `delegate_congestion!(field: method, …)` delegates the named
    /// methods, `delegate_congestion!(field)` all methods.
    #[macro_export]
    macro delegate_congestion;
}

/// Input of the construction of a congestion control algorithm, in addition to its configuration.
#[derive(Clone, Debug)]
pub struct CongestionSetup {
    /// TCP parameters of the connection.
    pub options: Arc<TcpConfig>,
}
