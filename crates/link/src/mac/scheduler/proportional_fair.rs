//! Proportional-fair scheduler: serves the user with the largest w μ/r. w is the weight of the
//! user, μ is its rate in this slot, and r is its average obtained rate.
//!
//! Source: clamp-2008 §5.3, Eq. 19, after Jalali, Padovani, Pankaj 2000. The paper does not define
//! the following points:
//! - r is an average over all slots. A slot of the user contributes the rate selected for the slot,
//!   even if the slot failed. Every other slot contributes 0, including slots in which the user had
//!   no data. The option `average` selects another interpretation: r is the average of the
//!   available rate in each slot in which the user had data.
//! - The initial value of r is a quarter of the cell's nominal rate.
//! - On a tie the least recently served user is selected; among users that have not been served,
//!   the one with the lowest ID. Ties occur at constant SNRs: the available rate of every user
//!   equals its average, so all utilities are 1.

use super::average::Averages;
use super::{Candidate, Population, Scheduler};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Relative difference below which two utilities count as equal. With a constant rate, an average
/// equals the rate except for rounding errors.
const EQUAL: f64 = 1e-9;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProportionalFairConfig {
    /// Time constant of the average, ns. At least a slot.
    pub time_constant_ns: u64,
    /// Rate that is averaged.
    #[serde(default)]
    pub average: RateAverage,
}

/// Selection of the rate that is averaged to r.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateAverage {
    /// Obtained rate: the selected rate in slots of the user, 0 in all other slots.
    #[default]
    Obtained,
    /// Available rate: the rate in every slot in which the user had data, 0 in all other slots.
    Available,
}

/// The proportional-fair scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct ProportionalFair {
    averages: Averages,
    averaged: RateAverage,
    population: Population,
    /// Number of the turn in which each user was last served, from 1; 0 if it has not been served.
    last_served: Vec<u64>,
    turns: u64,
}

impl ProportionalFair {
    /// Creates a scheduler with these initial averages.
    fn new(averages: Averages, averaged: RateAverage, population: Population) -> ProportionalFair {
        let last_served = vec![0; population.weights.len()];
        ProportionalFair { averages, averaged, population, last_served, turns: 0 }
    }

    /// Returns the utility w μ/r in slot number `slot`.
    #[inline]
    fn utility(&self, candidate: &Candidate, slot: u64) -> f64 {
        let weighted = self.population.weight(candidate.user) * candidate.rate;
        weighted / self.averages.before(candidate.user, slot)
    }
}

impl Component<dyn Scheduler + Send, Population> for ProportionalFair {
    type Config = ProportionalFairConfig;

    fn build(
        config: ProportionalFairConfig,
        setup: Setup<'_, dyn Scheduler + Send, Population>,
    ) -> Result<ProportionalFair, ConfigError> {
        let population = setup.extra;
        let averages = Averages::new(config.time_constant_ns, &population)?;
        Ok(ProportionalFair::new(averages, config.average, population))
    }
}

impl Scheduler for ProportionalFair {
    #[inline]
    fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize {
        let (mut place, mut largest, mut last) = (0, f64::NEG_INFINITY, u64::MAX);
        for (index, candidate) in candidates.iter().enumerate() {
            let here = self.utility(candidate, slot);
            let served = self.last_served[candidate.user.0 as usize];
            let is_equal = (here - largest).abs() <= EQUAL * here;
            if if is_equal { served < last } else { here > largest } {
                (place, last) = (index, served);
            }
            largest = largest.max(here);
        }
        place
    }

    #[inline]
    fn served(&mut self, slot: u64, candidates: &[Candidate], place: usize, rate: f64) {
        self.turns += 1;
        self.last_served[candidates[place].user.0 as usize] = self.turns;
        match self.averaged {
            RateAverage::Obtained => self.averages.serve(candidates[place].user, slot, rate),
            RateAverage::Available => {
                for &Candidate { user, rate, .. } in candidates {
                    self.averages.note(user, slot, rate);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::served;
    use super::*;
    use airpath_core::{Duration, Rate};

    fn fair(weights: &[f64]) -> ProportionalFair {
        let (slot, rate) = (Duration::from_millis(3), Rate(4_000_000));
        let population = Population { weights: weights.into(), slot, rate };
        let averages = Averages::new(100_000_000, &population).expect("a valid time constant");
        ProportionalFair::new(averages, RateAverage::Obtained, population)
    }

    /// Eq. 19 computed by hand, where r is the average of the available rate: the user with the
    /// largest ratio of its rate to its average rate is served.
    #[test]
    fn choice_equals_eq19_by_hand_with_average_of_available_rate() {
        let mut fair = ProportionalFair { averaged: RateAverage::Available, ..fair(&[1.0, 1.0]) };
        // 2/1 is greater than 1.9/1: the first user is served. r becomes 0.97 + 0.03 · 2 = 1.03 and
        // 0.97 + 0.03 · 1.9 = 1.027.
        assert_eq!(served(&mut fair, 0, &[(0, 2e6), (1, 1.9e6)]), 0);
        // 2/1.03 = 1.942 is greater than 1.9/1.027 = 1.850: the first user is served again.
        assert_eq!(served(&mut fair, 1, &[(0, 2e6), (1, 1.9e6)]), 0);
        // Without data for 100 slots, r of the second user falls to 0.05, so that it is served.
        (2..102).for_each(|slot| assert_eq!(served(&mut fair, slot, &[(0, 2e6)]), 0));
        assert_eq!(served(&mut fair, 102, &[(0, 2e6), (1, 0.5e6)]), 1);
    }

    /// Eq. 19 computed by hand. r is 1 Mbit/s for both users at the start.
    #[test]
    fn choice_equals_eq19_by_hand() {
        let mut fair = fair(&[1.0, 1.0]);
        // 2/1 is greater than 1.9/1: the first user is served. r becomes 0.97 + 0.03 · 2 = 1.03 and
        // 0.97.
        assert_eq!(served(&mut fair, 0, &[(0, 2e6), (1, 1.9e6)]), 0);
        // 2/1.03 = 1.942 is less than 1.9/0.97 = 1.959: the second user is served.
        assert_eq!(served(&mut fair, 1, &[(0, 2e6), (1, 1.9e6)]), 1);
        // r = 0.9991 and 0.9979: 1.9/0.9991 = 1.9017 is less than 1.9/0.9979 = 1.9040: the second
        // user again.
        assert_eq!(served(&mut fair, 2, &[(0, 1.9e6), (1, 1.9e6)]), 1);
    }

    #[test]
    fn first_slot_serves_lowest_user_id_if_utilities_are_equal() {
        assert_eq!(served(&mut fair(&[1.0; 4]), 0, &[(1, 3e6), (2, 3e6), (3, 3e6)]), 1);
    }

    /// Regression test for an error in which the user with the lowest ID obtained all slots if the
    /// rates were constant, so that all utilities were 1.
    #[test]
    fn equal_utilities_serve_least_recently_served_user() {
        for rates in [[2e6; 3], [2e6, 3e6, 5.1e6]] {
            let fair = fair(&[1.0; 3]);
            let mut fair = ProportionalFair { averaged: RateAverage::Available, ..fair };
            let all = [(0, rates[0]), (1, rates[1]), (2, rates[2])];
            // The averages are 1 Mbit/s at the start and have a time constant of 33 slots.
            for slot in 0..2000 {
                served(&mut fair, slot, &all);
            }
            let order: Vec<u32> = (2000..2006).map(|slot| served(&mut fair, slot, &all)).collect();
            let mut sorted = order[..3].to_vec();
            sorted.sort_unstable();
            assert_eq!((sorted, &order[..3]), (vec![0, 1, 2], &order[3..]), "{rates:?}");
        }
    }

    #[test]
    fn weight_multiplies_utility() {
        assert_eq!(served(&mut fair(&[1.0, 1.5]), 0, &[(0, 1.4e6), (1, 1e6)]), 1);
        assert_eq!(served(&mut fair(&[1.0, 1.3]), 0, &[(0, 1.4e6), (1, 1e6)]), 0);
    }

    /// With constant rates, users share the slots in proportion to their weights.
    #[test]
    fn slots_are_shared_by_weight() {
        let mut fair = fair(&[1.0, 3.0]);
        let of_second: u32 =
            (0..40_000).map(|slot| served(&mut fair, slot, &[(0, 8e6), (1, 2e6)])).sum();
        assert!((f64::from(of_second) / 40_000.0 - 0.75).abs() < 0.01, "{of_second}");
    }
}
