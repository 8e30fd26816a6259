//! Distributions of spans: a histogram with buckets as wide as the spans are long.
//!
//! A span of n ns counts in the bucket of n + 64: each octave, from 2ᵉ to 2ᵉ⁺¹, has 64 buckets of
//! the same width. Spans below 64 ns have a bucket each, and the middle of every other bucket is
//! within 1/128 of the spans in it. Exponent and first six bits of the mantissa of n + 64 as a
//! single-precision number tell the bucket in four instructions; they round to nearest on every
//! machine, and move a span by 2⁻²³ of itself at most.
//!
//! There are 3649 buckets for all spans that exist; memory is taken for those between the least and
//! the greatest that occurred, and none before the first span.

use crate::stats::Mean;
use crate::units::Duration;

/// Buckets of an octave, and what is added to each span, ns.
const OCTAVE: u64 = 64;
/// Bits of a single-precision number behind those that tell the bucket.
const BITS_BEHIND: u32 = f32::MANTISSA_DIGITS - 1 - OCTAVE.ilog2();
/// Counters that are made room for together.
const GROWTH: u32 = 16;

/// How many spans there were in each bucket. What was added in which order leaves no trace.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Modulo 2³², from bucket `first` on.
    counts: Box<[u32]>,
    first: u32,
    wraps: Option<Box<Wraps>>,
}

/// The bucket of each count that passed 2³², once for each time.
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

/// The bucket of a span.
#[inline]
const fn bucket_of(span: Duration) -> u32 {
    // Signed, which every span fits into: a single instruction.
    (span.as_nanos() as i64 as f32 + OCTAVE as f32).to_bits() >> BITS_BEHIND
}

/// The middle of the whole numbers in a bucket, ns.
fn middle_of(bucket: u32) -> f64 {
    let edge = |bucket: u32| f64::from(f32::from_bits(bucket << BITS_BEHIND));
    (edge(bucket) + edge(bucket + 1) - 1.0) / 2.0 - OCTAVE as f64
}

impl Histogram {
    /// The greatest relative difference between a quantile and the span that it stands for.
    pub const RELATIVE_ERROR: f64 = 0.008;

    /// Counts a span.
    #[inline]
    pub fn add(&mut self, span: Duration) {
        let bucket = bucket_of(span);
        match self.counts.get_mut(bucket.wrapping_sub(self.first) as usize) {
            Some(count) => {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.note_wrap(bucket);
                }
            }
            None => self.add_beyond(bucket),
        }
    }

    #[cold]
    fn note_wrap(&mut self, bucket: u32) {
        self.wraps.get_or_insert_default().0.push(bucket);
    }

    #[cold]
    #[inline(never)]
    fn add_beyond(&mut self, bucket: u32) {
        self.reach(bucket, bucket + 1);
        self.counts[(bucket - self.first) as usize] = 1;
    }

    /// Makes room for the buckets from `first` to before `end`.
    fn reach(&mut self, first: u32, end: u32) {
        let (mut low, mut high) = (first - first % GROWTH, end.next_multiple_of(GROWTH));
        if !self.counts.is_empty() {
            (low, high) = (low.min(self.first), high.max(self.end()));
        }
        let mut counts = vec![0; (high - low) as usize].into_boxed_slice();
        let kept = self.first.saturating_sub(low) as usize;
        counts[kept..kept + self.counts.len()].copy_from_slice(&self.counts);
        (self.counts, self.first) = (counts, low);
    }

    fn end(&self) -> u32 {
        self.first + self.counts.len() as u32
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.is_empty() {
            return;
        }
        if self.counts.is_empty() || other.first < self.first || other.end() > self.end() {
            self.reach(other.first, other.end());
        }
        for (bucket, more) in (other.first..).zip(&other.counts) {
            let count = &mut self.counts[(bucket - self.first) as usize];
            let (sum, has_wrapped) = count.overflowing_add(*more);
            *count = sum;
            if has_wrapped {
                self.note_wrap(bucket);
            }
        }
        for bucket in other.wraps.iter().flat_map(|wraps| &wraps.0) {
            self.note_wrap(*bucket);
        }
    }

    /// The buckets with a count that is not zero, in order of their spans.
    fn counted(&self) -> impl Iterator<Item = (u32, u64)> {
        let wraps = |bucket: u32| match &self.wraps {
            Some(wraps) => wraps.0.iter().filter(|wrapped| **wrapped == bucket).count() as u64,
            None => 0,
        };
        (self.first..)
            .zip(&self.counts)
            .map(move |(bucket, count)| (bucket, u64::from(*count) + (wraps(bucket) << 32)))
            .filter(|(_, count)| *count > 0)
    }

    /// How many spans there were around each length, s, in rising order.
    pub fn lengths(&self) -> impl Iterator<Item = (f64, u64)> {
        self.counted().map(|(bucket, count)| (middle_of(bucket) * 1e-9, count))
    }

    /// How many spans there were.
    pub fn count(&self) -> u64 {
        self.counted().map(|(_, count)| count).sum()
    }

    /// The least span that at least the fraction `q` of all do not exceed, s, to within
    /// [`Histogram::RELATIVE_ERROR`]; `None` without spans. `q` in [0, 1].
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let rank = ((self.count() as f64 * q).ceil() as u64).max(1);
        let mut seen = 0;
        self.counted().find_map(|(bucket, count)| {
            seen += count;
            (seen >= rank).then(|| middle_of(bucket) * 1e-9)
        })
    }

    /// Median, 95th and 99th percentile; `None` without spans.
    pub fn quantiles(&self) -> Option<Quantiles> {
        Some(Quantiles {
            p50_s: self.quantile_s(0.5)?,
            p95_s: self.quantile_s(0.95)?,
            p99_s: self.quantile_s(0.99)?,
        })
    }
}

/// Two histograms are equal when they counted the same, whatever room they take.
impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.counted().eq(other.counted())
    }
}

/// Delays that arrive one by one: their mean, exact, and their distribution.
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

    /// Their sum and number.
    pub fn mean(&self) -> Mean {
        Mean::of(self.sum_nanos, self.count())
    }

    /// Their number.
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// Their distribution.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bucket of 0 ns.
    const ZERO: u32 = bucket_of(Duration::ZERO);

    fn of(nanos: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        nanos.iter().for_each(|nanos| histogram.add(Duration::from_nanos(*nanos)));
        histogram
    }

    const LONGEST: u64 = Duration::FOREVER.as_nanos();

    /// Spans of every order of magnitude, the shortest and the longest among them.
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
    fn nothing_is_allocated_before_the_first_span() {
        let histogram = Histogram::default();
        assert!(histogram.counts.is_empty());
        assert_eq!((histogram.count(), histogram.quantile_s(0.5)), (0, None));
    }

    #[test]
    fn all_buckets_take_15_kilobytes() {
        let everything = of(&[0, LONGEST]);
        assert_eq!(everything.counts.len(), 3648 + GROWTH as usize);
        assert_eq!(everything.quantile_s(0.0), Some(0.0));
    }

    #[test]
    fn equal_spans_take_64_bytes() {
        assert_eq!(size_of_val(&*of(&[11_000_000; 1000]).counts), 64);
    }

    #[test]
    fn short_spans_are_exact() {
        for nanos in 0..64 {
            assert_eq!(of(&[nanos]).quantile_s(0.5), Some(nanos as f64 * 1e-9));
        }
    }

    #[test]
    fn a_count_goes_on_beyond_32_bits() {
        let mut histogram = of(&[5, 5, 7]);
        histogram.counts[(ZERO + 5 - histogram.first) as usize] = u32::MAX - 1;
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
    fn the_mean_beside_it_is_exact() {
        let mut delays = Delays::default();
        [10, 20, 45].into_iter().for_each(|ms| delays.add(Duration::from_millis(ms)));
        assert_eq!(delays.mean().secs(), Some(0.025));
        let found = delays.histogram().quantiles().expect("there were delays");
        assert!((found.p50_s / 0.020 - 1.0).abs() <= Histogram::RELATIVE_ERROR);
        assert!((found.p99_s / 0.045 - 1.0).abs() <= Histogram::RELATIVE_ERROR);
    }

    proptest! {
        /// Against the spans in order: the quantile is the one of rank ⌈q n⌉.
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
        fn merging_is_counting_everything_in_one(
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
        fn buckets_follow_one_another(nanos in span()) {
            let bucket = bucket_of(Duration::from_nanos(nanos));
            prop_assert!(bucket >= ZERO);
            let next = bucket_of(Duration::from_nanos(nanos + 1));
            prop_assert!(next == bucket || next == bucket + 1);
        }
    }
}
