//! Histogram of time spans. The width of a bucket grows with the span.
//!
//! To find the bucket of a span of n ns, the histogram uses the value n + 64. Each octave of these
//! values, from 2ᵉ to 2ᵉ⁺¹, has 64 buckets of equal width. Spans below 64 ns have one bucket per
//! nanosecond. The width of every other bucket is at most 1/64 of its spans. Each bucket stores its
//! smallest and its largest span. A quantile is interpolated between these two spans. If all spans
//! in a bucket are equal, quantiles are exact. Example: all spans are multiples of a transmission
//! time that is longer than the width of a bucket.
//!
//! The range of [`Duration`] has 3649 buckets. Memory is allocated only for the buckets between the
//! smallest and the largest counted span, and not before the first span.

use crate::stats::Mean;
use crate::units::Duration;

/// Number of buckets per octave. Also the offset that is added to each span, ns.
const OCTAVE: u64 = 64;
/// Number of buckets that are allocated together.
const GROWTH: u32 = 16;

/// Histogram of time spans. The result does not depend on the order in which spans are added.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Allocated buckets; the index of the first of them among all buckets is `first`.
    buckets: Box<[Bucket]>,
    first: u32,
    wraps: Option<Box<Wraps>>,
}

/// The spans of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    /// Number of spans, modulo 2³².
    count: u32,
    /// Smallest span minus the lower edge of the bucket, ns, modulo 2³². Only buckets of spans
    /// above 4.6 minutes are wider than 2³² ns. In such a bucket the stored value may be wrong, but
    /// is inside the bucket.
    least: u32,
    greatest: u32,
}

/// Number and range of the spans in one non-empty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanCount {
    /// Bucket index, which identifies the same bucket in every histogram.
    pub number: u32,
    /// Smallest span in the bucket.
    pub least: Duration,
    /// Largest span in the bucket.
    pub greatest: Duration,
    /// Number of spans.
    pub count: u64,
}

/// Overflows of 32-bit counts. Each overflow adds one entry: the index of the bucket.
#[derive(Clone, Debug, Default)]
struct Wraps(Vec<u32>);

/// Median, 95th and 99th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// Median, s.
    pub p50_s: f64,
    /// 95th percentile, s.
    pub p95_s: f64,
    /// 99th percentile, s.
    pub p99_s: f64,
}

impl Bucket {
    const EMPTY: Bucket = Bucket { count: 0, least: u32::MAX, greatest: 0 };

    /// Extends the range of spans to include the range of `other`. The count does not change.
    #[inline]
    fn widen(&mut self, other: Bucket) {
        // The conditions are rarely true, so branches cost less than unconditional stores.
        if other.least < self.least {
            self.least = other.least;
        }
        if other.greatest > self.greatest {
            self.greatest = other.greatest;
        }
    }
}

/// Returns the index of the bucket of a span, and the span minus the lower edge of this bucket, ns,
/// modulo 2³².
#[inline]
const fn place_of(span: Duration) -> (u32, u32) {
    let shifted = span.as_nanos() + OCTAVE;
    // The lowest bit is set to avoid `ilog2` of zero. This does not change the position of the
    // highest bit.
    let narrowed = (shifted | 1).ilog2() - OCTAVE.ilog2();
    let leading = shifted >> narrowed;
    (narrowed * OCTAVE as u32 + leading as u32, (shifted - (leading << narrowed)) as u32)
}

/// Returns the lower edge of a bucket, ns.
const fn edge_of(bucket: u32) -> u64 {
    let bucket = bucket as u64;
    ((OCTAVE + bucket % OCTAVE) << (bucket / OCTAVE - 1)) - OCTAVE
}

/// Returns the centre of a bucket, ns.
fn middle_of(bucket: u32) -> f64 {
    (edge_of(bucket) as f64 + edge_of(bucket + 1) as f64 - 1.0) / 2.0
}

impl Histogram {
    /// Largest relative error of a quantile, which is the relative width of a bucket. The error is
    /// zero if all spans in the bucket are equal.
    pub const RELATIVE_ERROR: f64 = 1.0 / OCTAVE as f64;

    /// Counts a span.
    #[inline]
    pub fn add(&mut self, span: Duration) {
        let (bucket, above) = place_of(span);
        let one = Bucket { count: 1, least: above, greatest: above };
        match self.buckets.get_mut(bucket.wrapping_sub(self.first) as usize) {
            Some(there) => {
                there.widen(one);
                there.count = there.count.wrapping_add(1);
                if there.count == 0 {
                    self.note_wrap(bucket);
                }
            }
            None => self.add_beyond(bucket, one),
        }
    }

    #[cold]
    fn note_wrap(&mut self, bucket: u32) {
        self.wraps.get_or_insert_default().0.push(bucket);
    }

    #[cold]
    #[inline(never)]
    fn add_beyond(&mut self, bucket: u32, one: Bucket) {
        self.reach(bucket, bucket + 1);
        self.buckets[(bucket - self.first) as usize] = one;
    }

    /// Allocates the buckets from `first` up to, but not including, `end`.
    fn reach(&mut self, first: u32, end: u32) {
        let (mut low, mut high) = (first - first % GROWTH, end.next_multiple_of(GROWTH));
        if !self.buckets.is_empty() {
            (low, high) = (low.min(self.first), high.max(self.end()));
        }
        let mut buckets = vec![Bucket::EMPTY; (high - low) as usize].into_boxed_slice();
        let kept = self.first.saturating_sub(low) as usize;
        buckets[kept..kept + self.buckets.len()].copy_from_slice(&self.buckets);
        (self.buckets, self.first) = (buckets, low);
    }

    fn end(&self) -> u32 {
        self.first + self.buckets.len() as u32
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.buckets.is_empty() {
            return;
        }
        if self.buckets.is_empty() || other.first < self.first || other.end() > self.end() {
            self.reach(other.first, other.end());
        }
        for (bucket, more) in (other.first..).zip(&other.buckets) {
            let there = &mut self.buckets[(bucket - self.first) as usize];
            there.widen(*more);
            let (sum, has_wrapped) = there.count.overflowing_add(more.count);
            there.count = sum;
            if has_wrapped {
                self.note_wrap(bucket);
            }
        }
        for bucket in other.wraps.iter().flat_map(|wraps| &wraps.0) {
            self.note_wrap(*bucket);
        }
    }

    /// Returns the non-empty buckets as (bucket index, bucket, count), in ascending order of their
    /// spans.
    fn counted(&self) -> impl Iterator<Item = (u32, Bucket, u64)> + Clone {
        let wraps = |bucket: u32| match &self.wraps {
            Some(wraps) => wraps.0.iter().filter(|wrapped| **wrapped == bucket).count() as u64,
            None => 0,
        };
        (self.first..)
            .zip(&self.buckets)
            .map(move |(number, bucket)| {
                (number, *bucket, u64::from(bucket.count) + (wraps(number) << 32))
            })
            .filter(|(_, _, count)| *count > 0)
    }

    /// Returns the non-empty buckets, in ascending order of their spans.
    pub fn buckets(&self) -> impl Iterator<Item = SpanCount> + Clone {
        self.counted().map(|(number, bucket, count)| {
            let span = |above: u32| Duration::from_nanos(edge_of(number) + u64::from(above));
            SpanCount { number, least: span(bucket.least), greatest: span(bucket.greatest), count }
        })
    }

    /// Returns pairs (span, s; count) in ascending order. The span is the centre of the bucket. It
    /// is the same in every histogram and differs from the counted spans by at most 0.8 %.
    pub fn lengths(&self) -> impl Iterator<Item = (f64, u64)> {
        self.counted().map(|(number, _, count)| (middle_of(number) * 1e-9, count))
    }

    /// Returns the number of spans.
    pub fn count(&self) -> u64 {
        self.counted().map(|(_, _, count)| count).sum()
    }

    /// Returns the `q`-quantile, s, with `q` in [0, 1]: the smallest span such that at least the
    /// fraction `q` of all spans is not larger. The relative error is at most
    /// [`Histogram::RELATIVE_ERROR`]. `None` if no span was counted.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let rank = ((self.count() as f64 * q).ceil() as u64).max(1);
        let mut before = 0;
        self.counted().find_map(|(number, bucket, count)| {
            if before + count < rank {
                before += count;
                return None;
            }
            // The first rank in the bucket is its smallest span, the last rank its largest span.
            let share = (rank - before - 1) as f64 / (count - 1).max(1) as f64;
            let above = f64::from(bucket.least)
                + share * (f64::from(bucket.greatest) - f64::from(bucket.least));
            Some((edge_of(number) as f64 + above) / 1e9)
        })
    }

    /// Returns the median, the 95th and the 99th percentile. `None` if no span was counted.
    pub fn quantiles(&self) -> Option<Quantiles> {
        Some(Quantiles {
            p50_s: self.quantile_s(0.5)?,
            p95_s: self.quantile_s(0.95)?,
            p99_s: self.quantile_s(0.99)?,
        })
    }
}

/// Two histograms are equal if their counts are equal, regardless of the allocated buckets.
impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.counted().eq(other.counted())
    }
}

/// Delays with their exact mean and their histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    sum_nanos: u128,
    histogram: Histogram,
}

impl Delays {
    /// Adds a delay.
    #[inline]
    pub fn add(&mut self, delay: Duration) {
        self.sum_nanos += u128::from(delay.as_nanos());
        self.histogram.add(delay);
    }

    /// Returns the sum of the delays, ns.
    pub fn sum_nanos(&self) -> u128 {
        self.sum_nanos
    }

    /// Returns the sum and the number of delays.
    pub fn mean(&self) -> Mean {
        Mean::of(self.sum_nanos, self.count())
    }

    /// Returns the number of delays.
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// Returns the distribution of the delays.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Index of the bucket of 0 ns.
    const ZERO: u32 = place_of(Duration::ZERO).0;

    fn of(nanos: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        nanos.iter().for_each(|nanos| histogram.add(Duration::from_nanos(*nanos)));
        histogram
    }

    const LONGEST: u64 = Duration::FOREVER.as_nanos();

    /// Strategy for spans of every order of magnitude, including the shortest and the longest.
    fn span() -> impl Strategy<Value = u64> {
        prop_oneof![
            (1u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift),
            Just(0),
            Just(LONGEST),
            (0u32..63).prop_map(|shift| 1 << shift),
            (0u32..64).prop_map(|shift| (1 << shift) - 1),
        ]
    }

    #[test]
    fn buckets_have_their_least_and_greatest_span() {
        let span = Duration::from_nanos;
        let found: Vec<_> = of(&[5, 1_000_000, 1_000_100, 5]).buckets().collect();
        let [short, long] = found[..] else { panic!("two buckets") };
        assert_eq!((short.least, short.greatest, short.count), (span(5), span(5), 2));
        assert_eq!((long.least, long.greatest, long.count), (span(1_000_000), span(1_000_100), 2));
        assert!(short.number < long.number);
    }

    #[test]
    fn histogram_allocates_nothing_before_first_span() {
        let histogram = Histogram::default();
        assert!(histogram.buckets.is_empty());
        assert_eq!((histogram.count(), histogram.quantile_s(0.5)), (0, None));
    }

    #[test]
    fn all_buckets_take_44_kilobytes() {
        let everything = of(&[0, LONGEST]);
        assert_eq!(everything.buckets.len(), 3648 + GROWTH as usize);
        assert_eq!(everything.quantile_s(0.0), Some(0.0));
    }

    #[test]
    fn equal_spans_take_192_bytes() {
        assert_eq!(size_of_val(&*of(&[11_000_000; 1000]).buckets), 192);
    }

    #[test]
    fn equal_spans_have_exact_quantiles() {
        for nanos in [17_500_000, 20_000_000, 22_500_000, 100_000_000_000] {
            for q in [0.0, 0.5, 0.99, 1.0] {
                assert_eq!(of(&[nanos; 9]).quantile_s(q), Some(nanos as f64 / 1e9));
            }
        }
    }

    /// All spans are multiples of a transmission time. Neighbouring multiples are in different
    /// buckets.
    #[test]
    fn quantiles_on_a_wide_lattice_are_exact() {
        let mut spans: Vec<u64> = (1..60).flat_map(|n| vec![n * 2_400_000; n as usize]).collect();
        let histogram = of(&spans);
        spans.sort_unstable();
        for percent in 0..=100 {
            let rank = (spans.len() * percent).div_ceil(100).max(1);
            let expected = spans[rank - 1] as f64 / 1e9;
            assert_eq!(histogram.quantile_s(percent as f64 / 100.0), Some(expected), "{percent} %");
        }
    }

    /// Spans are closely spaced. The error of the interpolation is much smaller than the width of a
    /// bucket.
    #[test]
    fn quantiles_are_interpolated_within_a_bucket() {
        let spans: Vec<u64> = (10_000_000..20_000_000).step_by(1009).collect();
        let histogram = of(&spans);
        for percent in 1..100 {
            let exact = spans[(spans.len() * percent).div_ceil(100) - 1] as f64 / 1e9;
            let found = histogram.quantile_s(percent as f64 / 100.0).expect("there are spans");
            assert!((found / exact - 1.0).abs() < 1e-6, "{percent} %: {found} for {exact}");
        }
    }

    #[test]
    fn short_spans_are_exact() {
        for nanos in 0..64 {
            assert_eq!(of(&[nanos]).quantile_s(0.5), Some(nanos as f64 / 1e9));
        }
    }

    #[test]
    fn count_continues_beyond_32_bits() {
        let mut histogram = of(&[5, 5, 7]);
        histogram.buckets[(ZERO + 5 - histogram.first) as usize].count = u32::MAX - 1;
        let half = histogram.clone();
        histogram.add(Duration::from_nanos(5));
        histogram.add(Duration::from_nanos(5));
        assert_eq!(histogram.count(), (1 << 32) + 1);
        histogram.merge(&half);
        histogram.merge(&half);
        assert_eq!(histogram.count(), 3 * (1 << 32) - 1);
        assert_eq!(histogram.quantile_s(0.99), Some(5e-9));
        histogram.merge(&histogram.clone());
        assert_eq!(histogram.count(), 6 * (1 << 32) - 2);
    }

    #[test]
    fn mean_of_delays_is_exact() {
        let mut delays = Delays::default();
        [10, 20, 45].into_iter().for_each(|ms| delays.add(Duration::from_millis(ms)));
        assert_eq!(delays.mean().secs(), Some(0.025));
        let found = delays.histogram().quantiles().expect("there were delays");
        assert_eq!((found.p50_s, found.p99_s), (0.020, 0.045));
    }

    proptest! {
        /// Compares the quantile with the span of rank ⌈q n⌉ among the sorted spans.
        #[test]
        fn a_quantile_is_within_the_stated_error(
            spans in prop::collection::vec(span(), 1..300), q in 0.0..=1.0
        ) {
            let mut sorted = spans.clone();
            sorted.sort_unstable();
            let (length, q): (usize, f64) = (sorted.len(), q);
            let rank = ((length as f64 * q).ceil() as usize).max(1);
            let exact = sorted[rank - 1] as f64 * 1e-9;
            let found = of(&spans).quantile_s(q).expect("there are spans");
            let most = exact * Histogram::RELATIVE_ERROR;
            prop_assert!((found - exact).abs() <= most, "{found} for {exact}");
        }

        #[test]
        fn merge_equals_counting_in_one_histogram(
            first in prop::collection::vec(span(), 0..60),
            second in prop::collection::vec(span(), 0..60),
        ) {
            let mut merged = of(&first);
            merged.merge(&of(&second));
            let mut other_way = of(&second);
            other_way.merge(&of(&first));
            let mut together = [first, second].concat();
            prop_assert_eq!(&merged, &of(&together));
            prop_assert_eq!(&other_way, &merged);
            together.reverse();
            prop_assert_eq!(&of(&together), &merged);
            prop_assert_eq!(merged.count(), together.len() as u64);
        }

        #[test]
        fn buckets_are_contiguous(nanos in span()) {
            let (bucket, above) = place_of(Duration::from_nanos(nanos));
            prop_assert!(bucket >= ZERO);
            prop_assert!(edge_of(bucket) <= nanos && nanos < edge_of(bucket + 1));
            prop_assert_eq!(above, (nanos - edge_of(bucket)) as u32);
            let (next, _) = place_of(Duration::from_nanos(nanos + 1));
            prop_assert!(next == bucket || next == bucket + 1);
        }
    }
}
