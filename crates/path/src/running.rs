//! A running network, which delivers packets and wakes stages. Any driver can run it.
//!
//! A running network has no clock. The driver sets the time: in virtual time it jumps from one
//! wake-up to the next, in real time it waits for each wake-up. Packets that a stage sends during a
//! call are delivered after the call returns, at the same instant.

use crate::any_stage::AnyStage;
use crate::delivery::Delivery;
use crate::network::{Change, Network};
use crate::open_end::OpenEnd;
use crate::outboxes::Outboxes;
use crate::report::ReplicationReport;
use crate::routing::Input;
use airpath_core::{
    Bus, Control, Ctx, Duration, Packet, PayloadHandle, Port, Recorder, StageError, StageId, Time,
};

/// Observer of all packets. An observer does not change the run.
pub trait Observer {
    /// Called when `packet` leaves the output `from` towards `to`.
    fn see_departure(&mut self, now: Time, from: (StageId, Port), packet: &Packet, to: Input);

    /// Called when `packet` arrives at `stage`, after the wire in front of the stage.
    fn see_arrival(&mut self, now: Time, stage: StageId, packet: &Packet);

    /// Returns the observer's error, if any; later calls return `None`. Called after every
    /// observation. An error ends the run.
    fn take_failure(&mut self) -> Option<StageError> {
        None
    }
}

/// Observer that ignores all packets.
impl Observer for () {
    fn see_departure(&mut self, _: Time, _: (StageId, Port), _: &Packet, _: Input) {}
    fn see_arrival(&mut self, _: Time, _: StageId, _: &Packet) {}
}

/// A packet that has left the network at an open end.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Network time at which the packet left, even if it is processed later.
    pub at: Time,
    /// The open end.
    pub end: StageId,
    /// The packet.
    pub packet: Packet,
}

/// Failure of a component.
#[derive(Debug)]
pub struct Failure {
    /// Time of the event.
    pub at: Time,
    /// Error of the component.
    pub source: StageError,
}

/// A network, its event queue and the packets between its stages.
///
/// The observer is optional. Without an observer, the cost is one pointer test per packet.
pub struct RunningNetwork<O = ()> {
    delivery: Delivery<O>,
    outboxes: Outboxes,
}

impl<O: Observer> RunningNetwork<O> {
    /// Creates a running network before its first event. Send [`Control::Begin`] first.
    pub fn new(network: Network) -> RunningNetwork<O> {
        RunningNetwork { delivery: Delivery::new(network), outboxes: Outboxes::default() }
    }

    /// Adds an observer, which is notified of every packet from now on, in time order. To ensure
    /// this order, no stage is called late from now on.
    pub fn observe(&mut self, observer: O) {
        self.delivery.set_lateness(std::iter::repeat(Duration::ZERO));
        self.delivery.set_observer(observer);
    }

    /// Returns the observer, if any.
    #[inline]
    pub fn observer(&mut self) -> Option<&mut O> {
        self.delivery.observer()
    }

    /// Removes and returns the observer.
    pub fn take_observer(&mut self) -> Option<Box<O>> {
        self.delivery.take_observer()
    }

    /// Returns the earliest wake-up and its stage. The wake-up may be earlier than the next event
    /// of the stage, because the event queue is not updated when a deadline moves to a later time.
    /// In this case, waking the stage only updates its entry.
    #[inline]
    pub fn first(&mut self) -> Option<(Time, StageId)> {
        self.delivery.wakeups.first()
    }

    /// Wakes the stage with the earliest wake-up, and delivers the packets that it sends.
    ///
    /// # Errors
    /// Fails if a component fails.
    ///
    /// # Panics
    /// Panics if no stage has a wake-up.
    #[inline]
    pub fn wake_first(&mut self, now: Time) -> Result<(), Failure> {
        let (_, stage) = self.first().expect("a stage has a wake-up");
        self.wake(stage, now)
    }

    /// Wakes `stage`, which must have the earliest wake-up, and delivers the packets that it sends.
    ///
    /// # Errors
    /// Fails if a component fails.
    #[inline(always)]
    pub fn wake(&mut self, stage: StageId, now: Time) -> Result<(), Failure> {
        self.delivery.wake(stage, now, &mut self.outboxes);
        self.delivery.check()
    }

    /// Sets the maximum lateness of each stage; zero for a stage that is called in time order. The
    /// permitted lateness depends on the topology; the virtual-time driver computes it.
    pub fn set_lateness(&mut self, lateness: &[Duration]) {
        self.delivery.set_lateness(lateness.iter().copied());
    }

    /// Sets the time before which stages may be run ahead of time.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.delivery.horizon = horizon;
    }

    /// Processes all events before `until` at the stages that may be late, so that the state of the
    /// network can be read.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn catch_up(&mut self, until: Time) -> Result<(), Failure> {
        self.delivery.catch_up_all(until, &mut self.outboxes);
        self.delivery.check()
    }

    /// Returns the number of expired timers and of packets that arrived over wires, so far.
    pub fn events(&self) -> u64 {
        self.delivery.events
    }

    /// Delivers the packets sent by a call that did not come from the event queue.
    #[inline(never)]
    fn deliver(&mut self, now: Time) -> Result<(), Failure> {
        self.delivery.deliver_all(now, &mut self.outboxes);
        self.delivery.check()
    }

    /// Sends a control event to one stage, and delivers the packets that it sends.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn send_control(
        &mut self,
        stage: StageId,
        event: &Control,
        now: Time,
    ) -> Result<(), Failure> {
        self.delivery.send_control(stage, event, now, &mut self.outboxes.current);
        self.deliver(now)
    }

    /// Makes the change of an event of the scenario.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn apply(&mut self, change: &Change, now: Time) -> Result<(), Failure> {
        match change {
            Change::Stage(stage, control) => self.send_control(*stage, control, now),
            Change::Wires(changes) => {
                self.delivery.change_delays(changes);
                Ok(())
            }
        }
    }

    /// Sends a control event to all stages, in order of their numbers. `StartMeasurement` resets
    /// all counters.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn broadcast_control(&mut self, event: &Control, now: Time) -> Result<(), Failure> {
        if *event == Control::StartMeasurement {
            self.delivery.bus.reset_counts(now);
        }
        (0..self.delivery.network.stages.len() as u32)
            .try_for_each(|stage| self.send_control(StageId(stage), event, now))
    }

    /// Injects `packet` into the path at the open end `end`, as if the endpoint had sent it.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn put_in(&mut self, end: StageId, packet: Packet, now: Time) -> Result<(), Failure> {
        let outbox = &mut self.outboxes.current;
        Ctx::new(now, end, &mut self.delivery.bus, outbox).emit(OpenEnd::INTO_THE_PATH, packet);
        self.deliver(now)
    }

    /// Moves the packets that have left at open ends since the last call to `exits`, in order.
    /// Replaces the contents of `exits`.
    pub fn take_exits(&mut self, exits: &mut Vec<Exit>) {
        exits.clear();
        std::mem::swap(&mut self.delivery.exits, exits);
    }

    /// Appends to `handles` the payload handles of the packets that were dropped since the last
    /// call.
    pub fn take_released(&mut self, handles: &mut Vec<PayloadHandle>) {
        handles.append(self.delivery.bus.released());
    }

    /// Returns the network. Its routes, wires and recorder have been moved out and are empty.
    pub fn network(&self) -> &Network {
        &self.delivery.network
    }

    /// Returns the stages.
    pub fn stages(&self) -> &[AnyStage] {
        &self.delivery.network.stages
    }

    /// Returns the bus.
    pub fn bus(&self) -> &Bus {
        &self.delivery.bus
    }

    /// Returns the recorder.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.delivery.bus.recorder
    }

    /// Returns the recorder with the recorded series.
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
