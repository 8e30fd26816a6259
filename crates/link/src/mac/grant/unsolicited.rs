//! Grant policy with periodic grants: UGS of IEEE 802.16, semi-persistent scheduling of LTE,
//! configured grants of NR. Every station receives one grant per period; the grant of station n is
//! n frames after the start of the period. A station requests bandwidth for remaining data by
//! piggyback.

use super::proactive::check_grant;
use super::{Downlink, Grant, GrantContext, GrantRules};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, at_least};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsolicitedConfig {
    /// Time between two grants of the same station, ns; at least a frame.
    pub period_ns: u64,
    /// Size of a grant, bytes, at least 1.
    pub size_bytes: u64,
    /// Time without a grant after which a station with data sends a request, ns.
    pub fallback_ns: u64,
}

/// Policy of periodic grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsolicited {
    config: UnsolicitedConfig,
    /// Offset of the grant in the period, ns, and station ID, in ascending order of the offsets.
    turns: Vec<(u64, u32)>,
    /// Index of the next grant in `turns`. `period_began` is the start of the period of this grant,
    /// ns.
    next: usize,
    period_began: u64,
}

impl Component<dyn Grant + Send, GrantContext> for Unsolicited {
    type Config = UnsolicitedConfig;

    fn check(config: &UnsolicitedConfig) -> Result<(), ConfigError> {
        check_grant(config.size_bytes, config.fallback_ns)
    }

    fn build(
        config: UnsolicitedConfig,
        setup: Setup<'_, dyn Grant + Send, GrantContext>,
    ) -> Result<Unsolicited, ConfigError> {
        let GrantContext { stations, frame } = setup.extra;
        let frame = frame.as_nanos();
        let mut checks = Checks::default();
        checks.related("period_ns", config.period_ns, at_least(frame), "shorter than a frame");
        checks.finish()?;
        let turn = |station: u32| (u64::from(station) * frame % config.period_ns, station);
        let mut turns: Vec<(u64, u32)> = (0..stations).map(turn).collect();
        turns.sort_unstable();
        Ok(Unsolicited { config, turns, next: 0, period_began: 0 })
    }
}

impl Grant for Unsolicited {
    fn rules(&self) -> GrantRules {
        GrantRules {
            asks: false,
            piggybacks: true,
            fallback: Some(Duration::from_nanos(self.config.fallback_ns)),
            largest: self.config.size_bytes,
        }
    }

    fn on_downlink(&mut self, _station: u32, _event: Downlink, _queued: u64) -> u64 {
        0
    }

    fn on_request(&mut self, _station: u32, _bytes: u64, _queued: u64) -> u64 {
        0
    }

    fn on_grant(&mut self, _station: u32, _granted: u64, _used: u64, _queued: u64) -> u64 {
        0
    }

    fn next_wakeup(&self) -> Time {
        let turn = self.turns.get(self.next);
        turn.map_or(Time::NEVER, |(offset, _)| Time::from_nanos(self.period_began + offset))
    }

    fn on_wake(&mut self, now: Time, add: &mut dyn FnMut(u32, u64)) {
        while self.next_wakeup() <= now {
            add(self.turns[self.next].1, self.config.size_bytes);
            self.next += 1;
            if self.next == self.turns.len() {
                self.next = 0;
                self.period_began += self.config.period_ns;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::GrantRegistry;
    use super::*;
    use airpath_core::Seed;

    #[test]
    fn every_station_gets_one_grant_per_period() {
        let config = UnsolicitedConfig { period_ns: 10_000_000, size_bytes: 46, fallback_ns: 0 };
        let registry = GrantRegistry::default();
        let extra = GrantContext { stations: 3, frame: Duration::from_millis(5) };
        let setup = Setup { seed: Seed::new(1, 0, "test"), registry: &registry, extra };
        let mut policy = Unsolicited::build(config, setup).expect("a valid configuration");
        let mut found = Vec::new();
        for _ in 0..4 {
            let now = policy.next_wakeup();
            policy.on_wake(now, &mut |station, bytes| {
                assert_eq!(bytes, 46);
                found.push((now.as_nanos() / 1_000_000, station));
            });
        }
        assert_eq!(found, [(0, 0), (0, 2), (5, 1), (10, 0), (10, 2), (15, 1)]);
    }
}
