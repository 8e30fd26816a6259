//! α-fair scheduler: serves the user with the largest w μ/r^α. w is the weight of the user, μ is
//! its rate in this slot, and r is its average obtained rate.
//!
//! Sources: Mo, Walrand 2000 for the family of utility functions; Stolyar 2005 for the gradient
//! scheduler of these utility functions. α = 0 selects the highest rate, α = 1 is proportional
//! fairness, and α → ∞ is max-min fairness. The average r is computed as in the proportional-fair
//! scheduler.

use super::average::Averages;
use super::{Candidate, Population, Scheduler, best};
use airpath_core::{Checks, Component, ConfigError, Setup};
use serde::Deserialize;

/// Largest α. With this exponent r^α does not overflow.
const MAX_ALPHA: f64 = 10.0;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaFairConfig {
    /// Exponent α, from 0 to 10.
    pub alpha: f64,
    /// Time constant of the average, ns. At least a slot.
    pub time_constant_ns: u64,
}

/// The α-fair scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaFair {
    alpha: f64,
    averages: Averages,
    population: Population,
}

impl Component<dyn Scheduler + Send, Population> for AlphaFair {
    type Config = AlphaFairConfig;

    fn check(config: &AlphaFairConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("alpha", config.alpha, 0.0..=MAX_ALPHA);
        checks.finish()
    }

    fn build(
        config: AlphaFairConfig,
        setup: Setup<'_, dyn Scheduler + Send, Population>,
    ) -> Result<AlphaFair, ConfigError> {
        let alpha = config.alpha;
        let population = setup.extra;
        let averages = Averages::new(config.time_constant_ns, &population)?;
        Ok(AlphaFair { alpha, averages, population })
    }
}

/// Returns `rate` to the power `alpha`; `rate` is in bit/s.
#[inline]
fn disutility(rate: f64, alpha: f64) -> f64 {
    if alpha == 0.5 {
        rate.sqrt()
    } else if alpha == 1.0 {
        rate
    } else if alpha == 2.0 {
        rate * rate
    } else {
        libm::pow(rate, alpha)
    }
}

impl Scheduler for AlphaFair {
    #[inline]
    fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize {
        best(candidates, |candidate| {
            let weighted = self.population.weight(candidate.user) * candidate.rate;
            weighted / disutility(self.averages.before(candidate.user, slot), self.alpha)
        })
    }

    #[inline]
    fn served(&mut self, slot: u64, candidates: &[Candidate], place: usize, rate: f64) {
        self.averages.serve(candidates[place].user, slot, rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::served;
    use super::super::{MaxRate, ProportionalFair, ProportionalFairConfig, RateAverage};
    use super::*;
    use airpath_core::{Duration, Rate, Registry, Seed};

    const TIME_CONSTANT_NS: u64 = 100_000_000;

    fn population() -> Population {
        Population::even(3, Duration::from_millis(3), Rate(4_000_000))
    }

    fn make<S: Component<dyn Scheduler + Send, Population>>(config: S::Config) -> S {
        let setup = Setup {
            seed: Seed::new(1, 0, "test"),
            registry: &Registry::default(),
            extra: population(),
        };
        S::build(config, setup).expect("a valid configuration")
    }

    fn alpha_fair(alpha: f64) -> AlphaFair {
        make(AlphaFairConfig { alpha, time_constant_ns: TIME_CONSTANT_NS })
    }

    fn rates(slot: u64) -> [(u32, f64); 3] {
        [0, 1, 2].map(|user| (user, 1e6 + 1e5 * ((slot * (7 + 4 * u64::from(user))) % 23) as f64))
    }

    #[test]
    fn alpha_1_is_proportional_fair_and_alpha_0_is_max_rate() {
        let mut fair: ProportionalFair = make(ProportionalFairConfig {
            time_constant_ns: TIME_CONSTANT_NS,
            average: RateAverage::Obtained,
        });
        let mut largest = MaxRate::new(population());
        let (mut one, mut zero) = (alpha_fair(1.0), alpha_fair(0.0));
        for slot in 0..500 {
            let of = rates(slot);
            assert_eq!(served(&mut one, slot, &of), served(&mut fair, slot, &of), "{slot}");
            assert_eq!(served(&mut zero, slot, &of), served(&mut largest, slot, &of), "{slot}");
        }
    }

    /// With constant rates c, the averages r become proportional to c^{1/α}, because w c/r^α
    /// becomes equal for all users.
    #[test]
    fn constant_rates_are_shared_by_utility() {
        for alpha in [0.5, 2.0, 3.0] {
            let mut fair = alpha_fair(alpha);
            let mut obtained = [0.0, 0.0];
            for slot in 0..60_000 {
                let rates = [(0, 8e6), (1, 4e6)];
                let user = served(&mut fair, slot, &rates) as usize;
                obtained[user] += rates[user].1;
            }
            let (ratio, expected) = (obtained[0] / obtained[1], 2f64.powf(1.0 / alpha));
            assert!((ratio / expected - 1.0).abs() < 0.03, "{alpha}: {ratio} {expected}");
        }
    }

    #[test]
    fn disutility_is_power_of_rate() {
        for alpha in [0.0, 0.5, 1.0, 1.5, 2.0] {
            let (found, expected) = (disutility(7e6, alpha), 7e6f64.powf(alpha));
            assert!((found / expected - 1.0).abs() < 1e-12, "{alpha}: {found} {expected}");
        }
    }
}
