//! Ranges of accepted values for numbers in a component's configuration.

use std::fmt;
use std::ops::{Bound, RangeInclusive};

/// A number in a component's configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A count, or a quantity in its base unit (an integer).
    Integer(u64),
    /// A real number.
    Real(f64),
}

impl Number {
    fn as_real(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    fn is_below(self, other: Number) -> bool {
        match (self, other) {
            (Number::Integer(number), Number::Integer(other)) => number < other,
            _ => self.as_real() < other.as_real(),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(number) => number.fmt(f),
            Number::Real(number) => number.fmt(f),
        }
    }
}

macro_rules! numbers {
    ($($integer:ty),+) => {
        $(impl From<$integer> for Number {
            fn from(number: $integer) -> Number {
                Number::Integer(number as u64)
            }
        })+
    };
}
numbers!(u8, u16, u32, u64, usize);

impl From<f64> for Number {
    fn from(number: f64) -> Number {
        Number::Real(number)
    }
}

/// A range of accepted numbers. Only finite numbers are in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower bound.
    pub low: Bound<Number>,
    /// Upper bound.
    pub high: Bound<Number>,
}

/// Returns the range of numbers greater than or equal to `low`.
pub fn at_least(low: impl Into<Number>) -> Bounds {
    Bounds { low: Bound::Included(low.into()), high: Bound::Unbounded }
}

/// Returns the range of numbers greater than `low`.
pub fn above(low: impl Into<Number>) -> Bounds {
    Bounds { low: Bound::Excluded(low.into()), high: Bound::Unbounded }
}

/// Returns the range of numbers less than or equal to `high`.
pub fn at_most(high: impl Into<Number>) -> Bounds {
    Bounds { low: Bound::Unbounded, high: Bound::Included(high.into()) }
}

/// Returns the range of numbers less than `high`.
pub fn below(high: impl Into<Number>) -> Bounds {
    Bounds { low: Bound::Unbounded, high: Bound::Excluded(high.into()) }
}

impl<T: Into<Number> + Copy> From<RangeInclusive<T>> for Bounds {
    fn from(range: RangeInclusive<T>) -> Bounds {
        at_least(*range.start()).up_to(*range.end())
    }
}

impl Bounds {
    /// Replaces the upper bound by `high`, inclusive.
    #[must_use]
    pub fn up_to(self, high: impl Into<Number>) -> Bounds {
        Bounds { high: Bound::Included(high.into()), ..self }
    }

    /// Replaces the upper bound by `high`, exclusive.
    #[must_use]
    pub fn below(self, high: impl Into<Number>) -> Bounds {
        Bounds { high: Bound::Excluded(high.into()), ..self }
    }

    /// Returns the reason why `number` is outside the range, or `None` if it is inside.
    pub fn objection(&self, number: Number) -> Option<String> {
        if !number.as_real().is_finite() {
            return Some("not a number".to_owned());
        }
        let (low, high) = (self.low, self.high);
        match low {
            Bound::Included(low) if number.is_below(low) => return Some(format!("below {low}")),
            Bound::Excluded(low) if !low.is_below(number) => {
                return Some(format!("not above {low}"));
            }
            _ => {}
        }
        match high {
            Bound::Included(high) if high.is_below(number) => Some(format!("above {high}")),
            Bound::Excluded(high) if !number.is_below(high) => Some(format!("not below {high}")),
            _ => None,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Bound::Unbounded, Bound::Unbounded) => f.write_str("a finite number"),
            (Bound::Unbounded, Bound::Included(high)) => write!(f, "at most {high}"),
            (Bound::Unbounded, Bound::Excluded(high)) => write!(f, "less than {high}"),
            (Bound::Included(low), Bound::Unbounded) => write!(f, "at least {low}"),
            (Bound::Excluded(low), Bound::Unbounded) => write!(f, "more than {low}"),
            (Bound::Included(low), Bound::Included(high)) => write!(f, "{low} to {high}"),
            (Bound::Included(low), Bound::Excluded(high)) => write!(f, "{low} to below {high}"),
            (Bound::Excluded(low), Bound::Included(high)) => {
                write!(f, "more than {low}, at most {high}")
            }
            (Bound::Excluded(low), Bound::Excluded(high)) => {
                write!(f, "more than {low}, less than {high}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_reject_numbers_outside_and_state_the_bound() {
        for (bounds, number, objection) in [
            (Bounds::from(1..=9_u32), Number::Integer(0), Some("below 1")),
            (Bounds::from(1..=9_u32), Number::Integer(1), None),
            (Bounds::from(1..=9_u32), Number::Integer(9), None),
            (Bounds::from(1..=9_u32), Number::Integer(10), Some("above 9")),
            (above(0.0).below(1.0), Number::Real(0.0), Some("not above 0")),
            (above(0.0).below(1.0), Number::Real(0.5), None),
            (above(0.0).below(1.0), Number::Real(1.0), Some("not below 1")),
            (at_least(0.0), Number::Real(f64::NAN), Some("not a number")),
            (at_least(0.0), Number::Real(f64::INFINITY), Some("not a number")),
            (at_most(2.5), Number::Integer(3), Some("above 2.5")),
            (below(u64::MAX), Number::Integer(u64::MAX - 1), None),
        ] {
            assert_eq!(bounds.objection(number).as_deref(), objection, "{number} in {bounds}");
        }
    }
}
