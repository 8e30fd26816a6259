//! Delivers packets to the stages of a running network, and wakes the stages.
//!
//! A stage may be called late if this has no effect on other stages. A stage may be called ahead of
//! time if no other event can reach it before. In both cases each call has the time of the stage's
//! own event. `airpath_sim`'s lookahead selects these stages and gives the reasons. If all lateness
//! values are zero, events are processed in order of time and stage number.

use crate::bad_wakeup::{LivelockDetector, backwards};
use crate::clocks::Clocks;
use crate::network::Network;
use crate::outboxes::{FreeOutboxes, Outboxes};
use crate::routing::{Input, RouteKind, Routing};
use crate::running::{Exit, Failure, Observer};
use crate::wire::{DelayChange, Wire};
use airpath_core::{
    Bus, Control, Ctx, Duration, Emission, Packet, Port, Stage, StageId, Time, Wakeups,
};

/// Data about a stage that can be read without loading the stage itself. Fits into one cache line.
#[repr(align(64))]
pub(crate) struct StageSlot {
    /// Packets in flight to the stage.
    pub(crate) wire: Wire,
    /// Time of the stage's earliest timer.
    pub(crate) due: Time,
    /// Maximum lateness of the stage's wake-ups; zero for a stage that is called in time order.
    lateness: Duration,
}

impl StageSlot {
    /// Returns the time of the next event of the stage: timer or arrival.
    #[inline]
    fn next(&self) -> Time {
        self.due.min(self.wire.next_arrival())
    }

    /// Returns true if the next event is a timer. Timers precede arrivals at the same time.
    #[inline]
    fn timer_is_next(&self) -> bool {
        self.due <= self.wire.next_arrival()
    }

    /// Returns the time of the stage in the event queue.
    #[inline]
    fn wakeup(&self) -> Time {
        self.next() + self.lateness
    }

    #[inline]
    fn goes_in_order(&self) -> bool {
        self.lateness == Duration::ZERO
    }
}

/// The stages of a network, the wires and routes between them, and their wake-ups.
pub(crate) struct Delivery<O> {
    pub(crate) network: Network,
    pub(crate) bus: Bus,
    pub(crate) observer: Option<Box<O>>,
    /// True if there is an observer or if the parts of delays are recorded.
    pub(crate) is_watched: bool,
    pub(crate) exits: Vec<Exit>,
    pub(crate) wakeups: Wakeups,
    /// Number of expired timers plus number of packets that arrived over wires.
    pub(crate) events: u64,
    /// Events at this time or later are not processed ahead of time.
    pub(crate) horizon: Time,
    pub(crate) routing: Routing,
    /// Slot of each stage.
    pub(crate) places: Box<[StageSlot]>,
    /// Stages that are not called in time order.
    free: Vec<StageId>,
    clocks: Clocks,
    repeats: LivelockDetector,
}

impl<O: Observer> Delivery<O> {
    pub(crate) fn new(mut network: Network) -> Delivery<O> {
        let stages = network.stages.len();
        let bus = Bus::new(stages, std::mem::take(&mut network.recorder));
        let is_watched = bus.recorder.delay_parts().is_some();
        let routing = Routing::new(&network.wires, &std::mem::take(&mut network.routes));
        let wires = std::mem::take(&mut network.wires).into_iter();
        let place = |wire| StageSlot { wire, due: Time::NEVER, lateness: Duration::ZERO };
        Delivery {
            network,
            bus,
            observer: None,
            is_watched,
            exits: Vec::new(),
            wakeups: Wakeups::new(stages),
            events: 0,
            horizon: Time::ZERO,
            routing,
            places: wires.map(place).collect(),
            free: Vec::new(),
            clocks: Clocks::default(),
            repeats: LivelockDetector::default(),
        }
    }

    /// Sets the maximum lateness of each stage, in order of stage number.
    pub(crate) fn set_lateness(&mut self, by_stage: impl Iterator<Item = Duration>) {
        self.free.clear();
        for ((place, lateness), number) in self.places.iter_mut().zip(by_stage).zip(0..) {
            place.lateness = lateness;
            self.wakeups.set(StageId(number), place.wakeup());
            if !place.goes_in_order() {
                self.free.push(StageId(number));
            }
        }
        let places = &self.places;
        let flows = self.network.flows.iter();
        let endpoints: Vec<StageId> = flows.flat_map(|flow| [flow.source, flow.sink]).collect();
        self.routing.set_free(&endpoints, |stage| !places[stage.0 as usize].goes_in_order());
    }

    /// Wakes `stage`, which has the earliest wake-up, and delivers the packets that it sends.
    #[inline(always)]
    pub(crate) fn wake(&mut self, stage: StageId, now: Time, outboxes: &mut Outboxes) {
        if !self.places[stage.0 as usize].goes_in_order() {
            return self.wake_late(stage, now, outboxes);
        }
        // Common case: exactly one packet has arrived.
        let place = &self.places[stage.0 as usize];
        if place.wire.next_arrival() <= now && !place.timer_is_next() {
            self.arrive(stage, &mut outboxes.current);
        }
        let mut next = self.places[stage.0 as usize].next();
        if next <= now {
            next = self.run_due(stage, now, &mut outboxes.current);
        }
        self.wakeups.set_first(next);
        self.deliver_all(now, outboxes);
    }

    /// Processes the events of `stage` up to `now`. Returns the time of its next event.
    #[inline(never)]
    fn run_due(&mut self, stage: StageId, now: Time, outbox: &mut Vec<Emission>) -> Time {
        loop {
            let next = self.places[stage.0 as usize].next();
            if next > now {
                return next;
            }
            if self.places[stage.0 as usize].timer_is_next() {
                self.wake_now(stage, outbox);
            } else {
                self.arrive_apart(stage, outbox);
            }
        }
    }

    #[inline(never)]
    fn wake_late(&mut self, stage: StageId, now: Time, outboxes: &mut Outboxes) {
        self.catch_up(stage, now, &mut outboxes.freely);
        self.wakeups.set(stage, self.places[stage.0 as usize].wakeup());
    }

    /// Wakes `stage` for its earliest timer. Returns the time of that timer.
    #[inline(always)]
    fn wake_now(&mut self, stage: StageId, outbox: &mut Vec<Emission>) -> Time {
        self.events += 1;
        let place = &mut self.places[stage.0 as usize];
        let part = &mut self.network.stages[stage.0 as usize];
        let now = place.due;
        self.clocks.advance(stage, now);
        let due = part.wake_then_next(&mut Ctx::new(now, stage, &mut self.bus, outbox));
        place.due = due;
        if due <= now {
            place.due = self.repeats.judge(stage, due, now, &mut self.bus);
        }
        now
    }

    /// Delivers the next packet on the wire to `stage`. Returns the arrival time.
    #[inline(always)]
    fn arrive(&mut self, stage: StageId, outbox: &mut Vec<Emission>) -> Time {
        let place = &mut self.places[stage.0 as usize];
        let now = place.wire.next_arrival();
        let mut packet = Packet::default();
        if !place.wire.take_into(&mut packet) {
            return now;
        }
        self.events += 1;
        self.clocks.advance(stage, now);
        if self.is_watched {
            self.receive_watched(stage, Port(0), &packet, now, outbox);
            return now;
        }
        let part = &mut self.network.stages[stage.0 as usize];
        let mut ctx = Ctx::new(now, stage, &mut self.bus, outbox);
        let due = part.receive_then_next(Port(0), &packet, &mut ctx);
        place.due = due;
        if due < now {
            self.goes_backwards(stage, due, now);
        }
        now
    }

    #[inline(never)]
    fn wake_apart(&mut self, stage: StageId, outbox: &mut Vec<Emission>) -> Time {
        self.wake_now(stage, outbox)
    }

    #[inline(never)]
    fn arrive_apart(&mut self, stage: StageId, outbox: &mut Vec<Emission>) -> Time {
        self.arrive(stage, outbox)
    }

    #[cold]
    pub(crate) fn goes_backwards(&mut self, stage: StageId, wanted: Time, now: Time) {
        self.places[stage.0 as usize].due = backwards(stage, wanted, now, &mut self.bus);
    }

    /// Delivers all packets that were sent, including packets that stages send on delivery.
    #[inline(always)]
    pub(crate) fn deliver_all(&mut self, now: Time, outboxes: &mut Outboxes) {
        let Outboxes { current, next, freely } = outboxes;
        loop {
            for emission in current.iter() {
                self.deliver(emission, now, next, freely);
            }
            current.clear();
            if next.is_empty() {
                break;
            }
            std::mem::swap(current, next);
        }
        if let Some(observer) = &mut self.observer
            && let Some(error) = observer.take_failure()
        {
            self.bus.fail(now, error);
        }
    }

    #[inline(always)]
    fn deliver(
        &mut self,
        emission: &Emission,
        now: Time,
        next: &mut Vec<Emission>,
        freely: &mut FreeOutboxes,
    ) {
        let Emission { packet, .. } = emission;
        let input = self.routing.of(emission);
        if self.is_watched {
            self.watch_departure(now, emission, input);
        }
        match input.way {
            RouteKind::DirectLate => self.feed_late(input, packet, now, freely),
            RouteKind::Direct => self.feed(input, packet, now, next),
            RouteKind::Wire => self.put(input.stage, packet, now),
            RouteKind::WireAhead | RouteKind::WireAheadOfEndpoint => {
                self.run_ahead(input.stage, packet, now, &mut freely.ahead);
            }
            RouteKind::Exit => {
                let (end, _) = self.routing.origin(emission);
                self.exits.push(Exit { at: now, end, packet: *packet });
            }
            RouteKind::ByFlow | RouteKind::Nowhere => {}
        }
    }

    /// Delivers `packet` to a stage without a wire in front of it.
    #[inline]
    fn feed(&mut self, input: Input, packet: &Packet, now: Time, outbox: &mut Vec<Emission>) {
        let Input { stage, port, .. } = input;
        while self.places[stage.0 as usize].due <= now {
            self.wake_apart(stage, outbox);
        }
        self.clocks.advance(stage, now);
        if self.is_watched {
            self.receive_watched(stage, port, packet, now, outbox);
            return self.wakeups.set_if_earlier(stage, self.places[stage.0 as usize].due);
        }
        let part = &mut self.network.stages[stage.0 as usize];
        let mut ctx = Ctx::new(now, stage, &mut self.bus, outbox);
        let due = part.receive_then_next(port, packet, &mut ctx);
        self.places[stage.0 as usize].due = due;
        self.wakeups.set_if_earlier(stage, due);
        if due < now {
            self.goes_backwards(stage, due, now);
        }
    }

    /// Puts `packet` on the wire to `stage`.
    #[inline(always)]
    fn put(&mut self, stage: StageId, packet: &Packet, at: Time) {
        let place = &mut self.places[stage.0 as usize];
        if place.wire.put(packet, at) {
            self.wakeups.set_if_earlier(stage, place.wakeup());
        }
    }

    /// Puts `packet` on the wire to `stage` at time `at`, and runs the stage ahead of time up to
    /// the arrival of the packet. No other packet can arrive earlier.
    #[inline(always)]
    fn run_ahead(
        &mut self,
        stage: StageId,
        packet: &Packet,
        at: Time,
        outboxes: &mut [Vec<Emission>],
    ) {
        let Some((outbox, deeper)) = outboxes.split_first_mut() else {
            return self.put(stage, packet, at);
        };
        let place = &mut self.places[stage.0 as usize];
        let arrival = place.wire.enter(packet, at);
        if !place.wire.next_arrival().is_never() || arrival >= self.horizon {
            place.wire.keep(packet, arrival);
            return self.run_ahead_to(stage, arrival, outbox, deeper);
        }
        while self.places[stage.0 as usize].due <= arrival {
            let at = self.wake_apart(stage, outbox);
            self.put_all(at, outbox, deeper);
        }
        let place = &mut self.places[stage.0 as usize];
        self.clocks.advance(stage, arrival);
        let part = &mut self.network.stages[stage.0 as usize];
        let mut ctx = Ctx::new(arrival, stage, &mut self.bus, outbox);
        place.due = part.receive_then_next(Port(0), packet, &mut ctx);
        self.events += 1;
        let due = place.due;
        self.put_all(arrival, outbox, deeper);
        if !due.is_never() {
            if due < arrival {
                self.goes_backwards(stage, due, arrival);
            }
            self.run_ahead_to(stage, arrival, outbox, deeper);
        }
    }

    #[inline(never)]
    fn run_further_ahead(
        &mut self,
        stage: StageId,
        packet: &Packet,
        at: Time,
        outboxes: &mut [Vec<Emission>],
    ) {
        self.run_ahead(stage, packet, at, outboxes);
    }

    /// Processes the events of `stage` up to the `arrival` of a packet, in order.
    #[inline(never)]
    fn run_ahead_to(
        &mut self,
        stage: StageId,
        arrival: Time,
        outbox: &mut Vec<Emission>,
        deeper: &mut [Vec<Emission>],
    ) {
        while self.places[stage.0 as usize].next() <= arrival
            && self.places[stage.0 as usize].next() < self.horizon
        {
            let at = if self.places[stage.0 as usize].timer_is_next() {
                self.wake_apart(stage, outbox)
            } else {
                self.arrive_apart(stage, outbox)
            };
            self.put_all(at, outbox, deeper);
        }
        self.wakeups.set_if_earlier(stage, self.places[stage.0 as usize].wakeup());
    }

    /// Delivers `packet` to a late stage without a wire in front of it, after the earlier events of
    /// the stage.
    #[inline(always)]
    fn feed_late(&mut self, input: Input, packet: &Packet, now: Time, outboxes: &mut FreeOutboxes) {
        let Input { stage, port, .. } = input;
        self.catch_up(stage, now, outboxes);
        self.clocks.advance(stage, now);
        let part = &mut self.network.stages[stage.0 as usize];
        let mut ctx = Ctx::new(now, stage, &mut self.bus, &mut outboxes.late);
        let due = part.receive_then_next(port, packet, &mut ctx);
        self.places[stage.0 as usize].due = due;
        if due < now {
            self.goes_backwards(stage, due, now);
        }
        self.deliver_late(now, outboxes);
        self.wakeups.set_if_earlier(stage, self.places[stage.0 as usize].wakeup());
    }

    /// Processes all events of `stage` up to `at`, each at its own time.
    #[inline(always)]
    fn catch_up(&mut self, stage: StageId, at: Time, outboxes: &mut FreeOutboxes) {
        while self.places[stage.0 as usize].next() <= at {
            let done_at = if self.places[stage.0 as usize].timer_is_next() {
                self.wake_now(stage, &mut outboxes.late)
            } else {
                self.arrive_apart(stage, &mut outboxes.late)
            };
            self.deliver_late(done_at, outboxes);
        }
    }

    /// Processes all events before `until` at the stages that may be late.
    pub(crate) fn catch_up_all(&mut self, until: Time, outboxes: &mut Outboxes) {
        let Some(last) = until.as_nanos().checked_sub(1) else { return };
        for number in 0..self.free.len() {
            let stage = self.free[number];
            self.catch_up(stage, Time::from_nanos(last), &mut outboxes.freely);
            self.wakeups.set(stage, self.places[stage.0 as usize].wakeup());
        }
    }

    /// Delivers the packets that a late stage has sent at `at`. All of them pass a wire with a
    /// delay.
    #[inline(always)]
    fn deliver_late(&mut self, at: Time, outboxes: &mut FreeOutboxes) {
        let FreeOutboxes { late, ahead } = outboxes;
        for emission in late.iter() {
            let input = self.routing.of(emission);
            match input.way {
                RouteKind::WireAhead | RouteKind::WireAheadOfEndpoint => {
                    self.run_ahead(input.stage, &emission.packet, at, ahead);
                }
                RouteKind::Wire => self.put(input.stage, &emission.packet, at),
                // A stage with another kind of output is never called late.
                _ => {}
            }
        }
        late.clear();
    }

    /// Puts the packets that a stage has sent ahead of time on their wires, and runs the stages
    /// after these wires ahead of time too.
    #[inline(always)]
    fn put_all(&mut self, at: Time, outbox: &mut Vec<Emission>, deeper: &mut [Vec<Emission>]) {
        for emission in outbox.iter() {
            let input = self.routing.of(emission);
            match input.way {
                RouteKind::Wire | RouteKind::WireAheadOfEndpoint => {
                    self.put(input.stage, &emission.packet, at);
                }
                RouteKind::WireAhead => {
                    self.run_further_ahead(input.stage, &emission.packet, at, deeper);
                }
                _ => {}
            }
        }
        outbox.clear();
    }

    /// Returns the failure, if any.
    #[inline]
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        if self.bus.has_failed() { Err(self.failure()) } else { Ok(()) }
    }

    #[cold]
    fn failure(&mut self) -> Failure {
        let (at, source) = self.bus.take_error().expect("called only after a failure");
        Failure { at, source }
    }

    /// Changes the delays of the wires in front of stages. Packets in flight keep their arrival
    /// times.
    pub(crate) fn change_delays(&mut self, changes: &[(StageId, DelayChange)]) {
        for (stage, change) in changes {
            self.places[stage.0 as usize].wire.change_delay(*change);
            self.network.stage_places.change_delay(*stage, *change);
        }
    }

    /// Sends a control event to a stage, and schedules its wake-up.
    pub(crate) fn send_control(
        &mut self,
        stage: StageId,
        event: &Control,
        now: Time,
        outbox: &mut Vec<Emission>,
    ) {
        self.clocks.advance(stage, now);
        let place = &mut self.places[stage.0 as usize];
        let part = &mut self.network.stages[stage.0 as usize];
        part.control(event, &mut Ctx::new(now, stage, &mut self.bus, outbox));
        place.due = part.next_wakeup();
        if place.due < now {
            let wanted = place.due;
            self.goes_backwards(stage, wanted, now);
        }
        self.wakeups.set(stage, self.places[stage.0 as usize].wakeup());
    }
}
