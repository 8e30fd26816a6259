//! Proportional rate reduction: how much may be sent in a recovery.
//!
//! Source: RFC 6937 §3.1, with the slow-start reduction bound.

/// The state of one reduction, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// RecoverFS, FlightSize at the start.
    recover_fs: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
    /// What is left of sndcnt.
    budget: u64,
}

impl Reduction {
    /// A recovery begins with `flight` bytes outstanding.
    pub(super) fn new(flight: u64) -> Reduction {
        Reduction { recover_fs: flight, ..Reduction::default() }
    }

    /// Bytes that may be sent now.
    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// An ACK delivered `delivered` bytes; `pipe` bytes are outstanding (RFC 6937 §3.1).
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

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.budget = self.budget.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 §3.1, in segments of 1000 bytes.
    #[test]
    fn the_reduction_follows_the_equations() {
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
        assert_eq!(sndcnt(1000, 9500, 0), 500); // as much as ssthresh leaves
        assert_eq!(sndcnt(0, 0, 10_000), 10_000); // as much as prr_delivered allows: 13 − 1 + 1
        assert_eq!(sndcnt(1000, 0, 2000), 4000); // 14 − 11 + 1
        assert_eq!(sndcnt(3000, 0, 0), 5000); // 17 − 13 + 1
    }
}
