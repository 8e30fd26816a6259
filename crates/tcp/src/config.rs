//! Parameters of a TCP connection. `python/airpath/scenario/tcp/tcp_options.toml` documents every
//! parameter for users, and lists its value in each profile.

mod choices;
mod ecn;
#[cfg(test)]
mod tests;

pub use choices::{
    FastRetransmitGuard, FirstRttvar, IdleRestart, PartialAckTimer, RecoveryExit, RtoFloor,
    SackAfterTimeout, WindowGrowth, WindowScaling,
};
pub use ecn::{EcnReaction, EcnUse};

use crate::deviations::{self, Deviation, Deviations};
use crate::window_field::WindowField;
use airpath_core::{Checks, ConfigError, Duration, above, at_least, at_most};
use serde::{Deserialize, Deserializer};

/// Parameters of a TCP connection. A profile is a table with a value for each parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpConfig {
    /// Name of the profile that supplied the default values; informational only.
    pub profile: String,
    /// Maximum segment size, payload bytes. MSS plus headers is at most 65 535 bytes.
    #[serde(deserialize_with = "saturating")]
    pub mss: u32,
    /// Size of the IP and TCP headers of each packet, without the timestamps option, bytes.
    #[serde(deserialize_with = "saturating")]
    pub header_bytes: u32,
    /// Initial window (IW), bytes (RFC 5681 §3.1, RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes; `None`: unlimited.
    pub initial_ssthresh: Option<u64>,
    /// Receive window, bytes. A receive-window policy may advertise less.
    pub receive_window: u64,
    /// Loss recovery algorithm.
    pub recovery: RecoveryKind,
    /// Window growth per ACK.
    pub window_growth: WindowGrowth,
    /// Congestion window after NewReno's fast recovery.
    pub exit_window: RecoveryExit,
    /// Use of RFC 6582's `recover`, which prevents a second fast retransmit in one window.
    pub fast_retransmit_guard: FastRetransmitGuard,
    /// Partial ACKs of NewReno that restart the retransmission timer.
    pub partial_ack_timer: PartialAckTimer,
    /// Send one new segment for each of the first two duplicate ACKs (limited transmit, RFC 3042).
    pub limited_transmit: bool,
    /// Number of in-order segments per ACK; 1 disables delayed ACKs.
    pub delayed_ack_segments: u32,
    /// Longest delay of an ACK.
    #[serde(rename = "delayed_ack_timeout_ns", deserialize_with = "nanos")]
    pub delayed_ack_timeout: Duration,
    /// RTO before the first sample (RFC 6298 §2.1).
    #[serde(rename = "initial_rto_ns", deserialize_with = "nanos")]
    pub initial_rto: Duration,
    /// Smallest RTO (RFC 6298 §2.4).
    #[serde(rename = "min_rto_ns", deserialize_with = "nanos")]
    pub min_rto: Duration,
    /// Largest RTO (RFC 6298 §2.5).
    #[serde(rename = "max_rto_ns", deserialize_with = "nanos")]
    pub max_rto: Duration,
    /// Largest factor of the exponential back-off.
    pub max_backoff: u32,
    /// Clock granularity G (RFC 6298 §2.3): the RTO is a multiple of G; 0 disables rounding.
    #[serde(rename = "rto_granularity_ns", deserialize_with = "nanos")]
    pub rto_granularity: Duration,
    /// Gain of SRTT (RFC 6298: 1/8).
    pub srtt_gain: f64,
    /// Gain of RTTVAR (RFC 6298: 1/4).
    pub rttvar_gain: f64,
    /// RTTVAR after the first sample.
    pub first_rttvar: FirstRttvar,
    /// Exchange SYN and SYN-ACK before the first data.
    pub handshake: bool,
    /// Use the timestamps option (RFC 7323): 12 more bytes in every packet, and an RTT sample from
    /// every ACK of new data.
    #[serde(default)]
    pub timestamps: bool,
    /// ECN (RFC 3168): off, or the algorithm with which the receiver echoes marks.
    #[serde(default)]
    pub ecn: EcnUse,
    /// Reduction of the window after an echoed mark.
    #[serde(default)]
    pub ecn_reaction: EcnReaction,
    /// Encoding of the window in an ACK.
    #[serde(default)]
    pub window_scaling: WindowScaling,
    /// Handling of the SACK information when the retransmission timer expires.
    #[serde(default)]
    pub sack_after_timeout: SackAfterTimeout,
    /// Reduction of the congestion window after an idle period.
    #[serde(default)]
    pub idle_restart: IdleRestart,
    /// Let the congestion window grow even if it is not fully used, because the application has too
    /// little data or the receive window is too small. Applies only to Reno's congestion control:
    /// with CUBIC, such a window never grows (RFC 9438 §5.8).
    #[serde(default = "yes")]
    pub grow_unused: bool,
    /// Quantity whose lower bound is `min_rto`.
    #[serde(default)]
    pub rto_floor: RtoFloor,
    /// Number of in-order segments that are acknowledged one by one before delayed ACKs begin.
    #[serde(default)]
    pub quick_acks: u32,
    /// Implementation to follow where implementations differ.
    #[serde(default)]
    pub stack: StackVariant,
    /// Upper bound of the FlightSize from which NewReno without SACK computes ssthresh.
    #[serde(default)]
    pub flight_bound: FlightBound,
    /// Pacing of segments by window and RTT if the congestion control sets no pacing rate.
    #[serde(default)]
    pub pacing: Pacing,
    /// Loss detection with SACK.
    #[serde(default)]
    pub loss_detection: LossDetection,
    /// Send tail loss probes (RFC 8985 §7). Requires `loss_detection = "rack"`.
    #[serde(default)]
    pub tail_loss_probe: bool,
    /// Let the pacer release bursts, as with segmentation offload (Linux `tcp_tso_autosize`), instead
    /// of single segments.
    #[serde(default)]
    pub tso: bool,
    /// Detect spurious timeouts by the arrival of data that was not retransmitted (F-RTO, RFC 5682).
    /// Requires `loss_detection = "rack"`.
    #[serde(default)]
    pub frto: bool,
    /// Undo the reductions of spurious recoveries and timeouts, which timestamps (RFC 3522) or
    /// reports of duplicates (RFC 3708) reveal. Requires `loss_detection = "rack"`.
    #[serde(default)]
    pub undo: bool,
    /// Let the receiver report duplicates (D-SACK, RFC 2883). Requires `loss_detection = "rack"`.
    #[serde(default)]
    pub dsack: bool,
    /// Segments that request an immediate ACK.
    #[serde(default)]
    pub push: Push,
    /// R2 (RFC 9293 §3.8.3): maximum number of consecutive retransmissions of data by the
    /// retransmission timer. The next expiry of the timer aborts the connection. `None`: the
    /// connection is never aborted.
    #[serde(default)]
    pub max_retries: Option<u32>,
    /// Maximum number of retransmissions of a SYN. `None`: no limit.
    #[serde(default)]
    pub max_syn_retries: Option<u32>,
}

const fn yes() -> bool {
    true
}

/// Deserializes bytes. Values above `u32::MAX` become `u32::MAX`, which range checks reject.
fn saturating<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    u64::deserialize(deserializer).map(|bytes| bytes.try_into().unwrap_or(u32::MAX))
}

fn nanos<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_nanos)
}

/// Loss recovery algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryKind {
    /// RFC 5681 §3.2: fast recovery ends with the first new ACK.
    Reno,
    /// RFC 6582: fast recovery ends when all data outstanding at its start is acknowledged.
    NewReno,
    /// RFC 6675: selective acknowledgements.
    Sack,
    /// RFC 6675 with proportional rate reduction (RFC 6937).
    Prr,
}

impl RecoveryKind {
    /// Returns true if the receiver sends SACK blocks (RFC 2018) and the sender uses them.
    pub const fn uses_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Prr)
    }

    /// Returns true if recovery uses proportional rate reduction.
    pub const fn is_proportional(self) -> bool {
        matches!(self, RecoveryKind::Prr)
    }
}

/// Implementation to follow where implementations differ. `deviations.rs` lists the differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StackVariant {
    /// The RFCs.
    #[default]
    Rfc,
    /// ns-3.48, with SACK.
    Ns3,
    /// The one-way TCP agents of ns-2, without SACK.
    Ns2,
    /// A Linux kernel, as far as its differences are modelled.
    Linux,
}

/// Upper bound of the FlightSize from which NewReno without SACK computes ssthresh, or a
/// replacement for the FlightSize. With SACK the bound is always cwnd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlightBound {
    /// No bound: all bytes sent and not cumulatively acknowledged (RFC 5681 §2).
    #[default]
    None,
    /// The bound is cwnd. After a loss, the bound is the value from which ssthresh was computed at
    /// that loss, until all data outstanding at the loss is acknowledged. RFC 5681 eq. 4 permits a
    /// smaller ssthresh. Linux (`tcp_enter_loss`) uses cwnd and does not reduce ssthresh twice for
    /// one window.
    Cwnd,
    /// cwnd replaces the FlightSize, even if little data is outstanding. RFC 5681 §3.1 calls this
    /// an easy mistake.
    Replaced,
}

/// Pacing of segments if the congestion control sets no pacing rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// No pacing: segments leave when the windows allow it.
    #[default]
    Off,
    /// Segments leave one at a time, at 200 % of cwnd/SRTT if cwnd is below half of ssthresh,
    /// otherwise at 120 % (Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
    On,
}

/// Loss detection with SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// A segment is deemed lost if enough data beyond it has arrived (RFC 6675). The loss of a
    /// retransmission is detected only by the retransmission timer.
    #[default]
    Sack,
    /// A segment is deemed lost if a segment sent sufficiently later has arrived (RFC 8985).
    Rack,
}

/// Segments that carry the flag PSH. The receiver acknowledges these segments immediately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Push {
    /// No segment.
    #[default]
    Off,
    /// The last segment of each burst of two or more segments that are sent together (Linux
    /// `__tcp_transmit_skb` and `tcp_tso_autosize`; the receiver's reaction since 6.7).
    Bursts,
}

/// Largest IP packet, bytes (RFC 791 §3.1).
const LARGEST_PACKET: u64 = 65_535;

/// Size of the timestamps option in a header, including padding, bytes (RFC 7323 §3.2).
const TIMESTAMPS_BYTES: u32 = 12;

impl TcpConfig {
    /// Returns true if losses are detected by time (RACK), which requires SACK.
    pub(crate) fn finds_losses_by_time(&self) -> bool {
        self.loss_detection == LossDetection::Rack && self.recovery.uses_sack()
    }

    /// Returns true if the sender reacts to echoed marks in the state CWR.
    pub(crate) fn reacts_in_cwr(&self) -> bool {
        let is_ns3 = Deviations::of(self).has(Deviation::Ns3Recovery);
        let is_modelled = is_ns3 || self.finds_losses_by_time();
        self.ecn_reaction == EcnReaction::Cwr && is_modelled
    }

    /// Returns true if a timeout discards SACK information. Later ACKs then count data again.
    pub(crate) fn forgets_arrivals(&self) -> bool {
        let keeps = self.sack_after_timeout == SackAfterTimeout::Keep;
        !self.recovery.uses_sack() || !keeps && !self.finds_losses_by_time()
    }

    /// Returns the size of IP and TCP headers of a packet with the timestamps option, bytes.
    pub fn whole_header(&self) -> u32 {
        self.header_bytes + if self.timestamps { TIMESTAMPS_BYTES } else { 0 }
    }

    /// Returns the largest window that the receiver can advertise, bytes: the initial value of a
    /// receive-window policy.
    pub fn largest_window(&self) -> u64 {
        WindowField::new(self).most().min(self.receive_window)
    }

    /// Returns the initial right edge of the receive window that a sender assumes if the connection
    /// has no handshake.
    pub(crate) fn first_edge(&self) -> u64 {
        u64::from(WindowField::new(self).advertise(self.receive_window))
    }

    /// Checks all values.
    ///
    /// # Errors
    /// The error lists every value that is outside its range or conflicts with another value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let positive = at_least(1_u64);
        self.check_sizes(&mut checks);
        checks.within("delayed_ack_segments", self.delayed_ack_segments, positive);
        checks.within("delayed_ack_timeout", self.delayed_ack_timeout.as_nanos(), positive);
        checks.within("max_backoff", self.max_backoff, positive);
        self.check_timeouts(&mut checks);
        checks.within("srtt_gain", self.srtt_gain, above(0.0).up_to(1.0));
        checks.within("rttvar_gain", self.rttvar_gain, above(0.0).up_to(1.0));
        deviations::check(self, &mut checks);
        checks.finish()
    }

    fn check_sizes(&self, checks: &mut Checks) {
        let (positive, mss) = (at_least(1_u64), u64::from(self.mss));
        let has_mss = checks.within("mss", mss, positive);
        let has_header = checks.within("header_bytes", self.header_bytes, positive);
        if has_mss && has_header {
            self.check_packet(checks);
        }
        if has_mss {
            checks.within("initial_window", self.initial_window, positive);
        }
        if let Some(ssthresh) = self.initial_ssthresh {
            checks.within("initial_ssthresh", ssthresh, positive);
        }
        checks.within("receive_window", self.receive_window, positive.up_to(u32::MAX));
    }

    /// Rejects headers and segments that do not fit into an IP packet.
    fn check_packet(&self, checks: &mut Checks) {
        let header = u64::from(self.header_bytes);
        let rest = LARGEST_PACKET - if self.timestamps { u64::from(TIMESTAMPS_BYTES) } else { 0 };
        let room = at_most(rest - 1);
        let others = ["timestamps"];
        let problem = "leaves no space for data in an IP packet";
        if checks.related_to(&others, "header_bytes", header, room, problem) {
            let (others, room) = (["header_bytes", "timestamps"], at_most(rest - header));
            let problem = "larger than an IP packet with its headers";
            checks.related_to(&others, "mss", self.mss, room, problem);
        }
    }

    fn check_timeouts(&self, checks: &mut Checks) {
        let positive = at_least(1_u64);
        let max_rto = self.max_rto.as_nanos();
        let mut is_checked = !checks.within("max_rto", max_rto, positive);
        for (field, rto) in [("min_rto", self.min_rto), ("initial_rto", self.initial_rto)] {
            let has_rto = checks.within(field, rto.as_nanos(), positive);
            if has_rto && !is_checked {
                // If `max_rto` is below both values, report one problem, not two.
                let most = at_most(max_rto);
                let others = ["max_rto"];
                is_checked =
                    !checks.related_to(&others, field, rto.as_nanos(), most, "above max_rto");
            }
        }
    }
}
