//! Registry of grant policies, one line each.

use super::{AdaptBi, BlindBi, Downlink, Grant, GrantContext, GrantRules, Uni, Unsolicited};
use airpath_core::{Registry, Time, built_in_components};

/// Grant policies registered at run time.
pub type GrantRegistry = Registry<dyn Grant + Send, GrantContext>;

built_in_components! {
    /// Any grant policy.
    enum AnyGrant: dyn Grant + Send, GrantContext {
        "uni" => Uni(Uni): "No proactive grants: stations send requests.",
        "blind-bi" => BlindBi(BlindBi): "A grant for an ACK with every served packet.",
        "adapt-bi" => AdaptBi(AdaptBi): "As blind-bi while no request is pending; piggyback requests.",
        "unsolicited" => Unsolicited(Unsolicited): "A grant in each period: UGS, configured grants.",
    }
}

impl Grant for AnyGrant {
    fn rules(&self) -> GrantRules {
        each_component!(self, grant => grant.rules())
    }
    #[inline]
    fn on_downlink(&mut self, station: u32, event: Downlink, queued: u64) -> u64 {
        each_component!(self, grant => grant.on_downlink(station, event, queued))
    }
    fn on_request(&mut self, station: u32, bytes: u64, queued: u64) -> u64 {
        each_component!(self, grant => grant.on_request(station, bytes, queued))
    }
    #[inline]
    fn on_grant(&mut self, station: u32, granted: u64, used: u64, queued: u64) -> u64 {
        each_component!(self, grant => grant.on_grant(station, granted, used, queued))
    }
    #[inline]
    fn next_wakeup(&self) -> Time {
        each_component!(self, grant => grant.next_wakeup())
    }
    fn on_wake(&mut self, now: Time, add: &mut dyn FnMut(u32, u64)) {
        each_component!(self, grant => grant.on_wake(now, add));
    }
}
