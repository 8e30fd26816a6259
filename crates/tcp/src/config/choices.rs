//! Choices of parameters: fast retransmit, window growth, timers and header fields.

use serde::Deserialize;

/// Condition under which duplicate ACKs may start a fast retransmit. `recover` is the highest
/// sequence number sent before the last loss (RFC 6582).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FastRetransmitGuard {
    /// No condition: any duplicate ACKs. A timeout does not reset the count of duplicate ACKs.
    Off,
    /// The acknowledgement number must cover more than `recover` (RFC 6582 §3.2 step 1).
    Rfc,
    /// As `Rfc`, but the acknowledgement number may also equal the first byte sent after the last
    /// loss (ns-3, class TcpSocketBase).
    Ns3,
}

/// Growth of the window per ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowGrowth {
    /// The formula of RFC 5681, eqs. 2 and 3, once per ACK. Fractions of a byte are carried over.
    Bytes,
    /// Appropriate byte counting (RFC 5681 §3.1, RFC 3465) with L = 1 segment.
    #[serde(rename = "abc-1")]
    Abc1,
    /// Appropriate byte counting with L = 2 segments; L = 1 in the slow start after a timeout.
    #[serde(rename = "abc-2")]
    Abc2,
    /// Counts every acknowledged segment, as Linux does: growth by one segment per acknowledged
    /// segment in slow start, and by one segment per window in congestion avoidance. A window that
    /// is not fully used does not grow.
    Segments,
    /// Growth for every ACK of at least one full-sized segment: one segment in slow start; in
    /// congestion avoidance max(1, MSS²/cwnd) bytes, truncated (ns-3's TcpNewReno).
    PerAck,
    /// Growth for every ACK of new data, including the ACK that ends a recovery: one full-sized
    /// segment in slow start; in congestion avoidance max(1, MSS²/cwnd) bytes, truncated (ns-3 of
    /// 2014).
    PerAckTruncated,
}

/// Congestion window after NewReno's fast recovery (RFC 6582 §3.2 step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryExit {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS). Option 1 of the RFC, which avoids a burst.
    BurstSafe,
    /// ssthresh. Option 2 of the RFC.
    Ssthresh,
}

/// Partial ACKs of NewReno that restart the retransmission timer (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartialAckTimer {
    /// Only the first partial ACK of a recovery: variant "Impatient" of the RFC.
    First,
    /// Every partial ACK: variant "Slow-but-Steady" of the RFC.
    Each,
}

/// RTTVAR after the first RTT sample R.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstRttvar {
    /// R/2 (RFC 6298 §2.2).
    Half,
    /// R (ns-3 of 2014).
    Full,
}

/// Encoding of the receive window in an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowScaling {
    /// Exact number of bytes. The header field has no size limit.
    #[default]
    Exact,
    /// 16 bits without scaling: at most 65 535 bytes (RFC 9293 §3.1).
    Off,
    /// 16-bit value times a power of two, rounded down (window scale option, RFC 7323 §2). The
    /// window in the SYN-ACK is not scaled.
    On,
}

/// Handling of the SACK information when the retransmission timer expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SackAfterTimeout {
    /// Discard the SACK information (RFC 2018 §8).
    #[default]
    Forget,
    /// Keep the SACK information, as Linux does. Exception: if the oldest segment is selectively
    /// acknowledged, the receiver has reneged, and the SACK information is discarded.
    Keep,
}

/// Reduction of the congestion window after an idle period that is longer than one RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleRestart {
    /// No reduction.
    #[default]
    Off,
    /// Reduction to min(IW, cwnd) (RFC 5681 §4.1).
    Restart,
    /// The window is halved for each RTO of the idle period after the first RTO, down to min(IW,
    /// cwnd). ssthresh becomes at least three quarters of the window before the reduction (RFC 2861
    /// §3, as in Linux).
    Decay,
}

/// Quantity whose lower bound is `min_rto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// The RTO (RFC 6298 §2.4).
    #[default]
    Total,
    /// 4·RTTVAR, so that the RTO is SRTT + max(min_rto, 4·RTTVAR) (Linux).
    Variance,
}
