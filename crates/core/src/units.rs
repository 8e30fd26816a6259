//! Distinct types for times, durations, rates and sizes, so that these quantities cannot be
//! confused.
//!
//! This module defines all rounding: a transmission time is rounded up to the next nanosecond, and
//! a number of bytes sent in a given time is rounded down.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A span of time, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A data rate, bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size or an amount of data, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Time {
    /// Start of the run.
    pub const ZERO: Time = Time(0);
    /// Largest time, later than every event: the wake-up time of a stage without timers. Far below
    /// the range of 64 bits, so that a sum of two values does not overflow.
    pub const NEVER: Time = Time(u64::MAX / 2);

    /// Creates the time `nanos` nanoseconds after the start, at most [`Time::NEVER`].
    pub const fn from_nanos(nanos: u64) -> Time {
        if nanos < Time::NEVER.0 { Time(nanos) } else { Time::NEVER }
    }

    /// Creates a time from a result of [`Time::as_nanos`], without a range check.
    pub(crate) const fn from_valid_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Creates the time `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    /// Creates the time `secs` seconds after the start.
    pub const fn from_secs(secs: u64) -> Time {
        Time(secs * NANOS_PER_SECOND)
    }

    /// Returns nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns seconds since the start, rounded to the nearest double.
    pub fn as_secs_lossy(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Returns the span since `earlier`, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Returns true if this is [`Time::NEVER`].
    pub const fn is_never(self) -> bool {
        self.0 == Time::NEVER.0
    }
}

impl Duration {
    /// Zero duration.
    pub const ZERO: Duration = Duration(0);
    /// Largest span, longer than any run. Used for the transmission time over a link of rate zero.
    pub const FOREVER: Duration = Duration(u64::MAX / 2);

    /// Creates a span of `nanos` nanoseconds, at most [`Duration::FOREVER`].
    pub const fn from_nanos(nanos: u64) -> Duration {
        if nanos < Duration::FOREVER.0 { Duration(nanos) } else { Duration::FOREVER }
    }

    /// Creates a span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Duration {
        Duration(millis * 1_000_000)
    }

    /// Creates a span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Duration {
        Duration(secs * NANOS_PER_SECOND)
    }

    /// Creates a span of `secs` seconds, rounded to the nearest nanosecond. Negative values and NaN
    /// become zero.
    pub fn from_secs_lossy(secs: f64) -> Duration {
        Duration::from_nanos((secs * NANOS_PER_SECOND as f64).round() as u64)
    }

    /// Returns the span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds, rounded to the nearest double.
    pub fn as_secs_lossy(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Returns the span times `factor`, at most [`Duration::FOREVER`].
    pub const fn saturating_mul(self, factor: u64) -> Duration {
        Duration::from_nanos(self.0.saturating_mul(factor))
    }
}

impl Rate {
    /// Creates a rate of `mbps` million bits per second.
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps * 1_000_000)
    }
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
}

impl Add<Duration> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Duration) -> Time {
        Time::from_nanos(self.0 + span.0)
    }
}

impl Sub for Time {
    type Output = Duration;
    /// Returns the span from `earlier` to `self`. `earlier` must not be later.
    #[inline]
    fn sub(self, earlier: Time) -> Duration {
        debug_assert!(self.0 >= earlier.0, "a span from a later to an earlier instant");
        Duration(self.0.wrapping_sub(earlier.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration::from_nanos(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Duration {
        spans.fold(Duration::ZERO, Add::add)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Div<Rate> for Bytes {
    type Output = Duration;

    /// Returns the transmission time of `self` at `rate`, rounded up. [`Duration::FOREVER`] at rate
    /// zero.
    #[inline]
    fn div(self, rate: Rate) -> Duration {
        const BIT_NANOS_PER_BYTE: u64 = 8 * NANOS_PER_SECOND;
        if rate.0 == 0 {
            return Duration::FOREVER;
        }
        match self.0.checked_mul(BIT_NANOS_PER_BYTE) {
            Some(bit_nanos) => Duration::from_nanos(bit_nanos.div_ceil(rate.0)),
            None => {
                let nanos = (u128::from(self.0) * u128::from(BIT_NANOS_PER_BYTE))
                    .div_ceil(u128::from(rate.0));
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

impl Mul<Duration> for Rate {
    type Output = Bytes;

    /// Returns the number of complete bytes that are sent in `span` at this rate.
    fn mul(self, span: Duration) -> Bytes {
        let bit_nanos = u128::from(self.0) * u128::from(span.0);
        let bytes = bit_nanos / u128::from(8 * NANOS_PER_SECOND);
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn transmission_time_rounds_up() {
        assert_eq!(Bytes(1) / Rate(3_000_000_000), Duration(3));
        assert_eq!(Bytes(1500) / Rate::from_mbps(100), Duration(120_000));
    }

    #[test]
    fn transmission_at_rate_zero_never_ends() {
        assert_eq!(Bytes(1) / Rate(0), Duration::FOREVER);
        assert!((Time::from_secs(5) + Bytes(1) / Rate(0)).is_never());
    }

    proptest! {
        #[test]
       fn bytes_sent_in_their_transmission_time_are_not_fewer(
            bytes in 0..u64::MAX / 16, rate in 1..u64::MAX,
        ) {
            let span = Bytes(bytes) / Rate(rate);
            prop_assume!(span < Duration::FOREVER);
            prop_assert!(Rate(rate) * span >= Bytes(bytes));
        }

        #[test]
       fn fast_and_wide_division_agree(bytes in 0..1u64 << 40, rate in 1..1u64 << 45) {
            let wide = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(rate));
            prop_assert_eq!(u128::from((Bytes(bytes) / Rate(rate)).as_nanos()), wide);
        }
    }
}
