//! Grant policy blind-BI (wimax-2009 §4.1): for each packet that is served to a station, the
//! station receives a grant for an ACK, even if it has no data. A station sends a request only if
//! it has received no grant for the fallback time.

use super::proactive::{ProactiveConfig, check_grant};
use super::{Downlink, Grant, GrantContext, GrantRules};
use airpath_core::{Component, ConfigError, Setup, Time};

/// Grant policy blind-BI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlindBi {
    config: ProactiveConfig,
}

impl Component<dyn Grant + Send, GrantContext> for BlindBi {
    type Config = ProactiveConfig;

    fn check(config: &ProactiveConfig) -> Result<(), ConfigError> {
        check_grant(config.size_bytes, config.fallback_ns)
    }

    fn build(
        config: ProactiveConfig,
        _setup: Setup<'_, dyn Grant + Send, GrantContext>,
    ) -> Result<BlindBi, ConfigError> {
        Ok(BlindBi { config })
    }
}

impl Grant for BlindBi {
    fn rules(&self) -> GrantRules {
        self.config.rules(false)
    }

    fn on_downlink(&mut self, _station: u32, event: Downlink, _queued: u64) -> u64 {
        if self.config.when.is(event) { self.config.size_bytes } else { 0 }
    }

    fn on_request(&mut self, _station: u32, _bytes: u64, _queued: u64) -> u64 {
        0
    }

    fn on_grant(&mut self, _station: u32, _granted: u64, _used: u64, _queued: u64) -> u64 {
        0
    }

    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    fn on_wake(&mut self, _now: Time, _add: &mut dyn FnMut(u32, u64)) {
        // This policy has no timer.
    }
}

#[cfg(test)]
mod tests {
    use super::super::GrantTiming;
    use super::*;

    const RECEIVED: Downlink = Downlink::Ended { is_received: true };
    const LOST: Downlink = Downlink::Ended { is_received: false };

    fn policy(when: GrantTiming) -> BlindBi {
        BlindBi { config: ProactiveConfig { size_bytes: 46, when, fallback_ns: 0 } }
    }

    #[test]
    fn every_served_packet_gets_a_grant_for_an_ack() {
        let grants = |when| {
            let mut policy = policy(when);
            [Downlink::Sent, RECEIVED, LOST].map(|event| policy.on_downlink(0, event, 92))
        };
        assert_eq!(grants(GrantTiming::Served), [0, 46, 46]);
        assert_eq!(grants(GrantTiming::FirstTransmission), [46, 0, 0]);
        assert_eq!(grants(GrantTiming::Delivered), [0, 46, 0]);
        assert!(!policy(GrantTiming::Served).rules().piggybacks);
    }
}
