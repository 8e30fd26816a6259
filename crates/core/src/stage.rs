//! The contract between a stage and its driver.

use crate::ecn::Ecn;
use crate::error::StageError;
use crate::packet::{Packet, PacketKind, PayloadHandle, UserId};
use crate::probe::{Recorder, Sample, Series};
use crate::units::{Rate, Time};

/// Number of a stage in its network; equal-time events go in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u32);

/// Number of a queue in its network, in the order of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

impl QueueId {
    /// Not at a queue.
    pub const NONE: QueueId = QueueId(u32::MAX);
}

/// Number of an input or an output of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

/// A control event of the scenario for a stage at a given time.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// The run begins; sent once to every stage, before anything else.
    Begin,
    /// The warm-up is over: statistics are reset, behaviour continues.
    StartMeasurement,
    /// The nominal rate of a link changes.
    Rate(Rate),
    /// A source starts to send.
    Start,
    /// A source sends no more new data.
    Stop,
    /// A property of one user of a link changes; a link that does not distinguish users ignores it.
    User(UserId, UserChange),
    /// Anything else, by name, with its value.
    Other(String, f64),
}

/// Change of one user of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    /// The modulation and coding scheme of a direction.
    Scheme {
        /// Whether it is that of the reverse direction, the uplink.
        is_reverse: bool,
        /// Name of the scheme.
        name: String,
    },
    /// Offset of the mean SNR from that of its description, dB.
    SnrMoved(f64),
}

/// A component of a network that takes packets, holds them and hands them on.
///
/// A stage never reads a clock, never calls another stage and never blocks. Several inputs and
/// outputs make it duplex or give it N queues. At equal times the driver calls `wake` for what
/// is due before `receive`; among stages, the lower [`StageId`] goes first.
///
/// No call has a default that swallows it: a stage around another that forgets `control` is missed
/// by the compiler.
///
/// ```compile_fail,E0046
/// # use airpath_core::{Ctx, Packet, Port, Stage, Time};
/// struct Forgetful<S>(S);
///
/// impl<S: Stage> Stage for Forgetful<S> {
///     fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
///         self.0.receive(port, packet, ctx);
///     }
///     fn wake(&mut self, ctx: &mut Ctx<'_>) {
///         self.0.wake(ctx);
///     }
///     fn next_wakeup(&self) -> Time {
///         self.0.next_wakeup()
///     }
///     fn held(&self) -> usize {
///         self.0.held()
///     }
/// }
/// ```
pub trait Stage {
    /// Takes `packet`, which arrives now at input `port`.
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>);

    /// Does what is due at `ctx.now`. Called at or after `next_wakeup`.
    fn wake(&mut self, ctx: &mut Ctx<'_>);

    /// The earliest of the internal timers; [`Time::NEVER`] when there is none. A time in the past,
    /// or the same instant after a million wake-ups in a row, ends the run with an error.
    fn next_wakeup(&self) -> Time;

    /// Does what is due and says when to wake it next, behind a single dispatch.
    #[inline]
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        self.wake(ctx);
        self.next_wakeup()
    }

    /// Takes the packet and says when to wake it next, behind a single dispatch.
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        self.receive(port, packet, ctx);
        self.next_wakeup()
    }

    /// Reacts to a control event; ignores those that do not concern it.
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>);

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
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        (**self).wake_then_next(ctx)
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
    /// The queue was full.
    Overflow = 0,
    /// A queue discipline decided to, before it was full.
    Early = 1,
    /// The channel corrupted it.
    Channel = 2,
    /// A link discarded it after its last retransmission.
    Retries = 3,
    /// It came for a connection that does not exist (or no longer exists).
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

/// Drops and marks at one place since measurement started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCount {
    /// Packets dropped, by [`DropReason`] code.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets marked CE.
    pub marked: u64,
}

impl DropCount {
    /// Packets that the queue dropped: packets that the channel corrupted count at the link.
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

/// Number of an output among those of all stages: first every stage's output 0, then every stage's
/// output 1, and so on. A stage has as many outputs as it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output(pub u32);

impl Output {
    /// Output `port` of `stage` in a network of `stages` stages.
    #[inline]
    pub const fn of(stage: StageId, port: Port, stages: u32) -> Output {
        Output(stage.0 + port.0 as u32 * stages)
    }

    /// The stage that it belongs to, and its number there, in a network of `stages` stages.
    #[inline]
    pub const fn place(self, stages: u32) -> (StageId, Port) {
        (StageId(self.0 % stages), Port((self.0 / stages) as u8))
    }
}

/// Marks a stage that has dropped and marked nothing.
const NO_COUNTS: u32 = u32::MAX;

/// Resources of a driver that stages share, apart from outboxes: the drop counters, the probes, the
/// error slot.
#[derive(Debug, Default)]
pub struct Bus {
    /// Number of stages.
    stages: u32,
    /// Of the stages that have dropped or marked anything.
    counts: Vec<DropCount>,
    /// By stage, its place in `counts`, or [`NO_COUNTS`].
    counts_of: Vec<u32>,
    /// By queue, as far as any has dropped or marked anything.
    queue_counts: Vec<DropCount>,
    released: Vec<PayloadHandle>,
    /// The first failure, and when it was.
    error: Option<(Time, StageError)>,
    /// The probes.
    pub recorder: Recorder,
}

impl Bus {
    /// A bus for `stages` stages.
    pub fn new(stages: usize, recorder: Recorder) -> Bus {
        Bus {
            stages: stages as u32,
            counts_of: vec![NO_COUNTS; stages],
            recorder,
            ..Bus::default()
        }
    }

    /// Drops and marks of `stage`, at its queues and elsewhere.
    pub fn counts(&self, stage: StageId) -> DropCount {
        let place = self.counts_of[stage.0 as usize] as usize;
        self.counts.get(place).copied().unwrap_or_default()
    }

    /// Drops and marks at `queue`, losses of what was taken from it among them.
    pub fn queue_counts(&self, queue: QueueId) -> DropCount {
        self.queue_counts.get(queue.0 as usize).copied().unwrap_or_default()
    }

    /// Resets all drop and mark counters at `now`.
    pub fn reset_counts(&mut self, now: Time) {
        self.counts.fill(Default::default());
        self.queue_counts.fill(Default::default());
        self.recorder.restart_drop_counts(now);
    }

    /// Handles of real payloads whose packets were dropped: the owner of the bytes empties it.
    pub fn released(&mut self) -> &mut Vec<PayloadHandle> {
        &mut self.released
    }

    /// Ends the run with `error`, which came up at `now`; the first failure counts.
    pub fn fail(&mut self, now: Time, error: StageError) {
        self.error.get_or_insert((now, error));
    }

    /// Whether a stage has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// The first failure of a stage with its time, and forgets it.
    pub fn take_error(&mut self) -> Option<(Time, StageError)> {
        self.error.take()
    }
}

/// Context of a stage during a call.
#[derive(Debug)]
pub struct Ctx<'a> {
    /// The present instant.
    pub now: Time,
    stage: StageId,
    queue: QueueId,
    bus: &'a mut Bus,
    outbox: &'a mut Vec<Emission>,
}

impl<'a> Ctx<'a> {
    /// The view of `stage` at `now`; what it sends goes into `outbox`.
    #[inline]
    pub fn new(
        now: Time,
        stage: StageId,
        bus: &'a mut Bus,
        outbox: &'a mut Vec<Emission>,
    ) -> Ctx<'a> {
        Ctx { now, stage, queue: QueueId::NONE, bus, outbox }
    }

    /// From now on this is at one of the stage's queues: drops, marks and what is recorded name it.
    /// Until [`Ctx::leave_queue`].
    #[inline]
    pub fn enter_queue(&mut self, queue: QueueId) {
        self.queue = queue;
    }

    /// The queue where this is, or [`QueueId::NONE`].
    #[inline]
    pub fn queue(&self) -> QueueId {
        self.queue
    }

    /// No longer at a queue.
    #[inline]
    pub fn leave_queue(&mut self) {
        self.queue = QueueId::NONE;
    }

    /// Counts something at the stage, and at the queue where it is.
    fn count(&mut self, add: impl Fn(&mut DropCount)) {
        let Bus { counts, counts_of, queue_counts, .. } = &mut *self.bus;
        let place = &mut counts_of[self.stage.0 as usize];
        if *place == NO_COUNTS {
            *place = counts.len() as u32;
            counts.push(DropCount::default());
        }
        add(&mut counts[*place as usize]);
        if self.queue != QueueId::NONE {
            let queue = self.queue.0 as usize;
            if queue_counts.len() <= queue {
                queue_counts.resize(queue + 1, DropCount::default());
            }
            add(&mut queue_counts[queue]);
        }
    }

    /// Sends `packet` by output `port`; the driver delivers it, at this same instant.
    #[inline]
    pub fn emit(&mut self, port: Port, packet: Packet) {
        let output = Output::of(self.stage, port, self.bus.stages);
        self.outbox.push(Emission { output, packet });
    }

    /// Ends the life of `packet`, counted under `reason`.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.count(|count| count.dropped[reason as usize] += 1);
        self.record(Series::Drop, packet.flow.0, f64::from(reason as u8));
        if packet.kind == PacketKind::Data {
            self.record(Series::SeqDropped, packet.flow.0, packet.seq as f64);
        }
        self.bus.recorder.count_drop(&packet, reason);
        if packet.payload() != PayloadHandle::default() {
            self.bus.released.push(packet.payload());
        }
    }

    /// Marks `packet` Congestion Experienced. It must be ECN-capable.
    pub fn mark(&mut self, packet: &mut Packet) {
        debug_assert!(packet.ecn.is_capable(), "only an ECN-capable packet is marked");
        packet.ecn = Ecn::Ce;
        self.count(|count| count.marked += 1);
        self.record(Series::Mark, packet.flow.0, 1.0);
    }

    /// Notes a value of a series for the component `id`; costs one test when the series is off.
    #[inline]
    pub fn record(&mut self, series: Series, id: u32, value: f64) {
        if self.bus.recorder.is_recorded(series) {
            self.keep(series, id, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, series: Series, id: u32, value: f64) {
        let sample = Sample { time: self.now, id, queue: self.queue, value };
        self.bus.recorder.push(series, sample);
    }

    /// Whether a series is recorded, for values that are dear to compute.
    #[inline]
    pub fn records(&self, series: Series) -> bool {
        self.bus.recorder.is_recorded(series)
    }

    /// Ends the run with `error`; the first failure counts.
    pub fn fail(&mut self, error: impl Into<StageError>) {
        self.bus.fail(self.now, error.into());
    }
}
