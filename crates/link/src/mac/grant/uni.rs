//! Grant policy UNI (wimax-2009 §2.2, §5.1): grants in the uplink do not depend on the downlink. A
//! station sends a request when data arrive. For data that remain after a burst it sends a
//! piggyback request.

use super::{Downlink, Grant, GrantContext, GrantRules};
use airpath_core::{Component, ConfigError, Setup, Time};
use serde::Deserialize;

/// Empty configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniConfig {}

/// Grant policy UNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uni;

impl Component<dyn Grant + Send, GrantContext> for Uni {
    type Config = UniConfig;

    fn build(
        _config: UniConfig,
        _setup: Setup<'_, dyn Grant + Send, GrantContext>,
    ) -> Result<Uni, ConfigError> {
        Ok(Uni)
    }
}

impl Grant for Uni {
    fn rules(&self) -> GrantRules {
        GrantRules { asks: true, piggybacks: true, fallback: None, largest: 0 }
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
        Time::NEVER
    }

    fn on_wake(&mut self, _now: Time, _add: &mut dyn FnMut(u32, u64)) {
        // This policy has no timer.
    }
}
