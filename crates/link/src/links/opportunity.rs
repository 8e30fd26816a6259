//! Number of bytes that each delivery opportunity of a trace carries.
//!
//! A recorded opportunity carries 1504 bytes. At another nominal rate every opportunity carries
//! proportionally more or fewer bytes, rounded down to an integer. The remaining fraction of a byte
//! is carried over to the next opportunity, so that one period of the trace carries the nominal
//! rate exactly.

use airpath_core::Rate;
use airpath_trace::{OPPORTUNITY_BYTES, OpportunityTrace};

/// One byte in bit-nanoseconds: the product of a rate in bit/s and a time in ns.
const BIT_NANOS_PER_BYTE: u128 = 8_000_000_000;

/// Size of each opportunity, as a function of the number of the opportunity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OpportunitySize {
    /// Bytes that every opportunity carries.
    whole: u64,
    /// Additional fraction of a byte per opportunity, in units of 1/`unit` byte.
    rest: u128,
    unit: u128,
}

impl OpportunitySize {
    /// Returns the size of recorded opportunities (Mahimahi).
    pub(crate) fn recorded() -> OpportunitySize {
        OpportunitySize { whole: OPPORTUNITY_BYTES, rest: 0, unit: 1 }
    }

    /// Returns the size at which the mean rate of `trace` equals `rate`.
    pub(crate) fn at(rate: Rate, trace: &OpportunityTrace) -> OpportunitySize {
        let in_a_round = u128::from(rate.0) * u128::from(trace.period_ns());
        let unit = BIT_NANOS_PER_BYTE * trace.times_ms().len() as u128;
        let whole = u64::try_from(in_a_round / unit).unwrap_or(u64::MAX);
        OpportunitySize { whole, rest: in_a_round % unit, unit }
    }

    /// Returns the total number of bytes of the opportunities from number `from` to number `to`
    /// (exclusive).
    #[inline]
    pub(crate) fn between(&self, from: u64, to: u64) -> u128 {
        let whole = u128::from(to - from) * u128::from(self.whole);
        if self.rest == 0 {
            return whole;
        }
        let odd = |number: u64| u128::from(number) * self.rest / self.unit;
        whole + odd(to) - odd(from)
    }

    /// Returns the number of the opportunity that carries the last byte of `bytes` bytes (at least
    /// 1), if opportunity number `from` carries the first byte. Returns `None` at rate zero.
    #[inline]
    pub(crate) fn reaching(&self, from: u64, bytes: u64) -> Option<u64> {
        if bytes <= self.whole { Some(from) } else { self.reaching_later(from, bytes) }
    }

    #[cold]
    fn reaching_later(&self, from: u64, bytes: u64) -> Option<u64> {
        let each = u128::from(self.whole) * self.unit + self.rest;
        if each == 0 {
            return None;
        }
        let carried_over = u128::from(from) * self.rest % self.unit;
        let opportunities = (u128::from(bytes) * self.unit - carried_over).div_ceil(each);
        // At 1 bit/s or more, a packet takes less than 2⁵¹ ns.
        Some(from + opportunities as u64 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(times_ms: &[u64]) -> OpportunityTrace {
        OpportunityTrace::new(times_ms.to_vec()).expect("a trace")
    }

    fn sizes(size: OpportunitySize, count: u64) -> Vec<u128> {
        (0..count).map(|number| size.between(number, number + 1)).collect()
    }

    #[test]
    fn opportunities_carry_bytes_in_proportion_to_rate() {
        // Three recorded opportunities in 12 ms correspond to 3.008 Mbit/s.
        let trace = trace(&[1, 1, 12]);
        assert_eq!(sizes(OpportunitySize::recorded(), 3), [1504; 3]);
        assert_eq!(sizes(OpportunitySize::at(Rate(3_008_000), &trace), 3), [1504; 3]);
        assert_eq!(sizes(OpportunitySize::at(Rate(1_504_000), &trace), 3), [752; 3]);
        assert_eq!(sizes(OpportunitySize::at(Rate(6_016_000), &trace), 3), [3008; 3]);
        assert_eq!(sizes(OpportunitySize::at(Rate(0), &trace), 3), [0; 3]);
    }

    #[test]
    fn fraction_of_byte_is_carried_over() {
        // In 12 ms three opportunities carry 1500 bytes at 1 Mbit/s, 6 bytes at 4 kbit/s and 1.5
        // bytes at 1 kbit/s.
        let trace = trace(&[1, 1, 12]);
        assert_eq!(
            sizes(OpportunitySize::at(Rate(1_001_000), &trace), 6),
            [500, 501, 500, 501, 500, 501]
        );
        assert_eq!(sizes(OpportunitySize::at(Rate(1_000), &trace), 6), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn extreme_rates_do_not_overflow() {
        let (dense, rare) = (trace(&[1; 1000]), trace(&[1_000_000_000]));
        let fastest = OpportunitySize::at(Rate(u64::MAX), &rare);
        assert_eq!(fastest.reaching(u64::MAX - 1, 131_070), Some(u64::MAX - 1));
        assert!(fastest.between(0, u64::MAX) > u128::from(u64::MAX));
        // At 1 bit/s a byte takes 8 s, which are 8000 periods of 1000 opportunities.
        let slowest = OpportunitySize::at(Rate(1), &dense);
        assert_eq!(slowest.reaching(0, 1), Some(7_999_999));
        assert_eq!(slowest.reaching(7_999_999, 131_070), Some(8_000_000 * 131_070 - 1));
        assert_eq!(OpportunitySize::at(Rate(0), &dense).reaching(5, 1), None);
    }

    proptest! {
        #[test]
        fn period_carries_nominal_rate(
            gaps in prop::collection::vec(0..300u64, 1..50),
            rate in 1..10_000_000u64,
            rounds in 1..1_000u64,
        ) {
            let times: Vec<u64> = gaps.iter().scan(1, |at, gap| { *at += gap; Some(*at) }).collect();
            let (trace, count) = (trace(&times), times.len() as u64 * rounds);
            let size = OpportunitySize::at(Rate(rate), &trace);
            let expected = u128::from(rate) * u128::from(trace.period_ms() * rounds) / 8000;
            prop_assert_eq!(size.between(0, count), expected);
        }

        #[test]
        fn last_byte_is_in_opportunity_that_completes_sum(
            rate in 1..5_000_000u64, from in 0..1_000_000u64, bytes in 1..5_000u64,
        ) {
            let size = OpportunitySize::at(Rate(rate), &trace(&[0, 3, 3, 7]));
            let last = size.reaching(from, bytes).expect("there is a rate");
            prop_assert!(size.between(from, last + 1) >= u128::from(bytes));
            prop_assert!(size.between(from, last) < u128::from(bytes));
        }
    }
}
