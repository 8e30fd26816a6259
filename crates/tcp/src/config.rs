//! The parameters of a connection. `python/airpath/scenario/tcp/tcp_options.toml` lists them for users,
//! with their values in each profile.

#[cfg(test)]
mod tests;

use crate::deviations::{self, Deviation, Deviations};
use crate::window_field::WindowField;
use airpath_core::{Checks, ConfigError, Duration, above, at_least, at_most};
use serde::{Deserialize, Deserializer};

/// Parameters of a connection. A profile is a table of these values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpConfig {
    /// Name of the profile that the values started from; for the record only.
    pub profile: String,
    /// Largest segment, payload bytes; with its headers 65 535 at most.
    #[serde(deserialize_with = "saturating")]
    pub mss: u32,
    /// Bytes of IP and TCP header in each packet, without timestamps.
    #[serde(deserialize_with = "saturating")]
    pub header_bytes: u32,
    /// IW, bytes (RFC 5681 §3.1, RFC 6928).
    pub initial_window: u64,
    /// First slow-start threshold, bytes; unlimited when absent.
    pub initial_ssthresh: Option<u64>,
    /// Window that the receiver offers, bytes; a policy may offer less.
    pub receive_window: u64,
    /// How lost segments are found and resent.
    pub recovery: RecoveryKind,
    /// How an ACK enlarges the window.
    pub window_growth: WindowGrowth,
    /// The window after NewReno's fast recovery.
    pub exit_window: RecoveryExit,
    /// RFC 6582's `recover`: no second fast retransmit for losses of one window.
    pub fast_retransmit_guard: FastRetransmitGuard,
    /// When NewReno's partial ACKs restart the retransmission timer.
    pub partial_ack_timer: PartialAckTimer,
    /// One new segment for each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// In-order segments per ACK; 1 acknowledges each at once.
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
    /// G, the clock granularity (RFC 6298 §2.3): the RTO is a multiple of it; 0 is exact.
    #[serde(rename = "rto_granularity_ns", deserialize_with = "nanos")]
    pub rto_granularity: Duration,
    /// Gain of SRTT (RFC 6298: 1/8).
    pub srtt_gain: f64,
    /// Gain of RTTVAR (RFC 6298: 1/4).
    pub rttvar_gain: f64,
    /// RTTVAR after the first sample.
    pub first_rttvar: FirstRttvar,
    /// SYN and SYN-ACK before the first data.
    pub handshake: bool,
    /// Timestamps (RFC 7323): 12 bytes more in every packet, an RTT sample from every ACK of new
    /// data.
    #[serde(default)]
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168), and whose echo the receiver gives.
    #[serde(default)]
    pub ecn: EcnUse,
    /// How the window is reduced for an echoed mark.
    #[serde(default)]
    pub ecn_reaction: EcnReaction,
    /// How the window is written into an ACK.
    #[serde(default)]
    pub window_scaling: WindowScaling,
    /// Handling of the SACK information when the retransmission timer expires.
    #[serde(default)]
    pub sack_after_timeout: SackAfterTimeout,
    /// Reduction of the window after an idle time.
    #[serde(default)]
    pub idle_restart: IdleRestart,
    /// Whether a window grows that was not used up, for want of data or of receive window. Reno's
    /// congestion control only: CUBIC leaves such a window alone (RFC 9438 §5.8).
    #[serde(default = "yes")]
    pub grow_unused: bool,
    /// Term that `min_rto` bounds.
    #[serde(default)]
    pub rto_floor: RtoFloor,
    /// In-order segments that are acknowledged one by one before delayed ACKs begin.
    #[serde(default)]
    pub quick_acks: u32,
    /// Implementation to follow where implementations differ.
    #[serde(default)]
    pub stack: StackVariant,
    /// Bound of the FlightSize from which NewReno without SACK computes ssthresh.
    #[serde(default)]
    pub flight_bound: FlightBound,
    /// Whether segments are paced by window and RTT if the congestion control sets no pacing rate.
    #[serde(default)]
    pub pacing: Pacing,
    /// How losses are found with SACK.
    #[serde(default)]
    pub loss_detection: LossDetection,
    /// Tail loss probes (RFC 8985 §7); with `rack` only.
    #[serde(default)]
    pub tail_loss_probe: bool,
    /// Which segments request an immediate ACK.
    #[serde(default)]
    pub push: Push,
    /// R2 (RFC 9293 §3.8.3): retransmissions of data by the timer, without an answer, after which its
    /// next expiry aborts the connection; absent: it is never aborted.
    #[serde(default)]
    pub max_retries: Option<u32>,
    /// Largest number of retransmissions of a SYN.
    #[serde(default)]
    pub max_syn_retries: Option<u32>,
}

const fn yes() -> bool {
    true
}

/// A number of bytes; what does not fit is out of range in any case.
fn saturating<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    u64::deserialize(deserializer).map(|bytes| bytes.try_into().unwrap_or(u32::MAX))
}

fn nanos<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_nanos)
}

/// How lost segments are found and resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryKind {
    /// RFC 5681 §3.2: fast recovery ends with the first new ACK.
    Reno,
    /// RFC 6582: fast recovery lasts until everything outstanding at its start is acknowledged.
    NewReno,
    /// RFC 6675: selective acknowledgements.
    Sack,
    /// RFC 6675 with proportional rate reduction (RFC 6937).
    Prr,
}

impl RecoveryKind {
    /// Whether the receiver sends SACK blocks (RFC 2018) and the sender uses them.
    pub const fn uses_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Prr)
    }

    /// Whether proportional rate reduction rules in recovery.
    pub const fn is_proportional(self) -> bool {
        matches!(self, RecoveryKind::Prr)
    }
}

/// Implementation to follow where implementations differ; `deviations.rs` has what that changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StackVariant {
    /// The RFCs.
    #[default]
    Rfc,
    /// ns-3.48, with SACK.
    Ns3,
    /// The one-way agents of ns-2, which have no SACK.
    Ns2,
    /// A Linux kernel, as far as it is modelled.
    Linux,
}

/// Bound of the FlightSize from which NewReno without SACK computes ssthresh, or its replacement.
/// With SACK it is always cwnd that bounds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlightBound {
    /// Nothing: all that was sent and not cumulatively acknowledged (RFC 5681 §2).
    #[default]
    None,
    /// cwnd; until what was outstanding at a loss is acknowledged, what ssthresh was taken from
    /// then. RFC 5681 eq. 4 is an upper bound, and Linux (`tcp_enter_loss`) goes by cwnd and does
    /// not reduce twice for one window.
    Cwnd,
    /// cwnd takes the place of FlightSize, however little is outstanding: what RFC 5681 §3.1 calls an
    /// easy mistake.
    Replaced,
}

/// Whether segments are paced if the congestion control sets no pacing rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// They leave when the windows allow it.
    #[default]
    Off,
    /// They leave one at a time, at 200 % of cwnd/SRTT below half of ssthresh and 120 % from there
    /// (Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
    On,
}

/// How losses are found with SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// By what has arrived beyond a hole (RFC 6675); a lost retransmission waits for the
    /// retransmission timer.
    #[default]
    Sack,
    /// By time: what left before something that has arrived (RFC 8985, RACK).
    Rack,
}

/// Which segments carry PSH, so that the receiver acknowledges them at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Push {
    /// No timestamps option.
    #[default]
    Off,
    /// The last one of each burst of two or more that leave as one (Linux `__tcp_transmit_skb` and
    /// `tcp_tso_autosize`; its receiver since 6.7).
    Bursts,
}

/// Explicit congestion notification: whether an endpoint requests it and agrees to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnUse {
    /// Not at all.
    #[default]
    Off,
    /// RFC 3168: the receiver echoes a mark until the sender has reduced its window.
    On,
    /// The same with DCTCP's echo: it says of each segment whether it was marked (RFC 8257 §3.2).
    Dctcp,
    /// No agreement and no ECE: the field is VCP's load code, which every segment leaves with as
    /// low, and which the receiver echoes in `feedback`.
    Vcp,
}

impl EcnUse {
    /// Whether the two ends agree on marks and echo them in the header's flags (RFC 3168).
    pub const fn is_negotiated(self) -> bool {
        matches!(self, EcnUse::On | EcnUse::Dctcp)
    }
}

/// How the window is reduced for an echoed congestion mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnReaction {
    /// Reduces at once (RFC 3168 §6.1.2).
    #[default]
    Rfc,
    /// In the state CWR, as Linux and ns-3: no growth until something is acknowledged that was sent
    /// after the echo, and with proportional rate reduction one segment leaves for several
    /// delivered. With `loss_detection = "rack"` or ns-3's procedures only.
    Cwr,
}

/// Which duplicate ACKs begin a fast retransmit, by what was sent before the last loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FastRetransmitGuard {
    /// Any; a timeout does not forget the duplicate ACKs counted before it either.
    Off,
    /// Those for data that was sent since (RFC 6582 §3.2 step 1): an ACK of all that was sent
    /// before does not cover more than `recover`.
    Rfc,
    /// Also those that acknowledge up to the first byte sent since (ns-3, class TcpSocketBase).
    Ns3,
}

/// How an ACK enlarges the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowGrowth {
    /// The formula of RFC 5681, eqs. 2 and 3: once per ACK, fractions of a byte carried over.
    Bytes,
    /// Counting bytes as RFC 5681 §3.1 recommends: appropriate byte counting (RFC 3465) with L = 1
    /// segment.
    #[serde(rename = "abc-1")]
    Abc1,
    /// Appropriate byte counting with L = 2 segments, 1 in the slow start after a timeout.
    #[serde(rename = "abc-2")]
    Abc2,
    /// Every segment acknowledged counts, as in Linux: one more each in slow start, one per
    /// window of them beyond. A window that is not used does not grow.
    Segments,
    /// Slow start by a segment, congestion avoidance by max(1, MSS²/cwnd) truncated, for every
    /// ACK of a whole segment or more (ns-3's TcpNewReno).
    PerAck,
    /// Slow start by a whole segment, congestion avoidance by max(1, MSS²/cwnd) truncated, for
    /// every ACK of new data, the one that ends a recovery included (ns-3 of 2014).
    PerAckTruncated,
}

/// The window after NewReno's fast recovery (RFC 6582 §3.2 step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryExit {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): option 1, no burst.
    BurstSafe,
    /// ssthresh: option 2.
    Ssthresh,
}

/// When NewReno's partial ACKs restart the retransmission timer (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartialAckTimer {
    /// At the first of a recovery: "impatient".
    First,
    /// At each partial ACK: "slow-but-steady".
    Each,
}

/// RTTVAR after the first sample R.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstRttvar {
    /// R/2 (RFC 6298 §2.2).
    Half,
    /// R (ns-3 of 2014).
    Full,
}

/// How the receiver's window is written into an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowScaling {
    /// As a number of bytes without a separate limit.
    #[default]
    Exact,
    /// 16 bits: 65 535 bytes at most (RFC 9293 §3.1).
    Off,
    /// 16 bits times a power of two (RFC 7323 §2), rounded down; not scaled in the SYN-ACK.
    On,
}

/// Handling of the SACK information when the retransmission timer expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SackAfterTimeout {
    /// Discards it (RFC 2018 §8).
    #[default]
    Forget,
    /// It is kept, unless the oldest segment is part of it: then the receiver has reneged (Linux).
    Keep,
}

/// Reduction of the window after an idle time longer than an RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleRestart {
    /// All of it.
    #[default]
    Off,
    /// min(IW, cwnd) (RFC 5681 §4.1).
    Restart,
    /// Half of it for each RTO but the first begun, down to min(IW, cwnd); ssthresh remembers
    /// three quarters (RFC 2861 §3 as Linux has it).
    Decay,
}

/// Term that `min_rto` bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// The RTO (RFC 6298 §2.4).
    #[default]
    Total,
    /// 4·RTTVAR, so that the RTO is SRTT + max(min_rto, 4·RTTVAR) (Linux).
    Variance,
}

/// Largest IP packet, bytes (RFC 791 §3.1).
const LARGEST_PACKET: u64 = 65_535;

/// Bytes that the timestamps option takes in a header, padding included (RFC 7323 §3.2).
const TIMESTAMPS_BYTES: u32 = 12;

impl TcpConfig {
    /// Whether losses are found by time, which takes SACK.
    pub(crate) fn finds_losses_by_time(&self) -> bool {
        self.loss_detection == LossDetection::Rack && self.recovery.uses_sack()
    }

    /// Whether echoed marks are answered in the state CWR.
    pub(crate) fn reacts_in_cwr(&self) -> bool {
        let is_ns3 = Deviations::of(self).has(Deviation::Ns3Recovery);
        let is_modelled = is_ns3 || self.finds_losses_by_time();
        self.ecn_reaction == EcnReaction::Cwr && is_modelled
    }

    /// Whether a timeout forgets what had arrived before it, so that an ACK counts it a second time.
    pub(crate) fn forgets_arrivals(&self) -> bool {
        let keeps = self.sack_after_timeout == SackAfterTimeout::Keep;
        !self.recovery.uses_sack() || !keeps && !self.finds_losses_by_time()
    }

    /// Bytes of IP and TCP header in each packet, timestamps included.
    pub fn whole_header(&self) -> u32 {
        self.header_bytes + if self.timestamps { TIMESTAMPS_BYTES } else { 0 }
    }

    /// The largest window that can be advertised, bytes; a receive-window policy starts from it.
    pub fn largest_window(&self) -> u64 {
        WindowField::new(self).most().min(self.receive_window)
    }

    /// Right edge that the sender of a connection without a handshake begins with.
    pub(crate) fn first_edge(&self) -> u64 {
        u64::from(WindowField::new(self).advertise(self.receive_window))
    }

    /// Checks every value.
    ///
    /// # Errors
    /// With every value outside its range, or that others exclude.
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

    /// Rejects what does not fit into an IP packet.
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
                // One line for a maximum below both.
                let most = at_most(max_rto);
                let others = ["max_rto"];
                is_checked =
                    !checks.related_to(&others, field, rto.as_nanos(), most, "above max_rto");
            }
        }
    }
}
