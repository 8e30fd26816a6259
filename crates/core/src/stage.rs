//! The contract between a stage and its driver.

use crate::ecn::Ecn;
use crate::error::StageError;
use crate::packet::{Packet, PacketKind, PayloadHandle, UserId};
use crate::probe::{Recorder, Sample, Series};
use crate::units::{Rate, Time};

/// Stage number in its network. Events at the same time are handled in ascending order of stage
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u32);

/// Queue number in its network, in the order of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

impl QueueId {
    /// No queue.
    pub const NONE: QueueId = QueueId(u32::MAX);
}

/// Number of an input or an output of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

/// A control event of the scenario for a stage at a given time.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Start of the run. Every stage receives this event once, before any other event.
    Begin,
    /// End of the warm-up: statistics are reset, behaviour does not change.
    StartMeasurement,
    /// Change of the nominal rate of a link.
    Rate(Rate),
    /// A source starts to send.
    Start,
    /// A source sends no more new data.
    Stop,
    /// Change of a property of one user of a link. A link that does not distinguish users ignores
    /// it.
    User(UserId, UserChange),
    /// Any other event, by name, with its value.
    Other(String, f64),
}

/// Change of one user of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    /// New modulation and coding scheme of a direction.
    Scheme {
        /// True for the reverse direction, the uplink.
        is_reverse: bool,
        /// Name of the scheme.
        name: String,
    },
    /// Offset of the mean SNR from the configured value, dB.
    SnrMoved(f64),
}

/// A component of a network that receives, holds and forwards packets.
///
/// A stage never reads a clock, never calls another stage and never blocks. A stage with several
/// inputs and outputs is a duplex link, or has several queues. At equal times the driver calls
/// `wake` for due stages before `receive`. Among stages, the lower [`StageId`] comes first.
///
/// No method has a default that ignores the call: the compiler rejects a wrapper that does not
/// forward `control`.
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
    /// Receives `packet`, which arrives now at input `port`.
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>);

    /// Handles the events that are due at `ctx.now`. Called at or after `next_wakeup`.
    fn wake(&mut self, ctx: &mut Ctx<'_>);

    /// Returns the earliest internal timer, or [`Time::NEVER`] without timers. A time in the past,
    /// or a million consecutive wake-ups at the same time, ends the run with an error.
    fn next_wakeup(&self) -> Time;

    /// Calls `wake` and `next_wakeup` with a single dynamic dispatch.
    #[inline]
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        self.wake(ctx);
        self.next_wakeup()
    }

    /// Calls `receive` and `next_wakeup` with a single dynamic dispatch.
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        self.receive(port, packet, ctx);
        self.next_wakeup()
    }

    /// Reacts to a control event. Ignores events that do not concern this stage.
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>);

    /// Returns the number of packets inside, for conservation checks.
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

/// Reason of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    Overflow = 0,
    /// A queue discipline dropped the packet before the queue was full.
    Early = 1,
    /// The channel corrupted the packet.
    Channel = 2,
    /// A link discarded the packet after the last retransmission.
    Retries = 3,
    /// The connection of the packet does not exist, or no longer exists.
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

    /// Returns the name used in results.
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

/// Drops and marks at one stage or queue since the start of measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCount {
    /// Packets dropped, by [`DropReason`] code.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets marked CE.
    pub marked: u64,
}

impl DropCount {
    /// Returns the number of packets that the queue dropped. Packets that the channel corrupted
    /// belong to the link.
    pub fn by_queue(&self) -> u64 {
        self.total() - self.dropped[DropReason::Channel as usize]
    }

    /// Returns the number of packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// A sent packet that the driver has not yet delivered.
#[derive(Clone, Copy, Debug)]
pub struct Emission {
    /// Output of the sending stage.
    pub output: Output,
    /// The packet.
    pub packet: Packet,
}

/// Output number among the outputs of all stages: first output 0 of every stage, then output 1 of
/// every stage, and so on. A stage has as many outputs as it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output(pub u32);

impl Output {
    /// Returns output `port` of `stage` in a network of `stages` stages.
    #[inline]
    pub const fn of(stage: StageId, port: Port, stages: u32) -> Output {
        Output(stage.0 + port.0 as u32 * stages)
    }

    /// Returns the stage of this output and the port number, in a network of `stages` stages.
    #[inline]
    pub const fn place(self, stages: u32) -> (StageId, Port) {
        (StageId(self.0 % stages), Port((self.0 / stages) as u8))
    }
}

/// Marks a stage without drops and marks.
const NO_COUNTS: u32 = u32::MAX;

/// Resources of a driver that all stages share, except outboxes: drop counters, probes, error slot.
#[derive(Debug, Default)]
pub struct Bus {
    /// Number of stages.
    stages: u32,
    /// Counts of the stages with at least one drop or mark.
    counts: Vec<DropCount>,
    /// By stage: index in `counts`, or [`NO_COUNTS`].
    counts_of: Vec<u32>,
    /// By queue: counts, up to the last queue with a drop or mark.
    queue_counts: Vec<DropCount>,
    released: Vec<PayloadHandle>,
    /// First failure and its time.
    error: Option<(Time, StageError)>,
    /// The probes.
    pub recorder: Recorder,
}

impl Bus {
    /// Creates a bus for `stages` stages.
    pub fn new(stages: usize, recorder: Recorder) -> Bus {
        Bus {
            stages: stages as u32,
            counts_of: vec![NO_COUNTS; stages],
            recorder,
            ..Bus::default()
        }
    }

    /// Returns the drops and marks of `stage`, at its queues and elsewhere.
    pub fn counts(&self, stage: StageId) -> DropCount {
        let place = self.counts_of[stage.0 as usize] as usize;
        self.counts.get(place).copied().unwrap_or_default()
    }

    /// Returns the drops and marks at `queue`, including later losses of packets from that queue.
    pub fn queue_counts(&self, queue: QueueId) -> DropCount {
        self.queue_counts.get(queue.0 as usize).copied().unwrap_or_default()
    }

    /// Resets all drop and mark counters at `now`.
    pub fn reset_counts(&mut self, now: Time) {
        self.counts.fill(Default::default());
        self.queue_counts.fill(Default::default());
        self.recorder.restart_drop_counts(now);
    }

    /// Handles of real payloads whose packets were dropped. The owner of the payloads empties this
    /// list.
    pub fn released(&mut self) -> &mut Vec<PayloadHandle> {
        &mut self.released
    }

    /// Ends the run with `error`, which occurred at `now`. Only the first failure is kept.
    pub fn fail(&mut self, now: Time, error: StageError) {
        self.error.get_or_insert((now, error));
    }

    /// Returns true if a stage has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Removes and returns the first failure of a stage with its time.
    pub fn take_error(&mut self) -> Option<(Time, StageError)> {
        self.error.take()
    }
}

/// Context of a stage during a call.
#[derive(Debug)]
pub struct Ctx<'a> {
    /// Current time.
    pub now: Time,
    stage: StageId,
    queue: QueueId,
    bus: &'a mut Bus,
    outbox: &'a mut Vec<Emission>,
}

impl<'a> Ctx<'a> {
    /// Creates the context of `stage` at `now`. Sent packets are appended to `outbox`.
    #[inline]
    pub fn new(
        now: Time,
        stage: StageId,
        bus: &'a mut Bus,
        outbox: &'a mut Vec<Emission>,
    ) -> Ctx<'a> {
        Ctx { now, stage, queue: QueueId::NONE, bus, outbox }
    }

    /// Attributes the following drops, marks and recorded values to `queue`, one of the stage's
    /// queues, until [`Ctx::leave_queue`].
    #[inline]
    pub fn enter_queue(&mut self, queue: QueueId) {
        self.queue = queue;
    }

    /// Returns the current queue, or [`QueueId::NONE`].
    #[inline]
    pub fn queue(&self) -> QueueId {
        self.queue
    }

    /// Ends the attribution to a queue.
    #[inline]
    pub fn leave_queue(&mut self) {
        self.queue = QueueId::NONE;
    }

    /// Updates the counts of the stage and of the current queue.
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

    /// Sends `packet` from output `port`. The driver delivers it at the same time.
    #[inline]
    pub fn emit(&mut self, port: Port, packet: Packet) {
        let output = Output::of(self.stage, port, self.bus.stages);
        self.outbox.push(Emission { output, packet });
    }

    /// Drops `packet` and counts it under `reason`.
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

    /// Marks `packet` Congestion Experienced. The packet must be ECN-capable.
    pub fn mark(&mut self, packet: &mut Packet) {
        debug_assert!(packet.ecn.is_capable(), "only an ECN-capable packet is marked");
        packet.ecn = Ecn::Ce;
        self.count(|count| count.marked += 1);
        self.record(Series::Mark, packet.flow.0, 1.0);
    }

    /// Records a value of a series for the component `id`. Costs one test if the series is not
    /// recorded.
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

    /// Returns true if a series is recorded. Use it before expensive computations.
    #[inline]
    pub fn records(&self, series: Series) -> bool {
        self.bus.recorder.is_recorded(series)
    }

    /// Ends the run with `error`. Only the first failure is kept.
    pub fn fail(&mut self, error: impl Into<StageError>) {
        self.bus.fail(self.now, error.into());
    }
}
