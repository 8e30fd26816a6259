//! The inside of a running network: who is called next, and what is delivered where.

use crate::network::Network;
use crate::routing::{Input, Routing, Way};
use crate::running::{Exit, Observer};
use crate::wire::Wire;
use airpath_core::{Bus, Ctx, Emission, Packet, Port, Stage, StageError, StageId, Time, Wakeups};

/// What is known of a stage without looking at it: one cache line.
#[repr(align(64))]
pub(crate) struct Place {
    /// What is on its way to the stage.
    wire: Wire,
    /// The earliest of the stage's own timers.
    due: Time,
}

impl Place {
    /// When something happens there next.
    #[inline]
    fn next(&self) -> Time {
        self.due.min(self.wire.next_arrival())
    }
}

/// What stages have sent and nobody has delivered yet.
#[derive(Default)]
pub(crate) struct Outboxes {
    /// What is being delivered.
    pub(crate) current: Vec<Emission>,
    /// What that gives rise to.
    next: Vec<Emission>,
}

/// The stages, what is between them, and when they are woken.
pub(crate) struct Delivery<O> {
    pub(crate) network: Network,
    pub(crate) bus: Bus,
    pub(crate) observer: Option<Box<O>>,
    pub(crate) exits: Vec<Exit>,
    pub(crate) wakeups: Wakeups,
    routing: Routing,
    /// By stage.
    places: Box<[Place]>,
}

impl<O: Observer> Delivery<O> {
    pub(crate) fn new(mut network: Network) -> Delivery<O> {
        let stages = network.stages.len();
        let bus = Bus::new(stages, std::mem::take(&mut network.recorder));
        let routing = Routing::new(&network.wires, &std::mem::take(&mut network.routes));
        let wires = std::mem::take(&mut network.wires).into_iter();
        Delivery {
            network,
            bus,
            observer: None,
            exits: Vec::new(),
            wakeups: Wakeups::new(stages),
            routing,
            places: wires.map(|wire| Place { wire, due: Time::NEVER }).collect(),
        }
    }

    /// Does what is due at `stage` by `now`; gives when something happens there next.
    #[inline]
    pub(crate) fn run_due(
        &mut self,
        stage: StageId,
        now: Time,
        outbox: &mut Vec<Emission>,
    ) -> Time {
        let place = &mut self.places[stage.0 as usize];
        let part = &mut self.network.stages[stage.0 as usize];
        if place.due <= now {
            place.due = part.wake_then_next(&mut Ctx::new(now, stage, &mut self.bus, outbox));
        }
        while let Some(packet) = place.wire.arrived(now) {
            if let Some(observer) = &mut self.observer {
                observer.see_arrival(now, stage, packet);
            }
            let mut ctx = Ctx::new(now, stage, &mut self.bus, outbox);
            place.due = part.receive_then_next(Port(0), packet, &mut ctx);
            place.wire.drop_arrived();
            if place.due <= now {
                place.due = part.wake_then_next(&mut Ctx::new(now, stage, &mut self.bus, outbox));
            }
        }
        place.next()
    }

    /// Delivers everything that was sent, and what the deliveries send.
    #[inline]
    pub(crate) fn deliver_all(
        &mut self,
        now: Time,
        outboxes: &mut Outboxes,
    ) -> Result<(), StageError> {
        let Outboxes { current, next } = outboxes;
        while !current.is_empty() {
            for emission in current.iter() {
                self.deliver(emission, now, next);
            }
            current.clear();
            std::mem::swap(current, next);
        }
        if let Some(observer) = &mut self.observer
            && let Some(error) = observer.take_failure()
        {
            self.bus.fail(error);
        }
        if self.bus.has_failed() { Err(self.failure()) } else { Ok(()) }
    }

    #[cold]
    fn failure(&mut self) -> StageError {
        self.bus.take_error().expect("asked for only when there is one")
    }

    #[inline]
    fn deliver(&mut self, emission: &Emission, now: Time, outbox: &mut Vec<Emission>) {
        let Emission { packet, .. } = emission;
        let input = self.routing.of(emission);
        if let Some(observer) = &mut self.observer {
            let from = self.routing.origin(emission);
            observer.see_departure(now, from, packet, input);
        }
        match input.way {
            Way::Direct => self.feed(input, packet, now, outbox),
            Way::Wire => self.put(input.stage, packet, now),
            Way::Exit => {
                let (end, _) = self.routing.origin(emission);
                self.exits.push(Exit { end, packet: *packet });
            }
            Way::Nowhere => {}
        }
    }

    /// Gives `packet` to a stage with no wire in front of it.
    #[inline]
    fn feed(&mut self, input: Input, packet: &Packet, now: Time, outbox: &mut Vec<Emission>) {
        let Input { stage, port, .. } = input;
        let place = &mut self.places[stage.0 as usize];
        let part = &mut self.network.stages[stage.0 as usize];
        if place.due <= now {
            place.due = part.wake_then_next(&mut Ctx::new(now, stage, &mut self.bus, outbox));
        }
        if let Some(observer) = &mut self.observer {
            observer.see_arrival(now, stage, packet);
        }
        let mut ctx = Ctx::new(now, stage, &mut self.bus, outbox);
        place.due = part.receive_then_next(port, packet, &mut ctx);
        self.wakeups.set_if_earlier(stage, place.due);
    }

    /// Puts `packet` on the wire to `stage`, where it concerns nobody yet.
    #[inline]
    fn put(&mut self, stage: StageId, packet: &Packet, now: Time) {
        let place = &mut self.places[stage.0 as usize];
        if place.wire.put(packet, now) {
            self.wakeups.set_if_earlier(stage, place.wire.next_arrival());
        }
    }

    /// Tells a stage of something, and when it is to be woken.
    pub(crate) fn tell(
        &mut self,
        stage: StageId,
        event: &airpath_core::Control,
        now: Time,
        outbox: &mut Vec<Emission>,
    ) {
        let place = &mut self.places[stage.0 as usize];
        let part = &mut self.network.stages[stage.0 as usize];
        part.control(event, &mut Ctx::new(now, stage, &mut self.bus, outbox));
        place.due = part.next_wakeup();
        self.wakeups.set(stage, place.next());
    }
}
