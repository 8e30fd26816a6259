//! [`Scale`]: scales rates in proportion to the nominal rate.

use airpath_core::Rate;

/// Initial and current nominal rate. Their ratio is the scale factor of the rates that depend on
/// the nominal rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    original: Rate,
    nominal: Rate,
}

impl Scale {
    /// Creates a scale with the initial nominal rate `nominal`, above 0.
    pub fn new(nominal: Rate) -> Scale {
        Scale { original: nominal, nominal }
    }

    /// The nominal rate.
    #[inline]
    pub fn nominal(self) -> Rate {
        self.nominal
    }

    /// Sets the nominal rate.
    pub fn set_nominal(&mut self, nominal: Rate) {
        self.nominal = nominal;
    }

    /// Returns the scaled `rate`, rounded up to integer bit/s. The result is above 0 unless the
    /// nominal rate or `rate` is 0.
    ///
    /// # Panics
    /// If the initial nominal rate was 0.
    #[inline]
    pub fn of(self, rate: Rate) -> Rate {
        if self.nominal == self.original {
            return rate;
        }
        let product = u128::from(rate.0) * u128::from(self.nominal.0);
        let scaled = product.div_ceil(u128::from(self.original.0));
        Rate(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_scale_in_proportion_to_nominal_rate() {
        let mut scale = Scale::new(Rate(300));
        assert_eq!([0, 100, 600].map(|rate| scale.of(Rate(rate)).0), [0, 100, 600]);
        scale.set_nominal(Rate(200));
        assert_eq!([0, 1, 100, 150, 600].map(|rate| scale.of(Rate(rate)).0), [0, 1, 67, 100, 400]);
        scale.set_nominal(Rate(0));
        assert_eq!(scale.of(Rate(600)), Rate(0));
        scale.set_nominal(Rate(300));
        assert_eq!(scale.of(Rate(67)), Rate(67));
        scale.set_nominal(Rate(u64::MAX));
        assert_eq!(scale.of(Rate(600)), Rate(u64::MAX));
    }
}
