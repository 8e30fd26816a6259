//! Request procedure without requests. Stations send data only in proactive grants.

use super::{BandwidthRequest, Request, RequestContext, RequestCounts, RequestEvent, RequestRules};
use airpath_core::{Component, ConfigError, Duration, Setup, Time};
use serde::Deserialize;

/// Empty configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoRequestConfig {}

/// Request procedure that never sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRequest;

impl Component<dyn Request + Send, RequestContext> for NoRequest {
    type Config = NoRequestConfig;

    fn build(
        _config: NoRequestConfig,
        _setup: Setup<'_, dyn Request + Send, RequestContext>,
    ) -> Result<NoRequest, ConfigError> {
        Ok(NoRequest)
    }
}

impl Request for NoRequest {
    fn rules(&self) -> RequestRules {
        RequestRules { per_packet: false, can_ask: false }
    }

    fn send_request(&mut self, _request: BandwidthRequest, _now: Time) {
        // The rules exclude requests.
    }

    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    fn wake(&mut self, _now: Time, _heard: &mut Vec<RequestEvent>) {
        // This procedure has no timer.
    }

    fn piggyback_delay(&mut self, _station: u32) -> Duration {
        Duration::ZERO
    }

    fn counts(&self, _station: u32) -> RequestCounts {
        RequestCounts::default()
    }

    fn restart_measurement(&mut self) {
        // There are no counters.
    }
}
