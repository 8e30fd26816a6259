//! Proportional rate reduction as in ns-3's `TcpPrrRecovery`.
//!
//! Differences from RFC 6937 §3.1:
//!
//! - Each duplicate ACK counts one more segment than it delivered, until the count reaches
//!   RecoverFS of RFC 6937.
//! - RecoverFS is `pipe` after the lost segment was marked.
//! - If `pipe` is below ssthresh, the conservative reduction bound applies. One segment is added
//!   only if an ACK covers a retransmission.
//! - cwnd is `pipe` plus the allowed bytes.

/// State of one reduction, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    mss: u64,
    /// RecoverFS of RFC 6937.
    recover_fs: u64,
    /// prr_delivered of RFC 6937.
    delivered: u64,
    /// prr_out of RFC 6937.
    out: u64,
    cwnd: u64,
}

impl Prr {
    pub(super) fn new(mss: u64) -> Prr {
        Prr { mss, ..Prr::default() }
    }

    /// Begins a recovery with `pipe` bytes in flight.
    pub(super) fn begin(&mut self, pipe: u64) {
        *self = Prr { mss: self.mss, recover_fs: pipe, delivered: 0, out: 0, cwnd: self.cwnd };
    }

    /// Handles an ACK that delivered `delivered` bytes; `pipe` bytes are in flight after the ACK.
    pub(super) fn on_ack(
        &mut self,
        delivered: u64,
        is_duplicate: bool,
        pipe: u64,
        ssthresh: u64,
        is_safe: bool,
    ) {
        let is_counted_up = is_duplicate && self.delivered < self.recover_fs;
        let delivered = delivered + if is_counted_up { self.mss } else { 0 };
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let due = share.div_ceil(u128::from(self.recover_fs.max(1)));
            u64::try_from(due).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            self.bound(delivered, is_safe).min(ssthresh - pipe)
        };
        let least = if self.out > 0 { 0 } else { self.mss };
        self.cwnd = pipe + allowed.max(least);
    }

    /// Returns the conservative reduction bound; 0 if more bytes were sent than delivered.
    fn bound(&self, delivered: u64, is_safe: bool) -> u64 {
        let more = if is_safe { self.mss } else { 0 };
        match self.delivered.checked_sub(self.out) {
            Some(ahead) => ahead.max(delivered) + more,
            None => more.saturating_sub(self.out - self.delivered),
        }
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    pub(super) fn cwnd(&self) -> u64 {
        self.cwnd
    }
}
