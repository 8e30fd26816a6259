//! A network that runs: what is delivered where, and who is woken next, under any driver.
//!
//! It knows no clock. A driver says what the time is: in virtual time it jumps from one wake-up to
//! the next, in real time it waits for them. What a stage sends is delivered when the call that made
//! it send has returned, at the same instant.

use crate::any_stage::AnyStage;
use crate::network::Network;
use crate::open_end::OpenEnd;
use crate::report::ReplicationReport;
use crate::routing::{Input, Routing};
use airpath_core::{
    Bus, Control, Ctx, Emission, Packet, Port, Recorder, Stage, StageError, StageId, Time, Wakeups,
};

/// Somebody who sees every packet and changes nothing.
pub trait Observer {
    /// `packet` leaves the output `from` for `to`.
    fn see_departure(&mut self, now: Time, from: (StageId, Port), packet: &Packet, to: Input);

    /// `packet` has come to the endpoint `stage`, out of the wire that is part of it.
    fn see_arrival(&mut self, now: Time, stage: StageId, packet: &Packet);

    /// What made it fail, once; it ends the run. Asked after everything that it was shown.
    fn take_failure(&mut self) -> Option<StageError> {
        None
    }
}

/// Nobody.
impl Observer for () {
    fn see_departure(&mut self, _: Time, _: (StageId, Port), _: &Packet, _: Input) {}
    fn see_arrival(&mut self, _: Time, _: StageId, _: &Packet) {}
}

/// A packet that has left the network at an open end.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// The open end.
    pub end: StageId,
    /// The packet.
    pub packet: Packet,
}

/// A network, its event queue and the packets between its stages.
///
/// Somebody may observe it; without, a test of one pointer for each packet is all that it costs.
pub struct RunningNetwork<O = ()> {
    network: Network,
    routing: Routing,
    wakeups: Wakeups,
    bus: Bus,
    /// What is being delivered.
    emissions: Vec<Emission>,
    exits: Vec<Exit>,
    observer: Option<Box<O>>,
    /// What the observer is being shown.
    arrivals: Vec<(StageId, Packet)>,
}

impl<O: Observer> RunningNetwork<O> {
    /// A network to which nothing has happened yet; tell it [`Control::Begin`] first.
    pub fn new(mut network: Network) -> RunningNetwork<O> {
        let stages = network.stages.len();
        let bus = Bus::new(stages, std::mem::take(&mut network.recorder));
        RunningNetwork {
            routing: Routing::new(stages, &std::mem::take(&mut network.routes)),
            network,
            wakeups: Wakeups::new(stages),
            bus,
            emissions: Vec::with_capacity(64),
            exits: Vec::new(),
            observer: None,
            arrivals: Vec::new(),
        }
    }

    /// Lets `observer` see every packet from now on.
    pub fn observe(&mut self, observer: O) {
        self.bus.note_arrivals();
        self.observer = Some(Box::new(observer));
    }

    /// Who observes, if anybody does.
    #[inline]
    pub fn observer(&mut self) -> Option<&mut O> {
        self.observer.as_deref_mut()
    }

    /// Takes leave of the observer.
    pub fn take_observer(&mut self) -> Option<Box<O>> {
        self.observer.take()
    }

    /// The earliest wake-up and its stage. It may be early: a deadline that moved later does not
    /// touch the event queue, and the stage then only takes its true place.
    #[inline]
    pub fn first(&mut self) -> Option<(Time, StageId)> {
        self.wakeups.first()
    }

    /// Wakes the stage whose wake-up is the earliest, and delivers what follows.
    ///
    /// # Errors
    /// When a part fails.
    ///
    /// # Panics
    /// When no stage wants to be woken.
    #[inline]
    pub fn wake_first(&mut self, now: Time) -> Result<(), StageError> {
        let (_, stage) = self.wakeups.first().expect("a stage wants to be woken");
        self.wake(stage, now)
    }

    /// Wakes `stage`, which is the first, and delivers what follows.
    ///
    /// # Errors
    /// When a part fails.
    #[inline]
    pub fn wake(&mut self, stage: StageId, now: Time) -> Result<(), StageError> {
        let part = &mut self.network.stages[stage.0 as usize];
        let next = part.wake_if_due(&mut Ctx::new(now, stage, &mut self.bus));
        self.wakeups.set_first(next);
        self.deliver_all(now)
    }

    /// What follows from a call outside the event queue.
    #[inline(never)]
    fn deliver(&mut self, now: Time) -> Result<(), StageError> {
        self.deliver_all(now)
    }

    /// Delivers everything in the outbox, and what the deliveries send.
    #[inline]
    fn deliver_all(&mut self, now: Time) -> Result<(), StageError> {
        if self.observer.is_some() {
            self.show_arrivals(now);
        }
        while self.bus.take_emissions(&mut self.emissions) {
            for emission in &self.emissions {
                let input = self.routing.of(emission);
                let Input { stage, port } = input;
                if let Some(observer) = &mut self.observer {
                    let from = self.routing.origin(emission);
                    observer.see_departure(now, from, &emission.packet, input);
                }
                let Some(part) = self.network.stages.get_mut(stage.0 as usize) else {
                    if input == Input::EXIT {
                        let (end, _) = self.routing.origin(emission);
                        self.exits.push(Exit { end, packet: emission.packet });
                    }
                    continue;
                };
                let mut ctx = Ctx::new(now, stage, &mut self.bus);
                let next = part.receive_then_next(port, &emission.packet, &mut ctx);
                self.wakeups.set_if_earlier(stage, next);
            }
            if self.observer.is_some() {
                self.show_arrivals(now);
            }
        }
        if self.bus.has_failed() { Err(self.failure()) } else { Ok(()) }
    }

    #[cold]
    fn show_arrivals(&mut self, now: Time) {
        let Some(observer) = &mut self.observer else { return };
        self.bus.take_arrivals(&mut self.arrivals);
        for (stage, packet) in &self.arrivals {
            observer.see_arrival(now, *stage, packet);
        }
        if let Some(error) = observer.take_failure() {
            self.bus.fail(error);
        }
    }

    #[cold]
    fn failure(&mut self) -> StageError {
        self.bus.take_error().expect("asked for only when there is one")
    }

    /// Tells one stage of an event, and delivers what follows.
    ///
    /// # Errors
    /// When a part fails.
    pub fn tell(&mut self, stage: StageId, event: &Control, now: Time) -> Result<(), StageError> {
        let part = &mut self.network.stages[stage.0 as usize];
        part.control(event, &mut Ctx::new(now, stage, &mut self.bus));
        self.wakeups.set(stage, part.next_wakeup());
        self.deliver(now)
    }

    /// Tells every stage of an event, in order of their numbers. At the start of measurement all
    /// counters begin anew.
    ///
    /// # Errors
    /// When a part fails.
    pub fn tell_all(&mut self, event: &Control, now: Time) -> Result<(), StageError> {
        if *event == Control::StartMeasurement {
            self.bus.reset_counts();
            self.bus.recorder.restart_drop_counts(now);
        }
        (0..self.network.stages.len() as u32)
            .try_for_each(|stage| self.tell(StageId(stage), event, now))
    }

    /// Puts `packet` into the path at the open end `end`, as if the endpoint there had sent it.
    ///
    /// # Errors
    /// When a part fails.
    pub fn put_in(&mut self, end: StageId, packet: Packet, now: Time) -> Result<(), StageError> {
        Ctx::new(now, end, &mut self.bus).emit(OpenEnd::INTO_THE_PATH, packet);
        self.deliver(now)
    }

    /// Moves what has left at open ends since the last call to `exits`, in order, in the place of
    /// what is there.
    pub fn take_exits(&mut self, exits: &mut Vec<Exit>) {
        exits.clear();
        std::mem::swap(&mut self.exits, exits);
    }

    /// The network, to look at; its routes and its recorder are in use.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The stages, to look at.
    pub fn stages(&self) -> &[AnyStage] {
        &self.network.stages
    }

    /// The bus, to look at.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// The probes.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.bus.recorder
    }

    /// The recorded series.
    pub fn into_recorder(self) -> Recorder {
        self.bus.recorder
    }

    /// What was measured until `now`.
    pub fn report(&self, replication: u64, now: Time) -> ReplicationReport {
        self.network.report(replication, now, &self.bus)
    }
}
