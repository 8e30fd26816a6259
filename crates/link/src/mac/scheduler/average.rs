//! Exponential average r of the rate that each user has obtained (clamp-2008 §5.3): r(n) = (1 − β)
//! r(n − 1) + β μ(n), with β = slot/time constant. μ(n) is the rate selected for the user in slot n
//! if the user was served, otherwise 0.
//!
//! Only the served user is updated. When an average is read, it is multiplied by (1 − β)ᵏ for the k
//! slots since its last update.

use super::Population;
use airpath_core::{Checks, ConfigError, UserId, at_least};

/// Lower bound of an average, bit/s. It prevents a division by zero for a user that has never been
/// served.
const LEAST_RATE: f64 = 1.0;
/// Number of powers in the table `small`.
const PAGE: u64 = 256;

/// Tables of the powers of 1 − β.
#[derive(Clone, Debug, PartialEq)]
struct Powers {
    /// Powers with the exponents 0 … 255.
    small: Box<[f64]>,
    /// Powers whose exponents are multiples of 256.
    large: Box<[f64]>,
}

impl Powers {
    fn new(base: f64) -> Powers {
        let of = |base: f64| (0..PAGE).map(|exponent| power(base, exponent)).collect();
        Powers { small: of(base), large: of(power(base, PAGE)) }
    }

    #[inline]
    fn of(&self, exponent: u64) -> f64 {
        let small = self.small[(exponent % PAGE) as usize];
        if exponent < PAGE {
            return small;
        }
        match self.large.get((exponent / PAGE) as usize) {
            Some(large) => small * large,
            None => small * self.huge(exponent / PAGE),
        }
    }

    #[cold]
    fn huge(&self, pages: u64) -> f64 {
        power(self.large[1], pages)
    }
}

/// Returns `base` to the integer power `exponent`, by squaring. The result is equal on all
/// machines.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

/// Averages of all users.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Averages {
    /// Weight β of a slot in the average.
    share: f64,
    powers: Powers,
    /// For each user: r at the end of its last updated slot, and the number of this slot plus one.
    rates: Vec<(f64, u64)>,
}

impl Averages {
    /// Creates averages with an initial value of a quarter of the cell's nominal rate.
    ///
    /// # Errors
    /// If the time constant is shorter than a slot.
    pub(super) fn new(
        time_constant_ns: u64,
        population: &Population,
    ) -> Result<Averages, ConfigError> {
        let (mut checks, slot) = (Checks::default(), at_least(population.slot.as_nanos()));
        checks.related("time_constant_ns", time_constant_ns, slot, "shorter than a slot");
        checks.finish()?;
        let share = population.slot.as_nanos() as f64 / time_constant_ns as f64;
        let first = population.rate.0 as f64 / 4.0;
        let rates = vec![(first, 0); population.weights.len()];
        Ok(Averages { share, powers: Powers::new(1.0 - share), rates })
    }

    /// Returns r of `user` before slot number `slot`, bit/s. If the user has already been served in
    /// this slot, the value includes that service.
    #[inline]
    pub(super) fn before(&self, user: UserId, slot: u64) -> f64 {
        let (rate, since) = self.rates[user.0 as usize];
        (rate * self.powers.of(slot.saturating_sub(since))).max(LEAST_RATE)
    }

    /// Updates the average of `user` with the obtained rate `rate` in slot number `slot`. If called
    /// several times for a slot, the rates are added.
    #[inline]
    pub(super) fn serve(&mut self, user: UserId, slot: u64, rate: f64) {
        let (before, since) = self.rates[user.0 as usize];
        let decayed = before * self.powers.of(slot + 1 - since);
        self.rates[user.0 as usize] = (decayed + self.share * rate, slot + 1);
    }

    /// Updates the average of `user` with the available rate `rate` in slot number `slot`. Only the
    /// first call for a slot counts.
    #[inline]
    pub(super) fn note(&mut self, user: UserId, slot: u64, rate: f64) {
        if self.rates[user.0 as usize].1 <= slot {
            self.serve(user, slot, rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{Duration, Rate};

    fn averages(time_constant_ms: u64) -> Averages {
        let population = Population::even(2, Duration::from_millis(3), Rate(10_000_000));
        Averages::new(time_constant_ms * 1_000_000, &population).expect("a valid time constant")
    }

    /// Compares the recursion of §5.3, slot by slot, with the closed form.
    #[test]
    fn skipped_slots_match_recursion() {
        let (mut lazy, user) = (averages(100), UserId(1));
        let mut plain = 2.5e6;
        for slot in 0..70_000u64 {
            let expected = f64::max(plain, LEAST_RATE);
            let found = lazy.before(user, slot);
            assert!((found / expected - 1.0).abs() < 1e-9, "{slot}: {found} {expected}");
            let is_served = slot % 7 == 3 && slot < 50 || slot == 69_000;
            let rate = if is_served { 4e6 + slot as f64 } else { 0.0 };
            plain = 0.97 * plain + 0.03 * rate;
            if is_served {
                lazy.serve(user, slot, rate);
            }
        }
        assert_eq!(lazy.before(UserId(0), 69_999), LEAST_RATE);
        assert_eq!(lazy.before(UserId(0), 1 << 40), LEAST_RATE);
    }

    #[test]
    fn time_constant_of_one_slot_keeps_only_last_slot() {
        let mut averages = averages(3);
        averages.serve(UserId(0), 5, 8e6);
        assert_eq!(averages.before(UserId(0), 6), 8e6);
        assert_eq!(averages.before(UserId(0), 7), LEAST_RATE);
    }

    #[test]
    fn new_rejects_time_constant_shorter_than_slot() {
        let population = Population::even(1, Duration::from_millis(3), Rate(1));
        let error = Averages::new(2_999_999, &population).expect_err("refused").to_string();
        assert!(error.contains("shorter than a slot. Accepted: at least 3000000"), "{error}");
    }
}
