//! Delivery of packets in a network that is watched: by an observer, or by the record of the parts
//! of delays. All events are then in order of time.

use crate::delivery::Delivery;
use crate::routing::{Input, RouteKind};
use crate::running::Observer;
use airpath_core::{Ctx, Emission, Packet, Port, Stage, StageId, Time};

impl<O: Observer> Delivery<O> {
    /// Sets the observer.
    pub(crate) fn set_observer(&mut self, observer: O) {
        self.observer = Some(Box::new(observer));
        self.is_watched = true;
    }

    /// Returns the observer, if any.
    #[inline]
    pub(crate) fn observer(&mut self) -> Option<&mut O> {
        self.observer.as_deref_mut()
    }

    /// Removes and returns the observer, if any.
    pub(crate) fn take_observer(&mut self) -> Option<Box<O>> {
        self.is_watched = self.bus.recorder.delay_parts().is_some();
        self.observer.take()
    }

    /// Records that a stage has sent a packet to `input`.
    #[inline(never)]
    pub(crate) fn watch_departure(&mut self, now: Time, emission: &Emission, input: Input) {
        let (packet, from) = (&emission.packet, self.routing.origin(emission));
        if let Some(observer) = &mut self.observer {
            observer.see_departure(now, from, packet, input);
        }
        let Some(parts) = self.bus.recorder.delay_parts_mut() else { return };
        let (from, to, places) = (from.0, input.stage, &self.network.stage_places);
        places.depart(parts, packet, from, now);
        match input.way {
            RouteKind::Direct | RouteKind::DirectLate => parts.pass(packet, from, to),
            RouteKind::Wire | RouteKind::WireAhead | RouteKind::WireAheadOfEndpoint => {
                let wire = &self.places[to.0 as usize].wire;
                places.cross(parts, packet, [from, to], wire, now);
            }
            RouteKind::ByFlow | RouteKind::Exit | RouteKind::Nowhere => parts.forget(packet, from),
        }
    }

    /// Passes `packet` to `stage`, and records its arrival.
    #[inline(never)]
    pub(crate) fn receive_watched(
        &mut self,
        stage: StageId,
        port: Port,
        packet: &Packet,
        now: Time,
        outbox: &mut Vec<Emission>,
    ) {
        if let Some(observer) = &mut self.observer {
            observer.see_arrival(now, stage, packet);
        }
        let Delivery { network, bus, .. } = self;
        if let Some(parts) = bus.recorder.delay_parts_mut() {
            network.stage_places.arrive(parts, packet, stage);
        }
        let part = &mut network.stages[stage.0 as usize];
        let due = part.receive_then_next(port, packet, &mut Ctx::new(now, stage, bus, outbox));
        let is_measured = part.measures_delay_of(packet);
        if let Some(parts) = bus.recorder.delay_parts_mut()
            && network.stage_places.is_endpoint(stage)
        {
            parts.finish(packet, stage, now, is_measured);
        }
        self.places[stage.0 as usize].due = due;
        if due < now {
            self.goes_backwards(stage, due, now);
        }
    }
}
