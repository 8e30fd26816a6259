//! Grant policy adapt-BI (wimax-2009 §4.2, Fig. 5): for each packet that is served to a station,
//! the station receives a grant for an ACK if its request queue is empty. If data remain after a
//! burst, the station requests bandwidth by piggyback.

use super::proactive::{ProactiveConfig, check_grant};
use super::{Downlink, Grant, GrantContext, GrantRules};
use airpath_core::{Component, ConfigError, Setup, Time};

/// Grant policy adapt-BI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptBi {
    config: ProactiveConfig,
}

impl Component<dyn Grant + Send, GrantContext> for AdaptBi {
    type Config = ProactiveConfig;

    fn check(config: &ProactiveConfig) -> Result<(), ConfigError> {
        check_grant(config.size_bytes, config.fallback_ns)
    }

    fn build(
        config: ProactiveConfig,
        _setup: Setup<'_, dyn Grant + Send, GrantContext>,
    ) -> Result<AdaptBi, ConfigError> {
        Ok(AdaptBi { config })
    }
}

impl Grant for AdaptBi {
    fn rules(&self) -> GrantRules {
        self.config.rules(true)
    }

    fn on_downlink(&mut self, _station: u32, event: Downlink, queued: u64) -> u64 {
        if queued == 0 && self.config.when.is(event) { self.config.size_bytes } else { 0 }
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

    fn policy(when: GrantTiming) -> AdaptBi {
        AdaptBi { config: ProactiveConfig { size_bytes: 46, when, fallback_ns: 0 } }
    }

    /// Fig. 5: the grant depends on the request queue of the connection.
    #[test]
    fn fig5_no_grant_while_a_request_is_pending() {
        let mut adapt = policy(GrantTiming::Served);
        assert_eq!(adapt.on_downlink(0, RECEIVED, 0), 46);
        assert_eq!(adapt.on_downlink(0, RECEIVED, 46), 0);
        assert_eq!(adapt.on_downlink(0, LOST, 0), 46);
        assert_eq!(policy(GrantTiming::Delivered).on_downlink(0, LOST, 0), 0);
        assert!(adapt.rules().piggybacks);
    }
}
