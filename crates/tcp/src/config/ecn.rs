//! Parameters of explicit congestion notification.

use serde::Deserialize;

/// Use of explicit congestion notification by an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnUse {
    /// ECN is not used.
    #[default]
    Off,
    /// RFC 3168: the receiver echoes a mark until the sender has reduced its window.
    On,
    /// RFC 3168 with DCTCP's echo: the receiver reports for each segment whether it was marked (RFC
    /// 8257 §3.2).
    Dctcp,
    /// Accurate ECN feedback (RFC 9768): every ACK carries counters of the marked packets and bytes.
    Accurate,
    /// No negotiation and no ECE. The ECN field carries VCP's load code: the sender sets the code
    /// for low load in every segment, and the receiver echoes the received code in `feedback`.
    Vcp,
}

impl EcnUse {
    /// Returns true if both ends negotiate ECN and the receiver reports marks in ACKs.
    pub const fn is_negotiated(self) -> bool {
        matches!(self, EcnUse::On | EcnUse::Dctcp | EcnUse::Accurate)
    }
}

/// Reduction of the window after an echoed congestion mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnReaction {
    /// Immediate reduction (RFC 3168 §6.1.2).
    #[default]
    Rfc,
    /// Reduction in the state CWR (congestion window reduced), as in Linux and ns-3. The window
    /// does not grow until data sent after the echo is acknowledged. With proportional rate
    /// reduction, the window shrinks gradually: the sender transmits fewer segments than are
    /// delivered. Requires `loss_detection = "rack"` or `stack = "ns3"` with SACK.
    Cwr,
}
