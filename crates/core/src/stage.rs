//! The contract between a stage and its driver.

use crate::error::StageError;
use crate::packet::{Ecn, Packet, PacketKind, PayloadHandle};
use crate::probe::{Recorder, Series};
use crate::units::{Rate, Time};

/// Number of a stage in its network; equal-time events go in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u32);

/// Number of an input or an output of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

/// Something that the scenario tells a stage at a given time.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// The run begins; sent once to every stage, before anything else.
    Begin,
    /// The warm-up is over: statistics start anew, behaviour goes on.
    StartMeasurement,
    /// The nominal rate of a link changes.
    Rate(Rate),
    /// A source starts to send.
    Start,
    /// A source sends nothing new any more.
    Stop,
    /// Anything else, by name, with its value.
    Other(String, f64),
}

/// A part of a network that takes packets, holds them and hands them on.
///
/// A stage never reads a clock, never calls another stage and never blocks. Several inputs and
/// outputs make it duplex or give it N queues. At equal times the driver calls `wake` for what
/// is due before `receive`; among stages, the lower [`StageId`] goes first.
pub trait Stage {
    /// Takes `packet`, which arrives now at input `port`.
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>);

    /// Does what is due at `ctx.now`. Called at or after `next_wakeup`.
    fn wake(&mut self, ctx: &mut Ctx<'_>);

    /// The earliest of the internal timers; [`Time::NEVER`] when there is none.
    fn next_wakeup(&self) -> Time;

    /// Does what is due, if anything is, and says when to wake it next: all of it behind a single
    /// dispatch.
    #[inline]
    fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) -> Time {
        if self.next_wakeup() <= ctx.now {
            self.wake(ctx);
        }
        self.next_wakeup()
    }

    /// Does what is due, then takes the packet, and says when to wake it next: all of it behind a
    /// single dispatch.
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        if self.next_wakeup() <= ctx.now {
            self.wake(ctx);
        }
        self.receive(port, packet, ctx);
        self.next_wakeup()
    }

    /// Reacts to a control event; ignores those that do not concern it.
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        let _ = (event, ctx);
    }

    /// Packets now inside, for conservation checks.
    fn held(&self) -> usize;
}

impl<S: Stage + ?Sized> Stage for Box<S> {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        (**self).receive(port, packet, ctx);
    }
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        (**self).wake(ctx);
    }
    fn next_wakeup(&self) -> Time {
        (**self).next_wakeup()
    }
    fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) -> Time {
        (**self).wake_if_due(ctx)
    }
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        (**self).receive_then_next(port, packet, ctx)
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        (**self).control(event, ctx);
    }
    fn held(&self) -> usize {
        (**self).held()
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue had no room.
    Overflow = 0,
    /// A queue discipline decided to, before it was full.
    Early = 1,
    /// The channel destroyed it.
    Channel = 2,
    /// A link gave up repeating it.
    Retries = 3,
    /// It came for a connection that is not there (any more).
    Stray = 4,
}

impl DropReason {
    /// Every reason, in the order of its code.
    pub const ALL: [DropReason; 5] = [
        DropReason::Overflow,
        DropReason::Early,
        DropReason::Channel,
        DropReason::Retries,
        DropReason::Stray,
    ];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Overflow => "overflow",
            DropReason::Early => "early",
            DropReason::Channel => "channel",
            DropReason::Retries => "retries",
            DropReason::Stray => "stray",
        }
    }
}

/// Drops and marks of one stage since measurement started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCount {
    /// Packets dropped, by [`DropReason`] code.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets marked CE.
    pub marked: u64,
}

impl DropCount {
    /// Packets that the queue dropped: what the channel destroyed counts at the link.
    pub fn by_queue(&self) -> u64 {
        self.total() - self.dropped[DropReason::Channel as usize]
    }

    /// Packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// A packet that a stage has sent and the driver has yet to deliver.
#[derive(Clone, Copy, Debug)]
pub struct Emission {
    /// The output that it left by.
    pub output: Output,
    /// The packet.
    pub packet: Packet,
}

/// Number of an output among those of all stages; each stage has [`Output::PER_STAGE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output(pub u32);

impl Output {
    /// Outputs of a stage, used or not.
    pub const PER_STAGE: u32 = 2;

    /// Output `port` of `stage`.
    #[inline]
    pub const fn of(stage: StageId, port: Port) -> Output {
        Output(stage.0 * Output::PER_STAGE + port.0 as u32)
    }

    /// The stage that it belongs to.
    #[inline]
    pub const fn stage(self) -> StageId {
        StageId(self.0 / Output::PER_STAGE)
    }

    /// Its number there.
    #[inline]
    pub const fn port(self) -> Port {
        Port((self.0 % Output::PER_STAGE) as u8)
    }
}

/// Marks a stage that has dropped and marked nothing.
const NO_COUNTS: u32 = u32::MAX;

/// What a driver lends to the stages: the outbox, the drop counters, the probes, the error slot.
#[derive(Debug, Default)]
pub struct Bus {
    outbox: Vec<Emission>,
    /// Whether somebody wants to know of `arrivals`.
    notes_arrivals: bool,
    arrivals: Vec<(StageId, Packet)>,
    /// By side, of the stages that have dropped or marked anything.
    counts: Vec<[DropCount; 2]>,
    /// By stage, its place in `counts`, or [`NO_COUNTS`].
    counts_of: Vec<u32>,
    released: Vec<PayloadHandle>,
    error: Option<StageError>,
    /// The probes.
    pub recorder: Recorder,
}

impl Bus {
    /// A bus for `stages` stages.
    pub fn new(stages: usize, recorder: Recorder) -> Bus {
        Bus {
            outbox: Vec::with_capacity(64),
            counts_of: vec![NO_COUNTS; stages],
            recorder,
            ..Bus::default()
        }
    }

    /// Moves everything that was sent since the last call to `emissions`, in order, in the place of
    /// what is there; gives whether there was anything. The two buffers change hands.
    #[inline]
    pub fn take_emissions(&mut self, emissions: &mut Vec<Emission>) -> bool {
        emissions.clear();
        std::mem::swap(&mut self.outbox, emissions);
        !emissions.is_empty()
    }

    /// From now on arrivals at endpoints are noted for [`Bus::take_arrivals`].
    pub fn note_arrivals(&mut self) {
        self.notes_arrivals = true;
    }

    /// Moves the arrivals that were noted since the last call to `arrivals`, in the place of what is
    /// there.
    pub fn take_arrivals(&mut self, arrivals: &mut Vec<(StageId, Packet)>) {
        arrivals.clear();
        std::mem::swap(&mut self.arrivals, arrivals);
    }

    /// Drops and marks of `stage`, of all its sides together.
    pub fn counts(&self, stage: StageId) -> DropCount {
        let (mut all, other) = (self.side_counts(stage, Port(0)), self.side_counts(stage, Port(1)));
        all.dropped.iter_mut().zip(other.dropped).for_each(|(sum, more)| *sum += more);
        all.marked += other.marked;
        all
    }

    /// Drops and marks of one side of a duplex `stage`; side 0 is all that others have.
    pub fn side_counts(&self, stage: StageId, side: Port) -> DropCount {
        let place = self.counts_of[stage.0 as usize] as usize;
        self.counts.get(place).map_or_else(DropCount::default, |sides| sides[usize::from(side.0)])
    }

    /// Sets all drop and mark counters to zero.
    pub fn reset_counts(&mut self) {
        self.counts.fill(Default::default());
    }

    /// Handles of real payloads whose packets were dropped, and forgets them.
    pub fn take_released(&mut self) -> Vec<PayloadHandle> {
        std::mem::take(&mut self.released)
    }

    /// Whether a stage has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// The first failure of a stage, and forgets it.
    pub fn take_error(&mut self) -> Option<StageError> {
        self.error.take()
    }
}

/// What a stage sees of the world during a call.
#[derive(Debug)]
pub struct Ctx<'a> {
    /// The present instant.
    pub now: Time,
    stage: StageId,
    side: Port,
    bus: &'a mut Bus,
}

impl<'a> Ctx<'a> {
    /// The view of `stage` at `now`.
    pub fn new(now: Time, stage: StageId, bus: &'a mut Bus) -> Ctx<'a> {
        Ctx { now, stage, side: Port(0), bus }
    }

    /// The same view for one side of a duplex stage: its drops and marks are counted apart.
    #[inline]
    pub fn on_side(&mut self, side: Port) -> Ctx<'_> {
        Ctx { now: self.now, stage: self.stage, side, bus: self.bus }
    }

    #[inline]
    fn count(&mut self) -> &mut DropCount {
        let Bus { counts, counts_of, .. } = &mut *self.bus;
        let place = &mut counts_of[self.stage.0 as usize];
        if *place == NO_COUNTS {
            *place = counts.len() as u32;
            counts.push(Default::default());
        }
        &mut counts[*place as usize][usize::from(self.side.0)]
    }

    /// Sends `packet` by output `port`; the driver delivers it, at this same instant.
    #[inline]
    pub fn emit(&mut self, port: Port, packet: Packet) {
        self.bus.outbox.push(Emission { output: Output::of(self.stage, port), packet });
    }

    /// `packet` has come to an endpoint over the wire that is part of its stage; costs one test when
    /// nobody observes.
    #[inline]
    pub fn note_arrival(&mut self, packet: &Packet) {
        if self.bus.notes_arrivals {
            self.bus.arrivals.push((self.stage, *packet));
        }
    }

    /// Ends the life of `packet`, counted under `reason`.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.count().dropped[reason as usize] += 1;
        self.record(Series::Drop, packet.flow.0, f64::from(reason as u8));
        if packet.kind == PacketKind::Data {
            self.record(Series::SeqDropped, packet.flow.0, packet.seq as f64);
        }
        self.bus.recorder.count_drop(&packet, reason);
        if packet.payload != PayloadHandle::default() {
            self.bus.released.push(packet.payload);
        }
    }

    /// Marks `packet` Congestion Experienced. It must be ECN-capable.
    pub fn mark(&mut self, packet: &mut Packet) {
        debug_assert!(packet.ecn.is_capable(), "only an ECN-capable packet is marked");
        packet.ecn = Ecn::Ce;
        self.count().marked += 1;
        self.record(Series::Mark, packet.flow.0, 1.0);
    }

    /// Notes a value of a series for the part `id`; costs one test when the series is off.
    #[inline]
    pub fn record(&mut self, series: Series, id: u32, value: f64) {
        if self.bus.recorder.wants(series) {
            self.bus.recorder.push(series, self.now, id, value);
        }
    }

    /// Whether a series is recorded, for values that are dear to compute.
    #[inline]
    pub fn records(&self, series: Series) -> bool {
        self.bus.recorder.wants(series)
    }

    /// Ends the run with `error`; the first failure counts.
    pub fn fail(&mut self, error: impl Into<StageError>) {
        self.bus.error.get_or_insert(error.into());
    }
}
