//! Checks of the configuration of a TDD link.

use super::LEAST_PAYLOAD;
use super::radio::SETS;
use super::settings::{MapOverhead, StationConfig, TddConfig};
use super::slots::SlotSize;
use crate::context::{check_component, check_errors};
use crate::mac::grant::{AnyGrant, Grant, GrantContext, GrantRegistry};
use crate::mac::request::{AnyRequest, Request, RequestContext, RequestRegistry};
use crate::mac::scheduler::{AnyScheduler, Population, SchedulerRegistry};
use crate::retransmission::check_retransmission;
use airpath_core::{Checks, ConfigError, Rate, Seed, Setup, at_least, at_most, below};
use airpath_phy::snr::AnySnr;

/// Largest number of stations.
const MOST_STATIONS: u32 = 1000;
/// Shortest frame, ns.
const SHORTEST_FRAME_NS: u64 = 1000;
/// Longest frame, ns; also the longest offset.
const LONGEST_FRAME_NS: u64 = 3_600_000_000_000;
/// Largest number of slots of a frame, and of symbols of a slot.
const MOST_SLOTS: u64 = 1_000_000;
/// Largest number of frames between a map and the burst that it grants.
const MOST_RELEVANCE: u64 = 1000;
/// Configuration keys of the MCS and of the number of slots, by direction.
const SIDES: [(&str, &str); 2] =
    [("downlink_mcs", "downlink_slots"), ("uplink_mcs", "uplink_slots")];

impl TddConfig {
    /// Rejects values outside their ranges and values that contradict each other.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        self.check_frame(&mut checks);
        self.check_users(&mut checks);
        self.check_schemes(&mut checks);
        self.check_components(&mut checks);
        if checks.is_clean() {
            self.check_capacity(&mut checks);
            self.check_mac(&mut checks);
        }
        checks.finish()
    }

    fn check_frame(&self, checks: &mut Checks) {
        checks.within("frame_ns", self.frame_ns, SHORTEST_FRAME_NS..=LONGEST_FRAME_NS);
        checks.within("stations", self.stations, 1..=MOST_STATIONS);
        checks.within("decoded_ns", self.decoded_ns, 0..=LONGEST_FRAME_NS);
        let is_offset = checks.within("closed_ns", self.closed_ns, 0..=LONGEST_FRAME_NS);
        checks.within("received_ns", self.received_ns, 0..=LONGEST_FRAME_NS);
        if is_offset {
            let closed = at_least(self.closed_ns);
            checks.related("received_ns", self.received_ns, closed, "before closed");
        }
        let downlink = checks.within("downlink_slots", self.downlink_slots, 1..=MOST_SLOTS);
        checks.within("uplink_slots", self.uplink_slots, 1..=MOST_SLOTS);
        checks.within("slot_symbols", self.slot_symbols, 1..=MOST_SLOTS);
        let MapOverhead { slots, per_burst } = self.map_overhead;
        let is_small = checks.within("map_overhead.slots", slots, 0..=MOST_SLOTS)
            & checks.within("map_overhead.per_burst", per_burst, 0..=MOST_SLOTS);
        if downlink && is_small {
            let (field, larger, other) = if slots >= per_burst {
                ("map_overhead.slots", slots, per_burst)
            } else {
                ("map_overhead.per_burst", per_burst, slots)
            };
            let rest = below(self.downlink_slots.saturating_sub(other));
            checks.related(field, larger, rest, "leaves no slots for data in the downlink");
        }
        checks.within("map_relevance", self.map_relevance, 0..=MOST_RELEVANCE);
    }

    fn check_users(&self, checks: &mut Checks) {
        for (place, StationConfig { user, snr, .. }) in self.users.iter().enumerate() {
            let mut found = Checks::default();
            if self.stations > 0 {
                found.related("user", *user, 0..=self.stations - 1, "the link has no such station");
            }
            if self.users[..place].iter().any(|before| before.user == *user) {
                found.reject("user", user, "named before", "Use one entry for each station");
            }
            if self.radio.is_none() && snr.is_some() {
                found.reject("snr", "given", "the link has no radio", "Set radio, or leave it out");
            }
            checks.nested(&format!("users.{place}"), found.finish());
        }
    }

    fn check_schemes(&self, checks: &mut Checks) {
        let everyones = [&self.downlink_mcs, &self.uplink_mcs];
        for (side, (field, _)) in SIDES.into_iter().enumerate() {
            check_scheme(field, everyones[side], side, checks);
            for (place, user) in self.users.iter().enumerate() {
                if let Some(mcs) = [&user.downlink_mcs, &user.uplink_mcs][side] {
                    check_scheme(&format!("users.{place}.{field}"), mcs, side, checks);
                }
            }
        }
    }

    /// Checks the components of a station and of the air interface.
    fn check_components(&self, checks: &mut Checks) {
        check_retransmission(self.harq.as_ref(), self.arq, checks);
        if let Some(processes) = self.harq.as_ref().and_then(|harq| harq.processes) {
            let problem = "the HARQ processes of this link are unlimited";
            checks.reject("harq.processes", processes, problem, "Remove it");
        }
        check_errors("errors", self.errors.as_ref(), checks);
        check_errors("reverse_errors", self.reverse_errors.as_ref(), checks);
        if let Some(radio) = &self.radio {
            checks.nested("radio", radio.check());
        }
        for (place, user) in self.users.iter().enumerate() {
            if let Some(snr) = &user.snr {
                checks.nested(&format!("users.{place}.snr"), AnySnr::check(snr));
            }
        }
    }

    /// Rejects a direction if a frame cannot carry a header and a fragment of a packet.
    fn check_capacity(&self, checks: &mut Checks) {
        let needed = self.header() + LEAST_PAYLOAD;
        for (side, (_, field)) in SIDES.into_iter().enumerate() {
            let capacity = self.capacity(side);
            if capacity < needed {
                let direction = ["downlink", "uplink"][side];
                let problem = format!("leaves {capacity} bytes of a frame's {direction}");
                let advice = format!("Set a number that leaves {needed} or more");
                checks.reject(field, self.slots()[side], &problem, &advice);
            }
        }
    }

    /// Checks the request procedure, the grant policy and the scheduler, which depend on the frame.
    fn check_mac(&self, checks: &mut Checks) {
        let (seed, clock, stations) = (Seed::new(0, 0, ""), self.clock(), self.stations);
        let registry = &RequestRegistry::default();
        let extra = RequestContext { stations, clock };
        let request = Setup { seed: seed.clone(), registry, extra };
        let request =
            check_component(&self.request, AnyRequest::BUILT_IN, "request", checks, || {
                AnyRequest::build(&self.request, request)
            });
        let registry = &GrantRegistry::default();
        let extra = GrantContext { stations, frame: clock.frame() };
        let grant = Setup { seed: seed.clone(), registry, extra };
        let grant = check_component(&self.grant, AnyGrant::BUILT_IN, "grant", checks, || {
            AnyGrant::build(&self.grant, grant)
        });
        let registry = &SchedulerRegistry::default();
        let extra = Population::even(stations as usize, clock.frame(), Rate(1));
        let scheduler = Setup { seed, registry, extra };
        check_component(&self.scheduler, AnyScheduler::BUILT_IN, "scheduler", checks, || {
            AnyScheduler::build(&self.scheduler, scheduler)
        });
        let Some(rules) = grant.map(|grant| grant.rules()) else { return };
        let room = at_most(self.capacity(1));
        checks.related("grant.size_bytes", rules.largest, room, "more than a frame's uplink");
        if let Some(request) = request
            && rules.asks
            && !request.rules().can_ask
        {
            let kind = self.request["kind"].as_str().unwrap_or_default();
            let problem = "with this request and this grant no station is ever given an uplink";
            let advice = "Use another request or another grant";
            checks.reject("request.kind", kind, problem, advice);
        }
    }

    /// Numbers of slots for data in a frame: in the downlink without the slots of the maps, and in
    /// the uplink.
    pub(super) fn slots(&self) -> [u64; 2] {
        [self.downlink_slots - self.map_overhead.slots, self.uplink_slots]
    }

    /// Bytes that a frame carries in the direction `side` with the most robust MCS in use.
    pub(super) fn capacity(&self, side: usize) -> u64 {
        let slots = self.slots()[side];
        if self.radio.is_some() {
            return SlotSize::new(SETS[side].schemes[0], self.slot_symbols).bytes_of(slots);
        }
        let everyones = [&self.downlink_mcs, &self.uplink_mcs][side];
        let own = |user: &StationConfig| [&user.downlink_mcs, &user.uplink_mcs][side].clone();
        let named = self.users.iter().filter_map(own).chain([everyones.clone()]);
        let sizes = named.filter_map(|name| SETS[side].find(&name));
        let bytes = sizes.map(|mcs| SlotSize::new(mcs, self.slot_symbols).bytes_of(slots));
        bytes.min().unwrap_or(0)
    }
}

fn check_scheme(field: &str, name: &str, side: usize, checks: &mut Checks) {
    if SETS[side].find(name).is_none() {
        let advice = format!("Accepted: {}", SETS[side].listed());
        checks.reject(field, name, "not in the list of this direction", &advice);
    }
}
