//! Counters of the feedback that an agent's flow receives.

use airpath_core::Duration;

/// Counters since the start of an interval.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Number of ACKs.
    pub(crate) acks: u64,
    /// Payload bytes acknowledged cumulatively.
    pub(crate) acked_bytes: u64,
    /// Payload bytes acknowledged cumulatively or selectively.
    pub(crate) delivered_bytes: u64,
    /// Delivered payload bytes with a congestion mark.
    pub(crate) marked_bytes: u64,
    /// Payload bytes deemed lost.
    pub(crate) lost_bytes: u64,
    /// Segments deemed lost.
    pub(crate) lost_packets: u64,
    /// Fast recoveries.
    pub(crate) recoveries: u64,
    /// Expiries of the retransmission timer.
    pub(crate) timeouts: u64,
    /// Smallest and largest RTT sample, ns.
    pub(crate) rtt_range: Option<(u64, u64)>,
    /// Sum of the first k + 1 RTT samples for each k, ns. The memory is reused in the next interval.
    rtt_sums: Vec<u64>,
    /// RTT of the handshake, if the flow opened in the interval.
    pub(crate) opening_rtt: Option<Duration>,
}

impl Meter {
    /// Starts a new interval.
    pub(crate) fn clear(&mut self) {
        let mut rtt_sums = std::mem::take(&mut self.rtt_sums);
        rtt_sums.clear();
        *self = Meter { rtt_sums, ..Meter::default() };
    }

    #[inline]
    pub(crate) fn add_rtt(&mut self, rtt: Duration) {
        let nanos = rtt.as_nanos();
        let (low, high) = self.rtt_range.unwrap_or((nanos, nanos));
        self.rtt_range = Some((low.min(nanos), high.max(nanos)));
        self.rtt_sums.push(self.sum_of_first(self.rtt_sums.len()) + nanos);
    }

    /// Returns the number of RTT samples.
    pub(crate) fn rtt_count(&self) -> usize {
        self.rtt_sums.len()
    }

    /// Returns the mean of the RTT samples `from..until`, s; `None` if there are none.
    pub(crate) fn mean_rtt(&self, from: usize, until: usize) -> Option<f64> {
        let count = until.checked_sub(from).filter(|count| *count > 0)?;
        let sum = self.sum_of_first(until) - self.sum_of_first(from);
        Some(sum as f64 / count as f64 / 1e9)
    }

    #[inline]
    fn sum_of_first(&self, count: usize) -> u64 {
        count.checked_sub(1).map_or(0, |last| self.rtt_sums[last])
    }
}
