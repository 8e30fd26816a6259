//! Registry of request procedures, one line each.

use super::{
    BandwidthRequest, NoRequest, RandomDelay, Ranging, Request, RequestContext, RequestCounts,
    RequestEvent, RequestRules, SchedulingRequest,
};
use airpath_core::{Duration, Registry, Time, built_in_components};

/// Request procedures registered at run time.
pub type RequestRegistry = Registry<dyn Request + Send, RequestContext>;

built_in_components! {
    /// Any request procedure.
    enum AnyRequest: dyn Request + Send, RequestContext {
        "random-delay" => RandomDelay(RandomDelay): "A random delay for each request; collisions add a timer.",
        "ranging" => Ranging(Ranging): "Ranging codes with collisions and back-off, then a header.",
        "scheduling-request" => SchedulingRequest(SchedulingRequest):
            "An opportunity in each period, then a buffer status: LTE and NR.",
        "none" => NoRequest(NoRequest): "Stations send no requests.",
    }
}

impl Request for AnyRequest {
    fn rules(&self) -> RequestRules {
        each_component!(self, request => request.rules())
    }
    fn send_request(&mut self, request: BandwidthRequest, now: Time) {
        each_component!(self, procedure => procedure.send_request(request, now));
    }
    #[inline]
    fn next_wakeup(&self) -> Time {
        each_component!(self, request => request.next_wakeup())
    }
    fn wake(&mut self, now: Time, received: &mut Vec<RequestEvent>) {
        each_component!(self, request => request.wake(now, received));
    }
    fn piggyback_delay(&mut self, station: u32) -> Duration {
        each_component!(self, request => request.piggyback_delay(station))
    }
    fn counts(&self, station: u32) -> RequestCounts {
        each_component!(self, request => request.counts(station))
    }
    fn restart_measurement(&mut self) {
        each_component!(self, request => request.restart_measurement());
    }
}
