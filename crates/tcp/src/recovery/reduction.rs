//! Proportional rate reduction (PRR): computes the number of bytes that may be sent in a recovery.
//!
//! Source: RFC 6937 §3.1, with the slow-start reduction bound. With RACK: RFC 9937 §6.2 (the
//! successor of RFC 6937), as in Linux `tcp_cwnd_reduction`.

/// State of one reduction, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// RecoverFS: FlightSize at the start of the recovery.
    recover_fs: u64,
    /// prr_delivered of RFC 6937.
    delivered: u64,
    /// prr_out of RFC 6937.
    out: u64,
    /// Unused part of sndcnt.
    budget: u64,
}

impl Reduction {
    /// Begins a recovery with `flight` bytes outstanding.
    pub(super) fn new(flight: u64) -> Reduction {
        Reduction { recover_fs: flight, ..Reduction::default() }
    }

    /// Returns the number of bytes that may be sent now.
    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// Handles an ACK that delivered `delivered` bytes; `pipe` bytes are in flight after the ACK
    /// (RFC 6937 §3.1).
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64, mss: u64) {
        self.delivered += delivered;
        self.budget = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let due = share.div_ceil(u128::from(self.recover_fs.max(1)));
            u64::try_from(due).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            // Slow-start reduction bound.
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + mss;
            (ssthresh - pipe).min(limit)
        };
    }

    /// Handles an ACK as specified in RFC 9937 §6.2, in full segments of `mss` bytes. An ACK is not
    /// `safe` if it does not advance SND.UNA or reveals a further loss; it then allows at most the
    /// delivered bytes. Returns the number of bytes that may be sent now. At the beginning of a
    /// recovery this is at least one segment.
    pub(super) fn segments(
        &mut self,
        delivered: u64,
        pipe: u64,
        ssthresh: u64,
        mss: u64,
        safe: bool,
    ) -> u64 {
        self.delivered += delivered;
        let due = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let whole = u128::from(self.recover_fs.max(1)) * u128::from(mss);
            let due = share.div_ceil(whole) * u128::from(mss);
            u64::try_from(due).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered);
            (ssthresh - pipe).min(limit + if safe { mss } else { 0 })
        };
        let least = if self.out == 0 { mss } else { 0 };
        self.budget = due.max(least);
        self.budget
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.budget = self.budget.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of RFC 6937 §3.1 with segments of 1000 bytes.
    #[test]
    fn reduction_follows_rfc6937() {
        let mut reduction = Reduction::new(20_000);
        let mut sndcnt = |delivered, pipe, sent| {
            reduction.on_ack(delivered, pipe, 10_000, 1000);
            let allowed = reduction.budget;
            reduction.on_sent(sent);
            allowed
        };
        assert_eq!(sndcnt(1000, 16_000, 1000), 500); // ⌈1 · ½⌉; the fast retransmit is forced
        assert_eq!(sndcnt(1000, 16_000, 0), 0); // 2 · ½ − 1
        assert_eq!(sndcnt(1001, 15_000, 0), 501); // ⌈3.001 · ½⌉ − 1
        assert_eq!(sndcnt(8999, 10_000, 0), 0); // at ssthresh
        assert_eq!(sndcnt(1000, 9500, 0), 500); // limited by ssthresh − pipe
        assert_eq!(sndcnt(0, 0, 10_000), 10_000); // limited by prr_delivered − prr_out + MSS: 13 − 1 + 1
        assert_eq!(sndcnt(1000, 0, 2000), 4000); // 14 − 11 + 1
        assert_eq!(sndcnt(3000, 0, 0), 5000); // 17 − 13 + 1
    }

    /// Steps of RFC 9937 §6.2 with segments of 1000 bytes. Each ACK delivers 1000 bytes.
    #[test]
    fn segments_are_rounded_up_and_unsafe_acks_allow_one_segment_less() {
        let mut reduction = Reduction::new(20_000);
        let mut sndcnt = |pipe, safe, sent| {
            let allowed = reduction.segments(1000, pipe, 10_000, 1000, safe);
            reduction.on_sent(sent);
            allowed
        };
        assert_eq!(sndcnt(16_000, false, 1000), 1000); // ⌈1 · ½⌉
        assert_eq!(sndcnt(16_000, false, 0), 0); // ⌈2 · ½⌉ − 1
        assert_eq!(sndcnt(15_000, false, 0), 1000); // ⌈3 · ½⌉ − 1
        assert_eq!(sndcnt(10_000, true, 0), 0); // at ssthresh
        assert_eq!(sndcnt(4000, false, 0), 4000); // prr_delivered − prr_out: 5 − 1
        assert_eq!(sndcnt(4000, true, 5000), 6000); // 6 − 1 + 1
        assert_eq!(sndcnt(8000, true, 0), 2000); // 10 − 8
        let mut first = Reduction::new(20_000);
        assert_eq!(first.segments(1000, 10_000, 10_000, 1000, false), 1000); // forced
    }
}
