//! A network that runs: what is delivered where, and who is woken next, under any driver.
//!
//! It has no clock. A driver sets the time: in virtual time it jumps from one wake-up to the next,
//! in real time it waits for them. What a stage sends is delivered when the call that made it send
//! has returned, at the same instant.

use crate::any_stage::AnyStage;
use crate::delivery::{Delivery, Outboxes};
use crate::network::Network;
use crate::open_end::OpenEnd;
use crate::report::ReplicationReport;
use crate::routing::Input;
use airpath_core::{
    Bus, Control, Ctx, Duration, Packet, PayloadHandle, Port, Recorder, StageError, StageId, Time,
};

/// Observer of all packets, which changes nothing.
pub trait Observer {
    /// `packet` leaves the output `from` for `to`.
    fn see_departure(&mut self, now: Time, from: (StageId, Port), packet: &Packet, to: Input);

    /// `packet` has come to `stage`, out of the wire in front of it if there is one.
    fn see_arrival(&mut self, now: Time, stage: StageId, packet: &Packet);

    /// Returns its error, once; it ends the run. Called after every observation.
    fn take_failure(&mut self) -> Option<StageError> {
        None
    }
}

/// No observer.
impl Observer for () {
    fn see_departure(&mut self, _: Time, _: (StageId, Port), _: &Packet, _: Input) {}
    fn see_arrival(&mut self, _: Time, _: StageId, _: &Packet) {}
}

/// A packet that has left the network at an open end.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Time in the network, even if it is handled later.
    pub at: Time,
    /// The open end.
    pub end: StageId,
    /// The packet.
    pub packet: Packet,
}

/// A component has failed.
#[derive(Debug)]
pub struct Failure {
    /// Time of the event.
    pub at: Time,
    /// Error of the component.
    pub source: StageError,
}

/// A network, its event queue and the packets between its stages.
///
/// Its observer is optional; without one, it costs a test of one pointer for each packet.
pub struct RunningNetwork<O = ()> {
    delivery: Delivery<O>,
    outboxes: Outboxes,
}

impl<O: Observer> RunningNetwork<O> {
    /// A network before its first event; send it [`Control::Begin`] first.
    pub fn new(network: Network) -> RunningNetwork<O> {
        RunningNetwork { delivery: Delivery::new(network), outboxes: Outboxes::default() }
    }

    /// Lets `observer` see every packet from now on, in order: no stage is late from then on.
    pub fn observe(&mut self, observer: O) {
        self.delivery.set_lateness(std::iter::repeat(Duration::ZERO));
        self.delivery.observer = Some(Box::new(observer));
    }

    /// The observer, if any.
    #[inline]
    pub fn observer(&mut self) -> Option<&mut O> {
        self.delivery.observer.as_deref_mut()
    }

    /// Takes leave of the observer.
    pub fn take_observer(&mut self) -> Option<Box<O>> {
        self.delivery.observer.take()
    }

    /// The earliest wake-up and its stage. It may be early: a deadline that moved later does not
    /// touch the event queue, and the stage then only takes its true place.
    #[inline]
    pub fn first(&mut self) -> Option<(Time, StageId)> {
        self.delivery.wakeups.first()
    }

    /// Wakes the stage whose wake-up is the earliest, and delivers what follows.
    ///
    /// # Errors
    /// When a component fails.
    ///
    /// # Panics
    /// When no stage has a wake-up.
    #[inline]
    pub fn wake_first(&mut self, now: Time) -> Result<(), Failure> {
        let (_, stage) = self.first().expect("a stage has a wake-up");
        self.wake(stage, now)
    }

    /// Wakes `stage`, which is the first, and delivers what follows.
    ///
    /// # Errors
    /// When a component fails.
    #[inline(always)]
    pub fn wake(&mut self, stage: StageId, now: Time) -> Result<(), Failure> {
        self.delivery.wake(stage, now, &mut self.outboxes);
        self.delivery.check()
    }

    /// From now on stages may be woken late, each by what `lateness` says; by stage, zero where it
    /// goes in order. What may be late is a question of what the network looks like: see the
    /// virtual-time driver.
    pub fn set_lateness(&mut self, lateness: &[Duration]) {
        self.delivery.set_lateness(lateness.iter().copied());
    }

    /// Until when stages may be run ahead, and no further.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.delivery.horizon = horizon;
    }

    /// Brings the stages that may be late to the instant before `until`, so that the network can be
    /// looked at.
    ///
    /// # Errors
    /// When a component fails.
    pub fn catch_up(&mut self, until: Time) -> Result<(), Failure> {
        self.delivery.catch_up_all(until, &mut self.outboxes);
        self.delivery.check()
    }

    /// Timers that went off and packets that came over wires, so far.
    pub fn events(&self) -> u64 {
        self.delivery.events
    }

    /// Delivers the packets of a call outside the event queue.
    #[inline(never)]
    fn deliver(&mut self, now: Time) -> Result<(), Failure> {
        self.delivery.deliver_all(now, &mut self.outboxes);
        self.delivery.check()
    }

    /// Sends a control event to one stage, and delivers the packets that it sends.
    ///
    /// # Errors
    /// When a component fails.
    pub fn send_control(
        &mut self,
        stage: StageId,
        event: &Control,
        now: Time,
    ) -> Result<(), Failure> {
        self.delivery.send_control(stage, event, now, &mut self.outboxes.current);
        self.deliver(now)
    }

    /// Sends a control event to all stages, in order of their numbers. `StartMeasurement` resets
    /// all counters.
    ///
    /// # Errors
    /// When a component fails.
    pub fn broadcast_control(&mut self, event: &Control, now: Time) -> Result<(), Failure> {
        if *event == Control::StartMeasurement {
            self.delivery.bus.reset_counts(now);
        }
        (0..self.delivery.network.stages.len() as u32)
            .try_for_each(|stage| self.send_control(StageId(stage), event, now))
    }

    /// Puts `packet` into the path at the open end `end`, as if the endpoint there had sent it.
    ///
    /// # Errors
    /// When a component fails.
    pub fn put_in(&mut self, end: StageId, packet: Packet, now: Time) -> Result<(), Failure> {
        let outbox = &mut self.outboxes.current;
        Ctx::new(now, end, &mut self.delivery.bus, outbox).emit(OpenEnd::INTO_THE_PATH, packet);
        self.deliver(now)
    }

    /// Moves what has left at open ends since the last call to `exits`, in order, replacing its
    /// contents.
    pub fn take_exits(&mut self, exits: &mut Vec<Exit>) {
        exits.clear();
        std::mem::swap(&mut self.delivery.exits, exits);
    }

    /// Adds to `handles` those of real bytes whose packets were dropped since the last call.
    pub fn take_released(&mut self, handles: &mut Vec<PayloadHandle>) {
        handles.append(self.delivery.bus.released());
    }

    /// The network, to look at; its routes and its recorder are in use.
    pub fn network(&self) -> &Network {
        &self.delivery.network
    }

    /// The stages, to look at.
    pub fn stages(&self) -> &[AnyStage] {
        &self.delivery.network.stages
    }

    /// The bus, to look at.
    pub fn bus(&self) -> &Bus {
        &self.delivery.bus
    }

    /// The probes.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.delivery.bus.recorder
    }

    /// The recorded series.
    pub fn into_recorder(self) -> Recorder {
        self.delivery.bus.recorder
    }

    /// Returns the network and the bus; frees the event queue, routes and wires.
    pub fn into_parts(self) -> (Network, Bus) {
        let Delivery { network, bus, .. } = self.delivery;
        (network, bus)
    }

    /// Returns the measurements until `now`.
    pub fn report(&self, replication: u64, now: Time) -> ReplicationReport {
        self.network().report(replication, now, self.bus())
    }
}
