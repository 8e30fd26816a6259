//! Proportional fair: the largest w μ/r, with r the average of the rate obtained.
//!
//! Source: clamp-2008 §5.3, Eq. 19, after Jalali, Padovani, Pankaj 2000. What the paper leaves open: r
//! counts the rate that was selected for a slot that the user was given, also if it failed, and 0 for
//! every other slot, also those without data; it begins at a quarter of the cell's nominal rate. The
//! other reading, r of the rate that was available in each slot with data, is an option. Of users with
//! equal utilities the least recently served is next, then the lowest number: at constant SNRs every
//! user's available rate is its own average, and all utilities are 1.

use super::average::Averages;
use super::{Candidate, Population, Scheduler};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Relative difference below which utilities are equal: an average reaches a constant rate to within
/// rounding errors only.
const EQUAL: f64 = 1e-9;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProportionalFairConfig {
    /// Time constant of the average, ns. At least a slot.
    pub time_constant_ns: u64,
    /// Quantity that is averaged.
    #[serde(default)]
    pub average: RateAverage,
}

/// Quantity of which r is the average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateAverage {
    /// The rate that was obtained: that of the slots that the user was given, 0 in all others.
    #[default]
    Obtained,
    /// The rate that was available: in every slot in which the user had data, 0 in all others.
    Available,
}

/// The scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct ProportionalFair {
    averages: Averages,
    averaged: RateAverage,
    population: Population,
    /// By user, the number of the turn in which it was last served; 0 before its first.
    last_served: Vec<u64>,
    turns: u64,
}

impl ProportionalFair {
    /// A scheduler with these averages, before the first slot.
    fn new(averages: Averages, averaged: RateAverage, population: Population) -> ProportionalFair {
        let last_served = vec![0; population.weights.len()];
        ProportionalFair { averages, averaged, population, last_served, turns: 0 }
    }

    /// w μ/r in slot number `slot`.
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
        let averages = Averages::new(100_000_000, &population).expect("long enough");
        ProportionalFair::new(averages, RateAverage::Obtained, population)
    }

    /// Eq. 19 by hand with r of the available rate: it goes by the rate over its usual value.
    #[test]
    fn eq19_of_the_available_rate_by_hand() {
        let mut fair = ProportionalFair { averaged: RateAverage::Available, ..fair(&[1.0, 1.0]) };
        // 2/1 against 1.9/1: the first. r becomes 0.97 + 0.03 · 2 = 1.03 and 0.97 + 0.03 · 1.9 = 1.027.
        assert_eq!(served(&mut fair, 0, &[(0, 2e6), (1, 1.9e6)]), 0);
        // 2/1.03 = 1.942 against 1.9/1.027 = 1.850: the first again.
        assert_eq!(served(&mut fair, 1, &[(0, 2e6), (1, 1.9e6)]), 0);
        // Without data for 100 slots r of the second falls to 0.05 and it is served.
        (2..102).for_each(|slot| assert_eq!(served(&mut fair, slot, &[(0, 2e6)]), 0));
        assert_eq!(served(&mut fair, 102, &[(0, 2e6), (1, 0.5e6)]), 1);
    }

    /// Eq. 19 by hand. r begins at 1 Mbit/s for both.
    #[test]
    fn eq19_by_hand() {
        let mut fair = fair(&[1.0, 1.0]);
        // 2/1 against 1.9/1: the first. r becomes 0.97 + 0.03 · 2 = 1.03 and 0.97.
        assert_eq!(served(&mut fair, 0, &[(0, 2e6), (1, 1.9e6)]), 0);
        // 2/1.03 = 1.942 against 1.9/0.97 = 1.959: the second.
        assert_eq!(served(&mut fair, 1, &[(0, 2e6), (1, 1.9e6)]), 1);
        // r = 0.9991 and 0.9979: 1.9/0.9991 = 1.9017 against 1.9/0.9979 = 1.9040: the second again.
        assert_eq!(served(&mut fair, 2, &[(0, 1.9e6), (1, 1.9e6)]), 1);
    }

    #[test]
    fn of_equal_utilities_the_lowest_number_is_served() {
        assert_eq!(served(&mut fair(&[1.0; 4]), 0, &[(1, 3e6), (2, 3e6), (3, 3e6)]), 1);
    }

    /// All utilities are 1 when rates are constant: the lowest number had all slots.
    #[test]
    fn of_equal_utilities_the_least_recently_served_is_next() {
        for rates in [[2e6; 3], [2e6, 3e6, 5.1e6]] {
            let fair = fair(&[1.0; 3]);
            let mut fair = ProportionalFair { averaged: RateAverage::Available, ..fair };
            let all = [(0, rates[0]), (1, rates[1]), (2, rates[2])];
            // The averages begin at 1 Mbit/s and have a time constant of 33 slots.
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
    fn a_weight_multiplies_the_utility() {
        assert_eq!(served(&mut fair(&[1.0, 1.5]), 0, &[(0, 1.4e6), (1, 1e6)]), 1);
        assert_eq!(served(&mut fair(&[1.0, 1.3]), 0, &[(0, 1.4e6), (1, 1e6)]), 0);
    }

    /// With constant rates users share the slots in proportion to their weights.
    #[test]
    fn slots_are_shared_by_weight() {
        let mut fair = fair(&[1.0, 3.0]);
        let of_second: u32 =
            (0..40_000).map(|slot| served(&mut fair, slot, &[(0, 8e6), (1, 2e6)])).sum();
        assert!((f64::from(of_second) / 40_000.0 - 0.75).abs() < 0.01, "{of_second}");
    }
}
