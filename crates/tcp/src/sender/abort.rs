//! Abort of a connection whose retransmissions remain unanswered.
//!
//! Source: RFC 9293 §3.8.3 (R2), RFC 1122 §4.2.3.5. R2 is a maximum number of retransmissions, with
//! separate values for SYN and data, like `tcp_syn_retries` and `tcp_retries2` of Linux. After R2
//! retransmissions, the next expiry of the timer closes the connection, which then sends nothing
//! and ignores ACKs. Probes of a closed window are not counted (RFC 1122 §4.2.2.17).
//!
//! Not modelled: R1, and the reset to the receiver, which keeps waiting. Difference from Linux:
//! Linux converts `tcp_retries2` into a time, the sum of that many timeouts, starting at 200 ms.

use super::{Phase, Sender};
use airpath_core::Time;

impl Sender {
    /// Returns true if the connection was aborted.
    pub(crate) fn is_aborted(&self) -> bool {
        self.phase == Phase::Aborted
    }

    /// Counts an expiry of the retransmission timer. Returns true if R2 is exceeded.
    pub(super) fn exceeds_retries(&mut self) -> bool {
        if self.phase == Phase::SynSent {
            let most = self.options.max_syn_retries;
            return most.is_some_and(|most| self.syn.retransmissions >= most);
        }
        let count = self.syn.unanswered;
        self.syn.unanswered = count.saturating_add(1);
        self.options.max_retries.is_some_and(|most| count >= most)
    }

    /// Closes the connection.
    #[cold]
    pub(super) fn abort(&mut self, now: Time) {
        self.phase = Phase::Aborted;
        self.closed_at = now;
        self.stop_limit_clocks(now);
        self.set_alarm();
    }
}
