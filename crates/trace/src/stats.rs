//! Statistics of a trace: mean and percentile rates, outages.

use super::convert::rate_of;
use super::{
    MAX_BINS, NANOS_PER_MILLI, NANOS_PER_SECOND, OpportunityTrace, RateTrace, Trace, TraceError,
};

/// Bin over which [`Stats`] averages before computing percentiles, ns (100 ms).
pub const STATS_BIN_NS: u64 = 100 * NANOS_PER_MILLI;
/// Percentiles in [`Stats::percentiles_bps`].
pub const PERCENTILES: [u8; 5] = [5, 25, 50, 75, 95];

/// An interval without capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Start of the outage, ns from the start of the trace.
    pub start_ns: u64,
    /// Duration of the outage, ns; 0 without an outage.
    pub length_ns: u64,
}

/// Summary statistics of one period of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Period, ns.
    pub duration_ns: u64,
    /// Number of delivery opportunities; `None` for a rate trace.
    pub opportunities: Option<u64>,
    /// Capacity divided by duration, bit/s, including the 4 bytes of packet information per
    /// opportunity.
    pub mean_bps: f64,
    /// [`PERCENTILES`] of the rate in bins of [`STATS_BIN_NS`], bit/s, interpolated linearly
    /// between the two nearest ranks.
    ///
    /// A shorter bin at the end is omitted unless it is the only bin.
    pub percentiles_bps: [f64; 5],
    /// Longest outage; the first of them if several are equally long.
    ///
    /// In a trace of opportunities: the longest time between two successive opportunities. The gap
    /// before the first opportunity starts at time 0, the time of the last opportunity of the
    /// previous period. In a rate trace: the longest time at rate 0. An outage that continues after
    /// the end of the trace at its start counts with the complete duration.
    pub longest_outage: Outage,
    /// Fraction of the bins of [`STATS_BIN_NS`] in which nothing can be delivered.
    pub empty_bins_fraction: f64,
}

impl Trace {
    /// Returns the mean rate in each bin of `bin_ns` of one period, bit/s. The last bin may be
    /// shorter.
    ///
    /// # Errors
    /// [`TraceError::ZeroBin`] if `bin_ns` is 0; [`TraceError::TooManyBins`] above [`MAX_BINS`].
    pub fn rates(&self, bin_ns: u64) -> Result<Vec<f64>, TraceError> {
        match self {
            Trace::Opportunities(trace) => trace.rates(bin_ns),
            Trace::Rate(trace) => trace.rates(bin_ns),
        }
    }

    /// Returns the summary statistics.
    pub fn stats(&self) -> Stats {
        match self {
            Trace::Opportunities(trace) => trace.stats(),
            Trace::Rate(trace) => trace.stats(),
        }
    }
}

impl OpportunityTrace {
    /// Returns the mean rate in each bin of `bin_ns` of one period, bit/s, with the bins of
    /// [`to_rate`](OpportunityTrace::to_rate).
    ///
    /// # Errors
    /// [`TraceError::ZeroBin`] if `bin_ns` is 0; [`TraceError::TooManyBins`] above [`MAX_BINS`].
    pub fn rates(&self, bin_ns: u64) -> Result<Vec<f64>, TraceError> {
        check_bins(self.period_ns(), bin_ns)?;
        Ok(self.binned(bin_ns))
    }

    /// Returns the summary statistics.
    pub fn stats(&self) -> Stats {
        let outage = self.longest_gap();
        let opportunities = Some(self.times_ms().len() as u64);
        summarise(self.period_ns(), self.bits(), opportunities, outage, self.binned(STATS_BIN_NS))
    }

    fn binned(&self, bin_ns: u64) -> Vec<f64> {
        let widths = widths(self.period_ns(), bin_ns);
        let mut counts = vec![0u64; widths.len()];
        for time_ms in self.times_ms() {
            let before_ns = (time_ms * NANOS_PER_MILLI).saturating_sub(1);
            counts[(before_ns / bin_ns) as usize] += 1;
        }
        counts.into_iter().zip(widths).map(|(count, width)| rate_of(count, width)).collect()
    }

    fn longest_gap(&self) -> Outage {
        let mut longest = Outage::default();
        let mut previous_ms = 0;
        for &time_ms in self.times_ms() {
            let length_ns = (time_ms - previous_ms) * NANOS_PER_MILLI;
            if length_ns > longest.length_ns {
                longest = Outage { start_ns: previous_ms * NANOS_PER_MILLI, length_ns };
            }
            previous_ms = time_ms;
        }
        longest
    }
}

impl RateTrace {
    /// Returns the mean rate in each bin of `bin_ns` of one period, bit/s. The last bin may be
    /// shorter.
    ///
    /// # Errors
    /// [`TraceError::ZeroBin`] if `bin_ns` is 0; [`TraceError::TooManyBins`] above [`MAX_BINS`].
    pub fn rates(&self, bin_ns: u64) -> Result<Vec<f64>, TraceError> {
        check_bins(self.period_ns(), bin_ns)?;
        Ok(self.binned(bin_ns))
    }

    /// Returns the summary statistics.
    pub fn stats(&self) -> Stats {
        let outage = self.longest_silence();
        summarise(self.period_ns(), self.bits(), None, outage, self.binned(STATS_BIN_NS))
    }

    fn binned(&self, bin_ns: u64) -> Vec<f64> {
        let mut spans = self.spans();
        let mut span = spans.next();
        let mut start = 0;
        let mut mean = |width: u64| {
            let end = start + width;
            let mut sum = 0.0;
            while let Some((span_start, span_end, rate_bps)) = span {
                let share = span_end.min(end) - span_start.max(start);
                // The result for a bin inside one segment is exactly the rate of the segment.
                sum +=
                    if share == width { rate_bps } else { rate_bps * share as f64 / width as f64 };
                if span_end > end {
                    break;
                }
                span = spans.next();
                if span_end == end {
                    break;
                }
            }
            start = end;
            sum
        };
        widths(self.period_ns(), bin_ns).map(&mut mean).collect()
    }

    fn longest_silence(&self) -> Outage {
        let mut longest = Outage::default();
        let mut current = Outage::default();
        // The second period is necessary to find an outage across the end of the trace.
        let first = self.spans().map(|(_, end, rate_bps)| (end, rate_bps));
        let second = first.clone().map(|(end, rate_bps)| (end + self.period_ns(), rate_bps));
        for (end, rate_bps) in first.chain(second) {
            if rate_bps > 0.0 {
                current = Outage { start_ns: end, length_ns: 0 };
                continue;
            }
            current.length_ns = end - current.start_ns;
            if current.length_ns > longest.length_ns {
                longest = current;
            }
        }
        Outage { start_ns: longest.start_ns % self.period_ns(), ..longest }
    }
}

fn check_bins(period_ns: u64, bin_ns: u64) -> Result<(), TraceError> {
    if bin_ns == 0 {
        return Err(TraceError::ZeroBin);
    }
    let bins = period_ns.div_ceil(bin_ns);
    if bins > MAX_BINS { Err(TraceError::TooManyBins { bin_ns, bins }) } else { Ok(()) }
}

/// Returns the widths of the bins of one period, ns: `bin_ns`, except for a shorter last bin.
fn widths(period_ns: u64, bin_ns: u64) -> impl ExactSizeIterator<Item = u64> {
    let bins = period_ns.div_ceil(bin_ns) as usize;
    (0..bins).map(move |bin| bin_ns.min(period_ns - bin as u64 * bin_ns))
}

fn summarise(
    duration_ns: u64,
    bits: f64,
    opportunities: Option<u64>,
    longest_outage: Outage,
    mut rates: Vec<f64>,
) -> Stats {
    rates.truncate(((duration_ns / STATS_BIN_NS) as usize).max(1));
    rates.sort_by(f64::total_cmp);
    let empty = rates.partition_point(|&rate_bps| rate_bps == 0.0);
    Stats {
        duration_ns,
        opportunities,
        mean_bps: bits * NANOS_PER_SECOND as f64 / duration_ns as f64,
        percentiles_bps: PERCENTILES.map(|percent| percentile(&rates, f64::from(percent))),
        longest_outage,
        empty_bins_fraction: empty as f64 / rates.len() as f64,
    }
}

/// Returns a percentile of an ascending, non-empty list, interpolated linearly between ranks
/// (numpy's default).
fn percentile(ascending: &[f64], percent: f64) -> f64 {
    let rank = percent / 100.0 * (ascending.len() - 1) as f64;
    let below = ascending[rank.floor() as usize];
    let above = ascending[rank.ceil() as usize];
    below + (above - below) * rank.fract()
}

#[cfg(test)]
mod tests {
    use super::super::Segment;
    use super::*;

    const MS: u64 = NANOS_PER_MILLI;

    fn opportunities(times_ms: &[u64]) -> OpportunityTrace {
        OpportunityTrace::new(times_ms.to_vec()).expect("valid")
    }

    fn rate(segments: &[(u64, f64)], period_ms: u64) -> RateTrace {
        let segment = |&(start_ms, rate_bps)| Segment { start_ns: start_ms * MS, rate_bps };
        RateTrace::new(segments.iter().map(segment).collect(), period_ms * MS).expect("valid")
    }

    fn outage_ms(outage: Outage) -> (u64, u64) {
        (outage.start_ns / MS, outage.length_ns / MS)
    }

    #[test]
    fn longest_outage_of_opportunities_is_the_longest_gap() {
        let longest = |times: &[u64]| outage_ms(opportunities(times).stats().longest_outage);
        assert_eq!(longest(&[0, 3, 9, 10]), (3, 6));
        assert_eq!(longest(&[0, 5, 10]), (0, 5));
        assert_eq!(longest(&[8, 8, 12, 13]), (0, 8), "the gap over the end starts at 0");
        assert_eq!(longest(&[7]), (0, 7));
    }

    #[test]
    fn longest_outage_of_rates_is_the_longest_time_at_rate_zero() {
        let longest = |segments, period| outage_ms(rate(segments, period).stats().longest_outage);
        assert_eq!(longest(&[(0, 5.0)], 10), (0, 0));
        assert_eq!(longest(&[(0, 5.0), (2, 0.0), (3, 0.0), (6, 1.0)], 10), (2, 4));
        assert_eq!(longest(&[(0, 0.0), (3, 1.0), (4, 0.0), (6, 1.0)], 10), (0, 3));
        let over_the_end = &[(0, 0.0), (3, 1.0), (4, 0.0), (7, 1.0), (8, 0.0)];
        assert_eq!(longest(over_the_end, 10), (8, 5));
    }

    #[test]
    fn rates_average_segments_over_bins() {
        let trace = rate(&[(0, 10.0), (5, 0.0), (10, 4.0), (12, 8.0)], 25);
        assert_eq!(trace.rates(10 * MS).unwrap(), [5.0, 7.2, 8.0]);
        assert_eq!(trace.rates(u64::MAX).unwrap(), [(50.0 + 8.0 + 104.0) / 25.0]);
        assert_eq!(trace.rates(5 * MS).unwrap(), [10.0, 0.0, 6.4, 8.0, 8.0]);
    }

    #[test]
    fn constant_trace_has_one_rate() {
        let steady = opportunities(&(1..=1000).collect::<Vec<_>>()).stats();
        assert_eq!(steady.duration_ns, 1_000_000_000);
        assert_eq!(steady.opportunities, Some(1000));
        assert_eq!(steady.mean_bps, 12_032_000.0);
        assert_eq!(steady.percentiles_bps, [12_032_000.0; 5]);
        assert_eq!(steady.empty_bins_fraction, 0.0);
        assert_eq!(outage_ms(steady.longest_outage), (0, 1));
    }

    #[test]
    fn short_last_bin_does_not_count() {
        // A trace of 250 ms has two complete bins, the second of which is empty.
        let stats = rate(&[(0, 6e6), (100, 0.0), (200, 9e6)], 250).stats();
        assert_eq!(stats.empty_bins_fraction, 0.5);
        assert_eq!(stats.percentiles_bps[2], 3e6);
        assert_eq!(stats.opportunities, None);
        // The trace is shorter than one bin, so its only bin is incomplete.
        assert_eq!(rate(&[(0, 6e6)], 7).stats().percentiles_bps, [6e6; 5]);
    }

    #[test]
    fn percentiles_are_linear_between_ranks() {
        assert_eq!(percentile(&[1.0, 2.0, 4.0], 75.0), 3.0);
        assert_eq!(percentile(&[1.0, 2.0, 4.0], 50.0), 2.0);
        assert_eq!(percentile(&[3.0], 95.0), 3.0);
    }
}
