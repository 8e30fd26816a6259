//! Records the steps of packets for the parts of their delays ([`DelayParts`]).
//!
//! Time belongs to places. In each direction of a flow, place 0 is the flow's wire before the first
//! hop, place `h + 1` is the hop at position `h`, and the last place is the flow's wire after the
//! last hop. A wire of the network may contain two delays: the propagation delay after the previous
//! hop, and the wire of another place.

use crate::wire::{DelayChange, Wire, WireDelay};
use airpath_core::{DelayPart, DelayParts, Duration, Packet, StageId, Time};

/// The place of a stage and of the wire in front of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StagePlace {
    /// Place of the stage and of the wire in front of it.
    place: u32,
    /// Place of the first delay of the wire: the hop before the wire.
    lead_place: u32,
    /// Delay that counts to `lead_place`.
    lead: Duration,
    /// True for an end of a flow.
    is_endpoint: bool,
}

/// The places of all stages. Empty if the parts of delays are not recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct StagePlaces {
    is_recorded: bool,
    places: Vec<StagePlace>,
}

impl StagePlaces {
    /// Creates the places of a network without stages.
    pub(crate) fn new(is_recorded: bool) -> StagePlaces {
        StagePlaces { is_recorded, places: Vec::new() }
    }

    /// Completes the places for a network of `stages` stages.
    pub(crate) fn complete(&mut self, stages: usize) {
        if self.is_recorded {
            self.places.resize(stages, StagePlace::default());
        }
    }

    fn of_mut(&mut self, stage: StageId) -> Option<&mut StagePlace> {
        if !self.is_recorded {
            return None;
        }
        let number = stage.0 as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, StagePlace::default());
        }
        Some(&mut self.places[number])
    }

    /// Records that a stage, and the wire in front of it, belong to the hop at `position`.
    pub(crate) fn set_hop(&mut self, stage: StageId, position: usize) {
        if let Some(place) = self.of_mut(stage) {
            place.place = position as u32 + 1;
        }
    }

    /// Records that the wire in front of `stage` starts with a delay of `lead`, which belongs to
    /// the hop at `position`.
    pub(crate) fn set_lead(&mut self, stage: StageId, position: usize, lead: Duration) {
        if let Some(place) = self.of_mut(stage) {
            (place.lead_place, place.lead) = (position as u32 + 1, lead);
        }
    }

    /// Records that `stage` is an endpoint behind the last wire of a flow on a path of `hops` hops.
    pub(crate) fn set_endpoint(&mut self, stage: StageId, hops: usize) {
        if let Some(place) = self.of_mut(stage) {
            (place.place, place.is_endpoint) = (hops as u32 + 1, true);
        }
    }

    /// Records that `stage`, a queue in front of the last wire of a flow, belongs to this wire.
    pub(crate) fn set_last_queue(&mut self, stage: StageId, hops: usize) {
        if let Some(place) = self.of_mut(stage)
            && !place.is_endpoint
        {
            place.place = hops as u32 + 1;
        }
    }

    /// Follows the change of the delay of the wire in front of `stage`.
    pub(crate) fn change_delay(&mut self, stage: StageId, change: DelayChange) {
        if let Some(place) = self.of_mut(stage).filter(|_| change.is_before_serializer) {
            let nanos = place.lead.as_nanos().saturating_add_signed(change.nanos);
            place.lead = Duration::from_nanos(nanos);
        }
    }

    /// Records that `packet`, which has left the stage `from`, enters the wire in front of `to` at
    /// `now`.
    pub(crate) fn cross(
        &self,
        parts: &mut DelayParts,
        packet: &Packet,
        [from, to]: [StageId; 2],
        wire: &Wire,
        now: Time,
    ) {
        let StagePlace { place, lead_place, lead, .. } = self.places[to.0 as usize];
        let WireDelay { wait, transmission, propagation, order } = wire.delay_of(packet, now);
        let lead = lead.min(propagation);
        let rest = Duration::from_nanos(propagation.as_nanos() - lead.as_nanos());
        let (place, lead_place) = (place as usize, lead_place as usize);
        // The wait for earlier packets whose delay was longer belongs to the variable delay.
        let order_place = if lead_place > 0 { lead_place } else { place };
        parts.cross(
            packet,
            from,
            to,
            [
                (lead_place, DelayPart::Propagation, lead),
                (place, DelayPart::Queueing, wait),
                (place, DelayPart::Service, transmission),
                (place, DelayPart::Propagation, rest),
                (order_place, DelayPart::Resequencing, order),
            ],
        );
    }

    /// Records that `packet` leaves the stage `from` at `now`.
    pub(crate) fn depart(&self, parts: &mut DelayParts, packet: &Packet, from: StageId, now: Time) {
        if self.places[from.0 as usize].is_endpoint {
            parts.start(packet, from, now);
        } else {
            parts.leave(packet, from, now);
        }
    }

    /// Records that `packet` arrives at `stage`.
    pub(crate) fn arrive(&self, parts: &mut DelayParts, packet: &Packet, stage: StageId) {
        parts.enter(packet, stage, self.places[stage.0 as usize].place as usize);
    }

    /// Returns true if `stage` is an endpoint.
    pub(crate) fn is_endpoint(&self, stage: StageId) -> bool {
        self.places[stage.0 as usize].is_endpoint
    }
}
