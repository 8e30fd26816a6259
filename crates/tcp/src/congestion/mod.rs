//! Congestion control: growth and reduction of the congestion window.
//!
//! Loss *detection* and retransmission are not part of a congestion control algorithm; they are in
//! `recovery/`. To add an algorithm, add one file and one line in `registry.rs`.

mod bbr;
mod bic;
mod c2tcp;
mod clamp;
mod copa;
mod cubic;
mod cubic_linux;
mod cubic_ns3;
mod dctcp;
mod growth;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod ledbat;
mod prague;
mod registry;
mod reno;
mod rounds;
mod scalable;
mod segments;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/congestion.rs.in"]
pub mod skeleton;
mod vcp;
mod vegas;
mod veno;
mod westwood;
mod yeah;

pub use bbr::{Bbr, Bbr1, Bbr1Config, BbrConfig, BbrVariant};
pub use bic::{Bic, BicConfig, bic_count};
pub use c2tcp::{C2tcp, C2tcpConfig, c2tcp_interval, c2tcp_setpoint};
pub use clamp::{Clamp, ClampConfig};
pub use copa::{Copa, CopaConfig, CopaMode, copa_target};
pub use cubic::{Cubic, CubicConfig, reno_friendly_increase, time_to_w_max, w_cubic};
pub use cubic_linux::{CubicLinux, CubicLinuxConfig};
pub use cubic_ns3::{CubicNs3, CubicNs3Config};
pub use dctcp::{Dctcp, DctcpConfig, dctcp_alpha};
pub use htcp::{Htcp, HtcpConfig, htcp_alpha, htcp_beta};
pub use hybla::{
    Hybla, HyblaConfig, hybla_avoidance_increment, hybla_rho, hybla_slow_start_increment,
};
pub use hystart::HystartKind;
pub use illinois::{Illinois, IllinoisConfig, illinois_alpha, illinois_beta};
pub use ledbat::{Ledbat, LedbatConfig, LedbatRules, ledbat_change, ledbat_gain};
pub use prague::{Prague, PragueConfig, PragueStart, prague_increase};
pub use registry::{AnyCongestion, CongestionRegistry};
pub use reno::{Reno, RenoConfig};
pub use scalable::Scalable;
pub use segments::NoParameters;
pub use vcp::{
    AiScaling, Freeze, OnLoss, Vcp, VcpConfig, vcp_ai_limit, vcp_ai_scale, vcp_mi_increase,
    vcp_mi_limit,
};
pub use vegas::{Vegas, VegasConfig, vegas_diff};
pub use veno::{Veno, VenoConfig, veno_queue};
pub use westwood::{Westwood, westwood_filter};
pub use yeah::{Yeah, yeah_queue};

pub use crate::recovery::{InflightSample, LostSegment, RateSample};

use crate::config::{EcnUse, TcpConfig};
use airpath_core::{Duration, Ecn, Rate, StageError, Time};
use std::sync::Arc;

/// State of loss recovery at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// No loss recovery; duplicate ACKs may have been counted.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all data sent before the timeout is acknowledged.
    Loss,
}

/// Event: an ACK has arrived. It acknowledges new data, or is a duplicate or a window update.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Time of the event.
    pub now: Time,
    /// Phase after this ACK: `Recovery` if this ACK begins a recovery, `Open` if it ends a
    /// recovery.
    pub phase: RecoveryPhase,
    /// Acknowledged bytes that count for the growth of the window. The value is `acked`, with
    /// `stack = "ns3"` in full-sized segments. `None` if the window must not grow on this ACK: for
    /// an ACK without new data, in fast recovery, and for an ACK that echoes a mark (RFC 3168
    /// §6.1.2). For the ACK that ends a recovery the value is set only with ns-2's and older ns-3
    /// behaviour. An algorithm that needs every ACK identifies this ACK by `acked` and `phase`.
    pub growth: Option<u64>,
    /// Acknowledgement number, a stream offset.
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
    /// True for a duplicate ACK: an ACK with the last acknowledgement number that arrives while
    /// data is outstanding and is not a window update.
    pub duplicate: bool,
    /// Bytes outstanding after this ACK.
    pub in_flight: u64,
    /// RTT sample of this ACK, if any.
    pub rtt: Option<Duration>,
    /// True if the ACK carries ECN-Echo, on a connection that uses ECN. Always false with accurate
    /// ECN feedback.
    pub echo: bool,
    /// Newly reported bytes with a congestion mark, with accurate ECN feedback (RFC 9768);
    /// otherwise 0.
    pub marked: u64,
    /// Explicit feedback echoed by the receiver (CLAMP, VCP).
    pub feedback: f32,
    /// True if cwnd did not limit the sender before this ACK: at least one segment of cwnd was
    /// unused, because the application had no data, or because of the receive window or pacing.
    pub app_limited: bool,
    /// Delivery rate sample of this ACK, if any, for algorithms that need such samples.
    pub rate: Option<RateSample>,
    /// Bytes in the network and losses, for algorithms that need rate samples.
    pub inflight: Option<InflightSample>,
}

impl AckEvent {
    /// Creates an ACK of `acked` new bytes at the start of a connection, outside loss recovery and
    /// without other information. Tests of congestion control algorithms start from this event.
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
            marked: 0,
            feedback: 0.0,
            app_limited: false,
            rate: None,
            inflight: None,
        }
    }
}

/// Event: duplicate ACKs or a timeout have indicated a loss, or a mark was echoed.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// Time of the event.
    pub now: Time,
    /// FlightSize (RFC 5681 §2), bytes.
    pub flight: u64,
    /// Congestion window before the event, bytes. In ns-3's proportional rate reduction, this is
    /// the window of the reduction, not of the congestion control algorithm.
    pub cwnd: u64,
    /// True if ssthresh must not change, because an echo in the same window of data has already
    /// reduced it (Linux `tcp_enter_loss`). True only for timeouts.
    pub keeps_ssthresh: bool,
}

impl LossEvent {
    /// Creates the event of a loss or an echo that sets ssthresh. `flight` and `cwnd` are in bytes.
    pub fn new(now: Time, flight: u64, cwnd: u64) -> LossEvent {
        LossEvent { now, flight, cwnd, keeps_ssthresh: false }
    }
}

/// Event: the reduction of an episode was spurious. No data was lost, or the timeout was premature.
#[derive(Clone, Copy, Debug)]
pub struct UndoEvent {
    /// Time of the event.
    pub now: Time,
    /// Congestion window before the first reduction of the episode, bytes.
    pub cwnd: u64,
    /// Slow-start threshold to restore, bytes; `u64::MAX` if it was not set. The value before the
    /// first reduction of the episode, at least 3/4 of the window (Linux `tcp_current_ssthresh`).
    pub ssthresh: u64,
}

/// Event: the sender resumes transmission after a time without outstanding data.
#[derive(Clone, Copy, Debug)]
pub struct IdleEvent {
    /// Time of the event.
    pub now: Time,
    /// New congestion window, bytes. Smaller than the old window only after a long idle time.
    pub cwnd: u64,
    /// Lower bound of ssthresh, bytes.
    pub ssthresh: u64,
}

/// Model of the path of an algorithm that estimates bandwidth and minimum RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathModel {
    /// State of BBR: 0 Startup, 1 Drain, 2 DOWN, 3 CRUISE, 4 REFILL, 5 UP, 6 ProbeRTT.
    pub state: u8,
    /// Bandwidth, bit/s of payload.
    pub bandwidth: u64,
    /// Minimum RTT, if known.
    pub min_rtt: Option<Duration>,
    /// Bound of the bytes in the network by losses, if set.
    pub inflight_bound: Option<u64>,
}

/// Size of a burst of segments that the pacer releases at once, with segmentation offload.
///
/// A burst has as many full-sized segments as fit into `extra` bytes plus the bytes that the pacing
/// rate transmits in 2^−`shift` s, at least `least` segments and at most 64 KiB (Linux
/// `tcp_tso_autosize`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstSize {
    /// Binary logarithm of the number of bursts per second, at most 63.
    pub shift: u32,
    /// Least number of segments, above 0.
    pub least: u64,
    /// Additional bytes on paths with a short RTT.
    pub extra: u64,
}

impl Default for BurstSize {
    /// Returns the size without an algorithm that sets it: 1/1024 s (Linux `sk_pacing_shift`), at
    /// least two segments (Linux `tcp_min_tso_segs`).
    fn default() -> BurstSize {
        BurstSize { shift: 10, least: 2, extra: 0 }
    }
}

airpath_core::contract! { $
    /// A congestion control algorithm.
    ///
    /// Seven methods are required. With the default methods, an algorithm handles an echoed mark
    /// like a loss, needs no rate samples, has no pacing rate, no size of bursts and no model of the
    /// path, leaves the window of a recovery to the recovery, does not fail, and does not react to
    /// the start of transmission, a lost SYN, a lost segment, an idle time or a sent packet. An
    /// algorithm that wraps another algorithm implements [`CongestionWrapper`] instead.
    pub trait CongestionControl {
        /// Handles an ACK. Called for every ACK, also in recovery, except for old ACKs that were
        /// reordered in the network and contain no new information. If the ACK causes `on_loss` or
        /// `on_recovered`, that method is called before `on_ack`; `on_ecn` is called after
        /// `on_ack`. The window may grow only if `growth` is set. Exception: VCP applies its rule
        /// to every ACK of new data outside recovery.
        fn on_ack(&mut self, event: &AckEvent);

        /// Handles a fast retransmit: sets ssthresh, and cwnd for the duration of fast recovery.
        fn on_loss(&mut self, event: &LossEvent);

        /// Handles an expiry of the retransmission timer. Does not set ssthresh if `keeps_ssthresh`
        /// is set.
        fn on_rto(&mut self, event: &LossEvent);

        /// Handles the end of fast recovery. `cwnd` is the largest window that the recovery allows.
        fn on_recovered(&mut self, cwnd: u64);

        /// Handles the detection that all reductions of the current episode were spurious: restores
        /// cwnd and ssthresh, but decreases neither (Linux `undo_cwnd`, RFC 4015 §4). An episode is a
        /// fast recovery, the phase after a timeout, or a fast recovery that ended in a timeout.
        /// Called before `on_ack` for the ACK that reveals the error. Called at most once per
        /// episode, and only if the loss recovery detects spurious reductions.
        fn on_undo(&mut self, event: &UndoEvent);

        /// Returns the congestion window, bytes.
        fn cwnd(&self) -> u64;

        /// Returns the slow-start threshold, bytes; `u64::MAX` if not yet set.
        fn ssthresh(&self) -> u64;

        /// Returns true if `on_ack` must also be called for ACKs without `growth`.
        fn needs_every_ack(&self) -> bool {
            true
        }

        /// Returns true if `on_ack` uses [`AckEvent::rate`]. Called once, when the connection is
        /// created. Rate samples cost computing time and memory.
        fn needs_rate_samples(&self) -> bool {
            false
        }

        /// Returns true if the algorithm sets the window also during a recovery (Linux
        /// `cong_control`). Recovery with SACK then sends while the bytes in the network are below
        /// cwnd, without proportional rate reduction. Called once, when the connection is created.
        fn sets_window_in_recovery(&self) -> bool {
            false
        }

        /// Returns true while the algorithm deliberately sends less than the path allows. Rate
        /// samples of segments that are sent meanwhile are marked as application-limited. Called
        /// after `on_ack`, only if the algorithm needs rate samples.
        fn limits_itself(&self) -> bool {
            false
        }

        /// Handles the start of data transmission. `rtt` is the RTT sample of the handshake; `None`
        /// without a handshake, or if the SYN was retransmitted.
        fn on_open(&mut self, _now: Time, _rtt: Option<Duration>) {}

        /// Handles a segment that is deemed lost, only if the algorithm needs rate samples. At a timeout
        /// called before `on_rto`; otherwise called after `on_loss`, and before `on_ack`.
        fn on_segment_lost(&mut self, _segment: &LostSegment) {}

        /// Returns the model of the path for the series of the scenario; `None` if the algorithm
        /// has no model. Called after `on_ack`, only if the algorithm needs rate samples.
        fn path_model(&self) -> Option<PathModel> {
            None
        }

        /// Handles the loss of the SYN or SYN-ACK. The initial window must become one segment (RFC
        /// 5681 §3.1).
        fn on_lost_syn(&mut self) {}

        /// Handles echoed congestion marks (RFC 3168). Called once per window of data, and not for
        /// a window of data in which a loss was detected. `flight` is at most cwnd. Never called if
        /// cwnd is below two segments, except with `stack = "ns2"` or `ecn_reaction = "cwr"`.
        fn on_ecn(&mut self, event: &LossEvent) {
            self.on_loss(event);
        }

        /// Handles the end of the ECN negotiation and returns the codepoint of ECN-capable segments.
        /// `feedback` is the negotiated mode. Called before the first data segment. An algorithm
        /// that returns ECT(1) is scalable (RFC 9331 §4): marks do not prevent `growth`, and
        /// `on_ecn` and `on_loss` are independent of each other.
        fn on_negotiated(&mut self, _feedback: EcnUse) -> Ecn {
            Ecn::Ect0
        }

        /// Handles the resumption of transmission after a time without outstanding data (RFC 5681
        /// §4.1).
        fn on_idle(&mut self, _event: &IdleEvent) {}

        /// Handles the transmission of a packet.
        fn on_sent(&mut self, _now: Time, _bytes: u64) {}

        /// Returns the pacing rate of complete IP packets, above 0; `None` without pacing. Called
        /// for every sent segment.
        fn pacing_rate(&self) -> Option<Rate> {
            None
        }

        /// Returns the size of the bursts of a pacer with segmentation offload. Called for every sent
        /// segment of a paced connection with `tso`.
        fn burst_size(&self) -> BurstSize {
            BurstSize::default()
        }

        /// Returns an error that has occurred since the last call. The error ends the run. Called
        /// after every other method that may change the state. Only plug-ins return errors.
        fn take_error(&mut self) -> Option<StageError> {
            None
        }
    }

    /// A congestion control algorithm that wraps another algorithm. It implements or delegates each
    /// method of [`CongestionControl`], and thereby also implements [`CongestionControl`].
    ///
    /// ```
    /// use airpath_core::{Duration, Ecn, Rate, StageError, Time};
    /// use airpath_tcp::congestion::{
    ///     AckEvent, AnyCongestion, BurstSize, CongestionControl, CongestionWrapper, IdleEvent, LossEvent,
    ///     LostSegment, PathModel, UndoEvent,
    /// };
    /// use airpath_tcp::{EcnUse, delegate_congestion};
    ///
    /// /// Wrapper that counts the timeouts of a congestion control algorithm.
    /// struct Counted {
    ///     inner: AnyCongestion,
    ///     timeouts: usize,
    /// }
    ///
    /// impl CongestionWrapper for Counted {
    ///     delegate_congestion!(inner: on_ack, needs_every_ack, on_loss, on_recovered, on_lost_syn);
    ///     delegate_congestion!(inner: on_ecn, on_idle, on_sent, cwnd, ssthresh, pacing_rate);
    ///     delegate_congestion!(inner: needs_rate_samples, sets_window_in_recovery, limits_itself);
    ///     delegate_congestion!(inner: on_open, on_segment_lost, path_model, on_negotiated);
    ///     delegate_congestion!(inner: on_undo, burst_size, take_error);
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
    /// # use airpath_core::{Duration, Ecn, Rate, StageError, Time};
    /// # use airpath_tcp::congestion::{
    /// #     AckEvent, AnyCongestion, BurstSize, CongestionControl, CongestionWrapper, IdleEvent,
    /// #     LossEvent, LostSegment, PathModel, UndoEvent,
    /// # };
    /// # use airpath_tcp::{EcnUse, delegate_congestion};
    /// struct Forgetful {
    ///     inner: AnyCongestion,
    /// }
    ///
    /// impl CongestionWrapper for Forgetful {
    ///     delegate_congestion!(inner: on_ack, needs_every_ack, on_loss, on_recovered, on_lost_syn);
    ///     delegate_congestion!(inner: on_ecn, on_idle, on_sent, cwnd, ssthresh, pacing_rate);
    ///     delegate_congestion!(inner: needs_rate_samples, sets_window_in_recovery, limits_itself);
    ///     delegate_congestion!(inner: on_open, on_segment_lost, path_model, on_negotiated);
    ///     delegate_congestion!(inner: on_undo, burst_size, take_error);
    /// }
    /// ```
    pub trait CongestionWrapper;

    /// Delegates methods of [`CongestionWrapper`](congestion::CongestionWrapper) to the congestion
    /// control algorithm in a field. `delegate_congestion!(field: method, …)` delegates the named
    /// methods, `delegate_congestion!(field)` all methods.
    #[macro_export]
    macro delegate_congestion;
}

/// Parameters of the connection that a congestion control algorithm receives at construction, in
/// addition to its configuration.
#[derive(Clone, Debug)]
pub struct CongestionSetup {
    /// TCP parameters of the connection.
    pub options: Arc<TcpConfig>,
}
