//! Max-rate scheduler: serves the user with the largest w μ, regardless of earlier service. w is
//! the weight of the user and μ is its rate in this slot. The throughput is highest, but the
//! scheduler is not fair.
//!
//! Source: Knopp, Humblet 1995 (serve only the user with the best channel).

use super::{Candidate, Population, Scheduler, best};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Empty configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxRateConfig {}

/// The max-rate scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxRate {
    population: Population,
}

impl MaxRate {
    /// Creates a scheduler for these users.
    pub fn new(population: Population) -> MaxRate {
        MaxRate { population }
    }
}

impl Component<dyn Scheduler + Send, Population> for MaxRate {
    type Config = MaxRateConfig;

    fn build(
        _config: MaxRateConfig,
        setup: Setup<'_, dyn Scheduler + Send, Population>,
    ) -> Result<MaxRate, ConfigError> {
        Ok(MaxRate::new(setup.extra))
    }
}

impl Scheduler for MaxRate {
    #[inline]
    fn choose(&mut self, _slot: u64, candidates: &[Candidate]) -> usize {
        best(candidates, |candidate| self.population.weight(candidate.user) * candidate.rate)
    }

    #[inline]
    fn served(&mut self, _slot: u64, _candidates: &[Candidate], _place: usize, _rate: f64) {
        // The decision depends only on the current rates.
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::served;
    use super::*;
    use airpath_core::{Duration, Rate};

    #[test]
    fn largest_weighted_rate_is_served_and_first_on_tie() {
        let weights = vec![1.0, 1.0, 2.0].into();
        let (slot, rate) = (Duration::from_millis(1), Rate(1));
        let mut largest = MaxRate::new(Population { weights, slot, rate });
        assert_eq!(served(&mut largest, 0, &[(0, 2e6), (1, 2e6), (2, 1e6)]), 0);
        assert_eq!(served(&mut largest, 1, &[(0, 2e6), (1, 3e6), (2, 1e6)]), 1);
        assert_eq!(served(&mut largest, 2, &[(0, 2e6), (1, 3e6), (2, 1.6e6)]), 2);
    }
}
