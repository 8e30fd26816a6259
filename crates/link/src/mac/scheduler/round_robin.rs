//! Round-robin scheduler: serves the users in cyclic order of their IDs, regardless of their rates.
//! Users without data are skipped. Weights have no effect.

use super::{Candidate, Population, Scheduler};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Empty configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundRobinConfig {}

/// The round-robin scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundRobin {
    /// Lowest user ID that may be served next.
    next: u32,
}

impl Component<dyn Scheduler + Send, Population> for RoundRobin {
    type Config = RoundRobinConfig;

    fn build(
        _config: RoundRobinConfig,
        _setup: Setup<'_, dyn Scheduler + Send, Population>,
    ) -> Result<RoundRobin, ConfigError> {
        Ok(RoundRobin::default())
    }
}

impl Scheduler for RoundRobin {
    #[inline]
    fn choose(&mut self, _slot: u64, candidates: &[Candidate]) -> usize {
        let after = candidates.partition_point(|candidate| candidate.user.0 < self.next);
        if after == candidates.len() { 0 } else { after }
    }

    #[inline]
    fn served(&mut self, _slot: u64, candidates: &[Candidate], place: usize, _rate: f64) {
        self.next = candidates[place].user.0.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::served;
    use super::*;

    #[test]
    fn users_with_data_take_turns() {
        let mut turns = RoundRobin::default();
        let all = [(0, 1e6), (1, 9e6), (2, 1e6)];
        let order: Vec<u32> = (0..5).map(|slot| served(&mut turns, slot, &all)).collect();
        assert_eq!(order, [0, 1, 2, 0, 1]);
        // The third user has no data, so the first user is served next.
        assert_eq!(served(&mut turns, 9, &all[..2]), 0);
        assert_eq!(served(&mut turns, 10, &all[2..]), 2);
        assert_eq!(served(&mut turns, 11, &all), 0);
    }
}
