//! Conversions between delivery opportunities and rates.
//!
//! Conversions preserve the capacity. A rate that is computed from opportunities has exactly the
//! same capacity. The capacity of opportunities that are computed from a rate differs by less than
//! one opportunity.

use super::{
    MAX_OPPORTUNITIES, NANOS_PER_MILLI, NANOS_PER_SECOND, OPPORTUNITY_BITS, OpportunityTrace,
    RateTrace, Segment, TraceError,
};

/// Tolerance for rounding errors in sums of bits, as a fraction of an opportunity.
const ROUNDING: f64 = 1e-9;
/// Tolerance for rounding errors in times, as a fraction of a millisecond.
const ROUNDING_MS: f64 = 1e-6;

impl OpportunityTrace {
    /// Converts the trace to a rate, averaged over bins of `bin_ns`. The last bin ends with the
    /// trace and may be shorter.
    ///
    /// An opportunity counts in the bin (k·bin, (k+1)·bin] that contains its time; an opportunity
    /// at time 0 counts in the first bin.
    ///
    /// # Errors
    /// [`TraceError::ZeroBin`] if `bin_ns` is 0; [`TraceError::TooManyBins`] above
    /// [`MAX_BINS`](super::MAX_BINS); [`TraceError::NotARate`] if the bins are so short that a rate
    /// is above [`MAX_RATE_BPS`](super::MAX_RATE_BPS).
    pub fn to_rate(&self, bin_ns: u64) -> Result<RateTrace, TraceError> {
        let rates = self.rates(bin_ns)?;
        let segment = |(start_ns, rate_bps)| Segment { start_ns, rate_bps };
        let starts = (0..).map(|bin| bin * bin_ns);
        RateTrace::new(starts.zip(rates).map(segment).collect(), self.period_ns())
    }
}

impl RateTrace {
    /// Converts the trace to delivery opportunities. An opportunity is placed at the end of the
    /// millisecond in which its bits are complete; the remaining bits are carried over.
    ///
    /// The period is rounded up to full milliseconds. If there is no opportunity at the end of the
    /// period, one is added there, because the last opportunity defines the end of a Mahimahi
    /// trace; the remaining bits are then rounded up to this opportunity. Otherwise the remaining
    /// bits are dropped. The capacity of one period differs by less than one opportunity.
    ///
    /// # Errors
    /// [`TraceError::TooManyOpportunities`] above [`MAX_OPPORTUNITIES`].
    pub fn to_opportunities(&self) -> Result<OpportunityTrace, TraceError> {
        let opportunities = self.bits() / OPPORTUNITY_BITS;
        if opportunities > MAX_OPPORTUNITIES as f64 {
            return Err(TraceError::TooManyOpportunities { opportunities });
        }
        let end_ms = self.period_ns().div_ceil(NANOS_PER_MILLI);
        let mut times_ms = Vec::with_capacity(opportunities as usize + 1);
        let mut earliest_ms = 1;
        // Accumulated bits, as a number of opportunities.
        let mut carried = 0.0;
        for (start_ns, end_ns, rate_bps) in self.spans() {
            let per_ms = rate_bps / OPPORTUNITY_BITS / 1e3;
            let length_ms = (end_ns - start_ns) as f64 / NANOS_PER_MILLI as f64;
            let together = carried + per_ms * length_ms;
            let complete = (together + ROUNDING).floor();
            for index in 1..=complete as u64 {
                let into_ms = (index as f64 - carried) / per_ms;
                let at_ms = start_ns as f64 / NANOS_PER_MILLI as f64 + into_ms;
                let time_ms = (at_ms - ROUNDING_MS).ceil() as u64;
                earliest_ms = time_ms.clamp(earliest_ms, end_ms);
                times_ms.push(earliest_ms);
            }
            carried = (together - complete).max(0.0);
        }
        if times_ms.last() != Some(&end_ms) {
            times_ms.push(end_ms);
        }
        OpportunityTrace::new(times_ms)
    }
}

/// Returns the rate of `count` opportunities in `width_ns`, bit/s.
pub(crate) fn rate_of(count: u64, width_ns: u64) -> f64 {
    count as f64 * OPPORTUNITY_BITS * NANOS_PER_SECOND as f64 / width_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = NANOS_PER_MILLI;

    fn opportunities(times_ms: &[u64]) -> OpportunityTrace {
        OpportunityTrace::new(times_ms.to_vec()).expect("valid")
    }

    fn rate(segments: &[(u64, f64)], period_ns: u64) -> RateTrace {
        let segment = |&(start_ns, rate_bps)| Segment { start_ns, rate_bps };
        RateTrace::new(segments.iter().map(segment).collect(), period_ns).expect("valid")
    }

    #[test]
    fn opportunity_counts_in_the_bin_that_it_ends() {
        let trace = opportunities(&[0, 5, 10, 11, 23]).to_rate(10 * MS).unwrap();
        let one = 1_203_200.0;
        assert_eq!(
            trace,
            rate(&[(0, 3.0 * one), (10 * MS, one), (20 * MS, 12_032e3 / 3.0)], 23 * MS)
        );
    }

    #[test]
    fn bin_longer_than_the_trace_gives_the_mean() {
        let trace = opportunities(&[1, 2, 4]).to_rate(u64::MAX).unwrap();
        assert_eq!(trace, rate(&[(0, 9_024_000.0)], 4 * MS));
    }

    #[test]
    fn impossible_bins_are_rejected() {
        let trace = opportunities(&[1_000_000_000]);
        assert_eq!(
            trace.to_rate(0).unwrap_err().to_string(),
            "the bin is 0 ns. Use at least 1 ns, for example 100 ms."
        );
        assert_eq!(
            trace.to_rate(1).unwrap_err().to_string(),
            "bins of 1 ns make 1000000000000000 of this trace. At most 10000000 are possible; \
             take a longer bin."
        );
    }

    #[test]
    fn opportunity_is_placed_when_its_bits_are_complete() {
        // 12.032 Mbit/s is one opportunity per millisecond.
        let steady = rate(&[(0, 12_032_000.0)], 4 * MS).to_opportunities().unwrap();
        assert_eq!(steady.times_ms(), [1, 2, 3, 4]);
        let third = rate(&[(0, 12_032_000.0 / 3.0)], 9 * MS).to_opportunities().unwrap();
        assert_eq!(third.times_ms(), [3, 6, 9]);
        let fast = rate(&[(0, 30_080_000.0)], 4 * MS).to_opportunities().unwrap();
        assert_eq!(fast.times_ms(), [1, 1, 2, 2, 2, 3, 3, 4, 4, 4]);
    }

    #[test]
    fn sums_of_rounded_bits_are_not_a_millisecond_late() {
        for every in [3, 7, 10, 49] {
            let expected: Vec<u64> = (1..=1000).map(|n| n * every).collect();
            let rate_bps = 12_032_000.0 / every as f64;
            let whole = rate(&[(0, rate_bps)], 1000 * every * MS);
            assert_eq!(whole.to_opportunities().unwrap().times_ms(), expected);
            let cut: Vec<_> = (0..1000 * every).map(|ms| (ms * MS, rate_bps)).collect();
            let cut = rate(&cut, 1000 * every * MS);
            assert_eq!(cut.to_opportunities().unwrap().times_ms(), expected);
        }
    }

    #[test]
    fn sums_of_rounded_bits_do_not_wait_for_the_end_of_an_outage() {
        // Ten tenths add up to slightly less than one.
        let mut segments: Vec<_> = (0..10).map(|ms| (ms * MS, 1_203_200.0)).collect();
        segments.extend([(10 * MS, 0.0), (90 * MS, 1_203_200.0)]);
        let trace = rate(&segments, 100 * MS).to_opportunities().unwrap();
        assert_eq!(trace.times_ms(), [10, 100]);
    }

    #[test]
    fn remainder_is_carried_over_an_outage() {
        let trace = rate(&[(0, 18_048_000.0), (MS, 0.0), (5 * MS, 6_016_000.0)], 8 * MS);
        // 1.5 opportunities are accumulated after 1 ms; the other half follows 1 ms after the
        // outage.
        assert_eq!(trace.to_opportunities().unwrap().times_ms(), [1, 6, 8]);
    }

    #[test]
    fn last_opportunity_keeps_the_period() {
        let silent_end = rate(&[(0, 12_032_000.0), (2 * MS, 0.0)], 10 * MS);
        assert_eq!(silent_end.to_opportunities().unwrap().times_ms(), [1, 2, 10]);
        let slow = rate(&[(0, 1.0)], 10 * MS + 1);
        assert_eq!(slow.to_opportunities().unwrap().times_ms(), [11]);
    }

    #[test]
    fn too_much_capacity_is_rejected_before_the_conversion() {
        let trace = rate(&[(0, 1e15)], 1_000_000 * NANOS_PER_SECOND);
        assert_eq!(
            trace.to_opportunities().unwrap_err().to_string(),
            "the trace holds 8.311e16 opportunities of 1504 bytes. \
             At most 50000000 are possible; take a shorter trace or a lower rate."
        );
    }

    #[test]
    fn bins_of_one_millisecond_lose_no_information() {
        let trace = opportunities(&[1, 1, 1, 7, 8, 8, 120]);
        assert_eq!(trace.to_rate(MS).unwrap().to_opportunities().unwrap(), trace);
    }
}
